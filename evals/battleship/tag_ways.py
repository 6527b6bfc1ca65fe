"""Where a try of TAG's determinizations may lay a ship; 0 stands for a try that leaves the sea."""

from evals.battleship.sea import CELLS, LENGTHS, SIDE, ship_at

ATTEMPTS = 10_000
TRIES = 50


def _over(cell: int, length: int) -> tuple[int, ...]:
    """Both directions, each offset."""
    row, column = divmod(cell, SIDE)
    right = [ship_at(row, column - offset, length, across=True) for offset in range(length)]
    down = [ship_at(row - offset, column, length, across=False) for offset in range(length)]
    return (*right, *down)


OVER = {n: tuple(_over(cell, n) for cell in range(CELLS)) for n in sorted(set(LENGTHS))}
"""Length -> cell -> every try over that cell."""

ANYWHERE = {
    n: tuple(
        ship_at(row, column, n, across=across)
        for across in (True, False)
        for row in range(SIDE)
        for column in range(SIDE)
    )
    for n in sorted(set(LENGTHS))
}
"""Length -> every try anywhere."""
