"""Flat searches of the root's actions: flat Monte Carlo, one-step look-ahead, sequential halving.

There is no tree: an action is applied in a determinization and the state after it valued by a leaf
estimate, so opponents play as the rollouts do. A simulation is one action valued once.

- Flat Monte Carlo chooses by UCB1 (Auer, Cesa-Bianchi & Fischer 2002): untried actions first, at
  random, then the one that maximises `mean + exploration * spread * sqrt(log(N) / n)`, with `N`
  simulations so far, `n` of them with that action, and `spread` the width of the returns seen.
- One-step look-ahead (Perez-Liebana et al. 2019, General Video Game AI, section 2; the OSLA player
  of Gaina et al. 2020, TAG: a Tabletop Games Framework) values all actions in the same
  determinization, then all in the next one (common random worlds, which take the worlds' own
  differences out of the comparison), and plays the action of the largest mean, of equals one at
  random. Under a budget of calls or time the last pass over the actions may be incomplete.
- Sequential halving (Karnin, Koren & Somekh 2013, Almost Optimal Exploration in Multi-Armed
  Bandits, algorithm 1) shares the budget evenly among `ceil(log2 A)` rounds of `A` actions. A round
  values every action that is left equally often, all in the same determinizations, then keeps the
  half with the larger means; of the last two the better is played, of equals one at random. Means
  go on from round to round, which common worlds allow.
"""

from collections.abc import Iterator, Sequence
from math import ceil, inf, log2, sqrt
from typing import Annotated

import numpy as np
from pydantic import Field

from agents.search.leaves import Leaves, drawing, one_of_best
from agents.search.meter import Meter
from agents.search.settings import (
    BoundSettings,
    BudgetSettings,
    CallLimit,
    Count,
    EndSettings,
    LeafChoice,
    LeafSettings,
    RolloutCount,
    RolloutSettings,
    SearchResult,
    SearchView,
    SecondLimit,
    When,
)
from agents.search.statistics import ActionTable, ReturnRange, add, exploration_bonus
from games.modules import require_seat
from games.values import TERMINAL, Action, State


class FlatmcSettings(RolloutSettings, BudgetSettings, BoundSettings):
    """Settings of flat Monte Carlo."""


class _PassSettings(EndSettings):
    """The end of a decision that is made of passes over all actions."""

    passes: Annotated[Count, When("budget", ("simulations",))] = Field(
        default=1, description="Times every action is valued, each in a hidden state of its own."
    )
    calls: CallLimit = 4000
    seconds: SecondLimit = 1.0


class OslaSettings(LeafSettings, _PassSettings):
    """Settings of one-step look-ahead."""

    leaf: LeafChoice = "auto"
    rollouts: RolloutCount = 4


class HalvingSettings(LeafSettings, BudgetSettings):
    """Settings of sequential halving."""


def decide_flatmc(
    view: SearchView, settings: FlatmcSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from what one seat knows; `view.determinize` is called once a simulation.

    Raises:
        ValueError: If the settings ask for heuristics or a clock that is not given, or the seat is
            not to move in a determinization.
        ModuleFault: If `leaf` is "value" and the module has no `value_function`.
    """
    meter = Meter(view.rules, settings, view.clock, counting=True)
    bandit = Bandit(view, meter, settings, generator, settings.exploration)

    def once() -> None:
        state = view.determinize()
        bandit.simulate(state, bandit.choose(bandit.enter(state)))

    meter.run(once)
    return bandit.result(meter)


def decide_osla(
    view: SearchView, settings: OslaSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from what one seat knows; `view.determinize` is called once a pass.

    Raises:
        ValueError, ModuleFault: As `decide_flatmc`.
    """
    first = view.determinize()
    budget = BudgetSettings.model_construct(
        budget=settings.budget,
        simulations=settings.passes * len(view.rules.legal_actions(first)),
        calls=settings.calls,
        seconds=settings.seconds,
    )
    meter = Meter(view.rules, budget, view.clock, counting=True)
    bandit = Bandit(view, meter, settings, generator)
    worlds = _worlds(view, bandit, first)
    turns = ((state, action) for state, legal in worlds for action in legal)
    meter.run(lambda: bandit.simulate(*next(turns)))
    return bandit.result(meter, bandit.best_mean())


def decide_halving(
    view: SearchView, settings: HalvingSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from what one seat knows.

    `view.determinize` is called once for each pass over the actions that are left. A budget too
    small for one pass over all actions values as many as it can, at random.

    Raises:
        ValueError, ModuleFault: As `decide_flatmc`.
    """
    meter = Meter(view.rules, settings, view.clock, counting=True)
    bandit = Bandit(view, meter, settings, generator)
    first = view.determinize()
    left = _shuffled(bandit, bandit.enter(first))
    worlds = _worlds(view, bandit, first)
    turns = ((state, action) for state, _ in worlds for action in tuple(left))
    total = {"calls": settings.calls, "time": settings.seconds}.get(
        settings.budget, settings.simulations
    )
    rounds = max(1, ceil(log2(len(left))))
    for number in range(rounds):
        share = total * (number + 1) / rounds
        while True:
            before = _spent(meter)
            meter.run(lambda: bandit.simulate(*next(turns)), at_most=len(left))
            after = _spent(meter)
            ends = after if number == rounds - 1 else 2 * after - before
            if after == before or ends > share or after >= share:
                break
        left[:] = _better_half(bandit, left)
    return bandit.result(meter, left[0])


def _spent(meter: Meter) -> float:
    """The used part of the budget, in its own unit."""
    spent = {"calls": meter.made, "time": meter.seconds or 0.0}
    return spent.get(meter.settings.budget, meter.done)


def _worlds(
    view: SearchView, bandit: "Bandit", first: State
) -> Iterator[tuple[State, list[Action]]]:
    """Determinizations without end, each one in which the seat is to move, with what is legal."""
    state = first
    while True:
        yield state, bandit.enter(state)
        state = view.determinize()


def _shuffled(bandit: "Bandit", actions: Sequence[Action]) -> list[Action]:
    """The actions in an order drawn at random, which then decides between equals."""
    keys = [bandit.draw() for _ in actions]
    return [actions[index] for index in sorted(range(len(keys)), key=keys.__getitem__)]


def _better_half(bandit: "Bandit", actions: Sequence[Action]) -> list[Action]:
    """The half of larger means, at least one action; the better first, what was not tried last."""

    def rank(action: Action) -> float:
        place = bandit.place[action]
        return -bandit.means[place] if bandit.visits[place] else inf

    return sorted(actions, key=rank)[: ceil(len(actions) / 2)]


class Bandit(ActionTable):
    """Statistics of the actions of one seat: those of the first determinization, and later ones.

    Attributes:
        entered: The legal actions of the newest determinization, which hardly ever change.
    """

    def __init__(
        self,
        view: SearchView,
        meter: Meter,
        settings: LeafSettings,
        generator: np.random.Generator,
        exploration: float = 0.0,
    ) -> None:
        """Nothing tried yet."""
        super().__init__()
        self.rules = meter.rules
        self.seat = view.seat
        self.leaves = Leaves(meter.rules, settings, generator, view.heuristics)
        self.exploration = exploration
        self.range = ReturnRange(self.rules.num_players)
        self.draw = drawing(generator)
        self.entered: list[Action] = []

    def enter(self, state: State) -> list[Action]:
        """The legal actions of a determinization, of which it knows from now on.

        Raises:
            ValueError: If the seat is not to move there.
        """
        require_seat(self.rules, state, self.seat)
        legal = self.rules.legal_actions(state)
        if legal != self.entered:
            for action in legal:
                self.hold(action)
            self.entered = legal
        return legal

    def worth(self, state: State, action: Action) -> list[float]:
        """`[num_players]` rewards of an action, at once and later."""
        rules = self.rules
        after = rules.apply_action(state, action)
        rewards = rules.rewards(after)
        if rules.current_player(after) == TERMINAL:
            return rewards
        returns = add(rewards, self.leaves.returns(after, rewards))
        if self.leaves.mast is not None:
            later = [total - now for total, now in zip(returns, rewards, strict=True)]
            self.leaves.mast.learn([(self.seat, action, rewards)], later)
        return returns

    def simulate(self, state: State, action: Action) -> None:
        """Try an action once."""
        value = self.worth(state, action)[self.seat]
        self.note(self.hold(action), value)
        self.range.widen(self.seat, value)

    def choose(self, legal: Sequence[Action]) -> Action:
        """The action with the largest bound; untried ones first, at random."""
        places = [self.hold(action) for action in legal]
        untried = [action for action, i in zip(legal, places, strict=True) if not self.visits[i]]
        if untried:
            return untried[int(self.draw() * len(untried))]
        tried = sum(self.visits[index] for index in places)
        bonus = exploration_bonus(self.exploration * self.range.spread[self.seat], tried)
        bounds = [self.means[i] + bonus / sqrt(self.visits[i]) for i in places]
        return legal[bounds.index(max(bounds))]

    def best_mean(self) -> Action:
        """The action of largest mean; of equals one at random."""
        means = [m if n else -inf for n, m in zip(self.visits, self.means, strict=True)]
        return [*self.place][one_of_best(means, self.draw)]

    def result(self, meter: Meter, chosen: Action | None = None) -> SearchResult:
        """The result."""
        return self.tabled(meter, self.leaves.rollouts.cut, chosen)
