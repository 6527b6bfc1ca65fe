"""Statistics of a search: upper confidence bounds, edges, ranges of returns.

Every bound is `mean + exploration * sqrt(log(availability) / visits)`. Statistics keep
`inverse_root = 1 / sqrt(visits)` beside the mean, so that scoring takes no root an action.
"""

from collections.abc import Sequence
from math import ceil, inf, log, sqrt
from typing import TypeAlias

import numpy as np

from agents.search.meter import Meter
from agents.search.settings import SearchResult
from games.values import Action

Table: TypeAlias = tuple[float, ...]
Edge: TypeAlias = tuple[int, int, list[float] | None]
"""One ply of a descent: the edge, the player there, the rewards of the ply (None for none)."""
Path: TypeAlias = list[Edge]
"""Plies from the root."""

FEW = 32  # actions up to which plain numbers beat the cost of numpy's calls


def exploration_bonus(weight: float, visits: int) -> float:
    """`weight * sqrt(log(visits))`: the bound of an action tried `n` times adds it over `sqrt(n)`.

    Args:
        weight: Of the exploration term, in the unit of the returns.
        visits: Times the node was visited, at least 1.

    Reference:
        Auer, Cesa-Bianchi & Fischer (2002), UCB1; Kocsis & Szepesvári (2006), UCT.
    """
    return weight * sqrt(log(visits))


def widened(coefficient: float, power: float, visits: int) -> int:
    """The number of actions that a node considers: `max(1, ceil(C * visits^power))`.

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


class ActionTable:
    """Statistics of the actions that one seat can choose from.

    Attributes:
        place: Action -> its index `A` below, in the order in which they were met.
        visits: `[A]` simulations of each.
        means: `[A]` mean return of the seat from each on; 0 where there are no visits.
    """

    def __init__(self) -> None:
        """Nothing tried yet."""
        self.place: dict[Action, int] = {}
        self.visits: list[int] = []
        self.means: list[float] = []

    def hold(self, action: Action) -> int:
        """The index of an action, which is known from now on."""
        if action not in self.place:
            self.place[action] = len(self.visits)
            self.visits.append(0)
            self.means.append(0.0)
        return self.place[action]

    def note(self, index: int, value: float) -> None:
        """Take one simulation of an action into account."""
        self.visits[index] += 1
        self.means[index] += (value - self.means[index]) / self.visits[index]

    def tabled(self, meter: Meter, cut: int, chosen: Action | None = None) -> SearchResult:
        """The result; `cut` rollouts did not reach the end."""
        pairs = zip(self.visits, self.means, strict=True)
        return SearchResult(
            actions=tuple(self.place),
            visits=tuple(self.visits),
            means=tuple(mean if visits else None for visits, mean in pairs),
            simulations=meter.done,
            nodes=1,
            cut_rollouts=cut,
            calls=meter.made,
            seconds=meter.seconds,
            chosen=chosen,
        )


class EdgeStatistics:
    """Values of every edge of a tree; a node knows its edges by their numbers.

    Attributes:
        visits: `[E]` times the edge was descended.
        availability: `[E]` times the edge's action was legal when its node was visited.
        mean: `[E]` mean return from the edge on, of the seat that acts there, in the game's own
            units; 0 where `visits` is.
        inverse_root: `[E]` `1 / sqrt(visits)`, which the bounds use; 0 where `visits` is.
    """

    def __init__(self) -> None:
        """No edge yet."""
        self.visits: list[int] = []
        self.availability: list[int] = []
        self.mean: list[float] = []
        self.inverse_root: list[float] = []
        self.root_logs = ROOT_LOGS

    def take(self) -> int:
        """The number of a new edge, unvisited."""
        self.visits.append(0)
        self.availability.append(0)
        self.mean.append(0.0)
        self.inverse_root.append(0.0)
        return len(self.visits) - 1

    def best(self, edges: Sequence[int], weight: float) -> int:
        """Position among tried edges of the one with the largest bound, the first of equals.

        The bound is `mean + weight * sqrt(log(availability) / visits)`, which counts how often the
        action *could* be chosen: one that is rarely legal is not explored beyond its worth.

        Args:
            edges: Their numbers.
            weight: Of the exploration term, in the unit of the returns.

        Reference:
            Cowling, Powley & Whitehouse (2012), Information Set Monte Carlo Tree Search: the
            subset-armed bandit.
        """
        mean, inverse_root, availability = self.mean, self.inverse_root, self.availability
        if len(edges) > FEW:
            visits, legal = np.array([(self.visits[edge], availability[edge]) for edge in edges]).T
            means = np.array([mean[edge] for edge in edges])
            return int((means + weight * np.sqrt(np.log(legal) / visits)).argmax())
        root_logs, best, at = self.root_logs, -inf, 0
        try:
            for position, edge in enumerate(edges):
                score = mean[edge] + weight * root_logs[availability[edge]] * inverse_root[edge]
                if score > best:
                    best, at = score, position
        except IndexError:  # seldom: more descents than the table has roots for
            self.root_logs, _ = doubled(root_logs, root_logs)
            return self.best(edges, weight)
        return at

    def back_up(self, path: Path, returns: list[float], seen: "ReturnRange") -> None:
        """Count one descent of every edge of a path, each with its own seat's return.

        Args:
            path: The plies descended, first to last.
            returns: `[num_players]` rewards after the last of them.
            seen: The range that the returns widen.
        """
        visits, mean, inverse_root = self.visits, self.mean, self.inverse_root
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
        return self.mean[edge] if self.visits[edge] else None


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
    """

    def __init__(self, num_players: int) -> None:
        self.low = [inf] * num_players
        self.high = [-inf] * num_players
        self.spread = [1.0] * num_players

    def widen(self, seat: int, value: float) -> None:
        """Make the range of `seat` hold `value`."""
        self.low[seat] = min(self.low[seat], value)
        self.high[seat] = max(self.high[seat], value)
        self.spread[seat] = (self.high[seat] - self.low[seat]) or 1.0


def add(first: list[float], second: list[float]) -> list[float]:
    """The sum of two vectors of rewards, seat by seat, as a new list."""
    return [a + b for a, b in zip(first, second, strict=True)]
