"""Series of the accepted game, as its heuristics' trial and its play-test play them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean

from langsmith import trace
from pydantic import JsonValue

from agents.players.registry import PlayerRoster
from agents.players.specs import PlayerSpecError
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, taught_heuristics
from games.checks.sampling import UniformPlayer
from games.engine import Player, play_match
from graph.run.clock import Clock
from graph.run.context import RunContext
from graph.run.folder import RunFolder
from tools.playtest.jobs import GameSetup, MatchEntry
from tools.playtest.report import (
    LadderStep,
    ladder_step,
    sides_of,
)
from tools.playtest.runner import Workers
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, play_series
from tools.reporting.content import short_name
from tools.sandbox import SandboxTable

# Plies that the matches of one series may take, in a full and in a quick run: games of many deals
# have matches of a thousand plies. Counts and no clock: the same seed gives the same matches.
_RANDOM_PLIES = {False: 150_000, True: 12_000}
_HEURISTIC_PLIES = {False: 40_000, True: 5_000}
_PROBE = 2
_FEWEST_IN_TIME = 6  # matches of the stronger search that its time must do for, one at a time
_FEWEST = 6  # from which partners can be told
_MOST_JOBS = 4
_SAMPLES = 12


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
        probe = self._play(
            self._everywhere("random", {}),
            _PROBE,
            until=None,
            journal=self.folder.journals / "random.jsonl",
        )
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
        """Whether all seats are one side: they are always paid alike."""
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
        try:
            self._check_seated("uct", {})
        except PlayerSpecError:
            return "ismcts"
        return "uct"

    def samples(self) -> list[dict[str, JsonValue]]:
        """Observations and legal actions met in random play, for a strategist to look at."""
        players: list[Player] = [UniformPlayer()] * self.num_players
        with self.context.sandbox.worker("referee", self.source) as worker:
            worker.load(self.source)
            match = play_match(
                SandboxTable(worker),
                players,
                parameters={},
                seed=self.context.settings.seed,
                max_plies=self.context.settings.max_plies,
            )
        met = [ply for ply in match.plies if ply.observation is not None and len(ply.legal) > 1]
        return [
            {"observation": ply.observation, "legal": list(ply.legal)}
            for ply in met[:: max(1, len(met) // _SAMPLES)][:_SAMPLES]
        ]

    def _setup(self, heuristics: Mapping[str, str]) -> GameSetup:
        return GameSetup("game", self.source, self.num_players, {}, heuristics)

    def _check_seated(self, spec: str, heuristics: Mapping[str, str]) -> None:
        """Seat a player once.

        Raises:
            PlayerSpecError: If it cannot play this game.
            ModuleFault: If its heuristic does not load.
        """
        roster, sandbox = PlayerRoster(), self.context.sandbox
        player = roster.seat(
            roster.effective(spec), seat=0, match=0, game=self._setup(heuristics), sandbox=sandbox
        )
        player.close()

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
        played = 0

        def count(_index: int, _entry: MatchEntry) -> None:
            nonlocal played
            played += 1
            self.tell({"node": "matches", "series": name, "played": played, "of": matches})

        shown = [shown_as(spec, line_up.heuristics) for spec in line_up.specs]
        asked = {"line_up": shown, "matches": matches}
        with trace(f"series {name}", run_type="tool", inputs=asked) as span:
            series = self._played(name, line_up, matches, on_match=count)
            span.end(outputs=dict(series.endings))
        return series

    def _played(
        self,
        name: str,
        line_up: LineUp,
        matches: int,
        on_match: Callable[[int, MatchEntry], None] = lambda *_: None,
    ) -> Series:
        """At least `matches` matches, in whole rotations; fewer where the clock ends them."""
        planned = -(-matches // self.num_players) * self.num_players
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
            matches=matches,
            seed=self.context.settings.seed,
            max_plies=self.context.settings.max_plies,
            sides=line_up.sides if 1 < len(line_up.sides) < self.num_players else (),
            until=until,
            sandbox=self.context.sandbox,
            journal=journal,
            workers=Workers(_jobs(), "threads"),
            on_match=on_match,
            replay=False,
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
