"""Series of the accepted game and the clock that may cut them: for selection and play-test."""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from langsmith import trace
from pydantic import BaseModel, Field, JsonValue

from agents.players.registry import PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, taught_heuristics
from graph.new.context import RunContext
from graph.new.records import decisions_met, random_match
from graph.run.folder import RunFolder
from tools.playtest.jobs import GameSetup, MatchEntry
from tools.playtest.report import LadderStep, ladder_step, sides_of
from tools.playtest.runner import Workers
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.reporting.content import short_name

# Plies that the matches of one series may take, in a full and in a quick run: games of many deals
# have matches of a thousand plies. Counts and no clock: the same seed gives the same matches.
_RANDOM_PLIES = {False: 150_000, True: 12_000}
_HEURISTIC_PLIES = {False: 40_000, True: 5_000}
_PROBE = 2
_FEWEST_IN_TIME = 6  # matches of the stronger search that its time must do for, one at a time
_FEWEST = 6  # from which partners can be told
_MOST_JOBS = 4
_SAMPLES = 12
_FILE = ".state/journals/clock.json"  # it goes when the journals go
_FOR_PLAY = 0.75  # of the time; the rest is for matches played again, the report, a late decision


class Timed(BaseModel, frozen=True, extra="forbid"):
    """The decisions of a clock; a resumed run takes them over.

    Attributes:
        simulations: A move of the stronger search; 0 for no search. None before it was measured.
        cut: By series, the matches that were played and planned, where time ended it.
    """

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
    kept: Timed = field(init=False)
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin to count, with what an earlier process decided.

        Raises:
            RunFolderError: If that cannot be read.
        """
        self.kept = Timed()
        if self.seconds is not None and (self.folder.path / _FILE).exists():
            wrong = "is damaged; delete the folder it lies in: the matches are then played anew"
            self.kept = self.folder.read_model(_FILE, Timed, wrong)
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
        """Simulations for the stronger search, at most `most`; measured once a run."""
        if self.seconds is None:
            return most
        if self.kept.simulations is None:
            self._keep(simulations=measure(most))
        return self.kept.simulations or 0

    @property
    def notes(self) -> list[str]:
        """Notes for a reader on a play-test that was cut."""
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


@dataclass(frozen=True)
class LineUp:
    """Who plays.

    Attributes:
        specs: By seat.
        heuristics: Sources by name; they are part of what keys the deals.
        sides: Who are partners.
    """

    specs: tuple[str, ...]
    heuristics: Mapping[str, str]
    sides: Sides = ()


@dataclass(frozen=True)
class PlayTest:
    """The accepted game with everything it takes to play it, and the series played so far.

    Attributes:
        context: The run's resources.
        source: The module.
        num_players: Seats.
        folder: The run folder; finished matches are journalled under it.
        tell: Hears how many matches of a series were played.
        clock: Ends series whose time is over; by default, none.
        played: Every series, by name.
    """

    context: RunContext
    source: str
    num_players: int
    folder: RunFolder
    tell: Callable[[dict[str, JsonValue]], None] = field(default=lambda _: None)
    clock: Clock = field(default_factory=Clock)
    played: dict[str, Series] = field(default_factory=dict)

    @cached_property
    def plies_a_match(self) -> float:
        """Mean plies of a few random matches, which are the first of the random series."""
        random, journal = self._everywhere("random", {}), self.folder.journals / "random.jsonl"
        probe = self._play(random, _PROBE, until=None, journal=journal)
        return fmean(entry.plies for entry in probe.entries.values())

    def within(self, wanted: int, plies: int) -> int:
        """At most `wanted` matches, fewer where so many would take more than `plies` plies."""
        return max(_FEWEST, min(wanted, int(plies / max(self.plies_a_match, 1.0))))

    @property
    def random_matches(self) -> int:
        """Matches of random play at every seat."""
        settings = self.context.settings
        return self.within(settings.random_matches, _RANDOM_PLIES[settings.quick])

    @cached_property
    def random(self) -> Series:
        """Random play at every seat, as a part of the play-test."""
        self.tell({"node": "evaluate", "series": "random", "matches": self.random_matches})
        return self._series("random", self._everywhere("random", {}), self.random_matches)

    @cached_property
    def usual(self) -> Series:
        """The same matches, as what heuristics are held against."""
        return self._played("random", self._everywhere("random", {}), self.random_matches)

    @cached_property
    def sides(self) -> Sides:
        """Who are partners, as random play shows it."""
        return sides_of([self.usual], self.num_players)

    @property
    def is_shared(self) -> bool:
        """True where all seats are one side: they are always paid alike."""
        return len(self.sides) == 1

    def alone(
        self, specs: Sequence[str], heuristics: Mapping[str, str], matches: int
    ) -> dict[str, Series]:
        """Each of these players at every seat."""
        for spec in specs:
            self.tell({"node": "evaluate", "series": f"{spec} at every seat", "matches": matches})
        return {
            spec: self._series(
                f"alone-{short_name(spec).replace(' ', '-')}",
                self._everywhere(spec, heuristics),
                matches,
            )
            for spec in specs
        }

    def versus(
        self, lower: str, higher: str, name: str, beside: LineUp, matches: int
    ) -> LadderStep:
        """One side of a player against sides of another kind; `beside` has heuristics and sides."""
        self.tell({"node": "evaluate", "series": f"{higher} against {lower}", "matches": matches})
        return ladder_step(
            lower, higher, self._series(name, self._against(lower, higher, beside), matches)
        )

    def contest(self, heuristics: Sequence[Heuristic]) -> HeuristicContest:
        """Heuristics, ready to be selected from by play."""
        settings = self.context.settings
        return HeuristicContest(
            setup=self._setup({}),
            heuristics=heuristics,
            roster=PlayerRoster(),
            sandbox=self.context.sandbox,
            seed=settings.seed,
            matches=self.within(settings.heuristic_matches, _HEURISTIC_PLIES[settings.quick]),
            max_plies=settings.max_plies,
            is_shared=self.is_shared,
            protocol=settings.protocol,
            workers=Workers(_jobs(), "threads"),
            journals=self.folder.journals,
            tell=lambda series, matches: self.tell(
                {"node": "strategize", "series": series, "matches": matches}
            ),
        )

    def taught(self) -> list[Heuristic]:
        """Heuristics fitted to matches that are played for it, without a model.

        Raises:
            ModuleFault: If the module fails.
        """
        settings = self.context.settings
        return taught_heuristics(
            self._setup({}),
            self.context.sandbox,
            seed=settings.seed,
            plies=settings.lessons,
            shared=self.is_shared,
        )

    def search_name(self) -> str:
        """`uct` where what a player sees determines the state, else `ismcts`."""
        is_open = PlayerRoster().can_play("uct", self._setup({}), self.context.sandbox)
        return "uct" if is_open else "ismcts"

    def samples(self) -> list[dict[str, JsonValue]]:
        """Observations and legal actions met in random play, for a strategist to look at."""
        settings = self.context.settings
        game, plies = self._setup({}), settings.max_plies
        match = random_match(game, self.context.sandbox, seed=settings.seed, max_plies=plies)
        met = decisions_met([match])
        return met[:: max(1, len(met) // _SAMPLES)][:_SAMPLES]

    def _setup(self, heuristics: Mapping[str, str]) -> GameSetup:
        return GameSetup("game", self.source, self.num_players, {}, heuristics)

    def paced(self, name: str, most: int) -> int:
        """Simulations a move at which matches end in their time; 0 where none do."""
        fitting, enough = 0, self.clock.slot / _FEWEST_IN_TIME
        for simulations in sorted({max(2, most // 16), max(2, most // 4), most}):
            tried = self._everywhere(f"{name}:simulations={simulations}", {})
            if not self._play(tried, 1, until=self.clock.now() + enough).entries:
                break
            fitting = simulations
        return fitting

    def _everywhere(self, spec: str, heuristics: Mapping[str, str]) -> LineUp:
        return LineUp((spec,) * self.num_players, heuristics)

    def _against(self, lower: str, higher: str, beside: LineUp) -> LineUp:
        ours = beside.sides[0]
        specs = tuple(higher if seat in ours else lower for seat in range(self.num_players))
        return replace(beside, specs=specs)

    def _series(self, name: str, line_up: LineUp, matches: int) -> Series:
        played, planned = 0, self._planned(matches, line_up.sides)

        def count(_index: int, _entry: MatchEntry) -> None:
            nonlocal played
            played += 1
            self.tell({"node": "matches", "series": name, "played": played, "of": planned})

        shown = [shown_as(spec, line_up.heuristics) for spec in line_up.specs]
        asked = {"line_up": shown, "matches": matches}
        with trace(f"series {name}", run_type="tool", inputs=asked) as span:
            series = self._played(name, line_up, matches, on_match=count)
            span.end(outputs=dict(series.endings))
        return series

    def _planned(self, matches: int, sides: Sides = ()) -> int:
        """So many matches in whole rotations."""
        block = math.lcm(self.num_players, len(sides) or 1)
        return -(-matches // block) * block

    def _played(
        self,
        name: str,
        line_up: LineUp,
        matches: int,
        on_match: Callable[[int, MatchEntry], None] = lambda *_: None,
    ) -> Series:
        """At least `matches` matches, in whole rotations; fewer where the clock ends them."""
        planned = self._planned(matches, line_up.sides)
        journal = self.folder.journals / f"{name}.jsonl"
        until = self.clock.until(name)
        series = self._play(line_up, planned, until=until, journal=journal, on_match=on_match)
        self.clock.note(name, len(series.entries), planned)
        self.played[name] = series
        return series

    def _play(
        self,
        line_up: LineUp,
        matches: int,
        *,
        until: float | None,
        journal: Path | None = None,
        on_match: Callable[[int, MatchEntry], None] = lambda *_: None,
    ) -> Series:
        return play_series(
            self._setup(line_up.heuristics),
            line_up.specs,
            PlayerRoster(),
            SeriesSettings(
                matches=matches,
                seed=self.context.settings.seed,
                max_plies=self.context.settings.max_plies,
                sides=line_up.sides if 1 < len(line_up.sides) < self.num_players else (),
                until=until,
                replay=False,
            ),
            sandbox=self.context.sandbox,
            journal=journal,
            workers=Workers(_jobs(), "threads"),
            on_match=on_match,
        )


def shown_as(player: str, heuristics: Mapping[str, str]) -> str:
    """A player's name; of one that plays by heuristics, also which these are."""
    if not player.startswith("greedy"):
        return player
    return f"{player} [{sha256(''.join(sorted(heuristics.values())).encode()).hexdigest()[:8]}]"


def _jobs() -> int:
    """Matches at the same time: two a core, as a match waits for its worker or its worker for it.

    Few enough to leave the machine usable.
    """
    return max(1, min(_MOST_JOBS, 2 * (os.cpu_count() or 1)))
