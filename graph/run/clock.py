"""Clock of a play-test: the wall time it may take, and what it cut, kept for whoever resumes."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.run.folder import RunFolder, RunFolderError

_FILE = ".state/journals/clock.json"  # it goes when the journals go
_FOR_PLAY = 0.75  # of the time; the rest is for matches played again, the report, a late decision


class Kept(BaseModel):
    """What a clock decided; a resumed run takes it over.

    Attributes:
        simulations: A move of the stronger search; 0 for no search. None before it was measured.
        cut: By series, the matches that were played and planned, where time ended it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    simulations: int | None = None
    cut: dict[str, tuple[int, int]] = Field(default_factory=dict)


@dataclass
class Clock:
    """Shares the time of a play-test out to its series; without a limit it cuts nothing.

    What is cut depends on the machine, so what is kept holds decisions and no times: a run in which
    nothing was cut has the same bytes anywhere, and a resumed one plays what was decided before.

    Attributes:
        seconds: In all, from now on; None for no limit, and nothing is kept.
        folder: The run's, where there is a limit.
        now: Seconds, monotonic.
        expected: Series that are still to come, about.
    """

    seconds: float | None = None
    folder: RunFolder = RunFolder(Path())
    now: Callable[[], float] = time.monotonic
    expected: int = 1
    kept: Kept = field(init=False)
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count, with what an earlier process decided.

        Raises:
            RunFolderError: If that cannot be read.
        """
        self.kept = Kept()
        if self.seconds is not None and (self.folder.path / _FILE).exists():
            try:
                self.kept = Kept.model_validate(self.folder.read_json(_FILE))
            except ValidationError as error:
                raise RunFolderError(
                    f"{self.folder.path / _FILE} is damaged; delete the folder it lies in: the "
                    "matches are then played anew"
                ) from error
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
            self._keep(cut={**self.kept.cut, name: (played, planned)})

    def simulations(self, most: int, measure: Callable[[int], int]) -> int:
        """How many of at most `most` the stronger search may use, measured once a run."""
        if self.seconds is None:
            return most
        if self.kept.simulations is None:
            self._keep(simulations=measure(most))
        return self.kept.simulations or 0

    @property
    def notes(self) -> list[str]:
        """What a reader must know of a play-test that was cut."""
        if not self.kept.cut:
            return []
        cuts = sorted(self.kept.cut.items())
        counts = ", ".join(f"{n} of {planned} ({name})" for name, (n, planned) in cuts)
        return [
            f"The play-test was held to {self.seconds:g} s, so these series are shorter than "
            f"planned: {counts} matches. Where they end depends on the machine: the same seed may "
            "give other figures elsewhere. Without --quick nothing is cut."
        ]

    def _keep(self, **changes: object) -> None:
        self.kept = self.kept.model_copy(update=changes)
        self.folder.write_json(_FILE, self.kept.model_dump(mode="json"))
