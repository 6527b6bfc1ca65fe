"""Random playouts of both players to the end of the game, without playing their shots.

Each player fires at the cells left to it in uniformly random order, so that the ship cells left
fall on random places of that order, drawn without repeats; how long the playout lasts, who wins
and what the loser has hit by then follow from those places. This is the same distribution as
playing it shot by shot, which the tests hold it against.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple


class Side(NamedTuple):
    """One player at the start of a playout.

    Attributes:
        cells: Cells left to fire at.
        ships: How many of them hold ships.
        need: Hits that it lacks to win; may be more or fewer than `ships` in a fleet that does
            not explain the shots.
    """

    cells: int
    ships: int
    need: int


class Playout(NamedTuple):
    """How a playout went.

    Attributes:
        won: Whether the player that fires first won.
        plies: Shots of both together.
        fired: Shots of the first and of the second.
        places: Of each, the place in its order of every ship cell left, from 0; in a random order.
    """

    won: bool
    plies: int
    fired: tuple[int, int]
    places: tuple[Sequence[int], Sequence[int]]


_RANGES = tuple(range(cells) for cells in range(101))
_NEVER = 1000


def playout(first: Side, second: Side, rng: Random) -> Playout:
    """Draw one.

    Raises:
        ValueError: If neither can ever win.
    """
    one = rng.sample(_RANGES[first.cells], first.ships)
    two = rng.sample(_RANGES[second.cells], second.ships)
    end_one = _end(one, first.need)
    end_two = _end(two, second.need)
    if end_one <= end_two:
        if end_one == _NEVER:
            raise ValueError(f"neither {first} nor {second} can win; required: ships for one")
        return Playout(True, 2 * end_one - 1, (end_one, end_one - 1), (one, two))
    return Playout(False, 2 * end_two, (end_two, end_two), (one, two))


def _end(places: Sequence[int], need: int) -> int:
    """The shot that wins, from 1."""
    if need == len(places):
        return max(places) + 1
    return sorted(places)[need - 1] + 1 if need < len(places) else _NEVER
