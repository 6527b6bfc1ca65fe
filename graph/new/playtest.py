"""Play-test of the accepted game: heuristics on trial, measures of play, a ladder of players."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from statistics import fmean

from langsmith import trace
from pydantic import JsonValue

from agents.players.greedy import ENSEMBLE, SCORES
from agents.players.registry import PlayerRoster
from agents.players.specs import PlayerSpecError
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, taught_heuristics
from games.checks.sampling import UniformPlayer
from games.engine import Player, play_match
from games.records import MatchRecord
from graph.run.context import RunContext
from graph.run.folder import RunFolder
from tools.playtest.jobs import GameSetup, MatchEntry
from tools.playtest.report import (
    LadderStep,
    affordable_simulations,
    ladder_step,
    pays_all_alike,
    play_of,
    rung_of,
    score_step,
    skill_ladder,
)
from tools.playtest.runner import Workers
from tools.playtest.series import Series, play_series, replayed_sample
from tools.reporting.content import Evaluation, short_name
from tools.sandbox import SandboxTable

# Plies that the matches of one series may take, in a full and in a quick run: games of many deals
# have matches of a thousand plies. Counts and no clock: the same seed gives the same matches.
_RANDOM_PLIES = {False: 150_000, True: 12_000}
_HEURISTIC_PLIES = {False: 40_000, True: 5_000}
_LADDER_PLIES = {False: 60_000, True: 8_000}
# Plies that one step of the ladder may simulate, so that a long game still ends in good time.
_AFFORDABLE = {False: 8_000_000, True: 120_000}
_WEAKER = 4  # the weaker search has this fraction of the stronger one's simulations
_PROBE = 2
_FEWEST = 4
_MOST_JOBS = 4
_SAMPLES = 12
_HONESTY = (
    "The ranking rests on the game module's honesty: the searches run beside it. Fresh workers "
    "replayed a sample of {replayed} finished matches without a difference; to check further, play "
    "with: rulewright match RUN --player ... --host-search."
)
_NO_GUARANTEE = (
    "The searches play with hidden information: more simulations are no guarantee that an opponent "
    "who knows how they play cannot exploit them."
)


@dataclass(frozen=True)
class PlayTest:
    """The accepted game with everything it takes to play it, and the series played so far.

    Attributes:
        context: The run's resources.
        source: The module.
        num_players: Seats.
        folder: The run folder; finished matches are journalled under it.
        tell: Hears how many matches of a series were played.
        played: Every series, by name.
    """

    context: RunContext
    source: str
    num_players: int
    folder: RunFolder
    tell: Callable[[dict[str, JsonValue]], None] = field(default=lambda _: None)
    played: dict[str, Series] = field(default_factory=dict)

    @cached_property
    def plies_a_match(self) -> float:
        """Mean plies of a few random matches, which are the first of the random series."""
        probe = self._played("random", ["random"] * self.num_players, _PROBE, {})
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
        return self._series("random", ["random"] * self.num_players, self.random_matches, {})

    @cached_property
    def usual(self) -> Series:
        """The same matches, as what heuristics are held against."""
        return self._played("random", ["random"] * self.num_players, self.random_matches, {})

    @cached_property
    def is_shared(self) -> bool:
        """Whether random play paid all seats alike, and not always the same."""
        paid = {record.match.returns for record in self.usual.records}
        return len(paid) > 1 and pays_all_alike(self.usual.records)

    def alone(
        self, specs: Sequence[str], heuristics: Mapping[str, str], matches: int
    ) -> dict[str, Series]:
        """Each of these players at every seat."""
        for spec in specs:
            self.tell({"node": "evaluate", "series": f"{spec} at every seat", "matches": matches})
        return {
            spec: self._series(
                f"alone-{short_name(spec).replace(' ', '-')}",
                [spec] * self.num_players,
                matches,
                heuristics,
            )
            for spec in specs
        }

    def versus(
        self, lower: str, higher: str, name: str, heuristics: Mapping[str, str], matches: int
    ) -> LadderStep:
        """One player alone among others of another kind."""
        self.tell({"node": "evaluate", "series": f"{higher} against {lower}", "matches": matches})
        line_up = [higher, *[lower] * (self.num_players - 1)]
        return ladder_step(lower, higher, self._played(name, line_up, matches, heuristics))

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

    def _series(
        self, name: str, specs: Sequence[str], matches: int, heuristics: Mapping[str, str]
    ) -> Series:
        played = 0

        def count(_index: int, _entry: MatchEntry) -> None:
            nonlocal played
            played += 1
            self.tell({"node": "matches", "series": name, "played": played, "of": matches})

        asked = {"line_up": [_shown(spec, heuristics) for spec in specs], "matches": matches}
        with trace(f"series {name}", run_type="tool", inputs=asked) as span:
            series = self._played(name, specs, matches, heuristics, count)
            span.end(outputs=dict(series.endings))
        return series

    def _played(
        self,
        name: str,
        specs: Sequence[str],
        matches: int,
        heuristics: Mapping[str, str],
        on_match: Callable[[int, MatchEntry], None] = lambda *_: None,
    ) -> Series:
        """At least `matches` matches, in whole rotations."""
        seats = self.num_players
        self.played[name] = play_series(
            self._setup(heuristics),
            specs,
            PlayerRoster(),
            matches=-(-matches // seats) * seats,
            seed=self.context.settings.seed,
            max_plies=self.context.settings.max_plies,
            sandbox=self.context.sandbox,
            journal=self.folder.journals / f"{name}.jsonl",
            workers=Workers(_jobs(), "threads"),
            on_match=on_match,
            replay=False,
        )
        return self.played[name]


def playtest(
    play: PlayTest, heuristics: Sequence[Heuristic]
) -> tuple[Evaluation, dict[str, Series]]:
    """Play the game and measure it; also returns the series of each player at every seat.

    Raises:
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    settings = play.context.settings
    rounds = play.within(settings.ladder_matches, _LADDER_PLIES[settings.quick])
    matches = len(play.random.entries)
    finished = [r for r in play.random.records if r.match.ending == "finished"]
    specs, notes = _players(play, heuristics, finished, rounds)
    if matches < settings.random_matches or rounds < settings.ladder_matches:
        notes.append(
            f"Matches of this game are long: {matches} random matches and {rounds} of every other "
            f"series were played instead of {settings.random_matches} and "
            f"{settings.ladder_matches}."
        )
    sources = {heuristic.name: heuristic.source for heuristic in heuristics}
    # The weaker search is only there to be climbed over; a team's players have no other rival.
    good = [spec for spec in specs[1:] if spec.startswith("greedy") or spec == specs[-1]]
    alone = {"random": play.random, **play.alone(good, sources, rounds)}
    shared = pays_all_alike([record for one in alone.values() for record in one.records])
    if shared:
        rest = play.alone([spec for spec in specs if spec not in alone], sources, rounds)
        alone = {spec: (alone | rest)[spec] for spec in specs}

    def compare(lower: str, higher: str, number: int | str) -> LadderStep:
        if shared:
            return score_step(lower, higher, alone)
        return play.versus(lower, higher, f"step-{number}-versus", sources, rounds)

    with trace("skill ladder", run_type="tool", inputs={"players": specs}) as span:
        order, steps = skill_ladder(specs, compare)
        ends = [step for step in steps if (step.lower, step.higher) == ("random", order[-1])]
        if not ends and order[-1] != "random":
            ends = [compare("random", order[-1], "span")]
        span.end(outputs={"order": order})
    replayed = replayed_sample(list(play.played.values()))
    if len(specs) > 1:
        notes.append(_HONESTY.format(replayed=replayed))
    evaluation = Evaluation(
        plays=tuple(play_of(spec, series, shared=shared) for spec, series in alone.items()),
        shared=shared,
        ladder=tuple(rung_of(step, play.num_players) for step in steps),
        players=tuple(order),
        settings={spec: _shown(PlayerRoster().effective(spec).name, sources) for spec in order},
        span=rung_of(ends[0], play.num_players) if ends else None,
        notes=tuple(notes),
        sandbox=play.context.sandbox.grade,
    )
    return evaluation, alone


def search_notes(name: str, simulations: int, wanted: int) -> list[str]:
    """What a reader must know of the searches of the ladder.

    Args:
        name: Of the player that searches.
        simulations: A move, of the stronger one.
        wanted: What it would have had in a shorter game.
    """
    notes = []
    if simulations < wanted:
        notes.append(
            f"Matches of this game are long: searches were held to {simulations} simulations a "
            f"move instead of {wanted}, so that the play-test ends."
        )
    if name == "ismcts":
        notes.append(_NO_GUARANTEE)
    return notes


def _players(
    play: PlayTest,
    heuristics: Sequence[Heuristic],
    finished: Sequence[MatchRecord],
    rounds: int,
) -> tuple[list[str], list[str]]:
    """Specs from weak to strong, and remarks on how the searches were sized."""
    settings = play.context.settings
    specs, notes = ["random"], []
    if heuristics:
        together = SCORES if settings.protocol == "paper" else ENSEMBLE
        specs.append(f"greedy:heuristic={together}")
    else:
        notes.append("No heuristic could be used, so the ladder has no greedy player.")
    if not finished:
        notes.append("No random match finished, so no search was tried.")
        return specs, notes
    name = play.search_name()
    most = affordable_simulations(finished, rounds, _AFFORDABLE[settings.quick], _WEAKER)
    large = min(settings.large_budget, most)
    small = max(1, min(settings.small_budget, large // _WEAKER))
    notes += search_notes(name, large, settings.large_budget)
    specs += [f"{name}:simulations={small}", f"{name}:simulations={large}"]
    return specs, notes


def _shown(player: str, heuristics: Mapping[str, str]) -> str:
    """A player's name; of one that plays by heuristics, also which these are."""
    if not player.startswith("greedy"):
        return player
    return f"{player} [{sha256(''.join(sorted(heuristics.values())).encode()).hexdigest()[:8]}]"


def _jobs() -> int:
    """Matches at the same time: two a core, as a match waits for its worker or its worker for it.

    Few enough to leave the machine usable.
    """
    return max(1, min(_MOST_JOBS, 2 * (os.cpu_count() or 1)))
