"""Steps along gradients: AdamW, and what is left out of a step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.encoding.protocol import Array
from agents.learning.policy import Weights


@dataclass
class AdamW:
    """AdamW (Loshchilov and Hutter 2019), in place.

    Attributes:
        step: Steps done.
        first: First moments by name.
        second: Second moments by name.
        decay: Of the matrices' weights, a step, times its rate.
    """

    step: int
    first: Weights
    second: Weights
    decay: float = 0.01

    def descend(self, weights: Weights, gradients: Mapping[str, Array], rate: float) -> None:
        """One step: Adam's, and `w -= rate decay w` for what is a matrix."""
        self.step += 1
        slow, slower = 1 - 0.9**self.step, 1 - 0.999**self.step
        for name, slope in gradients.items():
            weight = weights[name]
            first = self.first.setdefault(name, np.zeros_like(weight))
            second = self.second.setdefault(name, np.zeros_like(weight))
            first *= np.float32(0.9)
            first += np.float32(0.1) * slope
            second *= np.float32(0.999)
            second += np.float32(0.001) * slope * slope
            moved = first / np.float32(slow)
            moved /= np.sqrt(second / np.float32(slower)) + np.float32(1e-8)
            if weight.ndim > 1 and "norm" not in name:
                weight *= np.float32(1 - rate * self.decay)
            weight -= np.float32(rate) * moved


def dropper(share: float, generator: np.random.Generator) -> Callable[..., Any] | None:
    """Makes masks that leave out a share of the values, and whose mean is 1; None for no share."""
    if not share:
        return None
    kept = np.float32(1 / (1 - share))

    def mask(size: tuple[int, ...]) -> Array:
        return np.where(generator.random(size, np.float32) >= share, kept, np.float32(0))

    return mask
