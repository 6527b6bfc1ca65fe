"""Fire where the most ships could lie, above all where they would explain hits.

Counts, over the ships' lengths, every place that covers the cell and no miss; a place counts
many times more for each hit that it would explain beside the cell. Cells of ships announced as
sunk count as misses, and their lengths are not looked for any more.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Weighted number of places over the target cell; larger is better."""
    rules = observation["rules"]
    rows, columns = rules["rows"], rules["columns"]
    hits, closed, lengths = _read(observation)
    column, row = ord(action[5]) - ord("a"), int(action[6:]) - 1
    total = 0.0
    for length in lengths:
        for down, right in ((0, 1), (1, 0))[: 1 if length == 1 else 2]:
            for back in range(length):
                cells = [
                    (row + (step - back) * down, column + (step - back) * right)
                    for step in range(length)
                ]
                inside = all(0 <= r < rows and 0 <= c < columns for r, c in cells)
                if inside and not closed.intersection(cells):
                    total += 20.0 ** len(hits.intersection(cells))
    return total


def _read(
    observation: dict[str, Any],
) -> tuple[set[tuple[int, int]], set[tuple[int, int]], list[int]]:
    hits, closed, lengths = set(), set(), list(observation["lengths"])
    for shot in observation["shots"][observation["you"]]:
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
    return hits, closed, lengths


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
