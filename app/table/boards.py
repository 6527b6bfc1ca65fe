"""Boards of an observation: which values are grids, how actions name the cells, and the drawing."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from string import ascii_lowercase
from typing import Any, TypeAlias

from games.text import one_line

Cell: TypeAlias = tuple[int, int]

WIDTH = 78
_LEAST = 3
_FEW_MARKS = 8
_LONGEST_CELL = 4
_BOARD_NAMES = frozenset({"board", "grid", "map", "cells", "squares", "field", "maze"})
_NAME = re.compile(r"[a-z]\d{1,2}(?!\d)|\d+ *, *\d+|(?<![a-z\d])\d+(?![a-z\d])")
_CELL_KEY = re.compile(r"\(?(?:([a-z])(\d{1,2})|(\d{1,2}) *, *(\d{1,2}))\)?", re.IGNORECASE)


@dataclass(frozen=True)
class Naming:
    """Names of the cells of a grid.

    Attributes:
        columns, rows: Labels at the top and at the left, in the order of drawing; may be empty.
        cells: Row and column, from the top left, by the name that actions use.
        inside: Whether an empty cell shows its own name.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    cells: Mapping[str, Cell] = field(default_factory=dict)
    inside: bool = False


def grid_of(key: str, value: object, *, is_zone: bool) -> list[list[str]] | None:
    """Rows of cells, where a value is a board; None where it is none.

    Args:
        key: The value's name, which may say that it is a board.
        value: Rows as strings or lists, one flat list of a square, or cells by their names.
        is_zone: Whether the module declares the value as a place of components.

    >>> grid_of("board", ["x.o", ".x.", "..o"], is_zone=False)[0]
    ['x', '.', 'o']
    >>> grid_of("board", [None, "X", "", "", "O", "", "", "", ""], is_zone=False)
    [['.', 'X', '.'], ['.', 'O', '.'], ['.', '.', '.']]
    >>> grid_of("pieces", {"a1": "w", "c2": "b"}, is_zone=False)
    [['.', '.', 'b'], ['w', '.', '.']]
    >>> grid_of("hand", ["2C", "3C", "TD"], is_zone=True)
    """
    named = is_zone or key in _BOARD_NAMES
    if isinstance(value, dict):
        return _of_cells(value) if value else None
    if not isinstance(value, list) or len(value) < _LEAST:
        return None
    if all(isinstance(row, str) for row in value) and len(value[0]) >= _LEAST:
        marks = set("".join(value))
        few = len(marks) <= _FEW_MARKS and not any(mark.isdigit() for mark in marks)
        return _even([list(row) for row in value]) if named or few else None
    if all(isinstance(row, list) for row in value):
        return _even([[_mark(cell) for cell in row] for row in value])
    side = isqrt(len(value))
    if key in _BOARD_NAMES and side >= _LEAST and side * side == len(value):
        marks_of = [_mark(cell) for cell in value]
        return _even([marks_of[start : start + side] for start in range(0, len(value), side)])
    return None


def naming_of(grid: Sequence[Sequence[str]], actions: Iterable[str], *, flat: bool) -> Naming:
    """How actions name the cells of a grid; without labels where they name none.

    Of several readings the one is taken under which all actions begin at the same kind of cell,
    as a player moves its own pieces, or places on what is empty.

    >>> grid = ["bb", "..", "ww"]
    >>> naming_of(grid, ["a1-a2", "b1xb2"], flat=False).rows
    ('3', '2', '1')
    >>> naming_of(grid, ["place 2,1", "place 2,2"], flat=False).rows
    ('1', '2', '3')
    """
    named = [found.replace(" ", "") for action in actions if (found := _first_cell(action))]
    best, fewest = Naming(), len(grid) * len(grid[0]) + 1
    for naming in _namings(len(grid), len(grid[0]), flat=flat):
        if named and all(name in naming.cells for name in named):
            begun = {grid[row][column] for row, column in map(naming.cells.__getitem__, named)}
            if len(begun) < fewest:
                best, fewest = naming, len(begun)
    return best


def draw_grid(grid: Sequence[Sequence[str]], naming: Naming) -> list[str]:
    r"""A grid with its labels; without blanks between its cells where it is wide.

    >>> print("\n".join(draw_grid(["x.", "oo"], Naming(("a", "b"), ("2", "1")))))
         a b
      2  x .
      1  o o
    """
    names = {cell: name for name, cell in naming.cells.items()} if naming.inside else {}
    rows = [
        [names.get((r, c), mark) if mark == "." else mark for c, mark in enumerate(row)]
        for r, row in enumerate(grid)
    ]
    wide = max(len(text) for text in [*(cell for row in rows for cell in row), *naming.columns])
    side = max(map(len, naming.rows), default=0)
    apart = " " if (wide + 1) * len(rows[0]) + side < WIDTH - 4 else ""
    labels = naming.rows or [""] * len(rows)
    lines = [
        f"  {label:>{side}}  {apart.join(cell.rjust(wide) for cell in row)}".rstrip()
        for label, row in zip(labels, rows, strict=True)
    ]
    if naming.columns:
        head = apart.join(label.rjust(wide) for label in naming.columns)
        lines.insert(0, f"  {'':>{side}}  {head}")
    return lines


def _first_cell(action: str) -> str | None:
    found = _NAME.search(action.lower())
    return found[0] if found else None


def _namings(rows: int, columns: int, *, flat: bool) -> Iterator[Naming]:
    """Readings of cell names, the likeliest first."""
    every = [(row, column) for row in range(rows) for column in range(columns)]
    if flat:
        for base in (1, 0):
            cells = {str(base + index): cell for index, cell in enumerate(every)}
            yield Naming(cells=cells, inside=True)
    if columns <= len(ascii_lowercase):
        letters = tuple(ascii_lowercase[:columns])
        for up in (True, False):
            sides = tuple(str(rows - row if up else row + 1) for row in range(rows))
            yield Naming(letters, sides, {f"{letters[c]}{sides[r]}": (r, c) for r, c in every})
    for base in (1, 0):
        tops = tuple(str(base + column) for column in range(columns))
        sides = tuple(str(base + row) for row in range(rows))
        yield Naming(tops, sides, {f"{sides[r]},{tops[c]}": (r, c) for r, c in every})
        yield Naming(tops, (), {tops[c]: (0, c) for c in range(columns)})


def _mark(cell: object) -> str:
    """How a cell is drawn; what is no short mark is too long for a grid."""
    if cell is None or cell is False or (isinstance(cell, str) and not cell.strip()):
        return "."
    return str(cell) if isinstance(cell, str | int) else "?" * (_LONGEST_CELL + 1)


def _even(rows: list[list[str]]) -> list[list[str]] | None:
    """The rows, where they are alike, long enough, and narrow enough to be drawn."""
    width, wide = len(rows[0]), max((len(cell) for row in rows for cell in row), default=0)
    if width < _LEAST or any(len(row) != width for row in rows):
        return None
    if wide > _LONGEST_CELL or wide * width > WIDTH - 8:
        return None
    return [[one_line(cell) or "." for cell in row] for row in rows]


def _of_cells(value: Mapping[str, Any]) -> list[list[str]] | None:
    """The grid around cells that are named, letters to the right and numbers upwards."""
    places: dict[Cell, str] = {}
    is_up = False
    for name, mark in value.items():
        found = _CELL_KEY.fullmatch(name)
        if found is None:
            return None
        letter, number, row, column = found.groups()
        is_up = is_up or letter is not None
        place = (int(number), ascii_lowercase.index(letter.lower()) + 1) if letter else None
        places[place or (int(row), int(column))] = _mark(mark)
    rows, columns = (
        range(min(1, *numbers), max(numbers) + 1) for numbers in zip(*places, strict=True)
    )
    grid = [[places.get((r, c), ".") for c in columns] for r in rows]
    return _even(grid[::-1] if is_up else grid)
