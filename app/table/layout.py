"""The general layout: one seat's observation of any game as boards, tables, cards and facts."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.table.boards import (
    WIDTH,
    Naming,
    are_numbered,
    draw_grid,
    grid_of,
    naming_of,
    piece_boards,
    size_of,
)
from games.text import one_line

_OWN = frozenset({"you", "me", "seat", "player", "to_move", "turn", "current_player", "players"})
_SEATS = _OWN | {"leader", "dealer", "winner", "winners", "starter", "first", "owner", "by", "to"}
_SEAT_ENDS = ("_by", "_player", "_seat", "_leader", "_dealer", "_winner", "_to_move")
_POINTS = ("score", "point", "chips", "money")
_CARD = re.compile(r"^(10|[2-9TJQKA])([CDHS])$")
_RANKS = "23456789TJQKA"
_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_LINES, _ASCII_LINES = tuple("─│┌┐└┘"), tuple("-|..''")
_MOST_BOXES, _LONGEST_LABEL = 30, 8
_LATEST, _UNDER, _MOST_LINES = 3, 6, 6
_PAIR = 2
_MOST_WRAPPED = 12
_TALLEST = 100
_BOARD, _SEAT_TABLE, _TABLE, _LIST, _FACT, _HAND = range(6)  # the order of drawing


@dataclass(frozen=True)
class Setting:
    """Facts that stay the same through a match.

    Attributes:
        seats: How many play.
        zones: The module's `ZONES`.
        parameters: The game's parameters: they need no telling at every turn.
        is_unicode: Whether the terminal shows more than ASCII.
    """

    seats: int
    zones: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_unicode: bool = False

    def owned(self) -> set[str]:
        """First names of the zones that each player has one of."""
        return {
            path.split(".")[0]
            for path, zone in self.zones.items()
            if isinstance(zone, dict) and zone.get("owner") == "each"
        }


@dataclass
class SeatLayout:
    """The layout of one seat's view, which remembers what the seat has seen before.

    Attributes:
        setting: The match.
        seat: Whose view it draws.
    """

    setting: Setting
    seat: int
    _told: set[str] = field(default_factory=set)  # fields that have ever said something
    _lengths: dict[str, set[int]] = field(default_factory=dict)
    _namings: dict[str, Naming] = field(default_factory=dict)
    _players: dict[str, set[int]] = field(default_factory=dict)  # numbers in lists of what was done

    def learn(self, observation: Mapping[str, Any]) -> None:
        """Note how the fields look over time."""
        for key, value in observation.items():
            if not _is_nothing(value) and not _is_zero(value):
                self._told.add(key)
            if isinstance(value, list):
                self._lengths.setdefault(key, set()).add(len(value))
                for entry in (item for item in value if isinstance(item, dict)):
                    seats = {n: x for n, x in entry.items() if _is_seat(n) and type(x) is int}
                    known = {0} if seats.keys() & observation.keys() else set[int]()
                    for seat in seats:
                        self._players.setdefault(seat, set()).update(seats.values(), known)

    def draw(self, observation: Mapping[str, Any], actions: Sequence[str]) -> list[str]:
        """Lines for everything that the seat sees and that matters now.

        Args:
            observation: What the seat sees.
            actions: What it may do, from which the names of a board's cells are read.
        """
        self.learn(observation)
        parts: list[tuple[int, list[str]]] = []
        columns: list[tuple[str, list[str]]] = []
        facts: list[str] = []
        size = size_of(self.setting.parameters) or (0, 0)
        placed, boards = piece_boards(observation, size, self.setting.seats, self.seat)
        parts.append((_BOARD, boards))
        for key, value in observation.items():
            if key in placed:
                continue
            name = one_line(key).replace("_", " ")
            if (hand := self._own_hand(key, value)) is not None:
                parts.append((_HAND, self._hand(name, hand)))
            elif self._is_silent(key, value):
                continue
            elif board := self._board(key, name, value, actions):
                parts.append((_BOARD, board))
            elif (row := self._by_seat(key, value)) is None:
                if isinstance(value, dict):
                    parts.append((_TABLE, wrapped(f"{name}: {self._inline(value, key)}")))
                elif isinstance(value, list):
                    parts.append(self._open(key, name, value, observation.get("leader")))
                else:
                    facts.append(f"{name} {self._inline(value, key)}")
            elif any(isinstance(item, list | dict) for item in row):
                parts.append((_TABLE, self._seat_lists(name, row)))
            else:
                columns.append((name, [self._inline(item, key) for item in row]))
        parts.append((_SEAT_TABLE, self._seat_table(columns)))
        parts.append((_FACT, _joined(facts)))
        ordered = sorted(parts, key=lambda part: part[0])
        return [line for _, lines in ordered for line in _cut(lines)]

    def scores(self, observation: Mapping[str, Any]) -> list[float]:
        """Each seat's score, by the first field with a name of scores; empty without one.

        >>> SeatLayout(Setting(2), 0).scores({"stake": 5, "points": [59, 32]})
        [59, 32]
        """
        named = (key for word in _POINTS for key in observation if word in key)
        rows = (self._by_seat(key, observation[key]) or [None] for key in named)
        return next((row for row in rows if all(isinstance(n, int | float) for n in row)), [])

    def name(self, seat: int) -> str:
        """The name of a seat; seats count from 1 for people.

        >>> [SeatLayout(Setting(2), 0).name(seat) for seat in (0, 1)]
        ['you', 'Player 2']
        """
        return "you" if seat == self.seat else f"Player {seat + 1}"

    def _is_silent(self, key: str, value: object) -> bool:
        """True for a field that tells nothing: a setting, the viewer, or a value always empty."""
        if isinstance(value, dict) and value:
            return 2 * len(self.setting.parameters.keys() & value.keys()) >= len(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if key == "num_players" or (key in _OWN and value in (self.seat, self.setting.seats)):
                return True
            if _is_seat(key):
                return value < 0
        if _is_zero(value):
            return key not in self._told and not any(word in key for word in _POINTS)
        return _is_nothing(value)

    def _own_hand(self, key: str, value: object) -> list[str] | None:
        """The seat's own cards: the field that is named after a zone which each player has."""
        each = self.setting.owned()
        if key not in each | {name.removesuffix("s") for name in each} | {"hand"}:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            return None
        hand = [one_line(str(item)) for item in value]
        return hand if hand or key == "hand" else None

    def _hand(self, name: str, hand: list[str]) -> list[str]:
        """The seat's own cards, as cards where they have room."""
        if all(map(_CARD.match, hand)):
            hand = sorted(hand, key=lambda card: (card[-1], _RANKS.find(card[0])))
        long = any(len(label) > _LONGEST_LABEL for label in hand)
        if not hand or long or len(hand) > _MOST_BOXES or "hand" not in name:
            return wrapped(f"your {name}: {_listed(hand)}")
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

    def _board(self, key: str, name: str, value: object, actions: Sequence[str]) -> list[str]:
        """A board with its labels, or one a seat; nothing where the field is no board."""
        if isinstance(value, list) and len(value) == self.setting.seats > 1:
            boards = [grid_of(key, one, is_zone=False) for one in value]
            if all(isinstance(one, list) for one in value) and all(boards):
                return [
                    line
                    for seat, one in enumerate(value)
                    for line in self._board(key, f"{name} of {self.name(seat)}", one, actions)
                ]
        grid = grid_of(key, value, is_zone=key in self.setting.zones)
        if grid is None:
            return []
        is_flat = isinstance(value, list) and len(value) != len(grid)
        naming = naming_of(grid, actions, flat=is_flat)
        if naming.cells:
            self._namings[key] = naming
        return [f"{name}:", *draw_grid(grid, self._namings.get(key, naming))]

    def _by_seat(self, key: str, value: object) -> list[Any] | None:
        """A value with one entry a seat, as it always had; None where it is none."""
        seats = self.setting.seats
        if seats == 1 or key in self.setting.zones:
            return None
        if isinstance(value, dict):
            for form in ("{}", "Player {}"):
                names = [form.format(number + (form != "{}")) for number in range(seats)]
                if value.keys() == set(names):
                    return [value[name] for name in names]
            return None
        if not isinstance(value, list) or self._lengths.get(key, {len(value)}) != {seats}:
            return None
        some = [item for item in value if item is not None]
        kinds = {float if isinstance(item, int | float) else type(item) for item in some}
        inner = [part for item in some if isinstance(item, list) for part in item]
        is_deep = any(isinstance(part, list | dict) for part in inner)
        return value if len(kinds) <= 1 and not is_deep else None

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
        told = [f"{self.name(seat)}: {self._inline(item)}" for seat, item in enumerate(row) if item]
        return [f"{name}:", *(line for text in told for line in wrapped(text, "  "))]

    def _open(self, key: str, name: str, value: list[Any], leader: object) -> tuple[int, list[str]]:
        """Cards and other things on the table; of long lists the latest."""
        if any(isinstance(item, list | dict) for item in value):
            latest = value[-_LATEST:]
            more = f" (the last {_LATEST} of {len(value)})" if len(value) > _LATEST else ""
            rows = [line for item in latest for line in wrapped(self._inline(item, key), "  ")]
            return _LIST, [f"{name}{more}:", *rows]
        if "discard" in key and len(value) > 1:
            under = [str(item) for item in reversed(value[:-1])]
            more = f" and {len(under) - _UNDER} more" if len(under) > _UNDER else ""
            text = f"{value[-1]} on top, under it {_listed(under[:_UNDER])}{more}"
            return _TABLE, wrapped(f"{name}: {text}")
        is_trick = key in self.setting.zones and 1 < len(value) <= self.setting.seats
        if is_trick and isinstance(leader, int) and not isinstance(leader, bool):
            seats = [(leader + place) % self.setting.seats for place in range(len(value))]
            pairs = zip(map(self.name, seats), value, strict=True)
            return _TABLE, wrapped(f"{name}: " + ", ".join(f"{who} {what}" for who, what in pairs))
        return _TABLE, wrapped(f"{name}: {self._inline(value, key)}")

    def _inline(self, value: object, key: str = "") -> str:
        """A value in words.

        >>> layout = SeatLayout(Setting(3), 0)
        >>> layout._inline({"leader": 2, "cards": ["3D", "8D"], "won": True})
        'leader Player 3, cards 3D 8D, won yes'
        >>> layout._inline([[1, "bet"], [0, "call"]])
        'Player 2 bet, you call'
        """
        if isinstance(value, dict):
            told = {name: item for name, item in value.items() if item not in (None, "", [], {})}
            parts = [f"{name.replace('_', ' ')} {self._nested(told[name], name)}" for name in told]
            return one_line(", ".join(parts)) or "none"
        if isinstance(value, list):
            if _is_deed(value) and 0 <= value[0] < self.setting.seats:
                return f"{self.name(value[0])} {one_line(value[1])}"
            return _listed([self._nested(item, key) for item in value])
        if isinstance(value, bool):
            return "yes" if value else "no"
        if type(value) is int and self._counts_seats(key) and 0 <= value < self.setting.seats:
            return self.name(value)
        if isinstance(value, float):
            return f"{value:g}"
        return "-" if value is None or value == "" else one_line(str(value))

    def _counts_seats(self, key: str) -> bool:
        """True where a field counts seats from 0; a list without 0 may count from 1.

        A list that names a field of the whole view counts as that does.
        """
        seen = self._players.get(key, {0})
        return _is_seat(key) and 0 in seen and max(seen) < self.setting.seats

    def _nested(self, value: object, key: str = "") -> str:
        text = self._inline(value, key)
        is_row = isinstance(value, list) and any(isinstance(item, list | dict) for item in value)
        return f"({text})" if ", " in text and (is_row or isinstance(value, dict)) else text


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


def _is_nothing(value: object) -> bool:
    """True for an empty value, or a list of empty values.

    >>> [_is_nothing(value) for value in (None, "", [[], []], {}, False, 0, [0], ["x"])]
    [True, True, True, True, True, False, False, False]
    """
    if isinstance(value, list):
        return all(map(_is_nothing, value))
    return value is None or value is False or value in ("", {})


def _is_zero(value: object) -> bool:
    """True for zero, or a list of zeros and empty values."""
    if isinstance(value, list):
        return any(map(_is_zero, value)) and all(_is_zero(one) or _is_nothing(one) for one in value)
    return type(value) is int and value == 0


def _is_deed(value: list[Any]) -> bool:
    """True for a list of a seat and its action.

    >>> _is_deed([1, "bet"]), _is_deed([1, "7"]), _is_deed([1, 7])
    (True, False, False)
    """
    if len(value) != _PAIR or type(value[0]) is not int or type(value[1]) is not str:
        return False
    return not value[1].isdigit()


def _is_seat(key: str) -> bool:
    return key in _SEATS or key.endswith(_SEAT_ENDS)


def _listed(words: Sequence[str]) -> str:
    return (", " if any(" " in word for word in words) else " ").join(words) or "none"


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
