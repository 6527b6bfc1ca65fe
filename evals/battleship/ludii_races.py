"""Random playouts of both players, worked out instead of played.

Two players that fire at random do not meet: each needs the shot on which the last of k ship cells
among n cells in random order falls, P(T <= t) = C(t, k) / C(n, k). Who wins, and how many plies it
takes, follows without playing a shot; the tests hold it against playing them.
"""

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Race(NamedTuple):
    """What random play comes to.

    Attributes:
        first: Probability that the player that is to fire wins.
        plies: Expected number of shots of both together.
    """

    first: float
    plies: float


@lru_cache(maxsize=1 << 12)
def _ends(cells: int, ships: int) -> Floats:
    """`[cells + 1]` the probability that shot t is the last that is needed.

    Who needs none wins on the next shot all the same: a game ends only when somebody fires.
    """
    if not ships:
        ends: Floats = np.eye(1, cells + 1, 1)[0]
        return ends
    ways = [comb(shot, ships) for shot in range(cells + 1)]
    return np.diff(np.array(ways, dtype=np.float64) / ways[-1], prepend=0.0)


@lru_cache(maxsize=1 << 16)
def race(cells: int, ships: int, other_cells: int, other_ships: int) -> Race:
    """The outcome where the first player fires next at `cells` left, `ships` of them ships.

    Raises:
        ValueError: If a player has fewer cells left than ships, or none.
    """
    if not (ships <= cells and other_ships <= other_cells and cells and other_cells):
        raise ValueError(
            f"{ships} ships in {cells} cells and {other_ships} in {other_cells}; required: at "
            "least as many cells as ships, and one"
        )
    one, two = _ends(cells, ships), _ends(other_cells, other_ships)
    size = max(len(one), len(two))
    one = np.pad(one, (0, size - len(one)))
    two = np.pad(two, (0, size - len(two)))
    shot = np.arange(size)
    later_two = two[::-1].cumsum()[::-1]
    later_one = one[::-1].cumsum()[::-1] - one
    first = one * later_two
    second = two * later_one
    plies = float((first * (2 * shot - 1)).sum() + (second * 2 * shot).sum())
    return Race(float(first.sum()), plies)
