"""Benchmark: how much of a UCT search on connect four is spent outside the game's own functions.

    python -m evals.bench.uct_connect_four [--simulations 1000] [--repeats 40] [--seed 7]

Method. Two searches with the same seed make exactly the same calls of game functions.

1. *Whole*: the search as it is, timed with `time.process_time`, nothing added.
2. *Game*: the same search with every game call noted as (function, arguments). After each
   simulation its calls are made once more in the same order, and only that is timed; so the calls
   run on states just as fresh in the cache as in the search. The same loop over the same notes
   without the calls is timed too and taken off, as are the clock's own readings.

`outside = 1 - game / whole`. A call's own cost (its frame, its arguments) counts as the game's. No
profiler is involved: one would charge its own cost to whoever makes the most calls. The two
timings alternate over the repeats, which all do the same work; as other processes only ever add
time, the least of each is reported. On a busy machine the two least may still come from unlike
moments: repeat it there, or read it on an idle one.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, cast

import numpy as np

from agents.search.rules import Rules, bind
from agents.search.settings import SearchSettings
from agents.search.uct import UctSearch, uct
from games import library
from games.contract import Action, State, load_namespace

Call: TypeAlias = tuple[Callable[..., object], State, Action | None]


@dataclass(frozen=True)
class Measured:
    """One repeat, in processor seconds for the whole search.

    Attributes:
        whole: The search.
        game: The game calls it made.
        calls: How many those were.
    """

    whole: float
    game: float
    calls: int


def measure(simulations: int, seed: int) -> Measured:
    """Measure one search from the empty board."""
    namespace = load_namespace(library.source("connect_four"))
    rules = bind(namespace, 2)
    root = cast("Callable[[int], State]", namespace["initial_state"])(2)
    settings = SearchSettings(simulations=simulations)

    begun = time.process_time()
    uct(rules, root, settings, np.random.default_rng(seed))
    whole = time.process_time() - begun

    calls: list[Call] = []
    search = UctSearch(_noting(rules, calls), root, settings, np.random.default_rng(seed))
    game, count = _replayed(calls), len(calls)
    for _ in range(simulations):
        calls.clear()
        search.simulate()
        game += _replayed(calls)
        count += len(calls)
    return Measured(whole, game, count)


def _replayed(calls: list[Call]) -> float:
    start = time.process_time()
    for function, state, action in calls:
        if action is None:
            function(state)
        else:
            function(state, action)
    called = time.process_time()
    for _function, _state, action in calls:
        if action is None:
            pass
        else:
            pass
    return (called - start) - (time.process_time() - called)


def _noting(rules: Rules, calls: list[Call]) -> Rules:
    def of_state(function: Callable[..., object], state: State) -> object:
        calls.append((function, state, None))
        return function(state)

    def apply_action(state: State, action: Action) -> State:
        calls.append((rules.apply_action, state, action))
        return rules.apply_action(state, action)

    return Rules(
        num_players=rules.num_players,
        current_player=cast("Callable[[State], int]", partial(of_state, rules.current_player)),
        legal_actions=cast(
            "Callable[[State], list[Action]]", partial(of_state, rules.legal_actions)
        ),
        apply_action=apply_action,
        rewards=cast("Callable[[State], list[float]]", partial(of_state, rules.rewards)),
        observations=rules.observations,
        events=rules.events,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="UCT on connect four: time outside the game.")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    runs = [measure(given.simulations, given.seed) for _ in range(given.repeats)]
    whole = min(run.whole for run in runs) / given.simulations
    game = min(run.game for run in runs) / given.simulations
    calls = runs[0].calls / given.simulations
    sys.stdout.write(
        f"UCT, connect four, first move, {given.simulations} simulations, one random rollout each, "
        f"seed {given.seed}, {given.repeats} repeats\n"
        f"microseconds a simulation:          {whole * 1e6:8.1f}\n"
        f"of them in the game's functions:    {game * 1e6:8.1f}\n"
        f"simulations a second:               {1 / whole:8.0f}\n"
        f"game calls a simulation:            {calls:8.1f}\n"
        f"processor time outside the game:    {1 - game / whole:8.1%}\n"
    )


if __name__ == "__main__":
    main()
