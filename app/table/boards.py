"""Boards of an observation: grids, and pieces named with their cells; and words at the table.

Words say which action a person means, and tell events in few lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from shutil import get_terminal_size
from string import ascii_lowercase
from typing import Any, TypeAlias

from games.text import one_line

Cell: TypeAlias = tuple[int, int]

WIDTH = max(30, min(78, get_terminal_size().columns - 2))  # of the terminal, where it is narrow
_LEAST = 3
_FEW_MARKS = 8
_LONGEST_CELL = 4
_BOARD_NAMES = frozenset({"board", "grid", "map", "cells", "squares", "field", "maze"})
_NAME = re.compile(r"[a-z]\d{1,2}(?!\d)|\d+ *, *\d+|(?<![a-z\d])\d+(?![a-z\d])")
_CELL_KEY = re.compile(r"\(?(?:([a-z])(\d{1,2})|(\d{1,2}) *, *(\d{1,2}))\)?", re.IGNORECASE)
_SUITS = str.maketrans("♣♦♥♠", "cdhs")
_TEN = re.compile(r"\b10(?=[cdhs]\b)")
_CODE = re.compile(r"(?<![Pp]layer )\b(?:\w*\d\w*|[A-Z]{1,3})\b")
_BETWEEN = re.compile(r"(?<=\w)[\s,.:>-]+(?=\w)")
_NUMBER = re.compile(r"([0-9]{1,9})")
_FEW = 2


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


@dataclass(frozen=True)
class Board:
    """A board as it is drawn.

    Attributes:
        title: Its name, and what its marks mean.
        grid: The marks of its cells, "." for none.
        naming: The names of its cells.
        is_sea: Whether its marks are shots and ships.
        is_placed: Whether several fields tell it.
    """

    title: str
    grid: Sequence[Sequence[str]]
    naming: Naming
    is_sea: bool = False
    is_placed: bool = False


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
        return _of_cells(value.items()) if value else None
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
    """The names that actions give to cells of a grid; without labels where they name none.

    Of several readings the one is taken under which all actions begin at the same kind of cell,
    as a player moves its own pieces, or places on what is empty.

    >>> grid = ["bb", "..", "ww"]
    >>> naming_of(grid, ["a1-a2", "b1xb2"], flat=False).rows
    ('3', '2', '1')
    >>> naming_of(grid, ["place 2,1", "place 2,2"], flat=False).rows
    ('1', '2', '3')
    """
    found = (_NAME.search(action.lower()) for action in actions)
    named = [one[0].replace(" ", "") for one in found if one]
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
    """The mark of a cell; a value without a short mark is too long for a grid."""
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


def _of_cells(marked: Iterable[tuple[str, object]]) -> list[list[str]] | None:
    """The grid around cells that are named, letters to the right and numbers upwards."""
    places: dict[Cell, str] = {}
    is_up = False
    for name, mark in marked:
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


def placed_boards(
    observation: Mapping[str, Any], size: Cell, seats: int, seat: int, name_of: Callable[[int], str]
) -> tuple[set[str], list[Board]]:
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
                return {key, *beside}, _boards([("board:", pieces)], size, is_sea=False)
    own = {key: row for key, value in observation.items() if (row := _row(value, size))}
    mine = {cell: _OWN_MARK for row in own.values() for one in row for cell in one.cells}
    name = f"your {' and '.join(own)} ({_OWN_MARK})"
    titled: list[tuple[str, dict[Cell, str]]] = []
    for key, rows in by_seat.items():
        for number, row in enumerate(rows):
            marks = {cell: _sign(one.word) for one in row for cell in one.cells}
            whose = f"{key} of {name_of(number)}"
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
    return {*by_seat, *own}, _boards(titled, size, is_sea=True)


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
    """True where marks may lie on one's own cells: the words there differ from those beside."""
    return not {marks[cell] for cell in marks if cell in mine} & {
        marks[cell] for cell in marks if cell not in mine
    }


def _boards(
    titled: Sequence[tuple[str, dict[Cell, str]]], size: Cell, *, is_sea: bool
) -> list[Board]:
    """Boards of marks; the rows of a sea count downwards."""
    order, columns = range(size[0])[:: 1 if is_sea else -1], range(size[1])
    sides = tuple(str(row + 1) for row in order)
    cells = {f"{ascii_lowercase[c]}{side}": (r, c) for r, side in enumerate(sides) for c in columns}
    naming = Naming(tuple(ascii_lowercase[: size[1]]), sides, cells)
    return [
        Board(
            title,
            [[marks.get((r, c), ".") for c in columns] for r in order],
            naming,
            is_sea,
            is_placed=True,
        )
        for title, marks in titled
    ]


def draw_boards(boards: Sequence[Board]) -> list[str]:
    """Boards under their titles, two of one kind side by side where they have room."""
    drawn = [[board.title, *draw_grid(board.grid, board.naming)] for board in boards]
    wide = max((len(line) for lines in drawn for line in lines), default=0) + 3
    if len(drawn) != _TWO or _TWO * wide > WIDTH:
        return [line for lines in drawn for line in lines]
    return [
        f"{left:<{wide}}{right}".rstrip() for left, right in zip(drawn[0], drawn[1], strict=True)
    ]


def _by_seat(value: object, size: Cell, seats: int) -> list[list[_Placed]]:
    """Each seat's items by place; empty where a value does not say that."""
    if not isinstance(value, list) or len(value) != seats or seats == 1:
        return []
    rows = [_row(row, size) if row else [] for row in value]
    return [row for row in rows if row is not None] if any(rows) and None not in rows else []


def _row(value: object, size: Cell) -> list[_Placed] | None:
    """Items by place; None where a value does not say that."""
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


def plain_words(text: str) -> str:
    """A text as it is compared: no case, single blanks, cards by their codes.

    >>> plain_words(" Play  10♥ ")
    'play th'
    """
    return _TEN.sub("t", one_line(text).casefold().translate(_SUITS))


def are_numbered(legal: Sequence[str]) -> bool:
    """True where people may choose by number: no action has a number among its words.

    >>> are_numbered(["fire a1", "fire a2"]), are_numbered(["bid 3", "bid 7"])
    (True, False)
    """
    return not any(word.isdigit() for action in legal for word in action.split())


def by_numbers(action: str) -> list[str | int]:
    """The sort key by which a person looks for an action: numbers go by their value.

    >>> sorted(["fire a1", "fire a10", "fire a2", "fire b1", "pass"], key=by_numbers)
    ['fire a1', 'fire a2', 'fire a10', 'fire b1', 'pass']
    """
    parts = _NUMBER.split(action)
    return [int(part) if n % 2 else part for n, part in enumerate(parts)]


def meant(typed: str, legal: Sequence[str]) -> list[str]:
    """The actions that a person may mean; exactly one where that is clear.

    Args:
        typed: An action's number, its words, its last words, or beginnings of its words.
        legal: The actions.

    >>> legal = ["play 7C", "play TH", "draw", "b8-c7"]
    >>> [meant(typed, legal) for typed in ("7c", "10♥", "2", "DRA", "b8c7", "p", "x")]
    [['play 7C'], ['play TH'], ['play TH'], ['draw'], ['b8-c7'], ['play 7C', 'play TH'], []]
    >>> meant("3", ["drop 1", "drop 3"]), meant("2", ["drop 1", "drop 3"])
    (['drop 3'], [])
    """
    wanted = plain_words(typed)
    if not wanted:
        return []
    known = [(plain_words(action), action) for action in legal]
    for fits in (_is_same, _is_tail, _is_close, _is_close_tail):
        found = [action for words, action in known if fits(wanted, words)]
        if found:
            return found
    if wanted.isdecimal():
        number = int(wanted[:9]) if wanted.isascii() and are_numbered(legal) else 0
        return [legal[number - 1]] if 1 <= number <= len(legal) else []
    return [action for words, action in known if _begins(wanted, words)]


def folded(events: Iterable[str]) -> list[str]:
    """Events of one stretch of chance, with those that differ in one card or number on one line.

    >>> folded(["You are dealt 7C.", "Player 2 is dealt a card.", "You are dealt 9D.",
    ...         "Player 2 is dealt a card.", "You are dealt TD.", "Player 2 is dealt a card."])
    ['You are dealt 7C 9D TD.', 'Player 2 is dealt a card. (3 times)']
    """
    kinds: dict[str, list[str]] = {}
    for event in events:
        kinds.setdefault(_CODE.sub("#", event), []).append(event)
    lines: list[str] = []
    for told in kinds.values():
        columns = list(zip(*map(_CODE.findall, told), strict=True))
        varied = sum(len(set(codes)) > 1 for codes in columns)
        if len(told) <= _FEW or varied > 1:
            lines += told
        elif varied:
            words = [codes[0] if len(set(codes)) == 1 else " ".join(codes) for codes in columns]
            parts = zip(_CODE.split(told[0]), [*words, ""], strict=True)
            lines.append("".join(before + word for before, word in parts))
        else:
            lines.append(f"{told[0]} ({len(told)} times)")
    return lines


def _is_same(wanted: str, words: str) -> bool:
    return wanted == words


def _is_tail(wanted: str, words: str) -> bool:
    """True where the text is an action's last words, as "7c" for "play 7c"."""
    return f" {words}".endswith(f" {wanted}")


def _is_close(wanted: str, words: str) -> bool:
    return _BETWEEN.sub("", wanted) == _BETWEEN.sub("", words)


def _is_close_tail(wanted: str, words: str) -> bool:
    parts = words.split()
    return any(_is_close(wanted, " ".join(parts[start:])) for start in range(1, len(parts)))


def _begins(wanted: str, words: str) -> bool:
    """True where each word typed begins a word of the action, in order; numbers are whole."""
    left = iter(words.split())
    return all(
        any(word == start or (word.startswith(start) and not start.isdecimal()) for word in left)
        for start in wanted.split()
    )
