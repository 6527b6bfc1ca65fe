"""Sequential halving: the root's actions are narrowed to the better half, again and again.

The budget is shared evenly among `ceil(log2 A)` rounds of `A` actions. A round values every action
that is left equally often, all in the same determinizations (common random worlds), then keeps the
half with the larger means; of the last two the better is played, of equals one at random. So the
actions that matter are valued many times more often than one-step look-ahead could for the same
budget, and no opponent is looked at beyond what the leaf says.

Reference:
    Karnin, Koren & Somekh (2013), Almost Optimal Exploration in Multi-Armed Bandits, algorithm 1;
    here means go on from round to round, which common worlds allow.
"""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf, log2

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

    `determinize` is called once for each pass over the actions that are left. A budget too small
    for one pass over all actions values as many as it can, at random.

    Raises:
        ValueError, ModuleFault: As `flatmc`.
    """
    meter = Meter(rules, settings, clock, counting=True)
    leaves = Leaves(meter.rules, settings, generator, heuristics)
    bandit = Bandit(meter.rules, seat, leaves, settings, drawing(generator))
    first = determinize()
    left = _shuffled(bandit, bandit.enter(first))
    turns = (
        (state, action) for state in _worlds(bandit, first, determinize) for action in tuple(left)
    )

    def simulate() -> None:
        state, action = next(turns)
        bandit.count(action, bandit.worth(state, action))

    rounds = max(1, ceil(log2(len(left))))
    for number in range(rounds):
        share = _total(settings) * (number + 1) / rounds
        while True:
            before = _spent(meter)
            meter.run(simulate, at_most=len(left))
            after = _spent(meter)
            ends = after if number == rounds - 1 else 2 * after - before
            if after == before or ends > share or after >= share:
                break
        left[:] = _better_half(bandit, left)
    return bandit.result(meter, left[0])


def _total(settings: SearchSettings) -> float:
    """The budget, in its own unit."""
    totals = {"calls": settings.calls, "time": settings.seconds}
    return totals.get(settings.budget, settings.simulations)


def _spent(meter: Meter) -> float:
    """What was used of the budget, in its own unit."""
    spent = {"calls": meter.made, "time": meter.seconds or 0.0}
    return spent.get(meter.settings.budget, meter.done)


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
    """The half of larger means, at least one action; the better first, what was not tried last."""

    def rank(action: Action) -> float:
        place = bandit.place[action]
        return -bandit.means[place] if bandit.visits[place] else inf

    return sorted(actions, key=rank)[: ceil(len(actions) / 2)]
