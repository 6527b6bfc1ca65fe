"""The terminal's layout: one seat's view of any game in lines of text."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.table.boards import WIDTH, are_numbered, draw_boards
from app.table.reading import SeatReading, Setting, ViewPart, listed_words
from games.text import one_line

__all__ = ["SeatLayout", "Setting", "choices", "wrapped"]

_CARD = re.compile(r"^(10|[2-9TJQKA])([CDHS])$")
_RANKS = "23456789TJQKA"
_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_LINES, _ASCII_LINES = tuple("─│┌┐└┘"), tuple("-|..''")
_MOST_BOXES, _LONGEST_LABEL = 30, 8
_LATEST, _UNDER, _MOST_LINES = 3, 6, 6
_MOST_WRAPPED = 12
_TALLEST = 100
_BOARD, _SEAT_TABLE, _TABLE, _LIST, _FACT, _HAND = range(6)  # the order of drawing


@dataclass
class SeatLayout(SeatReading):
    """The layout of one seat's view."""

    def draw(self, observation: Mapping[str, Any], actions: Sequence[str]) -> list[str]:
        """Lines for everything that the seat sees and that matters now.

        Args:
            observation: What the seat sees.
            actions: What it may do, from which the names of a board's cells are read.
        """
        parts: list[tuple[int, list[str]]] = []
        columns: list[tuple[str, list[str]]] = []
        facts: list[str] = []
        for part in self.parts(observation, actions):
            if part.kind == "fact":
                facts.append(f"{part.name} {self.inline(part.value, part.key)}")
            elif part.kind == "column":
                columns.append((part.name, [self.inline(item, part.key) for item in part.value]))
            else:
                parts.append(self._drawn(part, observation.get("leader")))
        parts.append((_SEAT_TABLE, self._seat_table(columns)))
        parts.append((_FACT, _joined(facts)))
        ordered = sorted(parts, key=lambda part: part[0])
        return [line for _, lines in ordered for line in _cut(lines)]

    def _drawn(self, part: ViewPart, leader: object) -> tuple[int, list[str]]:
        if part.kind == "boards":
            return _BOARD, draw_boards(part.boards)
        if part.kind == "hand":
            return _HAND, self._hand(part.name, part.value)
        if part.kind == "lists":
            return _TABLE, self._seat_lists(part.name, part.value)
        if part.kind == "open":
            return self._open(part, leader)
        return _TABLE, wrapped(f"{part.name}: {self.inline(part.value, part.key)}")

    def _hand(self, name: str, hand: list[str]) -> list[str]:
        """The seat's own cards, as cards where they have room."""
        if all(map(_CARD.match, hand)):
            hand = sorted(hand, key=lambda card: (card[-1], _RANKS.find(card[0])))
        long = any(len(label) > _LONGEST_LABEL for label in hand)
        if not hand or long or len(hand) > _MOST_BOXES or "hand" not in name:
            return wrapped(f"your {name}: {listed_words(hand)}")
        return [f"your {name}:", *self._boxes(hand)]

    def _boxes(self, labels: list[str]) -> list[str]:
        across, down, *corners = _LINES if self.setting.is_unicode else _ASCII_LINES
        if self.setting.is_unicode:
            labels = [_CARD.sub(lambda card: card[1] + _SIGNS[card[2]], text) for text in labels]
        wide = max(map(len, labels))
        row = max(1, (WIDTH - 2) // (wide + 3))
        lines = []
        for start in range(0, len(labels), row):
            some = labels[start : start + row]
            edge = across * wide
            lines += [
                "  " + " ".join([f"{corners[0]}{edge}{corners[1]}"] * len(some)),
                "  " + " ".join(f"{down}{label:^{wide}}{down}" for label in some),
                "  " + " ".join([f"{corners[2]}{edge}{corners[3]}"] * len(some)),
            ]
        return lines

    def _seat_table(self, columns: Sequence[tuple[str, list[str]]]) -> list[str]:
        """A row a seat, a column a field."""
        if not columns:
            return []
        names = [f"Player {seat + 1}" for seat in range(self.setting.seats)]
        names[self.seat] += " (you)"
        side = max(map(len, names))
        wide = [max(map(len, [name, *cells])) for name, cells in columns]
        rows = zip(*([name, *cells] for name, cells in columns), strict=True)
        lines = []
        for label, cells in zip(["", *names], rows, strict=True):
            told = "  ".join(cell.rjust(w) for cell, w in zip(cells, wide, strict=True))
            lines.append(f"  {label:<{side}}  {told}"[:WIDTH].rstrip())
        return lines

    def _seat_lists(self, name: str, row: Sequence[object]) -> list[str]:
        told = [f"{self.name(seat)}: {self.inline(item)}" for seat, item in enumerate(row) if item]
        return [f"{name}:", *(line for text in told for line in wrapped(text, "  "))]

    def _open(self, part: ViewPart, leader: object) -> tuple[int, list[str]]:
        """Cards and other things on the table; of long lists the latest."""
        key, name, value = part.key, part.name, part.value
        if any(isinstance(item, list | dict) for item in value):
            latest = value[-_LATEST:]
            more = f" (the last {_LATEST} of {len(value)})" if len(value) > _LATEST else ""
            rows = [line for item in latest for line in wrapped(self.inline(item, key), "  ")]
            return _LIST, [f"{name}{more}:", *rows]
        if "discard" in key and len(value) > 1:
            under = [str(item) for item in reversed(value[:-1])]
            more = f" and {len(under) - _UNDER} more" if len(under) > _UNDER else ""
            text = f"{value[-1]} on top, under it {listed_words(under[:_UNDER])}{more}"
            return _TABLE, wrapped(f"{name}: {text}")
        if seats := self.trick_seats(part, leader):
            pairs = zip(map(self.name, seats), value, strict=True)
            return _TABLE, wrapped(f"{name}: " + ", ".join(f"{who} {what}" for who, what in pairs))
        return _TABLE, wrapped(f"{name}: {self.inline(value, key)}")


def choices(legal: Sequence[str], *, whole: bool = False) -> list[str]:
    """The legal actions in columns, numbered where a number cannot be meant otherwise.

    Args:
        legal: The actions.
        whole: Whether to list all of them, however many; else many are told by their first words.

    >>> choices(["roll", "stop"])
    ['  1. roll', '  2. stop']
    >>> choices(["bid 1", "bid 7"])
    ['  bid 1', '  bid 7']
    >>> choices([f"fire {column}{row}" for column in "abcdefghij" for row in range(1, 11)])
    ['  fire a1 ... fire j10 (100 of them; "moves" lists all)']
    """
    shown = [one_line(action)[: WIDTH - 8] for action in legal]
    numbered = are_numbered(legal)
    cells = [f"{n:>3}. {text}" if numbered else f"  {text}" for n, text in enumerate(shown, 1)]
    width = max(map(len, cells)) + 2
    columns = max(1, WIDTH // width) if len(cells) > _MOST_LINES - 1 else 1
    rows = -(-len(cells) // columns)
    if rows > _MOST_LINES and not whole:
        return _by_first_word(shown)
    return ["".join(cell.ljust(width) for cell in cells[row::rows]).rstrip() for row in range(rows)]


def _by_first_word(shown: Sequence[str]) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for text in shown:
        kinds.setdefault(text.split(" ")[0] if " " in text else "", []).append(text)
    if len(kinds) > _MOST_LINES:
        kinds = {"": list(shown)}
    lines = []
    for some in kinds.values():
        many = f" ... {some[-1]} ({len(some)} of them" if len(some) > 1 else ""
        lines.append(f"  {some[0]}{many}" + ('; "moves" lists all)' if many else ""))
    return lines


def _cut(lines: list[str]) -> list[str]:
    """A part of the drawing, which a module must not make a flood."""
    more = len(lines) - _TALLEST
    return lines if more <= 0 else [*lines[:_TALLEST], f"  and {more} more lines"]


def _joined(facts: Sequence[str]) -> list[str]:
    """Facts side by side, as many as a line holds."""
    lines: list[str] = []
    for fact in facts:
        if lines and len(lines[-1]) + len(fact) + 3 <= WIDTH:
            lines[-1] += f" | {fact}"
        else:
            lines += wrapped(fact)
    return lines


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines that a terminal holds; what goes on is indented."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_on_hyphens=False,
        max_lines=_MOST_WRAPPED,
        placeholder=" ...",
    )
