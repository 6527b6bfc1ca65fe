"""Choosing which action to descend into: upper confidence bounds over flat arrays.

Every bound is `mean + exploration * sqrt(log(availability) / visits)`. Statistics keep
`inverse_root = 1 / sqrt(visits)` beside the mean, so that scoring takes no root an action.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Table: TypeAlias = tuple[float, ...]

FEW = 32  # actions up to which plain numbers beat the cost of numpy's calls


def ucb1_scores(
    mean: NDArray[np.float64],
    inverse_root: NDArray[np.float64],
    parent_visits: int,
    *,
    exploration: float,
) -> NDArray[np.float64]:
    """Score each action at a node whose actions are always legal.

    `mean + exploration * sqrt(log(parent_visits)) * inverse_root`, that is
    `mean + exploration * sqrt(log(parent_visits) / visits)`.

    Args:
        mean: `[A]` mean returns of the player to move.
        inverse_root: `[A]` `1 / sqrt(visits)`; every action was tried.
        parent_visits: Times the node was visited, at least 1.
        exploration: Weight of the exploration term, in the unit of the returns.

    Reference:
        Auer, Cesa-Bianchi & Fischer (2002), UCB1; Kocsis & Szepesvári (2006), UCT.
    """
    return mean + exploration * math.sqrt(math.log(parent_visits)) * inverse_root


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
    root, log = math.sqrt, math.log
    best, at = -math.inf, 0
    for position, row in enumerate(rows):
        score = mean[row] + exploration * root(log(availability[row])) * inverse_root[row]
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
    return max(1, math.ceil(coefficient * math.pow(visits, power)))


def grown(root_logs: Table, inverse_roots: Table) -> tuple[Table, Table]:
    """Tables over visits `n`, of `sqrt(log(n))` and `1 / sqrt(n)`, made twice as long."""
    more = range(len(root_logs), 2 * len(root_logs))
    return (
        (*root_logs, *(math.sqrt(math.log(n)) for n in more)),
        (*inverse_roots, *(1.0 / math.sqrt(n) for n in more)),
    )


ROOT_LOGS: Table = (0.0, 0.0)
INVERSE_ROOTS: Table = (0.0, 1.0)
while len(ROOT_LOGS) < 1 << 12:
    ROOT_LOGS, INVERSE_ROOTS = grown(ROOT_LOGS, INVERSE_ROOTS)
