"""Sequential halving: the root's actions are narrowed to the better half, again and again.

The simulations are shared evenly among `ceil(log2 A)` rounds of `A` actions. A round values every
action that is left equally often, all in the same determinizations (common random worlds), then
keeps the half with the larger means; of the last two the better is played, of equals one at random.
So the actions that matter are valued many times more often than one-step look-ahead could for the
same simulations, and no opponent is looked at beyond what the leaf says.

Reference:
    Karnin, Koren & Somekh (2013), Almost Optimal Exploration in Multi-Armed Bandits, algorithm 1;
    here means go on from round to round, which common worlds allow.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2

import numpy as np

from agents.search.bandit import Bandit
from agents.search.leaves import Leaves
from agents.search.meter import Clock, Meter
from agents.search.policies import Score, drawing
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import Action, State


def halving(
    rules: Rules,
    seat: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows; see `agents.search.flatmc.flatmc` for the arguments.

    `determinize` is called once for each pass over the actions that are left. Simulations are
    never exceeded: where there are fewer than actions, only so many, at random, are valued.

    Raises:
        ValueError: If the budget is not one of simulations, whose rounds are known beforehand, or
            as `flatmc`.
        ModuleFault: As `flatmc`.
    """
    if settings.budget != "simulations":
        raise ValueError(f"budget is {settings.budget!r}; required: simulations")
    meter = Meter(rules, settings, clock, counting=True)
    leaves = Leaves(meter.rules, settings, generator, heuristics)
    bandit = Bandit(meter.rules, seat, leaves, settings, drawing(generator))
    first = determinize()
    left = _shuffled(bandit, bandit.enter(first))[: settings.simulations]
    rounds = max(1, ceil(log2(len(left))))
    worlds = _worlds(bandit, first, determinize)
    for number in range(rounds):
        share = settings.simulations * (number + 1) // rounds - meter.done
        turns = ((state, action) for state in worlds for action in tuple(left))

        def simulate(turns: Iterator[tuple[State, Action]] = turns) -> None:
            state, action = next(turns)
            bandit.count(action, bandit.worth(state, action))

        passes = max(1, share // len(left))
        meter.run(simulate, at_most=passes * len(left))
        if number < rounds - 1:
            left = _better_half(bandit, left)
    return bandit.result(meter, _better_half(bandit, left)[0])


def _worlds(bandit: Bandit, first: State, determinize: Callable[[], State]) -> Iterator[State]:
    """Determinizations without end, each one in which the seat is to move."""
    yield first
    while True:
        state = determinize()
        bandit.enter(state)
        yield state


def _shuffled(bandit: Bandit, actions: Sequence[Action]) -> list[Action]:
    """The actions in an order drawn at random, which then decides between equals."""
    keys = [bandit.draw() for _ in actions]
    return [actions[index] for index in sorted(range(len(keys)), key=keys.__getitem__)]


def _better_half(bandit: Bandit, actions: Sequence[Action]) -> list[Action]:
    """The half of larger means, at least one action; the better first."""
    ranked = sorted(actions, key=lambda action: -bandit.means[bandit.place[action]])
    return ranked[: ceil(len(ranked) / 2)]
