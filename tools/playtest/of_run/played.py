"""Series of a game, played for measures, for the ladder and for the choice of heuristics."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Protocol, TypeAlias, TypeVar

from pydantic import JsonValue

from games.checks.sampling import UniformPlayer
from games.contract import player_numbers
from games.engine import Match, Player, play_match
from games.values import ModuleFault
from tools.playtest.jobs import GameSetup, MatchEntry, Roster
from tools.playtest.journal import Left
from tools.playtest.of_run.budget import Clock, Work, rounded
from tools.playtest.report import LadderStep, ladder_step, sides_of
from tools.playtest.runner import Workers
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, SeriesSettings, play_series, with_records
from tools.reporting.content import short_name
from tools.sandbox import Sandbox
from tools.sandbox.reading import foreign_game

_PROBE = 2  # matches that tell how long others are


_SHOWN = {False: 100, True: 40}  # matches of a series that are kept in full, at most


_GOOD = {False: 0.33, True: 0.6}  # matches of good play for each one at random


_OTHER_SEATS = 4  # of other numbers of players, one match for so many at random


_TELLING = 6  # matches that tell something


_MOST_JOBS = 4


SampleT = TypeVar("SampleT", bound=Mapping[str, JsonValue])
_SAMPLES, _RARE = 12, 4  # positions, and more for the kinds of action that these do not have
_SAMPLED = 4  # matches
_NONE: Mapping[str, str] = {}

Counting: TypeAlias = tuple[float, float, float]
"""Lines that a ply runs: of the module without and with the observations, and of heuristics."""


@dataclass(frozen=True)
class LineUp:
    """Who plays.

    Attributes:
        specs: By seat.
        heuristics: Sources by name.
        sides: Who are partners.
    """

    specs: tuple[str, ...]
    heuristics: Mapping[str, str]
    sides: Sides = ()


class PlayTestSettings(Protocol):
    """The amounts that a play-test plays."""

    @property
    def seed(self) -> int:
        """Seeds every stream."""

    @property
    def quick(self) -> bool:
        """True for fewer matches and smaller searches."""

    @property
    def max_plies(self) -> int:
        """Plies after which a match is left unfinished."""

    @property
    def random_matches(self) -> int:
        """Matches at random that the measures are taken from."""

    @property
    def ladder_matches(self) -> int:
        """Matches for every rung of the ladder."""

    @property
    def small_budget(self) -> int:
        """Simulations a move of a search that tries a value function."""

    @property
    def large_budget(self) -> int:
        """Simulations a move of the search on the ladder; 0 for no search."""


class TestRoster(Roster, Protocol):
    """Makes players, and says which can play a game."""

    def can_play(self, spec: str, game: GameSetup, sandbox: Sandbox) -> bool:
        """True if a player takes a seat at a game."""


class Listener(Protocol):
    """Hears how far a play-test is."""

    def begins(self, series: str, matches: int) -> None:
        """A series of so many matches begins."""

    def played(self, series: str, played: int, of: int) -> None:
        """A match of a series was played."""


class Silence:
    """Nobody who hears."""

    def begins(self, series: str, matches: int) -> None:
        """See `Listener.begins`."""

    def played(self, series: str, played: int, of: int) -> None:
        """See `Listener.played`."""


@dataclass(frozen=True)
class PlayTest:
    """The accepted game with everything it takes to play it, and the series played so far.

    Attributes:
        settings: How much is played.
        sandbox: Where it is played.
        roster: Makes the players.
        source: The module.
        num_players: Seats.
        journals: Folder of the journals of finished matches.
        count: Counts the work of a game's plies.
        listener: Hears how many matches of a series were played.
        clock: The last resort, which ends what takes far too long; by default, none.
        more: Matches of good play up to which a person played on, in order.
        learned: Specs of players that learned this game, the weaker first.
        played: Every series, by name.
        left: Journals that this process brought to their end; see `play_series`.
    """

    settings: PlayTestSettings
    sandbox: Sandbox
    roster: TestRoster
    source: str
    num_players: int
    journals: Path
    count: Callable[[GameSetup], Counting]
    listener: Listener = field(default_factory=Silence)
    clock: Clock = field(default_factory=Clock)
    more: tuple[int, ...] = ()
    learned: tuple[str, ...] = ()
    played: dict[str, Series] = field(default_factory=dict)
    left: Left = field(default_factory=dict)

    @cached_property
    def work(self) -> Work:
        """The counted work of a ply, and the plies of a few random matches."""
        random, journal = self._everywhere("random", {}), self.journals / "random.jsonl"
        probe = self._play(random, _PROBE, until=None, journal=journal)
        plies = fmean(entry.plies for entry in probe.entries.values())
        lines, seen, _ = self.count(self.setup({}))
        return Work(lines=rounded(lines), seen=rounded(seen), plies=rounded(plies))

    def within(self, part: str, wanted: int, heuristics: Mapping[str, str] = _NONE) -> int:
        """At most `wanted` matches, fewer where the part's budget allows no more.

        Args:
            part: See `Work.matches`.
            wanted: As the settings ask.
            heuristics: Sources of those that play.
        """
        scored = rounded(self.count(self.setup(heuristics))[2]) if heuristics else 0
        return self.work.matches(part, wanted, quick=self.settings.quick, scored=scored)

    @property
    def random_matches(self) -> int:
        """Matches of random play at every seat."""
        return self.within("random", self.settings.random_matches)

    def good_matches(self, heuristics: Mapping[str, str]) -> int:
        """Matches of good play at every seat, in proportion to those at random."""
        share = _GOOD[self.settings.quick]
        wanted = max(1, round(share * self.settings.random_matches))
        return self.within("good", wanted, heuristics)

    @cached_property
    def random(self) -> Series:
        """Random play at every seat, as a part of the play-test."""
        self.listener.begins("random", self.random_matches)
        return self._series("random", self._everywhere("random", {}), self.random_matches)

    def random_up_to(self, matches: int) -> Series:
        """Random play at every seat, as far as somebody plays on."""
        self.listener.begins("random", matches)
        return self._series("random", self._everywhere("random", {}), matches)

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
        """True if all seats are one side: they are always paid alike."""
        return len(self.sides) == 1

    def alone(self, spec: str, heuristics: Mapping[str, str], matches: int) -> Series:
        """One player at every seat."""
        self.listener.begins(f"{spec} at every seat", matches)
        return self._series(_alone(spec), self._everywhere(spec, heuristics), matches)

    def shown(self, spec: str, heuristics: Mapping[str, str], series: Series) -> Series:
        """The first matches of one player at every seat, in full, for what takes records.

        Args:
            spec: The player.
            heuristics: Of the series that was counted.
            series: That series. Where it was played in lockstep, its matches are made again.

        Raises:
            VoidResultError: If one does not come out the same.
        """
        few = max(1, min(len(series.entries), _SHOWN[self.settings.quick]))
        if series.plan.in_lockstep:
            return with_records(series, self._planned(few), self.sandbox.apart)
        everywhere = self._everywhere(spec, heuristics)
        return self._played(f"{_alone(spec)}-shown", everywhere, few, record=True)

    def at_random(self, seats: int) -> Series:
        """Random play of another number of players."""
        other = replace(self, num_players=seats, played=self.played)
        matches = self.within("seats", self.settings.random_matches // _OTHER_SEATS)
        name = f"random-of-{seats}"
        return other._played(name, other._everywhere("random", {}), matches)

    @cached_property
    def seats(self) -> list[int]:
        """The numbers of players that the game says it takes, but for the one it is played with.

        None where so few matches are played that they would tell nothing.
        """
        if self.settings.random_matches < _OTHER_SEATS * _TELLING:
            return []
        try:
            counts = player_numbers(foreign_game(self.source))
        except ModuleFault:
            return []
        return [seats for seats in counts if 1 < seats != self.num_players]

    def versus(
        self, lower: str, higher: str, name: str, beside: LineUp, matches: int
    ) -> LadderStep:
        """One side of a player against sides of another kind; `beside` has heuristics and sides."""
        self.listener.begins(f"{higher} against {lower}", matches)
        return ladder_step(
            lower, higher, self._series(name, self._against(lower, higher, beside), matches)
        )

    def search_name(self) -> str:
        """`uct` where what a player sees determines the state, else `ismcts`."""
        is_open = self.roster.can_play("uct", self.setup({}), self.sandbox)
        return "uct" if is_open else "ismcts"

    def samples(self) -> list[dict[str, JsonValue]]:
        """Observations and legal actions met in random play, for a strategist to look at.

        Some of one match, then the first with each kind of action that these do not have.
        """
        settings = self.settings
        game, plies = self.setup({}), settings.max_plies
        first, *others = (
            decisions_met(
                [random_match(game, self.sandbox, seed=settings.seed, max_plies=plies, match=match)]
            )
            for match in range(_SAMPLED)
        )
        chosen = first[:: max(1, len(first) // _SAMPLES)][:_SAMPLES]
        return with_each_kind(chosen, [*first, *(one for met in others for one in met)])

    def setup(self, heuristics: Mapping[str, str]) -> GameSetup:
        """The game, with these heuristics."""
        return GameSetup("game", self.source, self.num_players, {}, heuristics)

    def _everywhere(self, spec: str, heuristics: Mapping[str, str]) -> LineUp:
        return LineUp((spec,) * self.num_players, heuristics)

    def _against(self, lower: str, higher: str, beside: LineUp) -> LineUp:
        ours = beside.sides[0]
        specs = tuple(higher if seat in ours else lower for seat in range(self.num_players))
        return replace(beside, specs=specs)

    def _series(self, name: str, line_up: LineUp, matches: int) -> Series:
        from langsmith import trace  # here: it takes longer to load than all of this room

        played, planned = 0, self._planned(matches, line_up.sides)

        def count(_index: int, _entry: MatchEntry) -> None:
            nonlocal played
            played += 1
            self.listener.played(name, played, planned)

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
        record: bool = False,
    ) -> Series:
        """At least `matches` matches, in whole rotations; fewer where the clock ends them."""
        planned = self._planned(matches, line_up.sides)
        journal = self.journals / f"{name}.jsonl"
        until = self.clock.until(name)
        series = self._play(
            line_up, planned, until=until, journal=journal, on_match=on_match, record=record
        )
        self.clock.note(name, len(series.entries), planned)
        if not record:
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
        record: bool = False,
    ) -> Series:
        return play_series(
            self.setup(line_up.heuristics),
            line_up.specs,
            self.roster,
            SeriesSettings(
                matches=matches,
                seed=self.settings.seed,
                max_plies=self.settings.max_plies,
                sides=line_up.sides if 1 < len(line_up.sides) < self.num_players else (),
                until=until,
                replay=False,
                record=record,
                left=self.left,
            ),
            sandbox=self.sandbox,
            journal=journal,
            workers=Workers(jobs_here(), "threads"),
            on_match=on_match,
        )


def _alone(spec: str) -> str:
    """The name of a series with one player at every seat."""
    return f"alone-{short_name(spec).replace(' ', '-')}"


def shown_as(player: str, heuristics: Mapping[str, str]) -> str:
    """A player's name; of one that plays by heuristics, also which these are."""
    if not player.startswith("greedy"):
        return player
    return f"{player} [{sha256(''.join(sorted(heuristics.values())).encode()).hexdigest()[:8]}]"


def jobs_here() -> int:
    """Matches at the same time: two a core, as a match waits for its worker or its worker for it.

    Few enough to leave the machine usable.
    """
    return max(1, min(_MOST_JOBS, 2 * (os.cpu_count() or 1)))


def random_match(
    game: GameSetup, sandbox: Sandbox, *, seed: int, max_plies: int, match: int = 0
) -> Match:
    """One match at random, in a worker of its own.

    Raises:
        ModuleFault: If the module does not load.
    """
    players: list[Player] = [UniformPlayer()] * game.num_players
    with game.refereed(sandbox) as table:
        return play_match(
            table, players, parameters=game.parameters, seed=seed, match=match, max_plies=max_plies
        )


def with_each_kind(chosen: Sequence[SampleT], met: Sequence[SampleT]) -> list[SampleT]:
    """The chosen samples, and of all the first with each kind of action that they do not have.

    >>> a, b = {"legal": ["roll", "stop"]}, {"legal": ["push 1", "push 2", "stop"]}
    >>> with_each_kind([a], [a, b, b]) == [a, b]
    True
    """
    found = [*chosen]
    known = set[str]().union(*map(_kinds, chosen))
    for sample in met:
        if len(found) < len(chosen) + _RARE and not _kinds(sample) <= known:
            found.append(sample)
            known |= _kinds(sample)
    return found


def _kinds(sample: Mapping[str, JsonValue]) -> set[str]:
    """The kinds of the legal actions of a sample: their first words."""
    legal = sample["legal"]
    return {str(action).partition(" ")[0] for action in legal} if isinstance(legal, list) else set()


def decisions_met(matches: Sequence[Match]) -> list[dict[str, JsonValue]]:
    """Observations and legal actions where somebody had a choice."""
    return [
        {"observation": ply.observation, "legal": list(ply.legal)}
        for match in matches
        for ply in match.plies
        if ply.observation is not None and len(ply.legal) > 1
    ]
