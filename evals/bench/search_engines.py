"""The searches that are compared: ours, and OpenSpiel's in Python and in C++.

All do the same number of simulations a decision with one random rollout each, from a state that is
known in full (`uct`, MCTS) or from what one seat sees of it (`ismcts`). None proves values, which
would end a search of a small game early.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np

from agents.belief.beliefs import Belief, Situation
from agents.search.ismcts import IsmctsSearch
from agents.search.meter import Meter
from agents.search.rules import bind
from agents.search.settings import SearchSettings
from agents.search.uct import UctSearch
from evals.bench.search_games import Contest, Start, start, their_start

Kind: TypeAlias = Literal["uct", "ismcts"]
Decide: TypeAlias = Callable[[], object]
"""One decision."""

EXPLORATION: Mapping[str, float] = {"uct": 1.0, "ismcts": 0.7}
THEIR_EXPLORATION = 2.0
MISSING = "OpenSpiel is not installed; it comes with the extra openspiel"


def has_openspiel() -> bool:
    """Whether OpenSpiel can be imported."""
    return find_spec("pyspiel") is not None


def searched(
    kind: Kind,
    contest: Contest,
    here: Start,
    namespace: dict[str, object],
    seed: int,
    *,
    block: int | None = None,
) -> Iterator[int]:
    """One decision of ours, a block of simulations at a time.

    Args:
        kind: The search.
        contest: With the simulations.
        here: Where it decides.
        namespace: The module's names: those of `here`, or others of the same meaning.
        seed: Of the search.
        block: Simulations between two yields; None makes all in one.

    Yields:
        Simulations done: 0 once all is prepared, and then after every block.
    """
    generator = np.random.default_rng(seed)
    count = contest.simulations
    settings = SearchSettings(simulations=count, exploration=EXPLORATION[kind])
    rules = bind(namespace, contest.players)
    meter = Meter(rules, settings)
    simulate: Callable[[], object]
    if kind == "uct":
        tree = UctSearch(meter.rules, here.state, settings, generator)
        simulate, result = tree.simulate, tree.result
    else:
        legal = tuple(rules.legal_actions(here.state))
        known = Situation(rules, namespace, here.initial, here.log(), legal)
        belief = Belief(known, "auto", 0, generator)
        sets = IsmctsSearch(meter.rules, here.seat, settings, generator)
        simulate, result = lambda: sets.simulate(belief.sample()), sets.result
    yield 0
    while meter.done < count:
        meter.run(simulate, at_most=block)
        yield meter.done
    result(meter)


def engines(contest: Contest, seed: int) -> dict[str, Decide]:
    """What can search a game here, by name."""
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
    return {name: _at(search, state) for name, search in found.items()}


def _at(search: Callable[[Any], object], state: Any) -> Decide:  # noqa: ANN401
    return lambda: search(state)


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
