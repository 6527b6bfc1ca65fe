"""Targets of a balance: ranges that figures of play shall lie in, read from a person's words."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from games.text import one_line
from tools.playtest.intervals import Estimate
from tools.playtest.schedule import Sides, said_sides

Measure: TypeAlias = Literal["wins", "ties", "turns", "forced", "choices"]
Met: TypeAlias = Literal["met", "missed", "could not tell"]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SPELT = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_LONGEST, _MOST = 1000, 20
FORMS = (
    "required: targets with commas between, such as “first seat 50±2 %, 12 to 20 turns, ties under "
    "5 %”. Of: first seat, last seat, seat 2, every seat; ties; turns (decisions of all players); "
    "forced moves; choices (legal actions a decision). As: 50±2 %, 48 to 52 %, under 5 %, at most "
    "5 %, over 45 %, at least 12; of seats, ties and forced moves in percent"
)
_SUBJECTS: tuple[tuple[Measure, str], ...] = (
    ("forced", r"forced (?:moves?|decisions?)"),
    ("wins", rf"(?P<named>{'|'.join((*_ORDINALS, 'last', 'every', 'each', 'all'))}) "
     r"(?:seats?|players?)"),
    ("wins", rf"(?:seat|player) (?P<number>\d{{1,3}}|{'|'.join(SPELT)})\b"),
    ("ties", r"(?:ties?|draws?)"),
    ("choices", r"(?:choices|options)"),
    ("turns", r"(?:turns?|decisions?|length|moves)"),
)  # fmt: skip
_N = r"(\d+(?:\.\d+)?)"
_AMOUNTS = (
    (rf"{_N} ?%? ?± ?{_N}", lambda a, b: (a - b, a + b)),
    (rf"(?:from |between )?{_N} ?%? ?(?:to|and|-) ?{_N}", lambda a, b: (a, b)),
    (rf"(?:under|below|less than|fewer than|at most|no more than|up to|<=?) ?{_N}",
     lambda a: (-math.inf, a)),
    (rf"(?:over|above|more than|at least|no less than|no fewer than|>=?) ?{_N}",
     lambda a: (a, math.inf)),
)  # fmt: skip
_FILLERS = re.compile(r"\b(?:wins?|of|the|matches|share|a|per|match|in|should|shall|be|is|are)\b")
_BETWEEN = r"[;\n]|(?<!\d),|,(?!\d)"  # a comma within a number divides nothing
_SHARES = ("wins", "ties", "forced")


class TargetError(ValueError):
    """A target that cannot be read, or that no game can reach; the message says what would do."""


@dataclass(frozen=True)
class Target:
    """A range that a figure shall lie in.

    Attributes:
        measure: The figure: a seat's share of the wins, the share of ties, decisions a match, the
            share of decisions with one legal action, or legal actions a decision.
        seat: Whose wins, from 0; -1 for the last one; None for every seat, or where it is nobody's.
        low: Least value, a share from 0 to 1; minus infinity for none.
        high: Largest value; infinity for none.
        words: The person's own.
    """

    measure: Measure
    seat: int | None
    low: float
    high: float
    words: str

    @property
    def is_share(self) -> bool:
        """True for a figure from 0 to 1."""
        return self.measure in _SHARES

    @property
    def key(self) -> str:
        """The name of its figure."""
        return self.measure if self.seat is None else f"wins of seat {self.seat + 1}"

    @property
    def tolerance(self) -> float:
        """Half the range; of a range with one end its distance from 0, or from the share 1."""
        if math.isinf(self.low):
            return self.high or 0.01
        if math.isinf(self.high):
            return (1 - self.low if self.is_share else self.low) or 0.01
        return (self.high - self.low) / 2

    def outside(self, value: float) -> float:
        """The distance beyond the range in tolerances; below 0 inside, -1 in the middle.

        >>> target = Target("wins", 0, 0.48, 0.52, "")
        >>> [round(target.outside(value), 6) for value in (0.5, 0.51, 0.52, 0.56)]
        [-1.0, -0.5, 0.0, 2.0]
        """
        scale = self.tolerance or 1e-9
        return max(-1.0, (self.low - value) / scale, (value - self.high) / scale)

    def miss(self, value: float) -> float:
        """The distance to the range, in the units of the figure; 0 inside."""
        return max(0.0, self.low - value, value - self.high)

    def nearest(self, found: Estimate) -> float:
        """The value of an interval that lies nearest to the middle of the range."""
        ends = [end for end in (self.low, self.high) if math.isfinite(end)]
        middle = sum(ends) / len(ends)
        if len(ends) == 1:
            return found.low if math.isinf(self.low) else found.high
        return min(max(middle, found.low), found.high)

    def met(self, found: Estimate) -> Met:
        """The answer of an interval: all of it in the range, none of it, or some."""
        if self.low <= found.low and found.high <= self.high:
            return "met"
        return "missed" if found.high < self.low or found.low > self.high else "could not tell"

    def told(self, value: float) -> str:
        """A value of its figure as a person reads it."""
        return f"{100 * value:.1f} %" if self.is_share else f"{value:.2f}"


def parse_targets(text: str, seats: int) -> tuple[Target, ...]:
    """Read targets; one of every seat becomes one a seat.

    Args:
        text: Targets, with commas between.
        seats: Seats of the game.

    Raises:
        TargetError: If a part cannot be read, names a seat there is not, or two are not possible
            together.

    >>> [(t.key, t.low, t.high) for t in parse_targets("seat 2 45 to 55%, ties under 5 %", 2)]
    [('wins of seat 2', 0.45, 0.55), ('ties', -inf, 0.05)]
    """
    parts = [part.strip() for part in re.split(_BETWEEN, text[: _LONGEST + 1])]
    parts = [part for part in parts if part]
    if not parts or len(text) > _LONGEST or len(parts) > _MOST:
        raise TargetError(f"a target of {len(parts)} parts, {len(text)} characters; {FORMS}")
    found = [one for part in parts for one in _read(part, seats)]
    for number, one in enumerate(found):
        for other in found[:number]:
            if one.key == other.key and (one.low > other.high or other.low > one.high):
                raise TargetError(
                    f"“{other.words}” and “{one.words}” contradict each other: no value is in "
                    "both; leave one of them out"
                )
    return tuple(found)


def seat_words(text: str) -> str:
    """The words of a text that name a seat, or all of them; empty where none do.

    >>> seat_words("fairer for the last player"), seat_words("four players")
    ('last player', '')
    """
    subjects = [subject for measure, subject in _SUBJECTS if measure == "wins"]
    met = re.search(rf"\b(?:{'|'.join(subjects)})", text)
    return met.group() if met else ""


def require_possible(targets: Sequence[Target], sides: Sides) -> None:
    """Refuse shares of wins that do not add up to all wins; partners win together.

    Raises:
        TargetError: Saying which do not.
    """
    wins = [one for one in targets if one.measure == "wins"]
    if wins and len(sides) == 1:
        raise TargetError(
            f"“{wins[0].words}” asks for a seat's wins, and this game pays all seats alike: they "
            "win or lose together; leave it out"
        )
    ranges: dict[tuple[int, ...], tuple[float, float]] = {}
    for one in wins:
        side = next(side for side in sides if one.seat in side)
        low, high = ranges.get(side, (0.0, 1.0))
        ranges[side] = max(low, one.low), min(high, one.high)
    lows = math.fsum(low for low, _ in ranges.values())
    highs = math.fsum(high for _, high in ranges.values()) + len(sides) - len(ranges)
    partners = f" ({said_sides(sides)})" if len(sides) < sum(map(len, sides)) else ""
    if lows > 1 + 1e-9 or highs < 1 - 1e-9 or any(low > high for low, high in ranges.values()):
        raise TargetError(
            f"the targets contradict each other{partners}: shares of wins add up to 100 %, and "
            f"these add up to {100 * lows:.0f} % at least and {100 * min(1e4, highs):.0f} % at "
            "most; change one of them"
        )


def _read(part: str, seats: int) -> list[Target]:
    words = re.sub(r"\+ ?/? ?-|plus or minus", "±", one_line(part).lower())
    words = re.sub(r"percent|per cent", "%", words.replace("–", "-"))
    for measure, subject in _SUBJECTS:
        met = re.search(rf"\b{subject}", words)
        if met is None:
            continue
        rest = (words[: met.start()] + " " + words[met.end() :]).replace("decision", " ")
        rest = " ".join(_FILLERS.sub(" ", rest).split())
        low, high = _amount(part, rest, measure)
        at = _seats(met.groupdict(), seats, part) if measure == "wins" else [None]
        return [Target(measure, seat, low, high, part) for seat in at]
    raise TargetError(f"“{part[:80]}” is no target; {FORMS}")


def _amount(part: str, rest: str, measure: Measure) -> tuple[float, float]:
    """The range in words.

    Raises:
        TargetError: If it is none.
    """
    is_share, in_percent = measure in _SHARES, rest.endswith("%")
    for pattern, ends in _AMOUNTS:
        met = re.fullmatch(rf"{pattern} ?%?", rest)
        if met and in_percent == is_share:
            numbers = [*map(float, met.groups())]
            if not all(map(math.isfinite, numbers)):
                raise TargetError(f"“{part[:80]}” holds a number beyond all figures; {FORMS}")
            low, high = ends(*numbers)
            if is_share:
                low, high = low / 100, high / 100
            least, most = 0.0, 1.0 if is_share else math.inf
            if low > high or high < least or low > most or (is_share and 1 < high < math.inf):
                raise TargetError(f"“{part[:80]}” is no range that a game can have; {FORMS}")
            return low, high
    raise TargetError(f"“{part[:80]}” cannot be read; {FORMS}")


def _seats(named: dict[str, str | None], seats: int, part: str) -> list[int | None]:
    """The seats that are named.

    Raises:
        TargetError: If there is no such seat.
    """
    word = named.get("named") or named.get("number") or ""
    if word in ("every", "each", "all"):
        return [*range(seats)]
    if word == "last":
        return [seats - 1]
    known = _ORDINALS if word in _ORDINALS else SPELT
    number = known.index(word) + 1 if word in known else int(word)
    if not 1 <= number <= seats:
        raise TargetError(f"“{part}” names a seat there is not; the seats are 1 to {seats}")
    return [number - 1]
