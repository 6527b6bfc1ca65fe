"""Eval: how quick is our search, beside OpenSpiel's, and what does it cost besides the game?

Six games that both have (`evals.bench.search_games`). Every search makes the same number of
simulations a decision with one random rollout each and proves nothing
(`evals.bench.search_engines`); all searches of a game take turns, forwards and backwards, so that
all meet the same moments of the machine. Times are processor times. A ratio is taken within a
round; its median over the rounds is reported, with the least and the largest. Ours run Python game
code in a plain process: library modules are trusted, and a search in a sandboxed worker is the same
code. What ours cost besides the game's own functions is measured by `evals.bench.search_overhead`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

from pydantic import JsonValue

from evals.bench.search_engines import (
    EXPLORATION,
    MISSING,
    THEIR_EXPLORATION,
    engines,
    has_openspiel,
    rate,
)
from evals.bench.search_games import CONTESTS, Contest
from evals.bench.search_overhead import Overhead, overhead, spread
from evals.bench.timings import interleaved, machine
from evals.options import EvalOptions
from evals.results import EvalResult, Score

AT_LEAST = {"tic_tac_toe": 2.0, "connect_four": 1.5}
OUTSIDE_AT_MOST = 0.15
MEASURED = "connect_four"  # whose share outside the game is held against the threshold
PYTHON = "OpenSpiel MCTS (Python)"
_OURS = {"uct": "OpenSpiel MCTS", "ismcts": "OpenSpiel ISMCTS"}

Rates = Mapping[str, Sequence[float]]
"""Simulations a second by search, one a round."""


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        rounds: Turns of every search.
        least_s: About how long a turn takes at the least.
        repeats: Decisions for the share outside the game, where a threshold holds.
        shown: As `repeats`, where none does.
        block: Simulations timed together where a threshold holds.
        tolerance: Of the share outside the game, for what few repeats leave open.
    """

    rounds: int = 15
    least_s: float = 0.1
    repeats: int = 101
    shown: int = 11
    block: int = 10
    tolerance: float = 0.0


FULL, QUICK = Size(), Size(rounds=3, least_s=0.03, repeats=41, shown=3, tolerance=0.03)


def run(seed: int, tell: Callable[[str], None], options: EvalOptions) -> EvalResult:
    """Measure with the usual sizes."""
    return measure(seed, tell, QUICK if options.quick else FULL)


def measure(
    seed: int,
    tell: Callable[[str], None],
    size: Size,
    contests: Sequence[Contest] = CONTESTS,
) -> EvalResult:
    """Measure rates and shares of all games.

    Args:
        seed: Of the deals and of the searches.
        tell: Hears each result.
        size: How much is measured.
        contests: The games.
    """
    begun = time.monotonic()
    costs, rates = dict[tuple[str, str], Overhead](), dict[str, Rates]()
    for contest in contests:
        for kind in ("uct", "ismcts") if contest.hidden else ("uct",):
            held = contest.name == MEASURED
            repeats, block = (size.repeats, size.block) if held else (size.shown, None)
            cost = overhead(kind, contest, seed, repeats=repeats, block=block)
            costs[contest.name, kind] = cost
            tell(
                f"{contest.name}, {kind}: {cost.share:.1%} outside the game, "
                f"{cost.outside_us:.2f} us a simulation"
            )
        measures = {
            name: rate(decide, contest.simulations, size.least_s)
            for name, decide in engines(contest, seed).items()
        }
        rates[contest.name] = interleaved(measures, size.rounds)
        for name, found in rates[contest.name].items():
            tell(f"{contest.name}, {name}: {median(found):,.0f} simulations a second")
    return EvalResult(
        name="search",
        scores=(*ratios(rates), *shares(costs, size.tolerance)),
        samples=(*_rate_rows(contests, rates), *_cost_rows(costs)),
        effective={**_effective(seed, size), "seconds": round(time.monotonic() - begun, 1)},
        unscored={} if has_openspiel() else {_score_name(game): MISSING for game in AT_LEAST},
    )


def ratios(rates: Mapping[str, Rates]) -> tuple[Score, ...]:
    """Our rates over those of OpenSpiel's Python search, with their thresholds.

    Args:
        rates: By game; a game without OpenSpiel's has no score.
    """
    return tuple(
        Score(
            name=_score_name(game),
            value=median(_over(found["uct"], found[PYTHON])),
            at_least=AT_LEAST.get(game),
            scored=len(found[PYTHON]),
        )
        for game, found in rates.items()
        if PYTHON in found
    )


def shares(costs: Mapping[tuple[str, str], Overhead], tolerance: float = 0.0) -> tuple[Score, ...]:
    """The share outside the game and its microseconds, where a threshold holds."""
    cost = costs.get((MEASURED, "uct"))
    if cost is None:
        return ()
    repeats = len(cost.whole)
    return (
        Score(
            name=f"share of UCT outside the game, {MEASURED}",
            value=cost.share,
            at_most=OUTSIDE_AT_MOST + tolerance,
            scored=repeats,
        ),
        Score(
            name=f"microseconds a simulation outside the game, {MEASURED}",
            value=cost.outside_us,
            scored=repeats,
        ),
    )


def _score_name(game: str) -> str:
    return f"simulations a second of UCT over OpenSpiel's Python MCTS, {game}"


def _over(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratio in every round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def _rate_rows(
    contests: Sequence[Contest], rates: Mapping[str, Rates]
) -> list[dict[str, JsonValue]]:
    """A row a game and search: its rate, and ours of the same kind over it."""
    rows = list[dict[str, JsonValue]]()
    for contest in contests:
        found = rates[contest.name]
        for name, values in found.items():
            row: dict[str, JsonValue] = {
                "game": contest.name,
                "search": name,
                "simulations": contest.simulations,
                "rounds": len(values),
                "simulations_a_second": spread(values),
            }
            ours = next((kind for kind, start in _OURS.items() if name.startswith(start)), None)
            if ours is not None:
                row["ours"], row["ours_over_it"] = ours, spread(_over(found[ours], values))
            rows.append(row)
        if contest.hidden and not contest.resampled:
            why = "OpenSpiel cannot sample what a seat does not see in this game"
            rows.append({"game": contest.name, "search": "OpenSpiel ISMCTS", "not_run": why})
    return rows


def _cost_rows(costs: Mapping[tuple[str, str], Overhead]) -> list[dict[str, JsonValue]]:
    return [{"game": game, "search": kind, **c.as_sample()} for (game, kind), c in costs.items()]


def _effective(seed: int, size: Size) -> dict[str, JsonValue]:
    return {
        **machine(),
        "seed": seed,
        "rounds": size.rounds,
        "seconds_a_turn": size.least_s,
        "repeats": size.repeats,
        "repeats_shown": size.shown,
        "block": size.block,
        "tolerance_of_the_share": size.tolerance,
        "exploration": {**EXPLORATION},
        "exploration_openspiel": THEIR_EXPLORATION,
        "rollouts": 1,
        "solver": False,
        "openspiel": version("open_spiel") if has_openspiel() else None,
        "process": "plain, without a sandbox: modules of the library alone",
    }
