"""Draws from a weighted population: as even as whole numbers of draws can be."""

from collections.abc import Sequence

import numpy as np

from agents.belief.weights import systematic
from games.contract import State

BLOCK = 1024  # draws made at once


class Draws:
    """Draws states by weight, in shuffled blocks of systematic draws.

    Over a block a state comes within one of its expected number of times; `BLOCK` independent draws
    would miss it by its square root.
    """

    def __init__(
        self, states: Sequence[State], weights: Sequence[float], generator: np.random.Generator
    ) -> None:
        """Prepare the draws.

        Args:
            states: `[N]` distinct states; may be empty.
            weights: `[N]` their weights, at least 0, unnormalised.
            generator: The only source of randomness.
        """
        self.states = states
        self.weights = np.asarray(weights)
        self.generator = generator
        self.block: list[int] = []

    def sample(self) -> State | None:
        """The next state; None where there are none."""
        if not self.states:
            return None
        if not self.block:
            drawn = systematic(self.weights, BLOCK, float(self.generator.random()))
            self.block = self.generator.permutation(drawn).tolist()
        return self.states[self.block.pop()]
