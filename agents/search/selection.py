"""Choosing which action to descend into: upper confidence bounds over flat arrays."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEW = 32  # actions up to which plain numbers beat the cost of numpy's calls


def ucb1_scores(
    return_sum: NDArray[np.float64],
    visits: NDArray[np.int64],
    parent_visits: int,
    *,
    exploration: float,
) -> NDArray[np.float64]:
    """Score each action at a node whose actions are always legal.

    `return_sum / visits + exploration * sqrt(log(parent_visits) / visits)`; `inf` where an
    action was never tried.

    Args:
        return_sum: `[A]` summed returns of the player to move, each in `[0, 1]`.
        visits: `[A]` times each action was tried.
        parent_visits: Times the node was visited, at least 1.
        exploration: Weight of the exploration term, unitless.

    Reference:
        Auer, Cesa-Bianchi & Fischer (2002), UCB1; Kocsis & Szepesvári (2006), UCT.
    """
    return ismcts_scores(
        return_sum, visits, np.full(len(visits), parent_visits), exploration=exploration
    )


def ismcts_scores(
    return_sum: NDArray[np.float64],
    visits: NDArray[np.int64],
    availability: NDArray[np.int64],
    *,
    exploration: float,
) -> NDArray[np.float64]:
    """Score each action at an information set, where an action is not always legal.

    `return_sum / visits + exploration * sqrt(log(availability) / visits)`; `inf` where an
    action was never tried. The exploration term counts how often the action *could* be chosen, so
    that an action that is rarely legal is not explored beyond its worth.

    Args:
        return_sum: `[A]` summed returns of the player to move, each in `[0, 1]`.
        visits: `[A]` times each action was tried.
        availability: `[A]` times each action was legal when its node was visited.
        exploration: Weight of the exploration term, unitless.

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
    tried = np.maximum(visits, 1)
    bonus = exploration * np.sqrt(np.log(np.maximum(availability, 1)) / tried)
    return np.where(visits > 0, return_sum / tried + bonus, np.inf)


def best_of_few(return_sum: Sequence[float], visits: Sequence[int], bonus: float) -> int:
    """Index of the largest `return_sum / visits + bonus / sqrt(visits)`, the first of equals.

    The same choice as `ucb1_scores` with `bonus = exploration * sqrt(log(parent_visits))`, when
    every action was tried. Over a handful of actions plain numbers are several times faster
    than arrays, whose calls cost about a microsecond each.

    >>> best_of_few([3.0, 1.0], [4, 1], bonus=0.1), best_of_few([3.0, 1.0], [4, 2], bonus=0.0)
    (1, 0)
    """
    root = math.sqrt
    scores = [
        total / tried + bonus / root(tried) for total, tried in zip(return_sum, visits, strict=True)
    ]
    return scores.index(max(scores))


def best_of_few_available(
    return_sum: Sequence[float],
    visits: Sequence[int],
    availability: Sequence[int],
    *,
    exploration: float,
) -> int:
    """The choice of `ismcts_scores` over a handful of tried actions, the first of equals.

    >>> best_of_few_available([2.0, 2.0], [4, 4], [5, 100], exploration=0.7)
    1
    """
    root, log = math.sqrt, math.log
    scores = [
        total / tried + exploration * root(log(available) / tried)
        for total, tried, available in zip(return_sum, visits, availability, strict=True)
    ]
    return scores.index(max(scores))
