"""Eval: how quick is our search, beside OpenSpiel's, and what does it cost besides the game?

Every search makes the same number of simulations a decision with one random rollout each and
proves nothing; all searches of a game take turns, forwards and backwards, so that all meet the same
moments of the machine. Times are processor times. A ratio is taken within a
round; its median over the rounds is reported, with the least and the largest. Ours run Python game
code in a plain process: library modules are trusted, and a search in a sandboxed worker is the same
code. What ours cost besides the game's own functions is measured by `evals.bench.search_overhead`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from evals.bench.search_overhead import (
    CONTESTS,
    EXPLORATION,
    Contest,
    Kind,
    Overhead,
    overhead,
    searched,
    spread,
    start,
)
from evals.bench.timings import interleaved, machine
from evals.openspiel import MISSING, has_openspiel
from evals.results import EvalOptions, EvalResult, Row, Score, score_over

Decide: TypeAlias = Callable[[], object]
"""One decision."""

THEIR_EXPLORATION = 2.0


def engines(contest: Contest, seed: int) -> dict[str, Decide]:
    """Engines that can search a game here, by name."""
    here = start(contest, seed)

    def ours(kind: Kind) -> Decide:
        return lambda: [*searched(kind, contest, here, here.namespace, seed)]

    found = {"uct": ours("uct")}
    if contest.hidden:
        found["ismcts"] = ours("ismcts")
    if has_openspiel():
        found |= _theirs(contest, seed)
    return found


def _theirs(contest: Contest, seed: int) -> dict[str, Decide]:
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts

    state, count = their_start(contest, seed), contest.simulations
    game, draws = state.get_game(), np.random.RandomState(seed)
    rollouts = pyspiel.RandomRolloutEvaluator(1, seed)
    python = mcts.RandomRolloutEvaluator(1, draws)
    found: dict[str, Any] = {
        "OpenSpiel MCTS (Python)": mcts.MCTSBot(
            game, THEIR_EXPLORATION, count, python, solve=False, random_state=draws
        ).mcts_search,
        "OpenSpiel MCTSBot (C++)": pyspiel.MCTSBot(
            game, rollouts, THEIR_EXPLORATION, count, 1000, False, seed, False
        ).mcts_search,
    }
    if contest.resampled:
        found["OpenSpiel ISMCTS (Python)"] = ismcts.ISMCTSBot(
            game, python, THEIR_EXPLORATION, count, random_state=draws
        ).get_policy
        found["OpenSpiel ISMCTSBot (C++)"] = pyspiel.ISMCTSBot(
            seed, rollouts, THEIR_EXPLORATION, count
        ).get_policy
    return {name: partial(search, state) for name, search in found.items()}


def their_start(contest: Contest, seed: int) -> Any:  # noqa: ANN401 - OpenSpiel has no types
    """The same in OpenSpiel: its game's first decision, by turns."""
    import pyspiel

    generator = np.random.default_rng(seed)
    state = pyspiel.load_game_as_turn_based(contest.name, dict(contest.theirs)).new_initial_state()
    while state.is_chance_node():
        outcomes = state.legal_actions()
        state.apply_action(outcomes[int(generator.integers(len(outcomes)))])
    return state


def rate(decide: Decide, simulations: int, least: float) -> Callable[[], float]:
    """A measure of simulations a second, over as many decisions as take about `least` seconds.

    One decision is made at once, to see how many those are and to warm up.
    """
    decide()
    once = _seconds(decide, 1)
    decisions = max(1, round(least / max(once, 1e-6)))
    return lambda: simulations * decisions / _seconds(decide, decisions)


def _seconds(decide: Decide, decisions: int) -> float:
    begun = time.process_time()
    for _ in range(decisions):
        decide()
    return time.process_time() - begun


AT_LEAST = {"tic_tac_toe": 2.0, "connect_four": 1.5}
OUTSIDE_AT_MOST = 0.15
MEASURED = "connect_four"  # whose share outside the game is held against the threshold
PYTHON = "OpenSpiel MCTS (Python)"
_OURS = {"uct": "OpenSpiel MCTS", "ismcts": "OpenSpiel ISMCTS"}

Rates = Mapping[str, Sequence[float]]
"""Simulations a second by search, one a round."""


@dataclass(frozen=True)
class SearchSize:
    """The amounts that are measured.

    Attributes:
        rounds: Turns of every search.
        least_s: About how long a turn takes at the least.
        repeats: Decisions for the share outside the game, where a threshold holds.
        shown: As `repeats`, where none does.
        block: Simulations timed together where a threshold holds.
        at_least: Ratios required by game. The quick variant leaves out tic-tac-toe's: its few short
            turns leave it too near its bound.
        outside_at_most: Share outside the game allowed; None where too few repeats tell it.
        contests: The games.
    """

    rounds: int = 15
    least_s: float = 0.1
    repeats: int = 101
    shown: int = 11
    block: int = 10
    at_least: Mapping[str, float] = field(default_factory=lambda: AT_LEAST)
    outside_at_most: float | None = OUTSIDE_AT_MOST
    contests: Sequence[Contest] = CONTESTS


FULL = SearchSize()
QUICK = SearchSize(
    rounds=3,
    least_s=0.03,
    repeats=41,
    shown=3,
    at_least={MEASURED: AT_LEAST[MEASURED]},
    outside_at_most=None,
)


def run(options: EvalOptions, size: SearchSize | None = None) -> EvalResult:
    """Measure rates and costs in all games, by the usual sizes where none is given."""
    size = size or (QUICK if options.quick else FULL)
    begun = time.monotonic()
    costs, rates = dict[tuple[str, str], Overhead](), dict[str, Rates]()
    for contest in size.contests:
        for kind in ("uct", "ismcts") if contest.hidden else ("uct",):
            held = contest.name == MEASURED
            repeats, block = (size.repeats, size.block) if held else (size.shown, None)
            cost = overhead(kind, contest, options.seed, repeats=repeats, block=block)
            costs[contest.name, kind] = cost
            options.tell(
                f"{contest.name}, {kind}: {cost.share:.1%} outside the game, "
                f"{cost.outside_us:.2f} us a simulation"
            )
        measures = {
            name: rate(decide, contest.simulations, size.least_s)
            for name, decide in engines(contest, options.seed).items()
        }
        rates[contest.name] = interleaved(measures, size.rounds)
        for name, found in rates[contest.name].items():
            options.tell(f"{contest.name}, {name}: {median(found):,.0f} simulations a second")
    cost_rows = [{"game": g, "search": kind, **c.as_sample()} for (g, kind), c in costs.items()]
    return EvalResult(
        scores=(*ratio_scores(rates, size), *cost_scores(costs, size)),
        samples=(*_rate_rows(size.contests, rates), *cost_rows),
        effective={**_effective(size), "seconds": round(time.monotonic() - begun, 1)},
        unscored={} if has_openspiel() else {_score_name(game): MISSING for game in size.at_least},
    )


def ratio_scores(rates: Mapping[str, Rates], size: SearchSize = FULL) -> tuple[Score, ...]:
    """Our rates over those of OpenSpiel's Python search, with their thresholds.

    Args:
        rates: By game; a game without OpenSpiel's has no score.
        size: Its thresholds.
    """
    return tuple(
        score_over(
            _over(found["uct"], found[PYTHON]),
            _score_name(game),
            median,
            at_least=size.at_least.get(game),
        )
        for game, found in rates.items()
        if PYTHON in found
    )


def cost_scores(
    costs: Mapping[tuple[str, str], Overhead], size: SearchSize = FULL
) -> tuple[Score, ...]:
    """The share outside the game and its microseconds, where a threshold holds."""
    cost = costs.get((MEASURED, "uct"))
    if cost is None:
        return ()
    repeats, name = len(cost.whole), f"share of UCT outside the game, {MEASURED}"
    return (
        Score(name, cost.share, repeats, at_most=size.outside_at_most),
        Score(f"microseconds a simulation outside the game, {MEASURED}", cost.outside_us, repeats),
    )


def _score_name(game: str) -> str:
    return f"simulations a second of UCT over OpenSpiel's Python MCTS, {game}"


def _over(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratio in every round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def _rate_rows(contests: Sequence[Contest], rates: Mapping[str, Rates]) -> list[Row]:
    """A row a game and search: its rate, and ours of the same kind over it."""
    rows = list[Row]()
    for contest in contests:
        found = rates[contest.name]
        for name, values in found.items():
            row: Row = {
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


def _effective(size: SearchSize) -> Row:
    return {
        **machine(),
        "rounds": size.rounds,
        "seconds_a_turn": size.least_s,
        "repeats": size.repeats,
        "repeats_shown": size.shown,
        "block": size.block,
        "exploration": {**EXPLORATION},
        "exploration_openspiel": THEIR_EXPLORATION,
        "rollouts": 1,
        "solver": False,
        "openspiel": version("open_spiel") if has_openspiel() else None,
        "process": "plain, without a sandbox: modules of the library alone",
    }
