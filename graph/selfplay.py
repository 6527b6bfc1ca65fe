"""Matches of the accepted game: self-play for heuristics, and the play-test."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from langsmith import trace
from pydantic import JsonValue

from agents.players import PlayerSpecError, make_player, parse_spec
from agents.protocols import Heuristic
from games.checks.sampling import UniformPlayer
from games.contract import ModuleFault
from games.engine import Player
from games.records import MatchRecord
from graph.context import RunContext
from graph.folder import RunFolder
from tools.playtest import (
    Entrant,
    NoSamplesError,
    Series,
    SeriesSettings,
    Step,
    play_series,
    sandbox_tables,
    skill_ladder,
)
from tools.playtest.ladder import versus_advantage

# Plies that the matches of one series may take, in a full and in a quick run: games of many deals
# have matches of a thousand plies. Counts and no clock: the same seed gives the same matches.
RANDOM_PLIES = {False: 150_000, True: 12_000}
HEURISTIC_PLIES = {False: 40_000, True: 5_000}
LADDER_PLIES = {False: 60_000, True: 8_000}
_PROBE = 2
_FEWEST = 4

_MOST_JOBS = 4
_SAMPLES = 12


@dataclass(frozen=True)
class SelfPlay:
    """The accepted game with everything it takes to play it.

    Attributes:
        context: The run's resources.
        source: The module.
        num_players: Seats.
        folder: The run folder; finished matches are journalled under it.
        tell: Hears how many matches of a series were played.
    """

    context: RunContext
    source: str
    num_players: int
    folder: RunFolder
    tell: Callable[[dict[str, JsonValue]], None] = field(default=lambda _: None)

    def settings(self, matches: int) -> SeriesSettings:
        """Settings of a series of at least `matches` matches, in whole rotations."""
        seats = self.num_players
        return SeriesSettings(
            game="game",
            source_id=hashlib.sha256(self.source.encode()).hexdigest(),
            matches=-(-matches // seats) * seats,
            seed=self.context.settings.seed,
            max_plies=self.context.settings.max_plies,
        )

    def entrant(self, spec: str, heuristics: Mapping[str, str]) -> Entrant:
        """Who plays by a spec."""
        read = parse_spec(spec)

        def make(seat: int, match: int) -> Player:
            del match
            return make_player(
                read,
                seat=seat,
                num_players=self.num_players,
                parameters={},
                source=self.source,
                sandbox=self.context.sandbox,
                heuristics=heuristics,
            )

        known = hashlib.sha256("".join(sorted(heuristics.values())).encode()).hexdigest()[:8]
        return Entrant(f"{read} [{known}]" if read.name == "greedy" else str(read), make)

    @cached_property
    def plies_a_match(self) -> float:
        """Mean plies of a few random matches, which are the first of the random series."""
        series = play_series(
            sandbox_tables(self.context.sandbox, self.source),
            [self.entrant("random", {})] * self.num_players,
            self.settings(_PROBE),
            journal=self.folder.journals / "random.jsonl",
            jobs=jobs(),
        )
        return fmean(len(record.match.plies) for record in series.records)

    def within(self, wanted: int, plies: int) -> int:
        """At most `wanted` matches, fewer where so many would take more than `plies` plies."""
        return max(_FEWEST, min(wanted, int(plies / max(self.plies_a_match, 1.0))))

    def random_series(self, matches: int) -> Series:
        """Random play at every seat; also the material of the measures."""
        self.tell({"node": "evaluate", "series": "random", "matches": matches})
        entrants = [self.entrant("random", {})] * self.num_players
        return self._series("random", entrants, matches)

    def ladder(
        self, specs: Sequence[str], heuristics: Mapping[str, str], matches: int
    ) -> list[Step]:
        """Each player against the one before it."""
        self.tell({"node": "evaluate", "series": "skill ladder", "matches": matches})
        asked = {"players": list(specs), "matches": matches}
        with trace("skill ladder", run_type="tool", inputs=asked) as span:
            steps = skill_ladder(
                sandbox_tables(self.context.sandbox, self.source),
                [self.entrant(spec, heuristics) for spec in specs],
                self.settings(matches),
                self.num_players,
                journals=self.folder.journals,
                jobs=jobs(),
            )
            span.end(outputs={step.higher: step.verdict for step in steps})
        return steps

    def against_random(self, heuristic: Heuristic) -> tuple[float | None, str]:
        """The heuristic's share of wins alone among random players, or why there is none."""
        name = heuristic.name
        player = self.entrant(f"greedy:heuristic={name}", {name: heuristic.source})
        others = [self.entrant("random", {})] * (self.num_players - 1)
        try:
            settings = self.context.settings
            matches = self.within(settings.heuristic_matches, HEURISTIC_PLIES[settings.quick])
            series = self._series(f"heuristic-{name}", [player, *others], matches)
            if self.num_players == 1:
                return _finished_share(series), "no match finished"
            return versus_advantage(series, player.name).value + 1 / self.num_players, ""
        except (ModuleFault, NoSamplesError, PlayerSpecError) as problem:
            return None, str(problem)

    def search_name(self) -> str:
        """`uct` where what a player sees determines the state, else `ismcts`."""
        try:
            player = make_player(
                parse_spec("uct"),
                seat=0,
                num_players=self.num_players,
                parameters={},
                source=self.source,
                sandbox=self.context.sandbox,
                heuristics={},
            )
        except PlayerSpecError:
            return "ismcts"
        player.close()
        return "uct"

    def _series(self, name: str, entrants: Sequence[Entrant], matches: int) -> Series:
        played = 0

        def count(_: MatchRecord) -> None:
            nonlocal played
            played += 1
            self.tell({"node": "matches", "series": name, "played": played, "of": matches})

        asked = {"line_up": [entrant.name for entrant in entrants], "matches": matches}
        with trace(f"series {name}", run_type="tool", inputs=asked) as span:
            series = play_series(
                sandbox_tables(self.context.sandbox, self.source),
                entrants,
                self.settings(matches),
                journal=self.folder.journals / f"{name}.jsonl",
                jobs=jobs(),
                on_match=count,
            )
            span.end(outputs=dict(series.endings))
        return series


def samples_of(play: SelfPlay) -> list[dict[str, JsonValue]]:
    """Observations and legal actions met in random play, for a strategist to look at."""
    from games.engine import play_match

    samples: list[dict[str, JsonValue]] = []
    with sandbox_tables(play.context.sandbox, play.source)() as table:
        match = play_match(
            table,
            [UniformPlayer()] * play.num_players,
            parameters={},
            seed=play.context.settings.seed,
            max_plies=play.context.settings.max_plies,
        )
    decisions = [ply for ply in match.plies if ply.observation is not None and len(ply.legal) > 1]
    for ply in decisions[:: max(1, len(decisions) // _SAMPLES)][:_SAMPLES]:
        samples.append({"observation": ply.observation, "legal": list(ply.legal)})
    return samples


def jobs() -> int:
    """Matches at the same time: two a core, as a match waits for its worker or its worker for it.

    Few enough to leave the machine usable.
    """
    return max(1, min(_MOST_JOBS, 2 * (os.cpu_count() or 1)))


def _finished_share(series: Series) -> float | None:
    finished = series.endings["finished"]
    return finished / len(series.records) if finished else None
