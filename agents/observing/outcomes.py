"""Outcomes: the ends of a match that a model tells apart, and what each is worth to a seat."""

from collections.abc import Sequence
from functools import cached_property
from statistics import fmean

import numpy as np
from pydantic import BaseModel, Field

from agents.encoding.protocol import Array
from agents.learning.settings import LearningError

_MOST_OUTCOMES = 256  # that are told apart
_BINS = 64


class OutcomeTable(BaseModel, frozen=True, extra="forbid"):
    """The ends of a match that a seat tells apart, and what each is worth to it.

    The value is the seat's return less the mean of the others', or its return where all are paid
    alike, over the largest one seen: from -1 to 1 (GO-MCTS, Eqs. 4 and 5, scaled).

    Attributes:
        returns: Of each outcome, all returns from the seat's own on; empty where they are binned.
        bounds: Upper bounds of the bins' values; empty where returns are told apart.
        values: Of each outcome.
        scale: The largest value, by which all are divided.
        shared: Whether all seats are paid alike.
        error: Mean distance of a match's value from its bin's.
    """

    returns: tuple[tuple[float, ...], ...] = ()
    bounds: tuple[float, ...] = ()
    values: tuple[float, ...] = Field(min_length=1)
    scale: float = Field(gt=0)
    shared: bool
    error: float = 0.0

    @classmethod
    def of(cls, seen: Sequence[Sequence[float]]) -> "OutcomeTable":
        """Those of matches' returns, by seat.

        Raises:
            LearningError: If all matches end alike: then there is nothing to learn.
        """
        shared = all(len({*paid}) == 1 for paid in seen)
        turned = [_turned(paid, seat) for paid in seen for seat in range(len(paid))]
        raw = [_worth(paid, shared=shared) for paid in turned]
        if len({*raw}) < 2:  # noqa: PLR2004 - a difference
            raise LearningError(
                f"all {len(seen)} of the first matches paid the same; required: two outcomes"
            )
        scale = max(map(abs, raw))
        kinds = sorted({*turned})
        if len(kinds) <= _MOST_OUTCOMES:
            values = tuple(_worth(paid, shared=shared) / scale for paid in kinds)
            return cls(returns=tuple(kinds), values=values, scale=scale, shared=shared)
        scaled = np.sort(np.array(raw) / scale)
        parts = [part for part in np.array_split(scaled, _BINS) if len(part)]
        bounds = sorted({float(part[-1]) for part in parts})
        binned = np.searchsorted(bounds, scaled)
        means = tuple(float(scaled[binned == place].mean()) for place in range(len(bounds)))
        error = float(np.abs(scaled - np.array(means)[binned]).mean())
        return cls(bounds=tuple(bounds), values=means, scale=scale, shared=shared, error=error)

    def number(self, returns: Sequence[float], seat: int) -> int:
        """The outcome of a match for a seat; -1 for one that was never seen."""
        turned = _turned(returns, seat)
        if self.bounds:
            worth = _worth(turned, shared=self.shared) / self.scale
            return min(int(np.searchsorted(self.bounds, worth)), len(self.values) - 1)
        return self._numbers.get(turned, -1)

    @cached_property
    def _numbers(self) -> dict[tuple[float, ...], int]:
        return {returns: number for number, returns in enumerate(self.returns)}

    @cached_property
    def worths(self) -> Array:
        """`[outcomes]` values."""
        return np.array(self.values, np.float32)


def _turned(returns: Sequence[float], seat: int) -> tuple[float, ...]:
    return (*returns[seat:], *returns[:seat])


def _worth(turned: Sequence[float], *, shared: bool) -> float:
    own, *others = turned
    return own if shared or not others else own - fmean(others)
