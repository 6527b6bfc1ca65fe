"""Statistics of a search: upper confidence bounds, edges in flat arrays, ranges of returns.

Every bound is `mean + exploration * sqrt(log(availability) / visits)`. Statistics keep
`inverse_root = 1 / sqrt(visits)` beside the mean, so that scoring takes no root an action.
"""

from collections.abc import Sequence
from math import ceil, inf, log, sqrt
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = tuple[float, ...]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Edge: TypeAlias = tuple[int, int, list[float] | None]
"""One ply of a descent: the edge, the player there, the rewards of the ply (None for none)."""
Path: TypeAlias = list[Edge]
"""Plies from the root."""

FEW = 32  # actions up to which plain numbers beat the cost of numpy's calls
_FIRST_ROWS = 1 << 16  # more are made only when they are needed
_WITHIN = 3  # returns that are known by sight: a win, a loss and a draw


def exploration_bonus(weight: float, visits: int) -> float:
    """`weight * sqrt(log(visits))`: the bound of an action tried `n` times adds it over `sqrt(n)`.

    Args:
        weight: Of the exploration term, in the unit of the returns.
        visits: Times the node was visited, at least 1.

    Reference:
        Auer, Cesa-Bianchi & Fischer (2002), UCB1; Kocsis & Szepesvári (2006), UCT.
    """
    return weight * sqrt(log(visits))


def ismcts_scores(
    mean: NDArray[np.float64],
    visits: NDArray[np.int64],
    availability: NDArray[np.int64],
    *,
    exploration: float,
) -> NDArray[np.float64]:
    """Score each action at an information set, where an action is not always legal.

    `mean + exploration * sqrt(log(availability) / visits)`; `inf` where an action was never
    tried. The exploration term counts how often the action *could* be chosen, so that an action
    that is rarely legal is not explored beyond its worth.

    Args:
        mean: `[A]` mean returns of the player to move.
        visits: `[A]` times each action was tried.
        availability: `[A]` times each action was legal when its node was visited.
        exploration: Weight of the exploration term, in the unit of the returns.

    Raises:
        ValueError: If an action was tried more often than it was available.

    Reference:
        Cowling, Powley & Whitehouse (2012), Information Set Monte Carlo Tree Search: the
        subset-armed bandit.
    """
    impossible = np.flatnonzero(visits > availability)
    if impossible.size:
        raise ValueError(
            f"actions {impossible.tolist()} were visited more often than they were available "
            f"(visits={visits[impossible].tolist()}, "
            f"availability={availability[impossible].tolist()}); "
            "raise the availability of every legal action before choosing one"
        )
    bonus = np.sqrt(np.log(np.maximum(availability, 1)) / np.maximum(visits, 1))
    return np.where(visits > 0, mean + exploration * bonus, np.inf)


def best_available(
    mean: Sequence[float],
    inverse_root: Sequence[float],
    availability: Sequence[int],
    rows: Sequence[int],
    *,
    exploration: float,
) -> int:
    """Position in `rows` of the choice of `ismcts_scores` among tried actions, first of equals.

    >>> best_available([0.5, 0.5], [0.5, 0.5], [5, 100], [0, 1], exploration=0.7)
    1
    """
    root, logarithm = sqrt, log
    best, at = -inf, 0
    for position, row in enumerate(rows):
        score = mean[row] + exploration * root(logarithm(availability[row])) * inverse_root[row]
        if score > best:
            best, at = score, position
    return at


def widened(coefficient: float, power: float, visits: int) -> int:
    """How many actions a node considers after so many visits: `max(1, ceil(C * visits^power))`.

    Reference:
        Coulom (2007), Computing Elo Ratings of Move Patterns in the Game of Go, progressive
        widening; Chaslot et al. (2008), Progressive Strategies for MCTS.

    >>> [widened(1.0, 0.5, visits) for visits in (1, 4, 5, 9, 10)]
    [1, 2, 3, 3, 4]
    """
    bound: float = coefficient * visits**power
    return max(1, ceil(bound))


def doubled(root_logs: Table, inverse_roots: Table) -> tuple[Table, Table]:
    """Tables over visits `n`, of `sqrt(log(n))` and `1 / sqrt(n)`, made twice as long."""
    more = range(len(root_logs), 2 * len(root_logs))
    return (
        (*root_logs, *(sqrt(log(n)) for n in more)),
        (*inverse_roots, *(1.0 / sqrt(n) for n in more)),
    )


ROOT_LOGS: Table = (0.0, 0.0)
INVERSE_ROOTS: Table = (0.0, 1.0)
while len(ROOT_LOGS) < 1 << 12:
    ROOT_LOGS, INVERSE_ROOTS = doubled(ROOT_LOGS, INVERSE_ROOTS)


def floats_view(array: Floats) -> "memoryview[float]":
    """A view of an array's memory: reading one number costs a third of what the array takes."""
    return cast("memoryview[float]", array.data)  # numpy's types call it one of int


class EdgeArrays:
    """Means and inverse roots of a wide node's edges, in the order in which they were tried.

    Attributes:
        means: `[A]` mean returns of the seat that acts.
        roots: `[A]` `1 / sqrt(visits)`.
    """

    __slots__ = ("means", "means_view", "roots", "roots_view")

    def __init__(self, count: int) -> None:
        """Room for `count` edges."""
        self.means: NDArray[np.float64] = np.zeros(count)
        self.roots: NDArray[np.float64] = np.zeros(count)
        # Writing one number through a view takes a third of what the array itself takes.
        self.means_view = floats_view(self.means)
        self.roots_view = floats_view(self.roots)

    def note(self, index: int, mean: float, root: float) -> None:
        """Set the numbers of one edge."""
        self.means_view[index] = mean
        self.roots_view[index] = root


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
        """Make room for about `capacity` rows; they grow beyond it, and beyond `_FIRST_ROWS`."""
        self.size = 0
        self._hold(*self._rows(min(max(1, capacity), _FIRST_ROWS)))

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
            returns: `[num_players]` rewards after the last of them.
            seen: The range that the returns widen.
        """
        visits, mean, inverse_root = self.visits_view, self.mean_view, self.inverse_root_view
        low, high = seen.low, seen.high
        for edge, seat, rewards in reversed(path):
            if rewards is not None:
                returns = add(returns, rewards)
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
        self.mean, self.mean_view = mean, floats_view(mean)
        self.inverse_root = inverse_root
        self.inverse_root_view = floats_view(inverse_root)


class ReturnRange:
    """The range of the returns of every seat, which min-max normalises them to [0, 1].

    The affine map `(r - low) / (high - low)` does not change which action a bound prefers, if the
    exploration term is multiplied by `high - low` instead; so sums stay in the game's own units.
    The range is that of the returns backed up so far, a seat at a time: a seat's first returns are
    then all 0 apart, and its range counts as 1 until they differ.

    Attributes:
        low: `[num_players]` the least return of each seat.
        high: `[num_players]` the largest.
        spread: `[num_players]` its width; 1 where there is none.
        within: A few returns of all seats that widen no range any more.
    """

    def __init__(self, num_players: int) -> None:
        self.low = [inf] * num_players
        self.high = [-inf] * num_players
        self.spread = [1.0] * num_players
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
        if len(self.within) < _WITHIN and all(
            low <= value <= high
            for low, value, high in zip(self.low, returns, self.high, strict=True)
        ):
            self.within.append(returns)


def add(first: list[float], second: list[float]) -> list[float]:
    """The sum of two vectors of rewards, seat by seat, as a new list."""
    return [a + b for a, b in zip(first, second, strict=True)]
