"""Pieces and marks that an observation names with their cells, drawn on boards."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

from app.table.boards import WIDTH, Cell, Naming, draw_grid

_PLACE = re.compile(r"([a-z])(\d{1,2})(?:-([a-z])(\d{1,2}))?(?: (\w+))?")
_WORDS = {"hit": "X", "miss": "o", "sunk": "#"}
_OWN_MARK = "="
_LONGEST_MARK = 3
_TWO = 2
_MOST_COLUMNS = len(ascii_lowercase)
_SIZES = (("rows", "columns"), ("height", "width"), ("size", "size"))


@dataclass(frozen=True)
class _Placed:
    cells: tuple[Cell, ...]  # row and column, from a1
    word: str


def size_of(parameters: Mapping[str, Any]) -> Cell | None:
    """Rows and columns of the board of a game with these parameters, where it tells them.

    >>> size_of({"rows": 6, "columns": 7}), size_of({"cards": 7})
    ((6, 7), None)
    """
    for names in _SIZES:
        rows, columns = (parameters.get(name) for name in names)
        if type(rows) is int and type(columns) is int and min(rows, columns) > 1:
            return (rows, columns) if max(rows, columns) <= _MOST_COLUMNS else None
    return None


def piece_boards(
    observation: Mapping[str, Any], size: Cell, seats: int, seat: int
) -> tuple[set[str], list[str]]:
    """Boards of what is named with its cells, and the fields that they tell.

    Three kinds are known: a list of cells a seat, beside lists of as many marks (pieces); a list of
    cells with words a seat (shots), a board each; and the seat's own cells and spans of cells, such
    as "a1-a4" (ships), which are drawn below the other's shots.
    """
    by_seat = {
        key: rows for key, value in observation.items() if (rows := _by_seat(value, size, seats))
    }
    for key, rows in by_seat.items():
        shape = [len(row) for row in rows]
        beside = {name for name, value in observation.items() if _shape(value) == shape} - {key}
        for name in sorted(beside):
            if all(isinstance(mark, str) for row in observation[name] for mark in row):
                pieces = _pieces(rows, observation[name], seat)
                return {key, *beside}, _boards([("board:", pieces)], size, up=True)
    own = {key: row for key, value in observation.items() if (row := _row(value, size))}
    mine = {cell: _OWN_MARK for row in own.values() for one in row for cell in one.cells}
    name = f"your {' and '.join(own)} ({_OWN_MARK})"
    titled: list[tuple[str, dict[Cell, str]]] = []
    for key, rows in by_seat.items():
        for number, row in enumerate(rows):
            marks = {cell: _sign(one.word) for one in row for cell in one.cells}
            whose = f"{key} of Player {number + 1}"
            if number == seat:
                signs = sorted({f"{_sign(one.word)} {one.word}" for one in row if one.word})
                told = f" ({', '.join(signs)})" if signs else ""
                titled.append((f"your {key}{told}:", marks))
            elif mine and seats == _TWO and _fits(mine, marks):
                titled.append((f"{name}, {whose}:", {**mine, **marks}))
                mine = {}
            else:
                titled.append((f"{whose}:", marks))
    if mine:
        titled.append((f"{name}:", mine))
    return {*by_seat, *own}, _boards(titled, size, up=False)


def _sign(word: str) -> str:
    return _WORDS.get(word, word[:1] or "x")


def _pieces(
    rows: Sequence[Sequence[_Placed]], marks: Sequence[Sequence[str]], seat: int
) -> dict[Cell, str]:
    """Own pieces as they are, those of others in brackets."""
    return {
        cell: mark if number == seat else f"[{mark}]"
        for number, (row, told) in enumerate(zip(rows, marks, strict=True))
        for one, mark in zip(row, told, strict=True)
        for cell in one.cells
    }


def _fits(mine: Mapping[Cell, str], marks: Mapping[Cell, str]) -> bool:
    """Whether marks may lie on one's own cells: other words there than beside them."""
    return not {marks[cell] for cell in marks if cell in mine} & {
        marks[cell] for cell in marks if cell not in mine
    }


def _boards(titled: Sequence[tuple[str, dict[Cell, str]]], size: Cell, *, up: bool) -> list[str]:
    """Boards under their titles, side by side where they have room."""
    order, columns = range(size[0])[:: -1 if up else 1], range(size[1])
    naming = Naming(tuple(ascii_lowercase[: size[1]]), tuple(str(row + 1) for row in order))
    drawn = [
        [title, *draw_grid([[marks.get((r, c), ".") for c in columns] for r in order], naming)]
        for title, marks in titled
    ]
    wide = max((len(line) for lines in drawn for line in lines), default=0) + 3
    if len(drawn) != _TWO or _TWO * wide > WIDTH:
        return [line for lines in drawn for line in lines]
    return [
        f"{left:<{wide}}{right}".rstrip() for left, right in zip(drawn[0], drawn[1], strict=True)
    ]


def _by_seat(value: object, size: Cell, seats: int) -> list[list[_Placed]]:
    """What each seat has where; empty where a value does not say that."""
    if not isinstance(value, list) or len(value) != seats or seats == 1:
        return []
    rows = [_row(row, size) if row else [] for row in value]
    return [row for row in rows if row is not None] if any(rows) and None not in rows else []


def _row(value: object, size: Cell) -> list[_Placed] | None:
    """What lies where; None where a value does not say that."""
    if not isinstance(value, list) or not any(value):
        return None
    placed = [_placed(text, size) for text in value]
    return None if None in placed else [one for one in placed if one is not None]


def _placed(text: object, size: Cell) -> _Placed | None:
    if text == "":
        return _Placed((), "")  # no longer on the board
    found = _PLACE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    column, row, to_column, to_row, word = found.groups()
    ends = [(int(row) - 1, ascii_lowercase.index(column))]
    if to_column:
        ends.append((int(to_row) - 1, ascii_lowercase.index(to_column)))
    if any(not (0 <= r < size[0] and 0 <= c < size[1]) for r, c in ends):
        return None
    (top, left), (bottom, right) = min(ends), max(ends)
    span = [(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)]
    return _Placed(tuple(span), word or "")


def _shape(value: object) -> list[int] | None:
    """Lengths of a list of lists of short things."""
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return None
    short = all(
        isinstance(one, bool) or (isinstance(one, str) and len(one) <= _LONGEST_MARK)
        for row in value
        for one in row
    )
    return [len(row) for row in value] if short else None
