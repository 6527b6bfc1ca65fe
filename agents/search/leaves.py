"""The worth of a new leaf: rollouts to the end or truncated, the module's value, heuristics.

Rollouts are uniform, or follow a policy: MAST, heuristics, or uniform choices that keep a trace.
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
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp
from typing import TypeAlias

import numpy as np

from agents.search.rollouts import Rollouts
from agents.search.settings import (
    EndSettings,
    Ensemble,
    GraphSettings,
    LeafSettings,
    RolloutSettings,
)
from agents.search.statistics import ReturnRange, add
from games.engine import sample_index
from games.modules import Heuristic, Rules
from games.streams import uniforms
from games.values import CHANCE, TERMINAL, Action, ModuleFault, State

PlayedPly: TypeAlias = tuple[int, Action, list[float] | None]
"""One ply: the player, its action, its rewards (None where they are all 0)."""
Draw: TypeAlias = Callable[[], float]
SMALLEST = sys.float_info.min  # below it a float loses digits, then all of itself


class RolloutPolicy(ABC):
    """Picks the actions of a rollout."""

    @abstractmethod
    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """The action of `player`, who is a seat."""

    def learn(self, trace: Sequence[PlayedPly], returns: list[float]) -> None:
        """Take note of consecutive plies and of the rewards after the last: nothing, by default."""
        del trace, returns


class UniformPolicy(RolloutPolicy):
    """Every legal action alike."""

    def __init__(self, draw: Draw) -> None:
        """`draw` gives uniform numbers in [0, 1)."""
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `RolloutPolicy`."""
        del state, player
        return legal[int(self.draw() * len(legal))]


class MastPolicy(RolloutPolicy):
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
        self.range = ReturnRange(num_players)
        self.table: dict[tuple[int, Action], tuple[int, float]] = {}

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `RolloutPolicy`."""
        del state
        if len(legal) == 1:
            return legal[0]
        if self.epsilon is None:
            return legal[self._gibbs(player, legal)]
        if self.draw() < self.epsilon:
            return legal[int(self.draw() * len(legal))]
        return legal[one_of_best(self._values(player, legal), self.draw)]

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

    def learn(self, trace: Sequence[PlayedPly], returns: list[float]) -> None:
        """See `RolloutPolicy`."""
        for player, action, rewards in reversed(trace):
            if rewards is not None:
                returns = add(returns, rewards)
            if player == CHANCE:
                continue
            value = returns[player]
            visits, mean = self.table.get((player, action), (0, 0.0))
            visits += 1
            self.table[player, action] = visits, mean + (value - mean) / visits
            self.range.widen(player, value)


def mean_ranks(scores: Sequence[Sequence[float]]) -> list[float]:
    """Mean rank of every action over several heuristics; larger is better.

    An action's rank in one heuristic is the number of actions scored lower, plus half the
    number of *other* actions scored the same; so the heuristics' scales do not matter.

    Args:
        scores: `[H, A]` scores, larger is better.

    Returns:
        `[A]` ranks, each in `[0, A - 1]`.

    >>> mean_ranks([[5.0, 1.0, 1.0], [10.0, 90.0, 20.0]])
    [1.0, 1.25, 0.75]
    """
    ranks = []
    for row in scores:
        inorder = sorted(row)
        ranks.append([(bisect_left(inorder, x) + bisect_right(inorder, x) - 1) / 2 for x in row])
    return [sum(column) / len(column) for column in zip(*ranks, strict=True)]


class EnsemblePolicy(RolloutPolicy):
    """Plays the action that the heuristics together prefer; of equals one at random.

    Each heuristic sees what the seat to move sees, never the state.
    """

    def __init__(
        self, rules: Rules, heuristics: Sequence[Heuristic], agreement: Ensemble, draw: Draw
    ) -> None:
        """Hold at least one heuristic.

        Raises:
            ValueError: If there is none.
        """
        if not heuristics:
            raise ValueError("leaf=heuristic needs a heuristic of this game; it has none")
        self.rules = rules
        self.heuristics = tuple(heuristics)
        self.agreement = agreement
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `RolloutPolicy`."""
        if len(legal) == 1:
            return legal[0]
        seen = self.rules.observations(state)[player]
        scores = [[score(seen, action) for action in legal] for score in self.heuristics]
        if self.agreement == "rank":
            values = mean_ranks(scores)
        else:
            values = np.asarray(scores, np.float64).mean(axis=0).tolist()
        return legal[one_of_best(values, self.draw)]


@dataclass
class PolicyRollouts:
    """Plays a policy at every seat, and chance by its probabilities.

    Attributes:
        rules: The module's functions.
        policy: Picks the seats' actions.
        draw: Uniform numbers in [0, 1), for chance.
        limit: Plies after which a rollout is cut, at least 1.
        estimates: Take the module's `value_function`, if it has one, where a rollout is cut.
        cut: Rollouts that reached the limit before the end.
        calls: Calls of `apply_action` made.
        trace: The plies of the last rollout.
    """

    rules: Rules
    policy: RolloutPolicy
    draw: Draw
    limit: int
    estimates: bool = False
    cut: int = field(default=0, init=False)
    calls: int = field(default=0, init=False)
    trace: list[PlayedPly] = field(default_factory=list, init=False)

    def play(self, state: State, actions: Sequence[Action] | None = None) -> list[float]:
        """Play one rollout; `actions` are the legal ones at `state`, if the caller has them.

        Returns:
            `[num_players]` rewards after entering `state`, and the estimate of those to come.
        """
        rules, trace = self.rules, list[PlayedPly]()
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
            rewards = rules.rewards(state)
            trace.append((player, action, rewards if any(rewards) else None))
        self.trace = trace
        self.calls += len(trace)
        final = self._after(state, trace)
        self.policy.learn(trace, final)
        returns = final
        for _, _, earlier in trace:
            if earlier is not None:
                returns = add(returns, earlier)
        return returns

    def _after(self, state: State, trace: Sequence[PlayedPly]) -> list[float]:
        """The payments after the last ply: nothing, or an estimate where play was cut."""
        seats, value = range(self.rules.num_players), self.rules.value
        if self.rules.current_player(state) == TERMINAL:
            return [0.0 for _ in seats]
        self.cut += 1
        if value is None or not self.estimates:
            return [0.0 for _ in seats]
        entered = (trace[-1][2] if trace else None) or [0.0 for _ in seats]
        return [value(state, seat) - entered[seat] for seat in seats]


class Leaves:
    """Estimates what a state pays after it was entered, as the settings ask.

    Attributes:
        rollouts: Plays the rollouts, and counts them.
        mast: What MAST learnt, for the tree to teach as well; None where it is not used.
    """

    def __init__(
        self,
        rules: Rules,
        settings: LeafSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Heuristic] = (),
    ) -> None:
        """Prepare the estimates.

        Args:
            rules: The module's functions.
            settings: With the kind of leaf; rollouts are uniform where they name no policy.
            generator: The only source of randomness.
            heuristics: The game's heuristics, for leaf="heuristic".

        Raises:
            ModuleFault: If `leaf` is "value" and the module has no `value_function`.
            ValueError: If `leaf` is "heuristic" and there is no heuristic.
        """
        leaf = settings.leaf
        if leaf == "auto":
            leaf = "rollout" if rules.value is None else "value"
        if leaf == "value" and rules.value is None:
            raise ModuleFault("missing", "value_function", "leaf=value needs the module's own")
        self.value = rules.value if leaf == "value" else None
        self.num_players = rules.num_players
        self.count = settings.rollouts
        self.mast: MastPolicy | None = None
        self.rollouts: Rollouts | PolicyRollouts
        mast = isinstance(settings, RolloutSettings) and settings.policy != "uniform"
        traces = isinstance(settings, GraphSettings) and settings.rave != "none"
        if leaf in ("rollout", "value") and not mast and not traces:
            # A budget of calls counts the calls made, which a table of states would spare.
            interns = not (isinstance(settings, EndSettings) and settings.budget == "calls")
            self.rollouts = Rollouts(rules, generator, settings.rollout_limit, interns=interns)
        else:
            draw = drawing(generator)
            is_cut = leaf in ("truncated", "heuristic")
            limit = settings.depth if is_cut else settings.rollout_limit
            policy = self._policy(rules, settings, draw, heuristics)
            self.rollouts = PolicyRollouts(rules, policy, draw, limit, estimates=is_cut)

    def _policy(
        self, rules: Rules, settings: LeafSettings, draw: Draw, heuristics: Sequence[Heuristic]
    ) -> RolloutPolicy:
        if settings.leaf == "heuristic":
            return EnsemblePolicy(rules, heuristics, settings.ensemble, draw)
        if not isinstance(settings, RolloutSettings) or settings.policy == "uniform":
            return UniformPolicy(draw)
        epsilon = settings.epsilon if settings.policy == "mast" else None
        self.mast = MastPolicy(
            rules.num_players, draw, epsilon=epsilon, temperature=settings.temperature
        )
        return self.mast

    def returns(
        self, state: State, rewards: list[float] | None, actions: list[Action] | None = None
    ) -> list[float]:
        """`[num_players]` what is still to come after `state` was entered.

        Args:
            state: The leaf; a seat's, chance's or a terminal one.
            rewards: Of entering it, None for none; a `value_function` counts them in.
            actions: Its legal actions, if the caller has them.
        """
        if self.value is not None:
            entered = rewards or [0.0] * self.num_players
            return [self.value(state, seat) - entered[seat] for seat in range(self.num_players)]
        returns = self.rollouts.play(state, actions)
        if self.count == 1:
            return returns
        for _ in range(self.count - 1):
            returns = add(returns, self.rollouts.play(state, actions))
        return [total / self.count for total in returns]

    @property
    def trace(self) -> list[PlayedPly]:
        """The plies of the last rollout, where rollouts keep them."""
        return self.rollouts.trace if isinstance(self.rollouts, PolicyRollouts) else []


def sampled(rules: Rules, state: State, legal: Sequence[Action], uniform: float) -> Action:
    """The outcome of a chance node that a uniform number in [0, 1) stands for."""
    if rules.chance_probabilities is None:
        return legal[int(uniform * len(legal))]
    return legal[sample_index(rules.chance_probabilities(state), uniform)]


def drawing(generator: np.random.Generator) -> Draw:
    """Uniform numbers in [0, 1), one a call, drawn from `generator` in blocks."""
    return uniforms(generator).__next__


def one_of_best(values: Sequence[float], draw: Draw) -> int:
    """The index of a largest value; of equals one at random."""
    best = max(values)
    equal = [index for index, value in enumerate(values) if value == best]
    return equal[int(draw() * len(equal))]
