"""Statistics of a search tree: flat numpy arrays, one row an edge, that grow by doubling."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.search.rollouts import add
from games.contract import ModuleFault


class EdgeStatistics:
    """What every edge of a tree was worth; a node owns the rows it was given, by index.

    Each array has a memoryview of the same memory beside it: reading one number through it
    costs a third of what indexing the array does. A view is replaced when the arrays grow, so it
    is looked up again after every `take`.

    Attributes:
        visits: `[E]` times the edge was descended.
        availability: `[E]` times the edge's action was legal when its node was visited.
        return_sum: `[E]` summed returns from the edge on, of the seat that acts there, in
            the game's own units.
        child: `[E]` the node the edge leads to, -1 where it was never descended.
        size: Rows in use.
    """

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self._hold(
            np.zeros(capacity, np.int64),
            np.zeros(capacity, np.int64),
            np.zeros(capacity, np.float64),
            np.full(capacity, -1, np.int64),
        )

    def take(self, count: int) -> int:
        """Reserve `count` rows, all zero and childless; returns the index of the first."""
        first = self.size
        self.size += count
        while self.size > len(self.visits):
            zeros = np.zeros_like(self.visits)
            self._hold(
                np.concatenate((self.visits, zeros)),
                np.concatenate((self.availability, zeros)),
                np.concatenate((self.return_sum, np.zeros_like(self.return_sum))),
                np.concatenate((self.child, zeros - 1)),
            )
        return first

    def _hold(
        self,
        visits: NDArray[np.int64],
        availability: NDArray[np.int64],
        return_sum: NDArray[np.float64],
        child: NDArray[np.int64],
    ) -> None:
        self.visits, self.visits_view = visits, visits.data
        self.availability, self.availability_view = availability, availability.data
        self.return_sum, self.child = return_sum, child
        self.return_sum_view = cast("memoryview[float]", return_sum.data)
        self.child_view = child.data

    def mean(self, edge: int) -> float | None:
        """Mean return of the seat that acts at `edge`; None where it was never tried."""
        visits = int(self.visits[edge])
        return float(self.return_sum[edge]) / visits if visits else None


class ReturnRange:
    """The range of the returns of every seat, which min-max normalises them to [0, 1].

    The affine map `(r - low) / (high - low)` does not change which action a bound prefers, if the
    exploration term is multiplied by `high - low` instead; so sums stay in the game's own units.
    Without a given range it is that of the returns backed up so far, a seat at a time: a
    seat's first returns are then all 0 apart, and its range counts as 1 until they differ.
    """

    def __init__(self, num_players: int, given: tuple[float, float] | None) -> None:
        # A given range is never widened: every return lies within infinity.
        infinity = float("inf")
        low, high = (infinity, -infinity) if given is None else (-infinity, infinity)
        self.low = [low] * num_players
        self.high = [high] * num_players
        self.spread = [1.0 if given is None else given[1] - given[0]] * num_players

    def see(self, seat: int, value: float) -> None:
        """Widen the range of `seat` to hold `value`."""
        if self.low[seat] <= value <= self.high[seat]:
            return
        self.low[seat] = min(self.low[seat], value)
        self.high[seat] = max(self.high[seat], value)
        self.spread[seat] = (self.high[seat] - self.low[seat]) or 1.0


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


def backed_up(returns: list[float], paid: list[float] | None) -> list[float]:
    """Returns from one ply earlier: what the ply paid is added; None means nothing."""
    return returns if paid is None else add(returns, paid)
