"""Features of an action in an observation, for any game: every fitted heuristic holds this text.

Nothing here knows a game. Observations are read by their form: numbers, words, bags (lists of
short texts), tables (from a text to a number), boards (rows of the same length), notes on places
("b7 hit"). A list with an entry a seat is turned so that the observer's own comes first. Actions
are read as a shape and its arguments: "play 7C" is "play #" with 7C, and "c4xd5" is "#x#".
"""
# ruff: noqa: PLR2004 - small sizes, each said beside its use

import re
from functools import lru_cache
from typing import Any

Argument = tuple[str, str, str, int]
Told = list[tuple[str, float]]
Held = tuple[dict[str, list[int]], dict[str, int], dict[str, int], dict[str, int]]

TOKEN = re.compile(
    r"[a-z]\d+|\d+[A-Z]?(?![A-Za-z])|[A-Z2-9][A-Z]\b|[A-Za-z_]+?(?=[a-z]\d|[^A-Za-z_]|$)|[^\w\s]"
)
COURT = {"T": 10, "J": 11, "Q": 12, "K": 13, "A": 14}
AROUND = tuple((dr, dc) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if dr or dc)
MOST = 4  # counts and differences beyond this are taken for this
LONGEST = 120  # entries of a list that are looked at


def worth(text: str) -> int:
    """A text as a number: its own, a court card's, a letter's place; else 0."""
    if text.isdigit():
        return int(text)
    return COURT.get(text, ord(text) - 96 if len(text) == 1 and text.islower() else 0)


@lru_cache(maxsize=4096)
def split(token: str) -> tuple[str, str]:
    """The two parts of a token: column and row, or rank and suit; of others itself and ''."""
    if token[0].islower() and token[1:].isdigit():
        return token[0], token[1:]
    return (token[:-1], token[-1]) if len(token) > 1 and token[-1].isupper() else (token, "")


@lru_cache(maxsize=4096)
def parsed(action: str) -> tuple[str, tuple[Argument, ...]]:
    """The shape of an action, and its arguments: (token, its parts, its worth)."""
    shape: list[str] = []
    found: list[Argument] = []
    for token in TOKEN.findall(action):
        if token[-1].isdigit() or (token.isupper() or token[0].isdigit()) and len(token) < 4:
            found.append((token, *split(token), worth(split(token)[0])))
            shape.append("#")
        else:
            shape.append(token)
    return " ".join(shape), tuple(found)


def coarse(value: float) -> float:
    """A number in steps of five, where it is not small."""
    return value if abs(value) < 9 else round(value / 5) * 5


class Look:
    """One observation, read once for all actions."""

    def __init__(self, observation: dict[str, Any], settings: dict[str, Any]) -> None:
        """Read it.

        Args:
            observation: A seat's.
            settings: "seat", the key of the observer's own number, or None; "players", how many;
                "still", keys that never change; "flip", whether row 1 is the board's last row;
                "blank", the symbol of a free place.
        """
        self.still, self.players = settings["still"], settings["players"]
        self.flip, self.blank = settings["flip"], settings["blank"]
        self.seat = observation.get(settings["seat"]) if settings["seat"] else None
        self.numbers: dict[str, float] = {}
        self.words: dict[str, str] = {}
        self.bags: dict[str, list[str]] = {}
        self.tables: dict[str, dict[str, float]] = {}
        self.board: list[list[str]] = []
        self.notes: dict[str, str] = {}
        for key in observation:
            self.read(key, observation[key])
        self.noted = sorted({name.partition("@")[0] for name in self.notes})
        self.own = next((w for w in self.words.values() if self.board and len(w) == 1), None)
        self.contents: dict[str, Held] = {}
        for name, bag in self.bags.items():
            whole: dict[str, list[int]] = {}
            heads: dict[str, int] = {}
            tails: dict[str, int] = {}
            top: dict[str, int] = {}
            for index, item in enumerate(bag):
                head, tail = split(item) if item else ("", "")
                whole.setdefault(item, []).append(index)
                heads[head] = heads.get(head, 0) + 1
                tails[tail] = tails.get(tail, 0) + 1
                top[tail] = max(top.get(tail, 0), worth(head))
            self.contents[name] = whole, heads, tails, top
        self.attributes: dict[str, list[str]] = {}
        self.context = self.told()

    def read(self, path: str, value: object) -> None:
        """Sort a value by its form."""
        if path in self.still:
            return
        if isinstance(value, bool | int | float):
            self.numbers[path] = value
        elif isinstance(value, str):
            self.words[path] = value
        elif isinstance(value, dict):
            self.read_dict(path, value)
        elif isinstance(value, list) and value:
            self.read_list(path, value[-LONGEST:])

    def read_dict(self, path: str, value: dict[str, Any]) -> None:
        """A table where its values are numbers under names of things; else field by field."""
        if all(isinstance(n, int | float) and not k.islower() for k, n in value.items()):
            self.tables[path] = value
        else:
            for key in value:
                self.read(path + "." + key, value[key])

    def read_list(self, path: str, value: list[Any]) -> None:
        """A board, a list with an entry a seat, a bag or a list of bags."""
        texts = all(isinstance(item, str) for item in value)
        rows = all(isinstance(item, str | list) for item in value)
        wide = len(value[0]) if rows else 0
        if rows and len(value) > 2 and wide > 2 and all(self.is_row(r, wide) for r in value):
            self.board = [list(row) for row in value]
        elif len(value) == self.players and self.seat is not None and not texts:
            for index, item in enumerate(value):
                self.read(path + "/" + str((index - self.seat) % self.players), item)
        elif texts:
            self.bags[path] = [text.split(" ")[0] for text in value]
            for text in value:
                if " " in text:
                    self.notes[path + "@" + text.split(" ")[0]] = text.split(" ")[-1]
        elif all(isinstance(item, str | int | float) for item in value):
            self.bags[path] = [str(item) for item in value]
        elif rows:
            flat = [item for row in value for item in row if isinstance(item, str)]
            self.bags[path] = flat[:LONGEST]

    def is_row(self, row: str | list[Any], wide: int) -> bool:
        """True for a row of symbols."""
        return len(row) == wide and all(isinstance(c, str) and len(c) < 2 and c != " " for c in row)

    def told(self) -> Told:
        """An observation's names with numbers, whatever the action."""
        found: Told = []
        for name, value in self.numbers.items():
            found += [
                (name, value),
                (f"{name}:{coarse(value)}", 1),
            ]
            if name.endswith("/0") and name[:-1] + "1" in self.numbers:
                lead = value - self.numbers[name[:-1] + "1"]
                found += [(name + "-", lead), (f"{name}-:{max(-9, min(9, lead))}", 1)]
        found += [(f"{name}={word}", 1) for name, word in self.words.items()]
        for name, bag in self.bags.items():
            full = sum(1 for item in bag if item)
            found.append((name + "#", full))
            if len(bag) < 9:
                found += [(f"{name} has {item}", 1) for item in bag]
                found += [(f"{name} has a {split(item)[0]}", 1) for item in bag if item]
        small = [name for name in self.bags if 0 < len(self.bags[name]) < 9]
        for one in small:
            for other in small:
                if one < other and set(self.contents[one][1]) & set(self.contents[other][1]):
                    found.append((f"{one} matches {other}", 1))
        if self.board:
            cells = [symbol for row in self.board for symbol in row]
            found += [(f"board {self.who(c)}", cells.count(c)) for c in sorted(set(cells))]
        return found

    def who(self, symbol: str) -> str:
        """A symbol of the board as the observer sees it."""
        if symbol == self.blank:
            return "blank"
        return symbol if self.own is None else "own" if symbol == self.own else "other"

    def place(self, arguments: tuple[Argument, ...]) -> tuple[int, int] | None:
        """Row and column of the board that the last arguments name; None where they name none."""
        board, numbers = self.board, [int(a[0]) for a in arguments if a[0].isdigit()]
        if not board:
            return None
        if arguments and arguments[-1][2].isdigit():
            row = int(arguments[-1][2])
            at = (len(board) - row if self.flip else row - 1), arguments[-1][3] - 1
        elif len(numbers) > 1:
            at = numbers[0] - 1, numbers[1] - 1
        elif len(numbers) == 1:  # a column: the lowest place that is free
            column = numbers[0] - 1
            if not 0 <= column < len(board[0]):
                return None
            free = [r for r, row in enumerate(board) if row[column] == self.blank]
            at = (free[-1] if free else -1), column
        else:
            return None
        return at if 0 <= at[0] < len(board) and 0 <= at[1] < len(board[0]) else None

    def of(self, action: str) -> tuple[str, Told]:
        """An action's relation to the observation: (shape, names with numbers)."""
        shape, arguments = parsed(action)
        found: Told = []
        for number, (token, head, tail, value) in enumerate(arguments[:2]):
            s = f"{shape}|{number}"
            found += [(f"{s}={token}", 1), (f"{s}v", value)]
            if tail:
                found += [(f"{s}h={head}", 1), (f"{s}t={tail}", 1)]
                if tail.isdigit():
                    found.append((f"{s}t={tail}@{self.seat}", 1))
            self.beside(s, (token, head, tail, value), found)
        if len(arguments) > 1:
            (_, _, r0, c0), (_, _, r1, c1) = arguments[:2]
            if r0.isdigit() and r1.isdigit():
                found.append((f"{shape}|d{int(r1) - int(r0)}@{self.seat}", 1))
                found.append((f"{shape}|d{abs(int(r1) - int(r0))},{abs(c1 - c0)}", 1))
            pair = [self.attribute(a[0]) for a in arguments[:2]]
            found += [(f"{shape}|{one}&{other}", 1) for one in pair[0] for other in pair[1]]
        at = self.place(arguments)
        if at:
            self.on_board(shape, at, found)
        return shape, found

    def beside(self, s: str, argument: Argument, found: Told) -> None:
        """An argument beside what the observation holds."""
        token, head, tail, value = argument
        for name, held in self.contents.items():
            self.beside_bag(s, argument, name, held, found)
            if len(self.bags[name]) == 1 and not tail:
                self.against(s, value - worth(self.bags[name][0]), name, found)
        for name, table in self.tables.items():
            if token in table:
                found.append((f"{s} in {name}:{table[token]}", 1))
        for name, word in self.words.items():
            if word and word in (token, head, tail):
                found.append((f"{s} is {name}", 1))
        found += [(f"{s}~{told}", 1) for told in self.attribute(token)]
        if self.notes and tail.isdigit():
            self.on_notes(s, head, int(tail), found)

    def beside_bag(self, s: str, argument: Argument, name: str, held: Held, found: Told) -> None:
        """An argument beside a bag: itself, its rank and its suit in it, and how high it stands."""
        (token, head, tail, value), (whole, heads, tails, top) = argument, held
        if token in whole:
            found.append((f"{s} in {name}:{min(len(whole[token]), MOST)}", 1))
        if tail and head in heads:
            found.append((f"{s} head in {name}:{min(heads[head], MOST)}", 1))
        if tail and tail in tails:
            over = ">" if value > top[tail] else "<"
            found.append((f"{s} {over} {name}:{min(tails[tail], MOST)}", 1))

    def against(self, s: str, gap: int, name: str, found: Told) -> None:
        """A worth beside another."""
        found += [(f"{s}-{name}:{max(-MOST, min(MOST, gap))}", 1), (f"{s}-{name}", abs(gap))]

    def attribute(self, token: str) -> list[str]:
        """Values in other lists of equal length, at the place where a list holds a token."""
        if token not in self.attributes:
            told: list[str] = []
            for name, (whole, *_) in self.contents.items():
                if token in whole:
                    index, size = whole[token][0], len(self.bags[name])
                    seat = name.rpartition("/")[2]
                    told += [
                        f"{other}={bag[index]}"
                        for other, bag in self.bags.items()
                        if other != name and len(bag) == size and other.rpartition("/")[2] == seat
                    ]
            self.attributes[token] = told[:MOST]
        return self.attributes[token]

    def on_notes(self, s: str, head: str, row: int, found: Told) -> None:
        """Add notes of the places next to a place, and of those behind them."""
        for path in self.noted:
            counts: dict[str, int] = {}
            for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                note = self.notes.get(f"{path}@{chr(ord(head) + dc)}{row + dr}")
                if note:
                    counts[note] = counts.get(note, 0) + 1
                    if self.notes.get(f"{path}@{chr(ord(head) + 2 * dc)}{row + 2 * dr}") == note:
                        counts["two " + note] = counts.get("two " + note, 0) + 1
            found += [(f"{s} by {path} {note}:{n}", 1) for note, n in counts.items()]

    def on_board(self, shape: str, at: tuple[int, int], found: Told) -> None:
        """A place of the board: what is there, around it, and the lines that it would make."""
        board, (row, column) = self.board, at
        high, wide = len(board), len(board[0])
        found.append((f"{shape} on {self.who(board[row][column])}", 1))
        edge = min(row, high - 1 - row) + min(column, wide - 1 - column)
        found += [(f"{shape} edge", edge), (f"{shape} at {min(column, wide - 1 - column)}", 1)]
        around: dict[str, int] = {}
        lines: dict[tuple[str, tuple[int, int]], int] = {}
        for dr, dc in AROUND:
            r, c = row + dr, column + dc
            if 0 <= r < high and 0 <= c < wide:
                symbol = board[r][c]
                who = self.who(symbol)
                around[who] = around.get(who, 0) + 1
                length = 0
                while 0 <= r < high and 0 <= c < wide and board[r][c] == symbol:
                    r, c, length = r + dr, c + dc, length + 1
                if symbol != self.blank:
                    key = who, max((dr, dc), (-dr, -dc))
                    lines[key] = lines.get(key, 0) + length
        found += [(f"{shape} by {who}", n) for who, n in around.items()]
        longest: dict[str, int] = {}
        for (who, _), length in lines.items():
            longest[who] = max(longest.get(who, 0), length)
        found += [(f"{shape} line {who}:{length}", 1) for who, length in longest.items()]


class Kept:
    """Parts that all actions of one decision share, as they have the same observation."""

    seen: dict[str, Any] | None = None
    look: Look
    context: dict[str, float] = {}


SETTINGS: dict[str, Any] = {}
WEIGHTS: dict[str, float] = {}


def score(observation: dict[str, Any], action: str) -> float:
    """The sum of the fitted numbers of all features; larger is better."""
    if Kept.seen is not observation and Kept.seen != observation:
        Kept.seen, Kept.look, Kept.context = observation, Look(observation, SETTINGS), {}
    shape, found = Kept.look.of(action)
    if shape not in Kept.context:
        told = ((f"{shape}*{name}", value) for name, value in Kept.look.context)
        Kept.context[shape] = WEIGHTS.get(shape, 0.0) + sum(
            WEIGHTS.get(name, 0.0) * value for name, value in told
        )
    return Kept.context[shape] + sum(WEIGHTS.get(name, 0.0) * value for name, value in found)
