"""Eval: what solving a small game is worth, and what searching it is not.

On Kuhn and Leduc poker, whose every information state is enumerated, NashConv says exactly how far
a policy is from an equilibrium.

- The *solver* is CFR+ (`agents.solving`), held against OpenSpiel's NashConv of its average policy,
  and uniform play against the known 11/12 of Kuhn poker.
- The *searches* are the player `ismcts` with its default settings, in a sandboxed worker as in any
  match, and OpenSpiel's C++ ISMCTSBot: the most visited move, one rollout a simulation, both with
  the same simulations and equally many searches an information state in the same run. Their average
  policies are sampled (`evals.solving_searches`); finitely many searches put NashConv too high,
  for both alike. On Leduc they are asked at one information state of every class under the exchange
  of equal cards (`evals.solving_symmetry`).
- *Head to head* the solver's policy and those of the searches are set against each other by
  evaluating the whole tree: a hand of Leduc has a standard deviation of about 4.2, and 100 hands
  would tell nothing.

More simulations do not make a search over information sets converge to an equilibrium; the result
says so with the figures.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import sqrt
from statistics import stdev
from typing import cast

from pydantic import JsonValue

from agents.players import parse_spec
from agents.search.rules import bind
from agents.solving import (
    Behaviour,
    SequenceForm,
    cfr_plus,
    enumerate_game,
    expected_returns,
    nash_conv,
    uniform,
)
from evals.bench.timings import machine
from evals.options import EvalOptions
from evals.results import EvalResult, Score
from evals.solving_searches import (
    THEIR_EXPLORATION,
    Sampled,
    Translate,
    kuhn_action,
    leduc_action,
    ours,
    sampled,
    their_nash_conv,
    theirs,
)
from evals.solving_symmetry import alone, classes
from games import library
from games.contract import State, load_namespace

UNIFORM_KUHN = 11 / 12
SOLVED_AT_MOST, SECONDS_AT_MOST = 0.01, 10.0
WORSE_AT_MOST = 0.15
MISSING = "OpenSpiel is not installed; it comes with the extra openspiel"
_ITERATIONS = 300
_KUHN, _LEDUC = "kuhn_poker", "leduc_poker"
_TRANSLATES: Mapping[str, Translate] = {_KUHN: kuhn_action, _LEDUC: leduc_action}


@dataclass(frozen=True)
class Size:
    """How much is searched.

    Attributes:
        searches: Searches at each information state, by the simulations of one.
        held: The simulations at which ours are held against OpenSpiel's.
        again: Times OpenSpiel's search is sampled anew there, which shows how far chance moves
            such a figure.
        is_strict: Whether the threshold stands alone, without what chance may do to it.
        searched: The games that are searched.
    """

    searches: Mapping[int, int]
    held: int = 1000
    again: int = 5
    is_strict: bool = True
    searched: tuple[str, ...] = ("kuhn_poker", "leduc_poker")


FULL = Size({30: 20, 100: 20, 1000: 20, 10_000: 4})
QUICK = Size({30: 2, 100: 2, 1000: 2}, is_strict=False)


@dataclass(frozen=True)
class Solved:
    """A game with CFR+'s average policy, and how long that took, its enumeration included."""

    name: str
    game: SequenceForm
    behaviours: tuple[Behaviour, ...]
    seconds: float

    @property
    def nash_conv(self) -> float:
        """Of that policy."""
        return nash_conv(self.game, self.behaviours).total


def run(seed: int, tell: Callable[[str], None], options: EvalOptions) -> EvalResult:
    """Measure with the usual sizes."""
    return measure(seed, tell, QUICK if options.quick else FULL)


def measure(seed: int, tell: Callable[[str], None], size: Size) -> EvalResult:
    """Solve and search both games.

    Args:
        seed: Of the searches.
        tell: Hears each result.
        size: How much is searched.
    """
    games = {name: solved(name) for name in (_KUHN, _LEDUC)}
    for one in games.values():
        tell(f"{one.name}: CFR+ reaches NashConv {one.nash_conv:.4f} in {one.seconds:.1f} s")
    found = dict[tuple[str, str, int], Sampled]()
    again = list[float]()
    for name in size.searched:
        one = games[name]
        shares = classes if name == _LEDUC else alone
        known = [shares(one.game, seat) for seat in range(2)]
        for simulations, searches in size.searches.items():
            for who in ("ismcts", "OpenSpiel ISMCTSBot") if find_spec("pyspiel") else ("ismcts",):
                policy = _searched(one, who, simulations, seed, (searches, known))
                found[name, who, simulations] = policy
                tell(
                    f"{name}: {who}, {simulations} simulations: NashConv {policy.nash_conv:.3f} "
                    f"from {policy.searches} searches a state ({policy.halves:.3f} from half)"
                )
            if name == _LEDUC and simulations == size.held and find_spec("pyspiel"):
                again = [
                    _searched(one, "", simulations, seed + 1 + n, (searches, known)).nash_conv
                    for n in range(size.again)
                ]
    words = conclusion(games[_LEDUC], found)
    tell(words)
    return EvalResult(
        name="solving",
        scores=(*solver_scores(games), *search_scores(found, size, again)),
        samples=(*_solver_rows(games), *_search_rows(found), *_duels(games, found)),
        effective={**_effective(seed, size, again), "in_words": words},
        unscored={} if find_spec("pyspiel") else {_score_name(size): MISSING},
    )


def solved(name: str) -> Solved:
    """Enumerate and solve a preset of the library."""
    begun = time.perf_counter()
    namespace = load_namespace(library.source(name))
    initial_state = cast("Callable[[int], State]", namespace["initial_state"])
    game = enumerate_game(bind(namespace, 2), initial_state(2))
    return Solved(name, game, cfr_plus(game, _ITERATIONS), time.perf_counter() - begun)


def _searched(
    one: Solved, who: str, simulations: int, seed: int, how: tuple[int, Sequence[Sequence[int]]]
) -> Sampled:
    searches, known = how
    if who == "ismcts":
        spec = f"ismcts:simulations={simulations}"
        with ours(one.game, library.source(one.name), spec, seed) as ask:
            return sampled(one.game, ask, searches, known)
    ask = theirs(one.game, one.name, _TRANSLATES[one.name], simulations, seed)
    return sampled(one.game, ask, searches, known)


def solver_scores(games: Mapping[str, Solved]) -> tuple[Score, ...]:
    """The solver's distance from equilibrium and its time; the oracle of uniform play."""
    kuhn, leduc = games[_KUHN], games[_LEDUC]
    error = abs(nash_conv(kuhn.game, uniform(kuhn.game)).total - UNIFORM_KUHN)
    return (
        Score(name="error of uniform play's NashConv, Kuhn", value=error, at_most=1e-9, scored=1),
        Score(
            name="NashConv of CFR+, Leduc", value=leduc.nash_conv, at_most=SOLVED_AT_MOST, scored=1
        ),
        Score(
            name="seconds of CFR+, Leduc, enumeration included",
            value=leduc.seconds,
            at_most=SECONDS_AT_MOST,
            scored=1,
        ),
    )


def search_scores(
    found: Mapping[tuple[str, str, int], Sampled], size: Size, again: Sequence[float]
) -> tuple[Score, ...]:
    """Our NashConv less OpenSpiel's, at the same simulations and searches."""
    theirs_there = found.get((_LEDUC, "OpenSpiel ISMCTSBot", size.held))
    if theirs_there is None:
        return ()
    our = found[_LEDUC, "ismcts", size.held]
    allowed = WORSE_AT_MOST + (0.0 if size.is_strict else tolerance(again))
    gap = our.nash_conv - theirs_there.nash_conv
    return (Score(name=_score_name(size), value=gap, at_most=allowed, scored=our.asked),)


def tolerance(again: Sequence[float]) -> float:
    """Two standard errors of the difference of two such figures, from samples of one of them."""
    return 2.0 * stdev(again) * sqrt(2.0)


def _score_name(size: Size) -> str:
    return f"NashConv of ismcts above OpenSpiel's ISMCTSBot, Leduc, {size.held} simulations"


def conclusion(leduc: Solved, found: Mapping[tuple[str, str, int], Sampled]) -> str:
    """What the figures say of searching for an equilibrium, in words."""
    told = list[str]()
    for who in ("ismcts", "OpenSpiel ISMCTSBot"):
        figures = [
            f"{policy.nash_conv:.2f} at {simulations}"
            for (name, by, simulations), policy in found.items()
            if name == leduc.name and by == who
        ]
        if figures:
            told.append(f"{who} {', '.join(figures)}")
    return (
        "More simulations do not make ISMCTS converge to an equilibrium. NashConv on Leduc poker, "
        f"0 at an equilibrium, by simulations: {'; '.join(told)}. The solver, CFR+, reaches "
        f"{leduc.nash_conv:.4f} in {leduc.seconds:.1f} s."
    )


def _solver_rows(games: Mapping[str, Solved]) -> list[dict[str, JsonValue]]:
    rows = list[dict[str, JsonValue]]()
    for one in games.values():
        row: dict[str, JsonValue] = {
            "game": one.name,
            "policy": "CFR+",
            "iterations": _ITERATIONS,
            "nash_conv": one.nash_conv,
            "seconds": round(one.seconds, 2),
            "information_states": one.game.num_states,
            "uniform_nash_conv": nash_conv(one.game, uniform(one.game)).total,
        }
        if find_spec("pyspiel"):
            row["openspiel_nash_conv"] = their_nash_conv(one.name, _ITERATIONS)
        rows.append(row)
    return rows


def _search_rows(found: Mapping[tuple[str, str, int], Sampled]) -> list[dict[str, JsonValue]]:
    return [
        {
            "game": name,
            "policy": who,
            "simulations": simulations,
            "nash_conv": round(policy.nash_conv, 4),
            "nash_conv_from_half": round(policy.halves, 4),
            "searches_a_state": policy.searches,
            "searches": policy.asked,
        }
        for (name, who, simulations), policy in found.items()
    ]


def _duels(
    games: Mapping[str, Solved], found: Mapping[tuple[str, str, int], Sampled]
) -> list[dict[str, JsonValue]]:
    """The solver's policy against every search's, from both seats, by exact evaluation."""
    rows = list[dict[str, JsonValue]]()
    for (name, who, simulations), policy in found.items():
        one = games[name]
        first = expected_returns(one.game, (one.behaviours[0], policy.behaviours[1]))[0]
        second = expected_returns(one.game, (policy.behaviours[0], one.behaviours[1]))[1]
        rows.append(
            {
                "game": name,
                "duel": f"CFR+ v {who}",
                "simulations": simulations,
                "return_of_cfr_in_seat_0": round(first, 4),
                "return_of_cfr_in_seat_1": round(second, 4),
                "mean": round((first + second) / 2, 4),
            }
        )
    return rows


def _effective(seed: int, size: Size, again: Sequence[float]) -> dict[str, JsonValue]:
    return {
        **machine(),
        "seed": seed,
        "iterations": _ITERATIONS,
        "ismcts": str(parse_spec(f"ismcts:simulations={size.held}")),
        "exploration_openspiel": THEIR_EXPLORATION,
        "searches_a_state": {str(count): k for count, k in size.searches.items()},
        "openspiel_sampled_again": [round(figure, 4) for figure in again],
        "tolerance": 0.0 if size.is_strict or not again else round(tolerance(again), 4),
        "process": "the solver in a plain process, on the library; ismcts in a sandboxed worker",
    }
