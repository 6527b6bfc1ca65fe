"""Tallies of matches: counts that add up, and the figures that they give with their intervals."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, Field

from games.values import Json
from tools.balancing.targets import Target
from tools.playtest.intervals import (
    CONFIDENCE,
    Estimate,
    NoSamplesError,
    estimated,
    student_t,
    wilson,
)
from tools.playtest.jobs import MatchEntry
from tools.playtest.report import side_wins
from tools.playtest.schedule import Sides, each_alone, sides_paid_alike

_ALIKE = 6  # matches of one outcome that tell as much as more of them, see `sides_paid_alike`
_MEANS = ("turns", "forced", "choices")


_Count = Annotated[int, Field(ge=0, strict=True)]
_Sum = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Ranks = Annotated[str, Field(pattern=r"^\d{1,3}(,\d{1,3})*$")]


class _Sums(BaseModel, frozen=True, extra="forbid"):
    turns: tuple[_Sum, _Sum]
    forced: tuple[_Sum, _Sum]
    choices: tuple[_Sum, _Sum]


class TallyRow(BaseModel, frozen=True, extra="forbid"):
    """A tally as a journal keeps it, which anybody may have written."""

    ranks: dict[_Ranks, _Count]
    sums: _Sums
    void: _Count
    cut: _Count
    why: str = Field(max_length=300)


@dataclass
class Tally:
    """Counts of matches of one game with some settings.

    Attributes:
        seats: How many there are.
        ranks: Matches by the ranks of their returns by seat, 0 for the best.
        sums: Sum of a figure of a match and of its square, by name. A match that was cut counts for
            the turns alone, with those that it had: it takes as many at least.
        void: Matches without a result: no end within the bound, or a fault.
        cut: Those of them without an end.
        why: The first of their reasons.
    """

    seats: int
    ranks: Counter[tuple[int, ...]] = field(default_factory=Counter)
    sums: dict[str, tuple[float, float]] = field(
        default_factory=lambda: dict.fromkeys(_MEANS, (0.0, 0.0))
    )
    void: int = 0
    why: str = ""
    cut: int = 0

    @classmethod
    def of(cls, seats: int, entries: Iterable[MatchEntry]) -> "Tally":
        """The tally of played matches."""
        found = cls(seats)
        for entry in entries:
            if entry.returns is None or entry.ending != "finished":
                found.void += 1
                found.why = found.why or entry.reason
                if entry.ending == "unfinished":
                    found.cut += 1
                    found._add("turns", float(sum(one.decisions for one in entry.used)))
                continue
            order = sorted({*entry.returns}, reverse=True)
            found.ranks[tuple(order.index(paid) for paid in entry.returns)] += 1
            made = sum(one.decisions for one in entry.used)
            shares = (entry.forced / made, entry.options / made) if made else (0.0, 0.0)
            for name, value in zip(_MEANS, (float(made), *shares), strict=True):
                found._add(name, value)
        return found

    def _add(self, name: str, value: float) -> None:
        one, square = self.sums[name]
        self.sums[name] = (one + value, square + value * value)

    @property
    def matches(self) -> int:
        """Matches with a result."""
        return self.ranks.total()

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        sums = {
            name: (one + other.sums[name][0], square + other.sums[name][1])
            for name, (one, square) in self.sums.items()
        }
        why = self.why or other.why
        void, cut = self.void + other.void, self.cut + other.cut
        return Tally(self.seats, self.ranks + other.ranks, sums, void, why, cut)

    @property
    def sides(self) -> Sides:
        """Who are partners, as the matches show it."""
        told = [
            tuple(-float(rank) for rank in ranks)
            for ranks, count in sorted(self.ranks.items())
            for _ in range(min(count, _ALIKE))
        ]
        return sides_paid_alike(told, self.seats) if told else each_alone(self.seats)

    def estimate(self, target: Target, confidence: float = CONFIDENCE) -> Estimate:
        """The figure of a target, with its interval.

        Raises:
            NoSamplesError: If fewer than two matches came to a result.
        """
        n = self.matches
        if n < 2:  # noqa: PLR2004 - two are the least
            raise NoSamplesError(f"{n} matches came to a result; required: two")
        if target.measure in ("wins", "ties"):
            return wilson(min(float(n), self._counted(target)), n, "matches", confidence)
        n += self.cut if target.measure == "turns" else 0
        total, squares = self.sums[target.measure]
        mean = total / n
        spread = math.sqrt(max(0.0, squares - n * mean * mean) / (n - 1))
        half = student_t(n - 1, confidence) * spread / math.sqrt(n)
        method = f"Student's t, {100 * confidence:.4g}%"
        return estimated(mean, mean - half, mean + half, n, "matches", method)

    def _counted(self, target: Target) -> float:
        """Wins of a seat's side, shared ones in part; or ties for the first place."""
        sides = self.sides
        if target.measure == "ties":
            first = {side[0] for side in sides}
            return sum(
                count
                for ranks, count in self.ranks.items()
                if sum(rank == 0 for seat, rank in enumerate(ranks) if seat in first) > 1
            )
        ours = next(index for index, side in enumerate(sides) if target.seat in side)
        return math.fsum(
            count * side_wins([[-float(rank) for rank in ranks]], sides)[0][ours]
            for ranks, count in sorted(self.ranks.items())
        )

    def row(self) -> Json:
        """As a journal keeps it."""
        ranks: Json = {",".join(map(str, key)): n for key, n in sorted(self.ranks.items())}
        sums: Json = {name: [*pair] for name, pair in self.sums.items()}
        why = self.why[:300]
        return {"ranks": ranks, "sums": sums, "void": self.void, "cut": self.cut, "why": why}

    @classmethod
    def read(cls, seats: int, row: object) -> "Tally":
        """The same again.

        Raises:
            ValueError: If it is none of so many seats.
        """
        kept = TallyRow.model_validate(row)
        ranks = Counter({tuple(map(int, key.split(","))): n for key, n in kept.ranks.items()})
        if any(len(key) != seats or max(key) >= seats for key in ranks):
            raise ValueError(f"it has ranks of others than {seats} seats")
        if kept.cut > kept.void:
            raise ValueError(f"{kept.cut} of {kept.void} matches without a result were cut")
        return cls(seats, ranks, kept.sums.model_dump(), kept.void, kept.why, kept.cut)
