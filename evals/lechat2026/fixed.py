"""Eval `battleship-fixed`: what do the thesis' ideas give once they are really applied?

Our own players meet the thesis' OSLA (one constraint determinization, as executed) and random. All
value a position by the same function, the game's own; budgets are those asked for; a heat map is
counted anew at every decision. What each ingredient adds is swept one at a time: how many fleets a
shot is weighed over, importance weights, the heat map fresh and stale, and the search around it.

Most of these players do not look at what the other has done, so that the shots each takes alone
give exact rates of every pair. Those that do meet the best of the others in duels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev

from agents.players.registry import parse_spec
from evals.lechat2026.board import (
    Contestant,
    Entry,
    Field,
    FieldResult,
    GameCounts,
    play_field,
    random_contestant,
)
from evals.lechat2026.players import played_module, spec_contestant
from evals.lechat2026.shooters import MapShooter
from evals.lechat2026.tables import PUBLISHED, in_points, matrix, pair_rates
from evals.lechat2026.tag import condition, tag_contestant
from evals.results import EvalOptions, EvalResult, Row, Score, read_data

OSLA = "OSLA"
MOST_SHOTS, LEAST_RATE = 50.0, 0.7
_STORED: dict[str, float] = PUBLISHED["shots"]["means"]
_Z = 1.96
_SPECS = read_data("lechat2026/fixed.yaml")
ALONE: dict[str, str] = _SPECS["alone"]
"""Players that do not look at the other's progress, by the ingredient that is swept."""
HELD = "250 fleets, halving"
"""Held against the thresholds; named beforehand, so that no luck of this run picks it."""
QUICKLY = ("1 fleet", HELD)
LOOKING: dict[str, str] = _SPECS["looking"]
"""Players that look: their searches play on for both seats."""


@dataclass(frozen=True)
class FixedAmounts:
    """The amounts of play.

    Attributes:
        alone: Of the field of players that do not look.
        looking: Of the field of those that do; None leaves it out.
        names: Players of the first field beside random, OSLA and the stale map.
    """

    alone: GameCounts
    looking: GameCounts | None
    names: Sequence[str]


FULL = FixedAmounts(GameCounts(400, 4), GameCounts(400, 40), tuple(ALONE))
QUICK = FixedAmounts(GameCounts(10, 4), None, QUICKLY)


def run(options: EvalOptions, amounts: FixedAmounts | None = None) -> EvalResult:
    """Play what a folder does not hold yet, and compare."""
    amounts = amounts or (QUICK if options.quick else FULL)
    field = alone_field(options.seed, amounts.names)
    played = play_field(field, amounts.alone, options)
    rows = field_rows(field, played)
    scores = fixed_scores(HELD, played, options)
    if amounts.looking is not None:
        second = looking_field(options.seed, HELD)
        met = play_field(second, amounts.looking, options)
        rows += field_rows(second, met)
    for row in rows:
        options.tell(str(row))
    return EvalResult(scores=scores, samples=tuple(rows), effective=_effective(amounts))


def thesis_osla(seed: int) -> Contestant:
    """The thesis' OSLA under its constraint determinization."""
    return tag_contestant(OSLA, condition("constraint", seed))


def alone_field(seed: int, names: Sequence[str]) -> Field:
    """Everyone who does not look at the other."""
    ours = tuple(spec_contestant(name, ALONE[name]) for name in names)
    players = (
        random_contestant(),
        Contestant("stale map", partial(MapShooter, 200), {"stale_map_of": 200}),
        thesis_osla(seed),
        *ours,
    )
    return Field("fixed-alone", seed, players, played_module())


def looking_field(seed: int, best: str) -> Field:
    """Everyone who looks, with OSLA and the best of the others."""
    ours = tuple(
        spec_contestant(name, spec, looks=True, slow=True) for name, spec in LOOKING.items()
    )
    players = (thesis_osla(seed), spec_contestant(best, ALONE[best], slow=True), *ours)
    return Field("fixed-looking", seed, players, played_module())


def field_rows(field: Field, played: FieldResult) -> list[Row]:
    """Mean shots beside the published ones, every pair, and the matrix."""
    names = [one.name for one in field.contestants]
    rates = pair_rates(names, played)
    rows: list[Row] = [
        shots_row(name, _shots(games)) for name, games in played.solos.items() if games
    ]
    for (one, other), rate in rates.items():
        if names.index(one) < names.index(other):
            rows.append({"table": "pairs", "what": f"{other} - {one}", **in_points(rate.turned())})
    rows.append({"table": "matrix", "field": field.name, "rows": matrix(names, rates)})
    return rows


def shots_row(name: str, shots: Sequence[int]) -> Row:
    """Mean shots of a player with their 95 % interval, beside the published mean."""
    mean, error = fmean(shots), stdev(shots) / len(shots) ** 0.5
    row: Row = {
        "table": "shots",
        "what": name,
        "ours": round(mean, 2),
        "low": round(mean - _Z * error, 2),
        "high": round(mean + _Z * error, 2),
        "n": len(shots),
    }
    if name in _STORED:
        row |= {"published": _STORED[name], "difference": round(mean - _STORED[name], 2)}
    return row


def fixed_scores(best: str, played: FieldResult, options: EvalOptions) -> tuple[Score, ...]:
    """A player's mean shots and its rate against OSLA; with its error where few were played."""
    shots = _shots(played.solos[best])
    rate = pair_rates([best, OSLA], played)[best, OSLA]
    slack = max(0.03, 2 * rate.error) if options.quick else 0.0
    room = 2 * stdev(shots) / len(shots) ** 0.5 if options.quick else 0.0
    least, most = round(LEAST_RATE - slack, 4), round(MOST_SHOTS + room, 3)
    return (
        Score(f"mean shots of {best}", round(fmean(shots), 3), len(shots), at_most=most),
        Score(f"win rate of {best} against OSLA", round(rate.value, 4), rate.n, at_least=least),
    )


def _shots(games: Sequence[Entry]) -> list[int]:
    return [game["shots"] for game in games]


def _effective(amounts: FixedAmounts) -> Row:
    specs = {name: ALONE[name] for name in amounts.names}
    specs |= LOOKING if amounts.looking is not None else {}
    return {
        **played_module(),
        "games_alone": amounts.alone.solos,
        "duels_a_pair": 0 if amounts.looking is None else amounts.looking.duels,
        "held_against_the_thresholds": HELD,
        "players": {name: parse_spec(spec).name for name, spec in specs.items()},
        "osla": "the thesis' program as executed: one constraint determinization",
        "heuristic": "value_function of the library's game, for all players but OSLA",
        "alone": "the other seat fires at water as long as there is any",
        "where": "the library's game in plain processes, not in the sandbox; it is our own source",
    }
