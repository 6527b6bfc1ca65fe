"""Flat Monte Carlo: a bandit over the root's actions, each worth what play after it paid.

A simulation chooses an action by UCB1 (Auer, Cesa-Bianchi & Fischer 2002): untried ones first, at
random, then the one that maximises `mean + exploration * spread * sqrt(log(N) / n)`, with `N`
simulations so far, `n` of them with that action, and `spread` the width of the returns seen; it
applies the action in a determinization and asks what the state after it is worth. There is
no tree: opponents play as the rollouts do.
"""

from collections.abc import Callable, Sequence

import numpy as np

from agents.search.bandit import Bandit
from agents.search.leaves import Leaves
from agents.search.meter import Clock, Meter
from agents.search.policies import Score, drawing
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import State


def flatmc(
    rules: Rules,
    seat: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows.

    Args:
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Gives a full state that the seat cannot tell from the true one; called once
            a simulation.
        settings: What to do.
        generator: The only source of randomness of the search itself.
        heuristics: The game's heuristics, for leaf="heuristic".
        clock: Seconds, where the budget is time.

    Raises:
        ValueError: If the settings ask for heuristics or a clock that is not given.
        ModuleFault: If `leaf` is "value" and the module has no `value_function`.
    """
    meter = Meter(rules, settings, clock, counting=True)
    leaves = Leaves(meter.rules, settings, generator, heuristics)
    bandit = Bandit(meter.rules, seat, leaves, settings, drawing(generator))
    meter.run(lambda: bandit.simulate(determinize(), bandit.choose))
    return bandit.result(meter)
