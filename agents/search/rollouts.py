"""What a new leaf is worth: random play to the end, or the module's own estimate."""

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from agents.search.rules import Rules
from agents.search.settings import SearchSettings
from games.contract import CHANCE, ModuleFault, State
from games.engine import sample_index

SPAN = 2**30
BLOCK = 4096  # uniform numbers drawn at once: one call each would cost more than a game call


def uniforms(generator: np.random.Generator) -> Iterator[float]:
    """An endless iterator of uniform numbers in [0, 1), drawn from `generator` in blocks."""
    blocks: Iterator[list[float]] = iter(lambda: generator.random(BLOCK).tolist(), [])
    return chain.from_iterable(blocks)


def integers(generator: np.random.Generator) -> Iterator[int]:
    """An endless iterator of whole numbers uniform in [0, `SPAN`), drawn in blocks.

    Their remainder by a number of actions picks one without a float: the bias, below one in a
    million for a thousand actions, buys two percent of a search's time.
    """
    blocks: Iterator[list[int]] = iter(lambda: generator.integers(SPAN, size=BLOCK).tolist(), [])
    return chain.from_iterable(blocks)


class Rollouts:
    """Plays uniformly random actions (chance by its probabilities) and sums the rewards.

    Attributes:
        cut: Rollouts that reached the limit before the end.
    """

    def __init__(self, rules: Rules, generator: np.random.Generator, limit: int) -> None:
        """Prepare rollouts.

        Args:
            rules: The module's functions.
            generator: The only source of randomness.
            limit: Plies after which a rollout is cut, at least 1.
        """
        self.rules = rules
        self.numbers = integers(generator)
        # The list that last paid nothing: many modules share one between all such states.
        self.quiet: list[float] = []
        self.limit = limit
        self.cut = 0

    def play(self, state: State) -> list[float]:
        """Play one rollout.

        Returns:
            `[num_players]` what was paid *after* entering `state`.
        """
        if self.rules.chance_probabilities is not None:
            return self._weighted(state)
        rules, quiet = self.rules, self.quiet
        legal_actions, apply_action, rewards = (
            rules.legal_actions,
            rules.apply_action,
            rules.rewards,
        )
        returns = [0.0] * rules.num_players
        actions = legal_actions(state)
        for number in islice(self.numbers, self.limit):
            if not actions:
                return returns
            state = apply_action(state, actions[number % len(actions)])
            paid = rewards(state)
            if paid is not quiet:
                if any(paid):
                    returns = add(returns, paid)
                else:
                    quiet = self.quiet = paid
            actions = legal_actions(state)
        if actions:
            self.cut += 1
        return returns

    def _weighted(self, state: State) -> list[float]:
        """`play` where some chance is not uniform."""
        rules = self.rules
        returns = [0.0] * rules.num_players
        for number in islice(self.numbers, self.limit):
            actions = rules.legal_actions(state)
            if not actions:
                return returns
            at_chance = rules.current_player(state) == CHANCE
            index = self._outcome(state, number) if at_chance else number % len(actions)
            state = rules.apply_action(state, actions[index])
            paid = rules.rewards(state)
            if any(paid):
                returns = add(returns, paid)
        if rules.legal_actions(state):
            self.cut += 1
        return returns

    def _outcome(self, state: State, number: int) -> int:
        probabilities = self.rules.chance_probabilities
        if probabilities is None:
            raise ValueError("weighted chance needs the module's get_chance_probabilities")
        return sample_index(probabilities(state), number / SPAN)


class Leaves:
    """Estimates what a state pays after it was entered, as the settings ask.

    Attributes:
        rollouts: The rollouts played, with how many were cut.
    """

    def __init__(
        self, rules: Rules, settings: SearchSettings, generator: np.random.Generator
    ) -> None:
        """Prepare the estimates.

        Raises:
            ModuleFault: If `leaf` is "value" and the module has no `value_function`.
        """
        if settings.leaf == "value" and rules.value is None:
            raise ModuleFault("missing", "value_function", "leaf=value needs the module's own")
        self.value = rules.value if settings.leaf == "value" else None
        self.num_players = rules.num_players
        self.count = settings.rollouts
        self.rollouts = Rollouts(rules, generator, settings.rollout_limit)

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
