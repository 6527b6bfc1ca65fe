"""Series: one line-up as jobs of the runner, with whole records; seats rotate, deals are paired."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue

from games.checks import Finding, Outcome
from games.engine import Ending
from games.records import MatchRecord
from tools.playtest.intervals import Estimate, NoSamplesError
from tools.playtest.jobs import GameSetup, MatchEntry, Roster, SandboxRecipe, record_row
from tools.playtest.journal import Left
from tools.playtest.plan import MatchPlan
from tools.playtest.results import ResultTables, by_ending
from tools.playtest.runner import Workers
from tools.playtest.schedule import Sides, TournamentSettings, one_line_up
from tools.playtest.tournament import played, replay_sample
from tools.replaying import Replayed, VoidResultError, made_again
from tools.sandbox import Sandbox

_PLAY = "play"
_FEW = 20  # matches: nothing that happens in one of seven or more is likely missed in so many


@dataclass(frozen=True)
class EntrantFigures:
    """The estimates of one entrant; of what is None, `not_estimated` says why."""

    win_share: Estimate | None = None
    mean_return: Estimate | None = None
    wins: float | None = None
    not_estimated: str = ""


@dataclass(frozen=True)
class Series:
    """A played series.

    Attributes:
        plan: What was played.
        entries: One a match, in match order. Match m is deal `m // rotations`, in which entrant e
            sat in seat `(e + m % rotations) % seats`; with partners, sides rotate and not seats.
        replayed: Finished matches that fresh workers played again, with no difference; none in a
            play-test, which takes a sample of all its series.
        unasked: See `ResultTables`.
        unheld: The same.
    """

    plan: MatchPlan
    entries: Mapping[int, MatchEntry]
    replayed: Replayed
    unasked: int = 0
    unheld: int = 0

    @property
    def line_up(self) -> tuple[str, ...]:
        """Names by entrant; entrants of one name are the same."""
        return tuple(player.name for player in self.plan.players)

    @property
    def rotations(self) -> int:
        """Seatings each deal was played in: the number of sides, or 1 in self-play."""
        return self.plan.schedule.rotations

    @property
    def endings(self) -> dict[Ending, int]:
        """Counts of matches by ending; unfinished, forfeit and fault apart."""
        return by_ending(self.entries.values())

    @cached_property
    def records(self) -> tuple[MatchRecord, ...]:
        """One a match, in match order; closed deck."""
        game, settings = self.plan.game, self.plan.settings
        return tuple(
            MatchRecord(
                game=game.name,
                parameters=dict(game.parameters),
                players=tuple(self.line_up[who] for who in self.seated(index)),
                seed=settings.seed,
                match_index=index,
                match=entry.match(),
            )
            for index, entry in self.entries.items()
        )

    @cached_property
    def tables(self) -> ResultTables:
        """The tables of the matches."""
        plan = self.plan
        return ResultTables(
            *(plan.schedule, plan.settings, plan.players, self.entries, {}),
            unasked=self.unasked,
            unheld=self.unheld,
        )

    def figures(self, entrant: int) -> EntrantFigures:
        """Wins, win share and mean return of an entrant, or why they are not estimated."""
        tables = self.tables
        if not tables.scored:
            alone = self.rotations == 1 or not tables.left_out
            missing = "no match" if alone else "no deal"
            every = "" if alone else " with every player in every seat"
            return EntrantFigures(not_estimated=f"{missing} finished{every}")
        if tables.no_result:
            return EntrantFigures(not_estimated=tables.no_result)
        share = mean = wins = None
        lacking: list[str] = []
        try:
            share, wins = tables.win_rate(entrant), tables.wins(entrant)
        except NoSamplesError as error:
            lacking.append(f"wins ({error})")
        try:
            mean = tables.mean_return(entrant)
        except NoSamplesError as error:
            lacking.append(f"mean return ({error})")
        return EntrantFigures(share, mean, wins, "; ".join(lacking))

    def seated(self, match: int) -> tuple[int, ...]:
        """The entrants of a match by seat."""
        return self.plan.schedule.seated(match, self.plan.settings.seed)


@dataclass(frozen=True)
class SeriesSettings:
    """The settings of a series, apart from its players and its game.

    Attributes:
        matches: Matches to play; a multiple of the seats, unless all players are the same.
        seed: The run's seed.
        max_plies: Plies after which a match is left unfinished.
        sides: Who are partners, and change seats together; none for everybody alone.
        until: `time.monotonic()` from which on nothing is played, and the deals count that are
            whole by then; how many depends on the clock. None for no such time.
        replay: Whether fresh workers replay a sample; else see `replayed_sample`.
        record: Whether entries keep the matches' plies; without, a long series takes little room.
        left: The caller's memory of journals: players are not asked again for what one holds that
            the caller left so.
    """

    matches: int
    seed: int
    max_plies: int = 2000
    sides: Sides = ()
    until: float | None = None
    replay: bool = True
    record: bool = True
    left: Left | None = None


def play_series(
    game: GameSetup,
    specs: Sequence[str],
    roster: Roster,
    settings: SeriesSettings,
    *,
    sandbox: SandboxRecipe | Sandbox,
    journal: Path | None = None,
    workers: Workers | None = None,
    on_match: Callable[[int, MatchEntry], None] = lambda *_: None,
) -> Series:
    """Play a series, or what is missing of it.

    The result, and the journal of a finished series, depend on the game and the players alone:
    neither on the workers nor on how often the series was interrupted and resumed.

    Args:
        game: What is played, with the parameters to play it with.
        specs: One a seat, for the roster; seats rotate within a deal unless all are the same.
        roster: Reads the specs and makes the players.
        settings: How much is played.
        sandbox: This process's, where everything is played in it, or how a process makes its own.
        journal: File of finished matches, from which a series that was cut short goes on.
        workers: Where the matches are played; one at a time in this process by default.
        on_match: Told of every match, in order of arrival: first those the journal held.

    Raises:
        JournalError: If the journal cannot be used.
        ValueError: If the matches do not fill whole rotations; from the roster, if a player is
            unknown or cannot play this game.
        SandboxUnavailableError: If there is no sandbox.
        RunStoppedError: If a process of the executor ended.
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    players = tuple(roster.effective(spec) for spec in specs)
    schedule = one_line_up([player.name for player in players], settings.sides)
    deals, rest = divmod(settings.matches, schedule.rotations)
    if rest:
        raise ValueError(
            f"{settings.matches} matches do not give every entrant every seat equally often; "
            f"required: a multiple of {schedule.rotations}, "
            f"such as {(deals + 1) * schedule.rotations}"
        )
    played_as = TournamentSettings(deals=deals, seed=settings.seed, max_plies=settings.max_plies)
    plan = MatchPlan(
        *(game, players, played_as, roster, schedule, sandbox),
        record=settings.record,
        until=settings.until,
    )
    fold = played(
        plan,
        journal=journal,
        workers=workers or Workers(),
        on_match=on_match,
        replay=settings.replay,
        left=settings.left,
    )
    return Series(plan, fold.counted(), fold.replayed, fold.unasked, fold.unheld)


def with_records(series: Series, first: int, sandbox: Sandbox) -> Series:
    """The first matches of a series that came to an end, made again with all that seats were told.

    Args:
        series: What was played.
        first: How many of its matches are tried.
        sandbox: Where they are made again.

    Raises:
        VoidResultError: If one does not come out the same.
    """
    tried = [(i, series.entries[i]) for i in list(series.entries)[:first]]
    most = series.plan.settings.max_plies
    ended = [(i, e) for i, e in tried if e.ending == "finished" or e.plies == most]
    jobs = [(series.plan.job(i), entry) for i, entry in ended]
    matches = made_again(sandbox, jobs) if jobs else []
    entries = {
        index: entry.model_copy(update={"record": record_row(made.match)})
        for (index, entry), made in zip(ended, matches, strict=True)
    }
    return replace(series, entries=entries)


def replayed_sample(series: Sequence[Series], most: int) -> Replayed:
    """Take a sample of the matches of several series of one game through fresh workers.

    Args:
        series: What was played.
        most: Matches of the sample.

    Raises:
        VoidResultError: If they do not play them the same.
    """
    return replay_sample([(one.plan, one.entries) for one in series], most)


def series_summary(series: Series) -> dict[str, JsonValue]:
    """A summary as JSON: endings, wins and returns by entrant, with intervals where they can be.

    Wins rest on deals whose matches all finished or were forfeited, so that every entrant had every
    seat of them; `left_out` are such matches of the others. Who forfeits has lost. Returns rest on
    deals whose matches all finished. They are estimated as in a tournament, and not at all where
    `no_result` says why. `used` is what an
    entrant's decisions really used, as they reported it.
    """
    plan, tables = series.plan, series.tables
    return {
        "game": plan.game.name,
        "source_id": plan.source_id,
        "heuristics": {**plan.heuristics},
        "parameters": dict(plan.game.parameters),
        **({"environment": dict(plan.game.opened().versions)} if plan.game.environment else {}),
        "seed": plan.settings.seed,
        "max_plies": plan.settings.max_plies,
        "players": [*series.line_up],
        "played": len(series.entries),
        "replayed": series.replayed.matches,
        "not_audited": series.replayed.not_audited,
        "one_by_one": plan.one_by_one,
        "endings": {str(ending): count for ending, count in series.endings.items()},
        "finished": series.endings["finished"],
        "rotations": series.rotations,
        "scored": len(tables.scored),
        "left_out": tables.left_out,
        "reasons": {**tables.reasons()},
        "no_result": tables.no_result,
        "cautions": {**tables.cautions},
        "simulations": {player: {**seats} for player, seats in tables.simulations.items()},
        "entrants": [_entrant(series, who) for who in range(len(series.line_up))],
        "matches": [_match(series, index, entry) for index, entry in series.entries.items()],
    }


def _entrant(series: Series, entrant: int) -> dict[str, JsonValue]:
    estimates = {
        name: value.model_dump() if isinstance(value, Estimate) else value
        for name, value in vars(series.figures(entrant)).items()
        if value not in (None, "")
    }
    return {
        "player": series.line_up[entrant],
        "entrant": entrant,
        "forfeits": series.tables.forfeits(entrant),
        **estimates,
        "used": series.tables.used(entrant).model_dump(mode="json"),
    }


def _match(series: Series, index: int, entry: MatchEntry) -> dict[str, JsonValue]:
    seated = series.seated(index)
    culprit = entry.culprit
    return {
        "match": index,
        "deal": series.plan.schedule.place(index).deal,
        "players": [series.line_up[who] for who in seated],
        "ending": entry.ending,
        "culprit": None if culprit is None else {"seat": culprit, "entrant": seated[culprit]},
        "reason": entry.reason,
        "returns": None if entry.returns is None else [*entry.returns],
        "plies": entry.plies,
        "actions": [*entry.actions],
    }


def play_finding(
    sandbox: Sandbox, game: GameSetup, roster: Roster, settings: SeriesSettings
) -> Finding:
    """Judge a module on random matches: played as `match` plays them, and made again in full.

    Args:
        sandbox: Where it is played.
        game: The module, with the number of players.
        roster: Knows "random".
        settings: How much is played; where `until` leaves few matches whole, nothing can be told.
    """
    try:
        series = play_series(
            game, ("random",) * game.num_players, roster, settings, sandbox=sandbox
        )
    except VoidResultError as error:
        return Finding(check=_PLAY, outcome="failed", rule="contract", evidence=error.why)
    if faults := [entry.reason for entry in series.entries.values() if entry.ending == "fault"]:
        told = f"{len(faults)} of {len(series.entries)} random matches failed: {faults[0]}"
        return Finding(check=_PLAY, outcome="failed", rule="contract", evidence=told)
    played = len(series.entries)
    outcome: Outcome = "passed" if series.replayed.matches else "could_not_judge"
    told = f"{series.replayed.matches} of {played} random matches were made again"
    late = settings.until is not None and time.monotonic() >= settings.until
    if late and played < min(_FEW, settings.matches):
        outcome = "could_not_judge"
        told = f"time was left for {played} of {settings.matches} matches: allow more seconds"
    return Finding(check=_PLAY, outcome=outcome, evidence=told)
