"""Eval `battleship-tag`: are the thesis' tournaments in TAG what its programs really give?

Five players meet in a round robin under each of three determinizations, as the thesis' programs
executed them rather than as they were asked for: see `evals.battleship.tag_worlds` (the
determinizations), `tag_scores` (the heuristics), `tag_agents` (OSLA and RMHC) and `tag_tree`
(IS-MCTS, which also ran under the name of MAST). Where TAG is faulty these players are faulty on
purpose. Their rates stand beside the stored ones, pair by pair and as averages over the field; a
2 by 2 of determinization and heuristic separates what the thesis changed together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from evals.battleship.fields import Amount, Pair, Played, play_field
from evals.battleship.rates import (
    Rate,
    averages,
    beside,
    exact_pair,
    in_points,
    matrix,
    pair_rates,
)
from evals.battleship.tag_metrics import Row, by_player, latencies
from evals.battleship.tag_players import (
    HEURISTICS,
    SAME,
    Condition,
    condition,
    crossed_field,
    crossed_name,
    effective_of,
    field_of,
)
from evals.battleship.tag_published import (
    AVERAGES,
    GAMES,
    LATENCY_OF_MAPS,
    MAP_SAMPLES,
    NAMES,
    PAIRS,
)
from evals.battleship.tag_tree import CALLS
from evals.battleship.tag_worlds import Kind
from evals.options import EvalOptions
from evals.results import EvalResult, Score

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Amounts:
    """How much is played.

    Attributes:
        games: Of each field.
        latency: Games at whose positions draws are timed.
        twice: Whether IS-MCTS and "MAST" are both played; if not, the games of the one count for
            both, as they are one player.
        errors: Standard errors of the difference that a rate may lie off; the quick variant takes
            three, as of its thirty rates one or two would lie beyond two by chance.
        calls: Calls of the forward model a decision; any other number than 4,000 is not the
            thesis'.
    """

    games: Mapping[Kind, Amount]
    latency: int
    twice: bool
    errors: float = 2.0
    calls: int = CALLS


FULL = Amounts(dict.fromkeys(HEURISTICS, Amount(2000, GAMES)), 20, twice=True)
QUICK = Amounts(
    {
        "random": Amount(150, 30, 12),
        "constraint": Amount(150, 30, 12),
        "heat map": Amount(100, 20, 6),
    },
    2,
    twice=False,
    errors=3.0,
)


def run(seed: int, tell: Tell, options: EvalOptions) -> EvalResult:
    """Play the three tournaments and the 2 by 2, or what a folder does not hold of them."""
    return measured(seed, tell, options, QUICK if options.quick else FULL)


def measured(seed: int, tell: Tell, options: EvalOptions, amounts: Amounts) -> EvalResult:
    """As `run`, with so much played."""
    rows: list[Row] = []
    scores: list[Score] = []
    shots: dict[Condition, list[int]] = {}
    randoms: list[int] = []
    for kind, heuristic in HEURISTICS.items():
        field = field_of(kind, seed, twice=amounts.twice, calls=amounts.calls)
        played = play_field(field, amounts.games[kind], options, tell)
        found = compared(kind, rates_of(played), amounts.errors)
        for row in found:
            if row["table"] != "matrix":
                tell(_said(row))
        tell(f"{kind}: the widest 95 % interval reaches {reach(kind, found)} points either way")
        rows += found
        scores += scored(kind, found)
        found = by_player(NAMES, played)
        rows += [{"table": "metrics", "determinization": kind, **row} for row in found]
        shots[Condition(kind, heuristic)] = [game["shots"] for game in played.solos["OSLA"]]
        randoms = max(randoms, [game["shots"] for game in played.solos["random"]], key=len)
    rows += _confound(seed, tell, options, amounts, shots, randoms)
    timed = latencies(seed, amounts.latency, MAP_SAMPLES)
    rows += [{"table": "latency", "published_of_maps": LATENCY_OF_MAPS, **row} for row in timed]
    return EvalResult(
        name="battleship-tag",
        scores=tuple(scores),
        samples=tuple(rows),
        effective=_effective(seed, amounts, rows),
    )


def rates_of(played: Played) -> dict[Pair, Rate]:
    """All pairs of the five; where "MAST" was not played, IS-MCTS' rates count for it."""
    names = tuple(name for name in NAMES if any(name in pair for pair in played.duels))
    rates = pair_rates(names, played)
    if "MAST" in names:
        return rates
    for other in names:
        if other != "IS-MCTS":
            rates["MAST", other] = rates["IS-MCTS", other]
            rates[other, "MAST"] = rates[other, "IS-MCTS"]
    rates[SAME] = rates["MAST", "IS-MCTS"] = Rate(0.5, 0.0, 0.5, 0.5, 0, "one player: symmetry")
    return rates


def compared(
    kind: Kind,
    rates: Mapping[Pair, Rate],
    errors: float = 2.0,
    pairs: Mapping[Pair, float] | None = None,
) -> list[Row]:
    """The tables of a determinization beside the published ones: pairs, averages, the matrix."""
    published = PAIRS.get(kind, {}) if pairs is None else pairs
    rows: list[Row] = []
    for (one, other), rate in rates.items():
        place = {"table": "pairs", "determinization": kind}
        title = f"{one} - {other}"
        if (one, other) in published and rate.n:
            rows.append({**place, **beside(title, rate, published[one, other], GAMES, errors)})
        elif not published and NAMES.index(one) < NAMES.index(other):
            rows.append({**place, "what": title, **in_points(rate)})
    ours = averages(NAMES, rates)
    for name, value in AVERAGES[kind].items():
        place = {"table": "averages", "determinization": kind}
        rows.append({**place, **beside(name, ours[name], value, 4 * GAMES, errors)})
    rows.append({"table": "matrix", "determinization": kind, "rows": matrix(NAMES, rates)})
    return rows


def scored(kind: Kind, rows: list[Row]) -> list[Score]:
    """How many pairs, and how many averages, lie outside their tolerance."""
    scores = []
    for table in ("pairs", "averages"):
        judged = [row for row in rows if row["table"] == table and "within" in row]
        if judged:
            outside = sum(not row["within"] for row in judged)
            name = f"{table} outside tolerance, {kind} determinization"
            scores.append(Score(name=name, value=outside, at_most=0, scored=len(judged)))
    return scores


def _confound(
    seed: int,
    tell: Tell,
    options: EvalOptions,
    amounts: Amounts,
    shots: dict[Condition, list[int]],
    randoms: list[int],
) -> list[Row]:
    """OSLA against random in the four combinations of determinization and heuristic."""
    played = play_field(crossed_field(seed), amounts.games["constraint"], options, tell)
    rows: list[Row] = []
    for kind in ("random", "constraint"):
        for heuristic in ("score", "cluster"):
            under = Condition(kind, heuristic)
            alone = played.solos.get(crossed_name(under))
            taken = [game["shots"] for game in alone] if alone else shots[under]
            rate = exact_pair(taken, randoms)
            row: Row = {"table": "confound", "determinization": kind, "heuristic": heuristic}
            if HEURISTICS[kind] == heuristic:
                known = PAIRS[kind]["OSLA", "random"]
                row |= beside("OSLA - random", rate, known, GAMES)
            else:
                row |= {"what": "OSLA - random", **in_points(rate)}
            row["mean_shots"] = round(sum(taken) / len(taken), 2)
            tell(f"2 by 2, {kind}, {heuristic}: {row['ours']} % of games won against random")
            rows.append(row)
    return rows


def _effective(seed: int, amounts: Amounts, rows: list[Row]) -> dict[str, JsonValue]:
    conditions = {kind: condition(kind, seed, amounts.calls) for kind in HEURISTICS}
    return {
        "seed": seed,
        "games": {
            kind: {
                "alone": amount.solos,
                "a_pair": amount.duels,
                "a_pair_with_tree_search": amount.slow_duels or amount.duels,
            }
            for kind, amount in amounts.games.items()
        },
        "tolerance": f"3 points or {amounts.errors:g} standard errors of the difference",
        "mast": "played beside IS-MCTS" if amounts.twice else "IS-MCTS' games count for it",
        "widest_interval_points": {kind: reach(kind, rows) for kind in HEURISTICS},
        "players": {
            kind: {name: effective_of(name, under) for name in NAMES if name != "random"}
            for kind, under in conditions.items()
        },
        "where": "our own bit boards in plain processes, not in the sandbox; no module is run",
    }


def reach(kind: Kind, rows: list[Row]) -> float:
    """How far the widest interval of a pair reaches either way, in points."""
    widths = [
        cast("float", row["high"]) - cast("float", row["low"])
        for row in rows
        if row["table"] == "pairs" and row["determinization"] == kind
    ]
    return round(max(widths) / 2, 1)


def _said(row: Row) -> str:
    said = f"{row['determinization']}, {row['what']}: {row['ours']} ({row['low']} to {row['high']})"
    if "published" in row:
        said += f", published {row['published']}, tolerance {row['tolerance']}"
        said += "" if row["within"] else ": OUTSIDE"
    return said
