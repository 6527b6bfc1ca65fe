"""What a seat sees, laid out for a person to read: pure functions from values to lines."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 78
_SHOWN_ROWS = 8  # as many as there may be seats: a list with an entry a seat is never cut
_LATEST = 5
_SHORT = 24
_GRID_LEAST = 3
_GRID_MARKS = 8


def view(observation: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Lines for every field; what is told by a dictionary and did not change is only named.

    Args:
        observation: What the seat sees now.
        before: What it saw when it was last asked; empty the first time.
    """
    lines: list[str] = []
    same = [
        key
        for key, value in observation.items()
        if isinstance(value, dict) and before.get(key) == value
    ]
    for key, value in observation.items():
        if key not in same:
            lines += field(key.replace("_", " "), value)
    lines = _joined(lines)
    if same:
        lines.append(f"(as before: {', '.join(same)})")
    return lines


def field(name: str, value: object) -> list[str]:
    """One field under its name.

    >>> field("hand", ["TH", "2C"])
    ['hand: TH 2C']
    >>> field("board", ["x.o", ".x.", "..o"])
    ['board:', '    x . o', '    . x .', '    . . o']
    >>> field("bids", [None, True, "take 2"])
    ['bids: none, yes, take 2']
    >>> field("tricks", [{"leader": 0, "cards": ["3D", "8D"]}])
    ['tricks:', '    0: leader 0, cards 3D 8D']
    """
    grid = _grid(value)
    if grid is not None:
        return [f"{name}:", *(f"    {row}" for row in grid)]
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return [f"{name}:", *_rows(value)]
    return textwrap.wrap(
        f"{name}: {_inline(value)}", _WIDTH, subsequent_indent="    ", break_on_hyphens=False
    )


def _joined(lines: Sequence[str]) -> list[str]:
    """Neighbouring short lines share one."""
    joined: list[str] = []
    open_ended = False
    for line in lines:
        short = len(line) <= _SHORT and not line.startswith(" ") and not line.endswith(":")
        if short and open_ended and len(joined[-1]) + len(line) < _WIDTH - 2:
            joined[-1] += f" | {line}"
        else:
            joined.append(line)
        open_ended = short
    return joined


def choices(legal: Sequence[str]) -> list[str]:
    """The legal actions with their numbers, in columns where they are many.

    >>> choices(["roll", "stop"])
    ['  1. roll', '  2. stop']
    """
    cells = [f"{number:>3}. {action}" for number, action in enumerate(legal, start=1)]
    width = max(map(len, cells)) + 2
    columns = max(1, _WIDTH // width) if len(cells) > 2 * _LATEST else 1
    rows = -(-len(cells) // columns)
    return ["".join(cell.ljust(width) for cell in cells[row::rows]).rstrip() for row in range(rows)]


def _rows(items: Sequence[object]) -> list[str]:
    """A line an entry, counted from 0 as seats are; of a long list the latest."""
    skipped = len(items) - _LATEST if len(items) > _SHOWN_ROWS else 0
    lines = [f"    ({skipped} earlier)"] if skipped else []
    for number, item in enumerate(items[skipped:], start=skipped):
        lines += textwrap.wrap(
            f"{number}: {_inline(item)}",
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="       ",
            break_on_hyphens=False,
        )
    return lines


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_nested(item)}" for key, item in value.items()) or "none"
    if isinstance(value, list):
        words = [_nested(item) for item in value]
        apart = ", " if any(" " in word for word in words) else " "
        return apart.join(words) or "none"
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _nested(value: object) -> str:
    text = _inline(value)
    return f"({text})" if isinstance(value, dict | list) and ", " in text else text


def _grid(value: object) -> list[str] | None:
    """Rows of a board: strings of one length made of few marks, or lists of short cells."""
    if not isinstance(value, list) or len(value) < _GRID_LEAST:
        return None
    if all(isinstance(row, str) for row in value):
        marks = set("".join(value))
        drawn = len(marks) <= _GRID_MARKS and not any(mark.isdigit() for mark in marks)
        return _aligned([list(row) for row in value]) if drawn else None
    if all(isinstance(row, list) for row in value):
        cells = [cell for row in value for cell in row]
        if all(isinstance(cell, str | int | None) for cell in cells):
            return _aligned([["." if c in (None, "") else str(c) for c in row] for row in value])
    return None


def _aligned(rows: list[list[str]]) -> list[str] | None:
    width = len(rows[0])
    if width < _GRID_LEAST or any(len(row) != width for row in rows):
        return None
    wide = max(len(cell) for row in rows for cell in row)
    if (wide + 1) * width > _WIDTH:
        return None
    return [" ".join(cell.ljust(wide) for cell in row).rstrip() for row in rows]
