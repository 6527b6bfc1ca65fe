"""Games to be compared, by the name of a run or of the library; and ablation of a mechanic."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agents.composer.designer import library_design
from agents.protocols import Design
from games import library
from games.mechanics import GraphError, Mechanic
from games.text import one_line
from graph.new.explaining import folder_named, kept_game, mechanics_of
from graph.run.folder import RunFolderError
from graph.run.opening import store_settings
from tools.comparing.games import ComparedGame
from tools.playtest.jobs import GameSetup
from tools.sources import find_game

if TYPE_CHECKING:
    from games.mechanics.matching import Likeness


def game_to_compare(name: str) -> ComparedGame:
    """A run's game, or the library's.

    Raises:
        RunFolderError: If there is no such run, or it made no game.
        GraphError: If its mechanic graph is too large.
    """
    if name in library.names() and not Path(name).exists():
        design, place = library_design(name), name
    else:
        try:
            folder = folder_named(name)
        except RunFolderError as error:
            known = ", ".join(sorted(library.names()))
            raise RunFolderError(f"{error}; the library has: {known}") from error
        design, _, _ = kept_game(folder)
        place = str(folder.path)
    return ComparedGame(
        title=one_line(design.title),
        rules={rule.id: rule.text for rule in design.rules},
        settings=dict(design.parameters),
        graph=mechanics_of(design),
        setup=_setup(place, design),
    )


def ablation(name: str, id_: str) -> tuple[Mechanic, GameSetup, GameSetup]:
    """A mechanic of a run's game, the game as it is, and the game without the mechanic.

    Raises:
        RunFolderError: If there is no such run, or it made no game.
        GraphError: If the game has no such mechanic, or no setting takes it out.
    """
    folder = folder_named(name)
    design, _, _ = kept_game(folder)
    graph = mechanics_of(design)
    node = graph.node(id_)
    if not node.without:
        able = ", ".join(f"{one.id} {one_line(one.name)}" for one in graph.nodes if one.without)
        raise GraphError(
            f"no setting takes {id_} {one_line(node.name)!r} out of the game; it can be done with: "
            f"{able or 'none of its mechanics'}"
        )
    setup = _setup(str(folder.path), design)
    return node, setup, replace(setup, parameters=dict(node.without))


def _setup(place: str, design: Design) -> GameSetup:
    found = find_game(place)
    return GameSetup(place, found.source, design.num_players, heuristics=found.heuristics)


def alike_by_meaning(tell: Callable[[str], None]) -> "Likeness | None":
    """The likeness of names by the store's embedder; None where it knows words alone.

    Raises:
        EmbedderError: If the embedder is not there, or does not answer.
    """
    import numpy as np

    from vectorstore.embedders import choose_embedder

    embedder = choose_embedder(store_settings(), tell)
    if embedder.identity.startswith("lexical"):
        return None

    def likeness(one: Sequence[str], other: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = embedder.embed([*one, *other])
        unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        cosines: list[list[float]] = (unit[: len(one)] @ unit[len(one) :].T).tolist()
        return cosines

    return likeness
