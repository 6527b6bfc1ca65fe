"""The root's actions as a bandit: what flat Monte Carlo and one-step look-ahead share."""

from collections.abc import Callable, Sequence
from math import inf, log, sqrt

from agents.search.leaves import Leaves
from agents.search.meter import Meter
from agents.search.policies import Draw
from agents.search.rollouts import add
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from agents.search.tree import ReturnRange
from games.contract import TERMINAL, Action, State


class Bandit:
    """Statistics of the actions that one seat can choose from.

    Attributes:
        actions: `[A]` the actions of the first determinization, in the module's order, and then
            any that only later ones allow.
        visits: `[A]` simulations of each.
        means: `[A]` mean return of the seat from each on; 0 where there are no visits.
        entered: The legal actions of the newest determinization, which hardly ever change.
    """

    def __init__(
        self, rules: Rules, seat: int, leaves: Leaves, settings: SearchSettings, draw: Draw
    ) -> None:
        """Nothing tried yet."""
        self.rules = rules
        self.seat = seat
        self.leaves = leaves
        self.exploration = settings.exploration
        self.range = ReturnRange(rules.num_players, settings.value_range)
        self.draw = draw
        self.place: dict[Action, int] = {}
        self.actions: list[Action] = []
        self.visits: list[int] = []
        self.means: list[float] = []
        self.entered: list[Action] = []

    def simulate(self, state: State, choose: Callable[[Sequence[Action]], Action]) -> None:
        """Try one action in a determinization.

        Raises:
            ValueError: If the seat is not to move there.
        """
        action = choose(self.enter(state))
        self.count(action, self.worth(state, action))

    def enter(self, state: State) -> list[Action]:
        """The legal actions of a determinization, of which it knows from now on.

        Raises:
            ValueError: If the seat is not to move there.
        """
        player = self.rules.current_player(state)
        if player != self.seat:
            raise ValueError(
                f"the determinization has player {player} to move; required: seat {self.seat}"
            )
        legal = self.rules.legal_actions(state)
        if legal != self.entered:
            for action in legal:
                self._hold(action)
            self.entered = legal
        return legal

    def worth(self, state: State, action: Action) -> list[float]:
        """`[num_players]` what an action pays, at once and later."""
        rules = self.rules
        after = rules.apply_action(state, action)
        paid = rules.rewards(after)
        if rules.current_player(after) == TERMINAL:
            return paid
        returns = add(paid, self.leaves.returns(after, paid))
        if self.leaves.mast is not None:
            later = [total - now for total, now in zip(returns, paid, strict=True)]
            self.leaves.mast.learn([(self.seat, action, paid)], later)
        return returns

    def count(self, action: Action, returns: list[float]) -> None:
        """Take a simulation of an action into account."""
        value, index = returns[self.seat], self._hold(action)
        self.visits[index] += 1
        self.means[index] += (value - self.means[index]) / self.visits[index]
        self.range.widen(self.seat, value)

    def choose(self, legal: Sequence[Action]) -> Action:
        """The action with the largest bound; untried ones first, at random."""
        places = [self._hold(action) for action in legal]
        untried = [action for action, i in zip(legal, places, strict=True) if not self.visits[i]]
        if untried:
            return untried[int(self.draw() * len(untried))]
        tried = sum(self.visits[index] for index in places)
        bonus = self.exploration * self.range.spread[self.seat] * sqrt(log(tried))
        bounds = [self.means[i] + bonus / sqrt(self.visits[i]) for i in places]
        return legal[bounds.index(max(bounds))]

    def _hold(self, action: Action) -> int:
        if action not in self.place:
            self.place[action] = len(self.actions)
            self.actions.append(action)
            self.visits.append(0)
            self.means.append(0.0)
        return self.place[action]

    def best_mean(self) -> Action:
        """The action of largest mean; of equals one at random."""
        means = [m if n else -inf for n, m in zip(self.visits, self.means, strict=True)]
        best = max(means)
        equal = [index for index, mean in enumerate(means) if mean == best]
        return self.actions[equal[int(self.draw() * len(equal))]]

    def result(self, meter: Meter, chosen: Action | None = None) -> SearchResult:
        """What was found."""
        pairs = zip(self.visits, self.means, strict=True)
        return SearchResult(
            actions=tuple(self.actions),
            visits=tuple(self.visits),
            means=tuple(mean if visits else None for visits, mean in pairs),
            simulations=meter.done,
            nodes=1,
            cut_rollouts=self.leaves.rollouts.cut,
            calls=meter.made,
            seconds=meter.seconds,
            chosen=chosen,
        )
