"""What a new leaf is worth: random play to the end, or the module's own estimate."""

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from agents.search.rules import Rules
from agents.search.settings import SearchSettings
from games.contract import CHANCE, ModuleFault, State
from games.engine import sample_index

BLOCK = 4096  # uniform numbers drawn at once: one call each would cost more than a game call


def uniforms(generator: np.random.Generator) -> Iterator[float]:
    """An endless iterator of uniform numbers in [0, 1), drawn from `generator` in blocks."""
    blocks: Iterator[list[float]] = iter(lambda: generator.random(BLOCK).tolist(), [])
    return chain.from_iterable(blocks)


class Rollouts:
    """Plays uniformly random actions (chance by its probabilities) and sums the rewards.

    Attributes:
        cut: Rollouts that reached the limit before the end.
    """

    def __init__(self, rules: Rules, draw: Callable[[], float], limit: int) -> None:
        """Prepare rollouts.

        Args:
            rules: The module's functions.
            draw: Gives the next uniform number in [0, 1).
            limit: Plies after which a rollout is cut, at least 1.
        """
        self.rules = rules
        self.draw = draw
        self.limit = limit
        self.cut = 0

    def play(self, state: State) -> list[float]:
        """Play one rollout.

        Returns:
            `[num_players]` what was paid *after* entering `state`.
        """
        rules, draw = self.rules, self.draw
        legal_actions, apply_action, rewards = (
            rules.legal_actions,
            rules.apply_action,
            rules.rewards,
        )
        weighted = rules.chance_probabilities is not None
        returns: list[float] | None = None
        for _ in range(self.limit):
            actions = legal_actions(state)
            if not actions:
                return returns or [0.0] * rules.num_players
            if weighted and rules.current_player(state) == CHANCE:
                action = actions[self._outcome(state)]
            else:
                action = actions[int(draw() * len(actions))]
            state = apply_action(state, action)
            paid = rewards(state)
            if any(paid):
                returns = paid if returns is None else add(returns, paid)
        if legal_actions(state):
            self.cut += 1
        return returns or [0.0] * rules.num_players

    def _outcome(self, state: State) -> int:
        probabilities = self.rules.chance_probabilities
        if probabilities is None:
            raise ValueError("weighted chance needs the module's get_chance_probabilities")
        return sample_index(probabilities(state), self.draw())


class Leaves:
    """Estimates what a state pays after it was entered, as the settings ask.

    Attributes:
        rollouts: The rollouts played, with how many were cut.
    """

    def __init__(self, rules: Rules, settings: SearchSettings, draw: Callable[[], float]) -> None:
        """Prepare the estimates.

        Raises:
            ModuleFault: If `leaf` is "value" and the module has no `value_function`.
        """
        if settings.leaf == "value" and rules.value is None:
            raise ModuleFault("missing", "value_function", "leaf=value needs the module's own")
        self.value = rules.value if settings.leaf == "value" else None
        self.num_players = rules.num_players
        self.count = settings.rollouts
        self.rollouts = Rollouts(rules, draw, settings.rollout_limit)

    def returns(self, state: State, paid: list[float] | None) -> list[float]:
        """`[num_players]` what is still to come after `state` was entered.

        Args:
            state: The leaf; a seat's, chance's or a terminal one.
            paid: What entering it paid, None for nothing; a `value_function` counts it in.
        """
        if self.value is not None:
            entered = paid or [0.0] * self.num_players
            return [self.value(state, seat) - entered[seat] for seat in range(self.num_players)]
        returns = self.rollouts.play(state)
        if self.count == 1:
            return returns
        for _ in range(self.count - 1):
            returns = add(returns, self.rollouts.play(state))
        return [total / self.count for total in returns]


def add(first: list[float], second: list[float]) -> list[float]:
    """The sum of two payments, seat by seat, as a new list."""
    return [a + b for a, b in zip(first, second, strict=True)]
