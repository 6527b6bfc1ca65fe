"""The sea as bits: ten by ten cells, one bit a cell, row by row from the top.

The rules are those of `games/library/battleship.py` with its default parameters: ships of 5, 4, 3,
3 and 2 cells, one shot a turn in strict alternation, hit or miss announced and nothing else. This
is a measuring instrument; the tests hold it against the library game in lockstep.
"""

from random import Random

SIDE = 10
CELLS = SIDE * SIDE
LENGTHS = (5, 4, 3, 3, 2)
HEALTH = sum(LENGTHS)
SEA = (1 << CELLS) - 1
BITS = tuple(1 << cell for cell in range(CELLS))
_LAST_COLUMN = sum(BITS[row * SIDE + SIDE - 1] for row in range(SIDE))
_NOT_LAST = SEA & ~_LAST_COLUMN


def ship_at(row: int, column: int, length: int, *, across: bool) -> int:
    """The cells of a ship from its first cell to the right or down; 0 if it leaves the sea."""
    end = (column if across else row) + length
    if not (0 <= row < SIDE and 0 <= column < SIDE and end <= SIDE):
        return 0
    step = 1 if across else SIDE
    start = row * SIDE + column
    return sum(BITS[start + step * index] for index in range(length))


def _places(length: int) -> tuple[int, ...]:
    everywhere = (
        ship_at(row, column, length, across=across)
        for across in (True, False)
        for row in range(SIDE)
        for column in range(SIDE)
    )
    return tuple(ship for ship in everywhere if ship)


PLACES = {length: _places(length) for length in sorted(set(LENGTHS))}
"""Length -> the cells of every ship of that length."""


def random_fleet(rng: Random) -> int:
    """The cells of a fleet as the game's own chance places it.

    Ship by ship from the longest, each uniform over the places that are free.
    """
    taken = 0
    for length in LENGTHS:
        places = PLACES[length]
        ship = places[int(rng.random() * len(places))]
        while ship & taken:
            ship = places[int(rng.random() * len(places))]
        taken |= ship
    return taken


def cells_of(bits: int) -> list[int]:
    """The numbers of the cells in a set, ascending.

    >>> cells_of(0b1011)
    [0, 1, 3]
    """
    cells = []
    while bits:
        low = bits & -bits
        cells.append(low.bit_length() - 1)
        bits ^= low
    return cells


def neighbours_in(bits: int) -> int:
    """How many pairs of side by side cells a set has, across and down.

    >>> neighbours_in(0b111), neighbours_in(1 << 9 | 1 << 10)
    (2, 0)
    """
    across = bits & _NOT_LAST & (bits >> 1)
    return across.bit_count() + (bits & (bits >> SIDE)).bit_count()
