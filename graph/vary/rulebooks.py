"""Rulebook that is varied in words, or taken apart: its rules by id, and its mechanic graph."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError, field_validator

from agents.model.recording import place
from agents.protocols import Design, RoleError
from agents.roles.mechanics import extract_graph, numbered_rules
from games import library
from games.corpus import corpus_game, corpus_names
from games.library.annotated import family_graph
from games.library.settings import game_of
from games.mechanics import MechanicGraph
from games.text import one_line
from graph.run.folder import RunFolder, RunFolderError, find_folder, runs_folder
from tools.sources import read_source
from vectorstore.sources import read_rules

if TYPE_CHECKING:
    from agents.model.chat import ChatModel

_DESIGN = "design.json"


class Rulebook(BaseModel, frozen=True, extra="forbid"):
    """A game in words.

    Attributes:
        name: As the person named it.
        title: As a player says it.
        players: Who play it, in words; empty where nobody says.
        rules: By id, such as R7, in the order of their numbers.
        graph: Its mechanics, where they are known and each is backed by rules.
        problems: What a model found contradictory or open in the rules.
    """

    name: str
    title: str
    players: str
    rules: dict[str, str]
    graph: MechanicGraph | None = None
    problems: tuple[str, ...] = ()

    @field_validator("rules")
    @classmethod
    def _by_number(cls, rules: dict[str, str]) -> dict[str, str]:
        """JSON files have their keys sorted as texts."""
        return dict(sorted(rules.items(), key=lambda rule: int(rule[0].removeprefix("R"))))

    @property
    def text(self) -> str:
        """Its rules, a line each, below its title."""
        return "\n".join([self.title, *(f"{id_}: {text}" for id_, text in self.rules.items())])

    def taken_apart(self, chat: "Callable[[], ChatModel]") -> "Rulebook":
        """The same with its graph: the one that is known, or as a model reads it.

        Raises:
            RoleError: If no rule says how the game ends.
            ModelError: If the model gave no graph.
        """
        if self.graph is not None:
            return self
        with place("mechanics"):
            found = extract_graph(chat().of_role("designer"), self.rules)
        return self.model_copy(update={"graph": found.graph, "problems": found.problems})


def rulebook_named(name: str) -> Rulebook:
    """The rulebook of a library game, of the corpus, of a run, or of a text file.

    Raises:
        RunFolderError: If there is none of that name, or its rules cannot be read.
    """
    try:
        if name in library.names():
            return _of_library(name)
        if name in corpus_names():
            game = corpus_game(name)
            seats = " to ".join(str(seats) for seats in sorted({*game.players}))
            rules = dict(game.sentences)
            return Rulebook(
                name=name, title=game.name, players=seats, rules=rules, graph=game.graph
            )
        if Path(name).is_file():
            return _of_file(Path(name))
    except RoleError as error:
        raise RunFolderError(f"{name}: {error}") from error
    return _of_run(find_folder(name, runs_folder()))


def game_folder(name: str) -> RunFolder | None:
    """The folder of the newest game of a run of this name; None where it names no run."""
    if name in library.names() or name in corpus_names() or Path(name).is_file():
        return None
    root = find_folder(name, runs_folder())
    return [root, *root.revisions][-1]


def keep_graph(folder: RunFolder, book: Rulebook) -> None:
    """Keep a run's extracted graph in its design, beside which nothing changes."""
    if book.graph is not None:
        update = {"mechanics": book.graph.nodes, "edges": book.graph.edges}
        design = _design(folder).model_copy(update=update)
        folder.write_text(_DESIGN, design.model_dump_json(indent=2) + "\n")


def _of_library(name: str) -> Rulebook:
    chosen = library.preset(name)
    settings = {**game_of(chosen.family).defaults(), **chosen.parameters}
    text, _ = library.in_reading_order(library.rulebook(name))
    return Rulebook(
        name=name,
        title=name.replace("_", " "),
        players=str(chosen.players),
        rules={rule.id: rule.text for rule in read_rules(text)},
        graph=family_graph(chosen.family, settings, chosen.players),
    )


def _of_file(path: Path) -> Rulebook:
    text = read_source(path, "rules")
    heading = next((line for line in text.splitlines() if line.startswith("# ")), f"# {path.stem}")
    return Rulebook(
        name=str(path), title=one_line(heading[2:])[:80], players="", rules=numbered_rules(text)
    )


def _of_run(root: RunFolder) -> Rulebook:
    folder = [root, *root.revisions][-1]
    design = _design(folder)
    rules = {rule.id: rule.text for rule in design.rules}
    graph = design.graph
    is_backed = graph.fits and not graph.faults(rules)
    return Rulebook(
        name=str(folder.path),
        title=design.title,
        players=str(design.num_players),
        rules=rules,
        graph=graph if is_backed else None,
    )


def _design(folder: RunFolder) -> Design:
    try:
        return Design.model_validate(folder.read_json(_DESIGN))
    except ValidationError as error:
        said = f"{folder.path / _DESIGN} is no design ({error.error_count()} faults)"
        raise RunFolderError(f"{said}; make the game anew: rulewright new") from error
