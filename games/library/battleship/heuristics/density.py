"""Fire where the most ships could lie, above all where they would explain hits.

Counts, over the ships' lengths, every place that covers the cell and no miss; a place counts
many times more for each hit that it would explain beside the cell. Cells of ships announced as
sunk count as misses, and their lengths are not looked for any more.
"""

from functools import lru_cache
from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Weighted number of places over the target cell; larger is better."""
    rules, shots = observation["rules"], observation["shots"][observation["you"]]
    rows, columns = rules["rows"], rules["columns"]
    weights = _weights(rows, columns, tuple(observation["lengths"]), tuple(shots))
    cell: int = (int(action[6:]) - 1) * columns + ord(action[5]) - ord("a")
    return weights[cell]


@lru_cache(maxsize=4)
def _weights(
    rows: int, columns: int, lengths: tuple[int, ...], shots: tuple[str, ...]
) -> list[float]:
    """The weighted number of places over each cell, row by row."""
    hits, closed, left = _read(shots, list(lengths), columns)
    weights = [0.0] * (rows * columns)
    for length in left:
        for place, cells in _places(rows, columns, length):
            if not place & closed:
                weight = 20.0 ** (place & hits).bit_count()
                for cell in cells:
                    weights[cell] += weight
    return weights


@lru_cache(maxsize=32)
def _places(rows: int, columns: int, length: int) -> list[tuple[int, range]]:
    """Every place of a ship, as a set of bits and as cells."""
    across = [
        range(start, start + length)
        for row in range(rows)
        for start in range(row * columns, (row + 1) * columns - length + 1)
    ]
    down = [
        range(start, start + length * columns, columns)
        for start in range((rows - length + 1) * columns)
        if length > 1
    ]
    return [(_bits(cells), cells) for cells in across + down]


def _bits(cells: set[int] | range) -> int:
    return sum(1 << cell for cell in cells)


def _read(shots: tuple[str, ...], lengths: list[int], columns: int) -> tuple[int, int, list[int]]:
    """Hits that are not explained, cells where nothing is looked for, and lengths that are."""
    hits, closed = set[tuple[int, int]](), set[tuple[int, int]]()
    for shot in shots:
        cell, result, *length = shot.split()
        place = (int(cell[1:]) - 1, ord(cell[0]) - ord("a"))
        if result == "miss":
            closed.add(place)
            continue
        hits.add(place)
        if result == "sunk":
            lengths.remove(int(length[0]))
            for ship in _sunk(hits, place, int(length[0])):
                hits.discard(ship)
                closed.add(ship)
    found, shut = (_bits({row * columns + column for row, column in one}) for one in (hits, closed))
    return found, shut, lengths


def _sunk(hits: set[tuple[int, int]], last: tuple[int, int], length: int) -> list[tuple[int, int]]:
    """The sunk ship's cells where the hits leave only one way to lay it; else its last cell."""
    ways = []
    for down, right in ((0, 1), (1, 0))[: 1 if length == 1 else 2]:
        for back in range(length):
            cells = [
                (last[0] + (step - back) * down, last[1] + (step - back) * right)
                for step in range(length)
            ]
            if hits.issuperset(cells):
                ways.append(cells)
    return ways[0] if len(ways) == 1 else [last]
