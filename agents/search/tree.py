"""Statistics of a search tree: flat numpy arrays, one row an edge, that grow by doubling."""

from math import sqrt
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from agents.search.rollouts import add
from games.contract import ModuleFault

FIRST_ROWS = 1 << 16  # more are made only when they are needed
WITHIN = 3  # payments that are known by sight: a win, a loss and a draw

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Ply: TypeAlias = tuple[int, int, list[float] | None]
"""One ply of a descent: the edge, the player there, what the ply paid (None for nothing)."""
Path: TypeAlias = list[Ply]
"""Plies from the root."""


class EdgeStatistics:
    """What every edge of a tree was worth; a node owns the rows it was given, by index.

    Each array has a memoryview of the same memory beside it: reading one number through it
    costs a third of what indexing the array does. A view is replaced when the arrays grow, so it
    is looked up again after every `take`.

    Attributes:
        visits: `[E]` times the edge was descended.
        availability: `[E]` times the edge's action was legal when its node was visited; kept by
            information set search alone.
        mean: `[E]` mean return from the edge on, of the seat that acts there, in the game's own
            units; 0 where `visits` is.
        inverse_root: `[E]` `1 / sqrt(visits)`, which the bounds use; 0 where `visits` is.
        size: Rows in use.
    """

    def __init__(self, capacity: int) -> None:
        """Make room for about `capacity` rows; they grow beyond it, and beyond `FIRST_ROWS`."""
        self.size = 0
        self._hold(*self._rows(min(max(1, capacity), FIRST_ROWS)))

    def take(self, count: int) -> int:
        """Reserve `count` rows, unvisited; returns the index of the first."""
        first = self.size
        self.size += count
        while self.size > len(self.visits):
            visits, availability, mean, inverse_root = self._rows(len(self.visits))
            self._hold(
                np.concatenate((self.visits, visits)),
                np.concatenate((self.availability, availability)),
                np.concatenate((self.mean, mean)),
                np.concatenate((self.inverse_root, inverse_root)),
            )
        return first

    def back_up(self, path: Path, returns: list[float], seen: "ReturnRange") -> None:
        """Count one descent of every edge of a path, each with its own seat's return.

        Args:
            path: The plies descended, first to last.
            returns: `[num_players]` what was paid after the last of them.
            seen: The range that the returns widen.
        """
        visits, mean, inverse_root = self.visits_view, self.mean_view, self.inverse_root_view
        low, high = seen.low, seen.high
        for edge, seat, paid in reversed(path):
            if paid is not None:
                returns = add(returns, paid)
            if seat < 0:
                continue
            value = returns[seat]
            count = visits[edge] = visits[edge] + 1
            before = mean[edge]
            mean[edge] = before + (value - before) / count
            inverse_root[edge] = 1.0 / sqrt(count)
            if not low[seat] <= value <= high[seat]:
                seen.widen(seat, value)

    def mean_of(self, edge: int) -> float | None:
        """Mean return of the seat that acts at `edge`; None where it was never tried."""
        return self.mean_view[edge] if self.visits_view[edge] else None

    @staticmethod
    def _rows(count: int) -> tuple[Ints, Ints, Floats, Floats]:
        return (
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            np.zeros(count, np.float64),
            np.zeros(count, np.float64),
        )

    def _hold(self, visits: Ints, availability: Ints, mean: Floats, inverse_root: Floats) -> None:
        self.visits, self.visits_view = visits, visits.data
        self.availability, self.availability_view = availability, availability.data
        self.mean, self.mean_view = mean, cast("memoryview[float]", mean.data)
        self.inverse_root = inverse_root
        self.inverse_root_view = cast("memoryview[float]", inverse_root.data)


class ReturnRange:
    """The range of the returns of every seat, which min-max normalises them to [0, 1].

    The affine map `(r - low) / (high - low)` does not change which action a bound prefers, if the
    exploration term is multiplied by `high - low` instead; so sums stay in the game's own units.
    Without a given range it is that of the returns backed up so far, a seat at a time: a
    seat's first returns are then all 0 apart, and its range counts as 1 until they differ.

    Attributes:
        low: `[num_players]` the least return of each seat.
        high: `[num_players]` the largest.
        spread: `[num_players]` its width; 1 where there is none.
        within: A few returns of all seats that widen no range any more.
    """

    def __init__(self, num_players: int, given: tuple[float, float] | None) -> None:
        # A given range is never widened: every return lies within infinity.
        infinity = float("inf")
        low, high = (infinity, -infinity) if given is None else (-infinity, infinity)
        self.low = [low] * num_players
        self.high = [high] * num_players
        self.spread = [1.0 if given is None else given[1] - given[0]] * num_players
        self.within: list[list[float]] = []

    def widen(self, seat: int, value: float) -> None:
        """Make the range of `seat` hold `value`."""
        self.low[seat] = min(self.low[seat], value)
        self.high[seat] = max(self.high[seat], value)
        self.spread[seat] = (self.high[seat] - self.low[seat]) or 1.0

    def settle(self, returns: list[float]) -> None:
        """Keep returns that widen no seat's range, as long as they are few: most games pay alike.

        Args:
            returns: `[num_players]`, not kept yet.
        """
        if len(self.within) < WITHIN and all(
            low <= value <= high
            for low, value, high in zip(self.low, returns, self.high, strict=True)
        ):
            self.within.append(returns)


def require_turn(player: int, actions: int, num_players: int) -> None:
    """Hold a new node's player against its legal actions.

    Raises:
        ModuleFault: With kind "bad_value" if a match that is not over has no legal action, one
            that is over has some, or the seat is not at the table.
    """
    if player >= num_players or (player < 0 and player not in (-1, -4)):
        raise ModuleFault(
            "bad_value",
            "get_current_player",
            f"returned {player!r}; required: a seat below {num_players}, -1 or -4",
        )
    if (player == -4) != (actions == 0):  # noqa: PLR2004 - the contract's terminal player
        raise ModuleFault(
            "bad_value",
            "get_legal_actions",
            f"gave {actions} actions where get_current_player gave {player}; required: none at "
            "the end of the match (-4) and at least one before it",
        )
