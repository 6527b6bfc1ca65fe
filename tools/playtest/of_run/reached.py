"""Goals, rules and ends that no match reached; actions that good players never or always take."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from games.library import defaults
from games.mechanics import MechanicGraph
from games.records import MatchRecord, PlayedActions
from games.text import one_line
from games.values import CHANCE, Json, ModuleFault
from tools.coverage import mechanic_coverage
from tools.playtest.report import is_late
from tools.playtest.series import Series
from tools.reporting.content import short_name
from tools.sandbox import Sandbox
from tools.sandbox.reading import foreign_game

_GOALS = ("target", "goal")
_SCORES = ("score", "point", "total")
_NOT_FOLLOWED = "Which rules no match reached is not known: none could be followed in the code"
_KINDS = 40  # actions; of more, their first words are told apart
_OFFERED = 20  # times an action must have been there to be told of
_TOLD = 10  # actions that are told at most


def not_reached(
    source: str, counted: Iterable[Series], shown: Iterable[Series], max_plies: int
) -> tuple[str, ...]:
    """Goals that no match reached, and matches that nothing but the bound ended.

    Args:
        source: The module; its declared parameters name its goals.
        counted: Series, each with one player at every seat.
        shown: Some of their matches in full.
        max_plies: The bound.
    """
    found = []
    for series in counted:
        bound = [e for e in series.entries.values() if e.ending == "unfinished" and not is_late(e)]
        if bound:
            who = short_name(series.line_up[0])
            found.append(
                f"{len(bound)} of {len(series.entries)} matches of {who} players were ended by the "
                f"limit of {max_plies} plies alone."
            )
    records = [record for series in shown for record in series.records]
    scores = [one for record in records for one in _scores(record)]
    for name, goal in _goals(source).items():
        if scores and max(scores) < goal:
            found.append(
                f"No match scored more than {max(scores):g}; the {name.replace('_', ' ')} is "
                f"{goal:g} ({len(records)} matches were looked at)."
            )
    return tuple(found)


def best_score(series: Iterable[Series], source: str) -> tuple[float, bool] | None:
    """The best score that a team can have, and whether the module's `GAME` declares it.

    Where it declares none, or one that a match surpassed, the best that was seen: at least that is
    possible. None where nothing finished, or scores are not all 0 or more, with one above 0.
    """
    entries = [entry for one in series for entry in one.entries.values()]
    seen = [fmean(entry.returns) for entry in entries if entry.returns is not None]
    if not seen or min(seen) < 0 or max(seen) == 0:
        return None
    try:
        declared = foreign_game(source).get("best_score")
    except ModuleFault:  # no literal that could be read without running it
        declared = None
    if isinstance(declared, int | float) and declared >= max(seen):
        return float(declared), True
    return max(seen), False


def not_met(
    sandbox: Sandbox,
    source: str,
    rules: Mapping[str, str],
    graph: MechanicGraph,
    records: Sequence[MatchRecord],
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Name what is marked in a source, or said by a mechanic, and run by none of these matches.

    Mechanics that name no code are left out: where their rules stand, those are told.

    Args:
        sandbox: Where they are followed.
        source: The module that they were played with.
        rules: Text by id.
        graph: The mechanics.
        records: Matches in full.

    Returns:
        A sentence a rule, ids of mechanics, and how many matches were followed; one sentence
        where none could be.
    """
    coded = MechanicGraph(nodes=tuple(node for node in graph.nodes if node.code), edges=())
    played = [*map(PlayedActions.of, records)]
    try:
        found = mechanic_coverage(sandbox, source, coded, played, rules=[*rules])
    except ModuleFault as fault:
        return (f"{_NOT_FOLLOWED}: {one_line(str(fault))}",), (), 0
    followed = len(records) - len(found.lost)
    if not followed:
        return (f"{_NOT_FOLLOWED}.",) if records else (), (), 0
    missed = (
        f"No match reached rule {rule} ({followed} were looked at): {one_line(rules[rule])}"
        for rule in found.never
        if rule in rules
    )
    return (*missed,), tuple(one for one in found.never if one not in rules), followed


def never_and_always(records: Sequence[MatchRecord]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Actions that these players never chose, and those that they chose whenever they had a choice.

    An action counts that was offered twenty times beside others. Where there are many, the first
    words of actions are told apart.
    """
    choices = [
        ply
        for record in records
        for ply in record.match.plies
        if ply.player != CHANCE and len(ply.legal) > 1
    ]
    all_ = {action for ply in choices for action in ply.legal}

    def kind(action: str) -> str:
        return action if len(all_) <= _KINDS else action.partition(" ")[0]

    offered, chosen = Counter[str](), Counter[str]()
    for ply in choices:
        kinds = {kind(action) for action in ply.legal}
        if len(kinds) > 1:
            offered.update(kinds)
            chosen[kind(ply.action)] += 1
    often = sorted(name for name, times in offered.items() if times >= _OFFERED)
    never = [name for name in often if not chosen[name]]
    always = [name for name in often if chosen[name] == offered[name]]
    return tuple(never[:_TOLD]), tuple(always[:_TOLD])


def _goals(source: str) -> dict[str, float]:
    """The parameters that declare a number to be reached, in the module as it stands."""
    try:
        settings = defaults(foreign_game(source))
    except ModuleFault:
        return {}
    return {
        name: float(value)
        for name, value in settings.items()
        if isinstance(value, int | float) and value > 0 and any(one in name for one in _GOALS)
    }


def _scores(record: MatchRecord) -> Iterator[float]:
    """The numbers that the last observations of a match call scores."""
    for observation in record.match.final_observations:
        yield from _numbers(observation, named=False)


def _numbers(value: Json, *, named: bool) -> Iterator[float]:
    if isinstance(value, dict):
        for name, part in value.items():
            is_goal = any(one in name for one in _GOALS)
            yield from _numbers(part, named=not is_goal and any(one in name for one in _SCORES))
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part, named=named)
    elif named and isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
