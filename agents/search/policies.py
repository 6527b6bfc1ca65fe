"""Rollouts that follow a policy: MAST, heuristics, or uniform ones that keep a trace.

`MAST` (Finnsson & Björnsson 2008, Simulation-Based Approach to General Game Playing) keeps, for
every seat and action, the mean return `Q(a)` from that ply on over all plies that played it, in the
tree and in rollouts. Actions never played count as the best seen.

- "gibbs" (the same paper): `P(a) = exp(Q(a) / temperature) / sum_b exp(Q(b) / temperature)`, with
  `Q` less the largest where the sum would underflow;
- "mast", epsilon-greedy (Tak, Winands & Björnsson 2012, N-Grams and the Last-Good-Reply Policy):
  the action of largest `Q` with probability `1 - epsilon`, else a uniform one.

`Q` is taken to [0, 1] by the range of that seat's returns, as the tree's are.
"""

import sys
from collections.abc import Callable, Sequence
from math import exp
from typing import Protocol, TypeAlias

import numpy as np

from agents.search.rollouts import add, uniforms
from agents.search.rules import Rules
from agents.search.tree import ReturnRange
from games.contract import CHANCE, TERMINAL, Action, Observation, State
from games.engine import sample_index

Score: TypeAlias = Callable[[Observation, Action], float]
Played: TypeAlias = tuple[int, Action, list[float] | None]
"""One ply: the player, its action, what it paid (None for nothing)."""
Draw: TypeAlias = Callable[[], float]
SMALLEST = sys.float_info.min  # below it a float loses digits, then all of itself


class Policy(Protocol):
    """Picks the actions of a rollout."""

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """The action of `player`, who is a seat."""
        ...

    def learn(self, trace: Sequence[Played], returns: list[float]) -> None:
        """Take note of consecutive plies and what was paid after the last of them."""
        ...


class Uniform:
    """Every legal action alike."""

    def __init__(self, draw: Draw) -> None:
        """`draw` gives uniform numbers in [0, 1)."""
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `Policy`."""
        del state, player
        return legal[int(self.draw() * len(legal))]

    def learn(self, trace: Sequence[Played], returns: list[float]) -> None:
        """Nothing is learnt."""


class Mast:
    """The move-average sampling technique, epsilon-greedy or by Gibbs' distribution.

    Attributes:
        table: `(visits, mean)` of every (seat, action) played.
    """

    def __init__(
        self, num_players: int, draw: Draw, *, epsilon: float | None, temperature: float
    ) -> None:
        """`epsilon` None draws by Gibbs' distribution at `temperature`."""
        self.draw = draw
        self.epsilon = epsilon
        self.temperature = temperature
        self.range = ReturnRange(num_players, None)
        self.table: dict[tuple[int, Action], tuple[int, float]] = {}

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `Policy`."""
        del state
        if len(legal) == 1:
            return legal[0]
        if self.epsilon is None:
            return legal[self._gibbs(player, legal)]
        if self.draw() < self.epsilon:
            return legal[int(self.draw() * len(legal))]
        values = self._values(player, legal)
        best = max(values)
        equal = [index for index, value in enumerate(values) if value == best]
        return legal[equal[int(self.draw() * len(equal))]]

    def _gibbs(self, player: int, legal: Sequence[Action]) -> int:
        values = self._values(player, legal)
        weights = [exp((q - 1.0) / self.temperature) for q in values]
        total = sum(weights)
        if total < SMALLEST:
            best = max(values)
            weights = [exp((q - best) / self.temperature) for q in values]
            total = sum(weights)
        left = self.draw() * total
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return len(weights) - 1

    def _values(self, player: int, legal: Sequence[Action]) -> list[float]:
        """`[A]` means in [0, 1]; 1 where an action was never played."""
        get, low, spread = self.table.get, self.range.low[player], self.range.spread[player]
        found = [get((player, action)) for action in legal]
        return [1.0 if known is None else (known[1] - low) / spread for known in found]

    def learn(self, trace: Sequence[Played], returns: list[float]) -> None:
        """See `Policy`."""
        for player, action, paid in reversed(trace):
            if paid is not None:
                returns = add(returns, paid)
            if player == CHANCE:
                continue
            value = returns[player]
            visits, mean = self.table.get((player, action), (0, 0.0))
            visits += 1
            self.table[player, action] = visits, mean + (value - mean) / visits
            self.range.widen(player, value)


class PolicyRollouts:
    """Plays a policy at every seat, and chance by its probabilities.

    Attributes:
        policy: The policy.
        cut: Rollouts that reached the limit before the end.
        calls: Calls of `apply_action` made.
        trace: The plies of the last rollout.
    """

    def __init__(
        self, rules: Rules, policy: Policy, draw: Draw, limit: int, *, estimates: bool = False
    ) -> None:
        """Prepare rollouts.

        Args:
            rules: The module's functions.
            policy: Picks the seats' actions.
            draw: Uniform numbers in [0, 1), for chance.
            limit: Plies after which a rollout is cut, at least 1.
            estimates: Take the module's `value_function`, if it has one, where a rollout is cut.
        """
        self.rules = rules
        self.policy = policy
        self.draw = draw
        self.limit = limit
        self.value = rules.value if estimates else None
        self.cut = self.calls = 0
        self.trace: list[Played] = []

    def play(self, state: State, actions: Sequence[Action] | None = None) -> list[float]:
        """Play one rollout; `actions` are the legal ones at `state`, if the caller has them.

        Returns:
            `[num_players]` what was paid after entering `state`, and is estimated to come.
        """
        rules, trace = self.rules, list[Played]()
        for _ in range(self.limit):
            player = rules.current_player(state)
            if player == TERMINAL:
                break
            legal = rules.legal_actions(state) if actions is None else actions
            actions = None
            if player == CHANCE:
                action = sampled(rules, state, legal, self.draw())
            else:
                action = self.policy.choose(state, player, legal)
            state = rules.apply_action(state, action)
            paid = rules.rewards(state)
            trace.append((player, action, paid if any(paid) else None))
        self.trace = trace
        self.calls += len(trace)
        final = self._after(state, trace)
        self.policy.learn(trace, final)
        returns = final
        for _, _, paid_then in trace:
            if paid_then is not None:
                returns = add(returns, paid_then)
        return returns

    def _after(self, state: State, trace: Sequence[Played]) -> list[float]:
        """What is to come after the last ply: nothing, or an estimate where it was cut."""
        seats = range(self.rules.num_players)
        if self.rules.current_player(state) == TERMINAL:
            return [0.0 for _ in seats]
        self.cut += 1
        if self.value is None:
            return [0.0 for _ in seats]
        entered = (trace[-1][2] if trace else None) or [0.0 for _ in seats]
        return [self.value(state, seat) - entered[seat] for seat in seats]


def sampled(rules: Rules, state: State, legal: Sequence[Action], uniform: float) -> Action:
    """The outcome of a chance node that a uniform number in [0, 1) stands for."""
    if rules.chance_probabilities is None:
        return legal[int(uniform * len(legal))]
    return legal[sample_index(rules.chance_probabilities(state), uniform)]


def drawing(generator: np.random.Generator) -> Draw:
    """Uniform numbers in [0, 1), one a call, drawn from `generator` in blocks."""
    return uniforms(generator).__next__
