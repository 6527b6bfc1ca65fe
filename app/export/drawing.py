"""Cards, counters and dice as drawings of our own, on paper or as pictures, in millimetres."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin
from typing import TYPE_CHECKING, Protocol, TypeAlias
from unicodedata import normalize

from app.export.exported import as_line

if TYPE_CHECKING:
    from app.export.components import Component

Point: TypeAlias = tuple[float, float]

CARD = (63.0, 88.0)
INK, PAPER = "#1c1c1c", "#ffffff"
# Of seats and suits; the four-colour deck, which the colour-blind tell apart with the shapes.
COLOURS = ("#b3261e", "#1f4e9c", "#1e7a34", "#7a4b00", "#6a1b9a", "#00696b", "#a3165c", "#4a4a4a")
_SUIT_COLOURS = {"C": "#1e7a34", "D": "#1f4e9c", "H": "#b3261e", "S": "#1c1c1c"}
_STANDARD = re.compile(r"(10|[2-9TJQKA])([CDHS])")
_NUMBERED = re.compile(r"([^\W\d_]{1,3})(\d{1,3})")
_COURT = frozenset("JQK")
_PIPS: dict[int, tuple[Point, ...]] = {
    1: ((0.5, 0.5),),
    2: ((0.5, 0), (0.5, 1)),
    3: ((0.5, 0), (0.5, 0.5), (0.5, 1)),
    4: ((0, 0), (1, 0), (0, 1), (1, 1)),
    5: ((0, 0), (1, 0), (0.5, 0.5), (0, 1), (1, 1)),
    6: ((0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1)),
    7: ((0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1), (0.5, 0.75)),
    8: ((0, 0), (1, 0), (0, 0.5), (1, 0.5), (0, 1), (1, 1), (0.5, 0.75), (0.5, 0.25)),
    9: (*((x, y / 3) for x in (0, 1) for y in range(4)), (0.5, 0.5)),
    10: (*((x, y / 3) for x in (0, 1) for y in range(4)), (0.5, 1 / 6), (0.5, 5 / 6)),
}
_SMALLEST, _WHOLE = 4.0, 9.0  # points: of any letters, and of those of a broken word
_SHORT = 3  # letters of a name that is written large, and in the corners
_MIDDLE = 0.5


class Pen(Protocol):
    """A surface to draw on; the origin is at the lower left, lengths are millimetres."""

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """Fill a polygon."""

    def box(self, place: Point, size: Point, fill: str = "", line: str = "") -> None:
        """Fill a rectangle, and draw its edge."""

    def text(
        self, middle: Point, words: str, points: float, colour: str, *, turned: bool = False
    ) -> None:
        """Write a line around a middle, upside down where it is turned."""

    def width(self, words: str, points: float) -> float:
        """The width of a line."""


@dataclass
class Letters:
    """The letters that a font can show, and those that were asked of it and are not there."""

    known: Callable[[int], bool]
    missing: set[str] = field(default_factory=set)

    def shown(self, text: str) -> str:
        """A text in letters that can be shown: without their accents, or as question marks.

        >>> latin = Letters(lambda code: code < 256)
        >>> latin.shown("Ś é 中"), latin.missing
        ('S é ?', {'中'})
        """
        return "".join(map(self._one, text))

    def _one(self, letter: str) -> str:
        if letter in "\n\t" or self.known(ord(letter)):
            return letter
        plain = "".join(one for one in normalize("NFKD", letter) if self.known(ord(one)))
        if not plain:
            self.missing.add(letter)
        return plain or "?"

    def remark(self) -> list[str]:
        """A sentence on the letters that could not be shown; none where all could."""
        if not self.missing:
            return []
        some = " ".join(sorted(self.missing)[:20])
        return [
            f"the font has no letter for {len(self.missing)} signs ({some}): each is printed as a "
            "question mark; give a font that has them by --font FILE"
        ]


def _circle(middle: Point, radius: float, sides: int = 32, turn: float = pi / 2) -> list[Point]:
    angles = [turn + 2 * pi * n / sides for n in range(sides)]
    return [(middle[0] + radius * cos(a), middle[1] + radius * sin(a)) for a in angles]


def _suit(pen: Pen, suit: str, middle: Point, size: float, *, turned: bool = False) -> None:
    """A suit of our own drawing, in its colour."""
    x, y = middle
    sign = -1 if turned else 1

    def at(*points: Point) -> list[Point]:
        return [(x + size * px, y + sign * size * py) for px, py in points]

    def disc(px: float, py: float, radius: float) -> None:
        pen.polygon(_circle((x + size * px, y + sign * size * py), size * radius), colour)

    colour = _SUIT_COLOURS[suit]
    if suit == "D":
        pen.polygon(at((0, 0.5), (0.36, 0), (0, -0.5), (-0.36, 0)), colour)
    elif suit == "H":
        disc(-0.22, 0.2, 0.245)
        disc(0.22, 0.2, 0.245)
        pen.polygon(at((-0.43, 0.08), (0.43, 0.08), (0, -0.5)), colour)
    elif suit == "S":
        disc(-0.21, -0.1, 0.235)
        disc(0.21, -0.1, 0.235)
        pen.polygon(at((-0.41, 0.02), (0.41, 0.02), (0, 0.5)), colour)
        pen.polygon(at((0, 0), (0.18, -0.5), (-0.18, -0.5)), colour)
    else:
        disc(0, 0.26, 0.22)
        disc(-0.24, -0.08, 0.22)
        disc(0.24, -0.08, 0.22)
        pen.polygon(at((0, 0.2), (0.18, -0.5), (-0.18, -0.5)), colour)


def fitting_lines(
    pen: Pen, words: str, wide: float, most: float, lines: int
) -> tuple[float, list[str]]:
    """The largest size, and the lines, in which words have room; what has none is cut.

    Args:
        pen: Knows how wide words are.
        words: On one or more lines.
        wide: The room.
        most: The largest size, in points.
        lines: How many lines there may be in the largest size.
    """
    points = most
    longest = max(words.split(" "), key=len)
    while points > _WHOLE and pen.width(longest, points) > wide:  # rather small than broken
        points *= 0.85
    while True:
        rows = _wrapped(pen, words, wide, points)
        room = int(lines * most / points)
        if len(rows) <= room:
            return points, rows
        if points <= _SMALLEST:
            return points, [*rows[: room - 1], f"{rows[room - 1][:-1]}…"]
        points = max(_SMALLEST, 0.85 * points)


def _wrapped(pen: Pen, words: str, wide: float, points: float) -> list[str]:
    rows = [""]
    for word in words.split(" "):
        longer = f"{rows[-1]} {word}".strip()
        if pen.width(longer, points) <= wide:
            rows[-1] = longer
            continue
        rows += [word] if rows[-1] else []
        rows[-1] = rows[-1] or word
        while pen.width(rows[-1], points) > wide and len(rows[-1]) > 1:
            cut = max(1, int(len(rows[-1]) * wide / pen.width(rows[-1], points)))
            while cut > 1 and pen.width(rows[-1][:cut], points) > wide:
                cut -= 1
            rows[-1:] = [rows[-1][:cut], rows[-1][cut:]]
    return rows


def _block(pen: Pen, middle: Point, rows: Sequence[str], points: float, colour: str) -> None:
    high = 0.42 * points  # of a line, in millimetres
    top = middle[1] + high * (len(rows) - 1) / 2
    for number, row in enumerate(rows):
        pen.text((middle[0], top - number * high), row, points, colour)


@dataclass(frozen=True)
class Faces:
    """The way in which the components of a game are drawn.

    Attributes:
        is_pack: Whether names such as "QH" are a rank and a suit.
        groups: Letters before a number, each of which has a colour and a shape.
    """

    is_pack: bool = False
    groups: tuple[str, ...] = ()

    @classmethod
    def of(cls, components: "Iterable[Component]") -> "Faces":
        """The way that suits the names of all components."""
        names = {one.name for one in components}
        if 2 * sum(_STANDARD.fullmatch(name) is not None for name in names) >= len(names) > 0:
            return cls(is_pack=True)
        found = [_NUMBERED.fullmatch(name) for name in names]
        groups = {one[1] for one in found if one}
        return cls(groups=tuple(sorted(groups)) if 0 < len(groups) <= len(COLOURS) else ())

    def draw_card(self, pen: Pen, card: "Component", edge: float = 0.0) -> None:
        """The face of a card; its paper reaches over its edge."""
        draw_ground(pen, CARD, edge, PAPER)
        found = _STANDARD.fullmatch(card.name) if self.is_pack else None
        if found:
            self._standard(pen, found[1].replace("T", "10"), found[2])
            return
        colour = self._colour(card)
        words = as_line(card.name).replace("_", " ").strip() or as_line(card.kind)
        short = words if len(words) <= _SHORT else ""
        pen.box((4, 4), (CARD[0] - 8, CARD[1] - 8), "", colour)
        points, rows = fitting_lines(pen, words, CARD[0] - 14, *((60.0, 1) if short else (20.0, 7)))
        _block(pen, (CARD[0] / 2, CARD[1] / 2), rows, points, colour)
        for x, y, turned in ((10, CARD[1] - 10, False), (CARD[0] - 10, 10, True)):
            if short:
                pen.text((x, y), short, 14 if len(short) < _SHORT else 10, colour, turned=turned)
            self._shape(pen, card, (x, y + (6 if turned else -6) * bool(short)), 4, colour)
        if as_line(card.kind) != "card":
            points, rows = fitting_lines(pen, as_line(card.kind), CARD[0] - 40, 9, 1)
            _block(pen, (CARD[0] / 2, 9), rows, points, colour)

    def _standard(self, pen: Pen, rank: str, suit: str) -> None:
        colour = _SUIT_COLOURS[suit]
        for x, y, sign in ((7.5, CARD[1] - 9, -1), (CARD[0] - 7.5, 9, 1)):
            pen.text((x, y), rank, 20, colour, turned=sign > 0)
            _suit(pen, suit, (x, y + 8 * sign), 6, turned=sign > 0)
        middle = (CARD[0] / 2, CARD[1] / 2)
        if rank in _COURT:
            pen.box((15, 14), (CARD[0] - 30, CARD[1] - 28), "", colour)
            for sign in (1, -1):
                place = (middle[0], middle[1] + 15 * sign)
                pen.text(place, rank, 48, colour, turned=sign < 0)
                _suit(
                    pen,
                    suit,
                    (middle[0] + 11.5 * sign, middle[1] + 24.5 * sign),
                    7,
                    turned=sign < 0,
                )
            _suit(pen, suit, middle, 10)
            return
        number = 1 if rank == "A" else int(rank)
        size = 24.0 if rank == "A" else 11.0
        for px, py in _PIPS[number]:
            place = (20 + 23 * px, 17 + 54 * py)
            _suit(pen, suit, place, size, turned=py < _MIDDLE)

    def _colour(self, one: "Component") -> str:
        if one.seat is not None:
            return COLOURS[one.seat % len(COLOURS)]
        found = _NUMBERED.fullmatch(one.name)
        if found and found[1] in self.groups:
            return COLOURS[self.groups.index(found[1])]
        return INK

    def _shape(self, pen: Pen, one: "Component", middle: Point, size: float, colour: str) -> None:
        """A sign beside the colour, for those who do not tell colours apart."""
        found = _NUMBERED.fullmatch(one.name)
        grouped = found is not None and found[1] in self.groups
        if grouped or one.seat is not None:
            number = one.seat if one.seat is not None or not found else self.groups.index(found[1])
            pen.polygon(
                _circle(middle, size / 2, (3, 4, 5, 6, 8, 12, 24, 32)[(number or 0) % 8]), colour
            )

    def draw_counter(self, pen: Pen, one: "Component", size: float, edge: float = 0.0) -> None:
        """The face of a counter."""
        colour = self._colour(one)
        draw_ground(pen, (size, size), edge, PAPER)
        pen.box((1, 1), (size - 2, size - 2), "", colour)
        words = as_line(one.name).strip()
        if words:
            points, rows = fitting_lines(
                pen, words, size - 4, *((17.0, 1) if len(words) < _SHORT else (6.5, 3))
            )
            _block(pen, (size / 2, 0.58 * size), rows, points, colour)
        if one.seat is not None:
            self._shape(pen, one, (size / 2, 2.8), 2.4, colour)


def draw_ground(pen: Pen, size: Point, edge: float, colour: str) -> None:
    """The ground of a face or a back, which reaches over its edge."""
    pen.box((-edge, -edge), (size[0] + 2 * edge, size[1] + 2 * edge), colour)


def draw_pattern(pen: Pen, size: Point) -> None:
    """The pattern on a back, equal from both ends."""
    step = min(7.0, size[0] / 4)
    across, down = int((size[0] - 6) / step), int((size[1] - 6) / step)
    left, low = (size[0] - across * step) / 2, (size[1] - down * step) / 2
    for row in range(down):
        for column in range(across):
            middle = (left + (column + 0.5) * step, low + (row + 0.5) * step)
            pen.polygon(_circle(middle, 0.36 * step, 4), PAPER)


def draw_die_net(pen: Pen, side: float) -> None:
    """The net of a die: opposite faces make seven; flaps are left to glue."""
    cells = {1: (1, 1), 2: (1, 2), 3: (2, 1), 4: (0, 1), 5: (1, 0), 6: (3, 1)}
    for number, (column, row) in cells.items():
        x, y = column * side, row * side
        pen.box((x, y), (side, side), PAPER, INK)
        for px, py in _PIPS[number]:
            place = (x + side * (0.25 + 0.5 * px), y + side * (0.25 + 0.5 * py))
            pen.polygon(_circle(place, 0.09 * side), INK)
    for x, y in ((0, 2), (2, 2), (0, 0), (2, 0)):
        edge, tip = (y, y + 0.35) if y else (1, 0.65)
        corners = ((x, edge), (x + 1, edge), (x + 0.8, tip), (x + 0.2, tip))
        pen.polygon([(px * side, py * side) for px, py in corners], "#dddddd")
