"""Rules, settings and mechanics of two games, held side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from games.library.settings import value_text
from games.mechanics import MechanicGraph
from games.mechanics.matching import SAME, Likeness, best_assignment, by_words, match_graphs
from games.values import Json
from tools.comparing.differences import PlayedDifference
from tools.playtest.jobs import GameSetup

_MOST_PAIRED = 200  # rules that differ; of more, the assignment would take minutes
State = Literal["changed", "removed", "added"]


@dataclass(frozen=True)
class ComparedGame:
    """A game to be compared.

    Attributes:
        title: For people.
        rules: Text by id.
        settings: Its design's.
        graph: Its mechanics.
        setup: What is played.
    """

    title: str
    rules: Mapping[str, str]
    settings: Mapping[str, Json]
    graph: MechanicGraph
    setup: GameSetup


class PartDifference(BaseModel, frozen=True, extra="forbid"):
    """A rule, setting or mechanic that is not the same in both games; "" for one that lacks it."""

    name: str
    state: State
    before: str = ""
    after: str = ""


class GamesDifference(BaseModel, frozen=True, extra="forbid"):
    """Two games.

    Attributes:
        names: As they were asked for.
        titles: Of both.
        players: Seats of both.
        rules: Those that differ; equal ones of another number do not.
        settings: The same; seats too.
        mechanics: The same; one is the same that serves the same mechanics.
        edges: Of the two graphs: shared, removed and added.
        similarity: Of the graphs, by their edges; None where neither has one.
        played: The figures, by player.
    """

    names: tuple[str, str]
    titles: tuple[str, str]
    players: tuple[int, int]
    rules: tuple[PartDifference, ...]
    settings: tuple[PartDifference, ...]
    mechanics: tuple[PartDifference, ...]
    edges: tuple[int, int, int]
    similarity: float | None
    played: tuple[PlayedDifference, ...] = ()


def compare_games(
    one: ComparedGame, other: ComparedGame, likeness: Likeness | None = None
) -> GamesDifference:
    """Compare what two games are made of; nothing is played.

    Args:
        one: The first game.
        other: The second.
        likeness: Of names of mechanics; see `match_graphs`.

    Raises:
        GraphError: If a graph is too large.
    """
    found = match_graphs(one.graph, other.graph, likeness)
    partner = {first: second for first, second, _ in found.pairs}
    settings = [{"players": game.setup.num_players, **game.settings} for game in (one, other)]
    return GamesDifference(
        names=(one.setup.name, other.setup.name),
        titles=(one.title, other.title),
        players=(one.setup.num_players, other.setup.num_players),
        rules=_rules(one.rules, other.rules),
        settings=_settings(*settings),
        mechanics=_mechanics(one.graph, other.graph, partner),
        edges=(len(found.shared), len(found.removed), len(found.added)),
        similarity=found.similarity,
    )


def _mechanics(
    one: MechanicGraph, other: MechanicGraph, partner: Mapping[str, str]
) -> tuple[PartDifference, ...]:
    """Mechanics of one graph alone, and those whose name or use is another."""
    rows = []
    for node in one.nodes:
        twin = other.by_id.get(partner.get(node.id, ""))
        before, serves = _serves(one, node.id), one.targets(node.id)
        if twin is None:
            rows.append(PartDifference(name=node.name, state="removed", before=before))
        elif twin.name != node.name or {partner.get(t) for t in serves} != other.targets(twin.id):
            after = _serves(other, twin.id)
            row = PartDifference(name=node.name, state="changed", before=before, after=after)
            rows.append(row)
    added = (node for node in other.nodes if node.id not in partner.values())
    rows += [
        PartDifference(name=node.name, state="added", after=_serves(other, node.id))
        for node in added
    ]
    return tuple(rows)


def _serves(graph: MechanicGraph, id_: str) -> str:
    names = sorted(graph.by_id[at].name for at in graph.targets(id_) if at in graph.by_id)
    return f"{graph.by_id[id_].name} → {', '.join(names) or 'nothing'}"


def _rules(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[PartDifference, ...]:
    """Rules that differ, paired by the words they share; equal texts are the same rule."""
    texts = set(one.values()) & set(other.values())
    mine = [(id_, text) for id_, text in one.items() if text not in texts]
    theirs = [(id_, text) for id_, text in other.items() if text not in texts]
    paired: dict[int, int] = {}
    if max(len(mine), len(theirs)) <= _MOST_PAIRED:
        alike = by_words([text for _, text in mine], [text for _, text in theirs])
        paired = {i: j for i, j in best_assignment(alike) if alike[i][j] >= SAME}
    rows = []
    for at, (id_, text) in enumerate(mine):
        new, after = theirs[paired[at]] if at in paired else ("", "")
        name = id_ if new in ("", id_) else f"{id_}, now {new}"
        state: State = "changed" if new else "removed"
        rows.append(PartDifference(name=name, state=state, before=text, after=after))
    left = (rule for at, rule in enumerate(theirs) if at not in paired.values())
    rows += [PartDifference(name=id_, state="added", after=text) for id_, text in left]
    return tuple(rows)


def _settings(one: Mapping[str, Json], other: Mapping[str, Json]) -> tuple[PartDifference, ...]:
    rows = []
    for name in dict.fromkeys((*one, *other)):
        before, after = (value_text(of[name]) if name in of else "" for of in (one, other))
        states: dict[tuple[bool, bool], State] = {
            (True, False): "removed",
            (False, True): "added",
        }
        state = states.get((name in one, name in other), "changed")
        if before != after or state != "changed":
            rows.append(PartDifference(name=name, state=state, before=before, after=after))
    return tuple(rows)
