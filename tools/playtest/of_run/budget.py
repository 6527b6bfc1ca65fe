"""Budget of a play-test: how much is played follows from counted work, never from a clock.

The work is the Python lines that a module runs for a ply, counted once; see `PlayTest.work`. It is
the same on a busy machine and on a quiet one, and so are the amounts that follow from it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pydantic import BaseModel, Field

from games.records import MatchRecord
from games.values import CHANCE

_HOST = 100
"""Lines that a ply of random play costs beside the module's own."""
_SCORED = 3
"""The least cost of a ply of heuristics, which see an observation, in plies of random play."""
_CHEAP = 4
"""Lines of heuristics that count as one of the module: loops, whose every turn is counted."""
# Lines of the module that each part of a run may take, in a full and in a quick one.
_LINES = {
    "random": {False: 1.2e10, True: 4e8},
    "seats": {False: 6e9, True: 2e8},
    "good": {False: 1.2e10, True: 6e8},
    "rung": {False: 1.2e10, True: 2e8},
    "search": {False: 1.2e10, True: 3e8},
    "heuristic": {False: 2e9, True: 1e8},
    "trial": {False: 1e7, True: 1e7},
}
_FEWEST_SIMULATIONS = 2
_FEWEST = 6  # from which partners can be told


class Work(BaseModel, frozen=True, extra="forbid"):
    """The counted work of a module's plies; see `agents.strategy.lessons.work`.

    Attributes:
        lines: Lines a ply: whose turn it is, legal actions, the next state, rewards.
        seen: The same, with the observations of all seats.
        plies: A random match, on average.
    """

    lines: int = Field(ge=1)
    seen: int = Field(ge=1)
    plies: int = Field(ge=1)

    def matches(self, part: str, wanted: int, *, quick: bool, scored: int = 0) -> int:
        """The matches of a series, at most `wanted`, that its part of the budget allows.

        Args:
            part: "random", "seats" (other numbers of players), "good", "rung", "heuristic",
                or "trial" (a candidate of `vary`).
            wanted: As the settings ask.
            quick: Whether the run is.
            scored: Lines of the heuristics that play, a ply.

        >>> Work(lines=60, seen=100, plies=9).matches("random", 1000, quick=True)
        1000
        >>> Work(lines=30_000, seen=40_000, plies=1_000).matches("random", 1000, quick=True)
        13
        >>> Work(lines=200, seen=300, plies=100).matches("good", 600, quick=True, scored=60_000)
        389
        """
        a_ply = self.lines + _HOST
        if part not in ("random", "seats"):
            a_ply = max(_SCORED * (self.seen + _HOST), self.seen + _HOST + scored // _CHEAP)
        return max(_FEWEST, min(wanted, int(_LINES[part][quick] / (a_ply * self.plies))))

    def plies_searched(self, *, quick: bool) -> int:
        """The plies that the searches of a series may simulate."""
        return max(1, int(_LINES["search"][quick] / (self.lines + 1)))

    @property
    def told(self) -> str:
        """A remark on the work that amounts follow from."""
        return (
            f"How much is played follows from counted work: a ply runs about {self.lines:,} lines "
            f"of the module ({self.seen:,} with what players see), a random match takes about "
            f"{self.plies:,} plies."
        )


def rounded(count: float) -> int:
    """A count to two digits, so that small differences do not change amounts.

    >>> rounded(1234.5), rounded(87.4), rounded(0.2)
    (1200, 87, 1)
    """
    return max(1, int(float(f"{count:.2g}")))


def affordable_simulations(
    finished: Sequence[MatchRecord], matches: int, affordable: int, weaker: int, sides: int = 1
) -> int:
    """Simulations a decision such that a step of the ladder stays within `affordable` plies.

    A simulation from the n-th ply of a match of L plies plays the L - n that are left. One side
    searches with all simulations, the others with one of `weaker` parts of them.
    """
    share = (1 + (sides - 1) / weaker) / sides
    cost = matches * share * max(1.0, fmean(_plies_ahead(record) for record in finished))
    return max(_FEWEST_SIMULATIONS, int(affordable / cost))


def _plies_ahead(record: MatchRecord) -> int:
    """The plies that are left at every real decision of a match, added up."""
    plies = record.match.plies
    return sum(
        len(plies) - index
        for index, ply in enumerate(plies)
        if ply.player != CHANCE and len(ply.legal) > 1
    )


class Timed(BaseModel, frozen=True, extra="forbid"):
    """Series that the wall limit ended; a resumed run takes them over.

    Attributes:
        cut: By series, the matches that were played and planned.
    """

    cut: dict[str, tuple[int, int]] = Field(default_factory=dict)


@dataclass
class Clock:
    """The last resort: ends a play-test whose wall time is over. Without a limit it ends nothing.

    What is cut depends on the machine, so what is kept holds no times: a resumed run plays what was
    decided before.

    Attributes:
        seconds: In all, from now on; None for no limit, and nothing is kept.
        now: Seconds, monotonic.
        kept: Decisions of an earlier process.
        keep: Keeps a decision, where there is a limit.
    """

    seconds: float | None = None
    now: Callable[[], float] = time.monotonic
    kept: Timed = field(default_factory=Timed)
    keep: Callable[[Timed], object] = field(default=lambda _: None)
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._end = self.now() + (self.seconds or 0.0)

    def until(self, name: str) -> float | None:
        """When a series must end; None for no limit. One that was cut before plays nothing more."""
        if self.seconds is None:
            return None
        return self.now() if name in self.kept.cut else self._end

    def note(self, name: str, played: int, planned: int) -> None:
        """Keep how far a series came, where it did not come to its end."""
        if self.seconds is not None and played < planned and name not in self.kept.cut:
            self.kept = Timed(cut={**self.kept.cut, name: (played, planned)})
            self.keep(self.kept)

    @property
    def told(self) -> str:
        """The remark on a play-test that was cut; empty where none was."""
        if not self.kept.cut:
            return ""
        cuts = sorted(self.kept.cut.items())
        counts = ", ".join(f"{n} of {planned} ({name})" for name, (n, planned) in cuts)
        return (
            f"The play-test met its wall limit of {self.seconds:g} s, so these series are shorter "
            f"than planned: {counts} matches. Where they end depends on the machine."
        )
