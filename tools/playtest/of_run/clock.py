"""Clock of a play-test, which may cut its series."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

_FOR_PLAY = 0.75  # of the time; the rest is for matches played again, the report, a late decision


class Timed(BaseModel, frozen=True, extra="forbid"):
    """Decisions of a clock; a resumed run takes them over.

    Attributes:
        simulations: A move of the stronger search; 0 for no search. None before it was measured.
        cut: By series, the matches that were played and planned, where time ended it.
    """

    simulations: int | None = None
    cut: dict[str, tuple[int, int]] = Field(default_factory=dict)

    def with_cut(self, name: str, played: int, planned: int) -> "Timed":
        """With a series that did not come to its end."""
        cut = {**self.cut, name: (played, planned)}
        return Timed(simulations=self.simulations, cut=cut)

    def with_simulations(self, simulations: int) -> "Timed":
        """With the strength of the stronger search."""
        return Timed(simulations=simulations, cut=self.cut)


@dataclass
class Clock:
    """Shares the time of a play-test out to its series; without a limit it cuts nothing.

    What is cut depends on the machine, so what is kept holds decisions and no times: a run in which
    nothing was cut has the same bytes anywhere, and a resumed one plays what was decided before.

    Attributes:
        seconds: In all, from now on; None for no limit, and nothing is kept.
        now: Seconds, monotonic.
        kept: Decisions of an earlier process.
        keep: Keeps a decision, where there is a limit.
        expected: Series that are still to come, about.
    """

    seconds: float | None = None
    now: Callable[[], float] = time.monotonic
    kept: Timed = field(default_factory=Timed)
    keep: Callable[[Timed], object] = field(default=lambda _: None)
    expected: int = 1
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count."""
        self._end = self.now() + _FOR_PLAY * (math.inf if self.seconds is None else self.seconds)

    @property
    def slot(self) -> float:
        """Seconds for the next series: an even part of what is left, half of it at the most."""
        return max(0.0, self._end - self.now()) / max(2, self.expected)

    def until(self, name: str) -> float | None:
        """When a series must end; None for no limit. One that was cut before plays nothing more."""
        if self.seconds is None:
            return None
        end = -math.inf if name in self.kept.cut else self.now() + self.slot
        self.expected -= 1
        return end

    def note(self, name: str, played: int, planned: int) -> None:
        """Keep how far a series came, where it did not come to its end."""
        if played < planned and name not in self.kept.cut:
            self._decide(self.kept.with_cut(name, played, planned))

    def simulations(self, most: int, measure: Callable[[int], int]) -> int:
        """The simulations, of at most `most`, of the stronger search, measured once a run."""
        if self.seconds is None:
            return most
        if self.kept.simulations is None:
            self._decide(self.kept.with_simulations(measure(most)))
        return self.kept.simulations or 0

    @property
    def notes(self) -> list[str]:
        """Remarks on a play-test that was cut."""
        if not self.kept.cut:
            return []
        cuts = sorted(self.kept.cut.items())
        counts = ", ".join(f"{n} of {planned} ({name})" for name, (n, planned) in cuts)
        return [
            f"The play-test was held to {self.seconds:g} s, so these series are shorter than "
            f"planned: {counts} matches. Where they end depends on the machine: the same seed may "
            "give other figures elsewhere. Without --quick nothing is cut."
        ]

    def _decide(self, kept: Timed) -> None:
        self.kept = kept
        self.keep(kept)
