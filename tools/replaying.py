"""Replay of finished matches by fresh workers, and an audit of what their seats were told.

A check sees the matches that it plays itself. What a module does in matches that count is held
against what the same module, loaded anew, does when it is taken through them again: ply by ply as a
referee asks, then call by call; and what their seats were told must not depend on what is hidden.

Their workers are forks of another process than those that played: a module cannot tell by its
addresses which match it is in. Where the audit finds anything, the matches are no result.

Of matches that a journal holds and this process did not play, players are asked again too: the
same player, asked the same by a fresh worker, has to do the same, or to fail in the same place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator

from games.checks.sampling import KeptPositions, PlayedMatch
from games.engine import (
    Asked,
    Decision,
    Match,
    Player,
    PlayerFault,
    Ply,
    play_at,
    play_side_by_side,
)
from games.information import SeatLog
from games.table import Position
from games.text import plain_text
from games.trajectories import open_deck
from games.values import CHANCE, Action, Json, ModuleFault
from tools.beside import chosen_otherwise, differs_beside, mended_beside
from tools.checking import audit_matches
from tools.playtest.jobs import (
    GameSetup,
    MatchEntry,
    MatchJob,
    PlayerSpec,
    Roster,
    entry_of,
    play_job,
)
from tools.playtest.ratings import ONE_IN
from tools.playtest.runner import Workers, play_all
from tools.sandbox import Sandbox, SandboxTable
from tools.transitions import replay_transitions

_AUDITED = 16  # pairs of matches, over all seats
_ALONE = 8  # matches at least, of those played in lockstep, that are made again alone too
_ONE_IN = 8  # of the finished matches that are taken through fresh workers
_TOGETHER = 16  # matches, or positions, in a message
_TRIED = 8  # matches that a journal claims, at most, of those that finished and of the others each
_PART = ("player", "observation", "legal", "action", "rewards", "events")


_BLAMED = (
    "The module does not play the same in all matches, or tells what it hides; see: rulewright "
    "check"
)


_ASKED_AGAIN = (
    "The module or a player does not answer the same when it is asked again; see: rulewright check"
)


class VoidResultError(Exception):
    """Matches whose module, or whose journal, does not stand by them; they have no result."""

    def __init__(self, why: str, then: str = _BLAMED) -> None:
        super().__init__(f"the result is void: {plain_text(why)}. {then}")
        self.why, self.then = why, then

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        """The parts from which another process builds it again."""
        return type(self), (self.why, self.then)


class Replayed(NamedTuple):
    """The matches that fresh workers played again, with no difference.

    Attributes:
        matches: How many they were.
        not_audited: Why it is not known if seats were told what is hidden; empty where it is.
    """

    matches: int = 0
    not_audited: str = ""


@dataclass
class _Script:
    """Every seat of a match that is played again: it does what was done."""

    actions: Sequence[Action]
    done: int = 0

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        del log, legal, generator
        if self.done >= len(self.actions):
            raise PlayerFault("the match had ended here")
        return Decision(self.actions[self.done])

    def heard(self, _: Ply) -> None:
        """Count a ply."""
        self.done += 1


def require_replays(
    played: Sequence[tuple[Callable[[], MatchJob], MatchEntry]], most: int
) -> Replayed:
    """Take a sample of the finished matches of one game, `most` of them, through fresh workers.

    Of an environment it is opened anew. The job of a match is made where it is needed.

    Raises:
        VoidResultError: Naming the first difference, or what the audit found.
    """
    finished = [one for one in played if one[1].ending == "finished"]
    if not finished:
        return Replayed()
    order = np.random.default_rng().permutation(len(finished))  # that nobody can know before
    sample = [(job(), entry) for i in sorted(order[:most]) for job, entry in [finished[i]]]
    # One without a ply was not played, or did not begin: there is nothing to fail again.
    faults = [(job(), one) for job, one in played if one.ending == "fault" and one.plies][:most]
    void = sum(entry.ending in ("unfinished", "fault") for _, entry in played)
    is_result = void * ONE_IN <= len(played)
    apart = sample[0][0].held_sandbox.apart
    reasons = dict[str, None]()
    for seats in sorted({len(job.seats) for job, _ in sample}):
        own, failed = ([one for one in of if len(one[0].seats) == seats] for of in (sample, faults))
        reasons[_not_audited(apart, own, failed, audits=is_result)] = None
    return Replayed(len(sample), "; ".join(filter(None, reasons)))


def _not_audited(
    sandbox: Sandbox,
    finished: Sequence[tuple[MatchJob, MatchEntry]],
    failed: Sequence[tuple[MatchJob, MatchEntry]],
    *,
    audits: bool,
) -> str:
    """Why replayed matches were not audited; empty where the audit passed.

    Args:
        sandbox: Where they are replayed.
        finished: Matches that finished.
        failed: Matches in which the module failed.
        audits: Whether they are audited; a module that fails in play gives no result anyway.

    Raises:
        VoidResultError: See `require_replays`.
    """
    game = finished[0][0].game
    played = made_again(sandbox, finished)
    if game.environment:
        return "an environment declares nothing of what it hides"
    if not any(match.plies for match in played):
        return "the matches were over before anything was done"
    together = [one for one in finished if one[0].in_lockstep]
    for job, entry in together[:: max(1, len(together) // _ALONE)]:
        replayed_match(sandbox, job, entry)  # in no company, as a person plays it
    alone = [match for (job, _), match in zip(finished, played, strict=True) if not job.in_lockstep]
    why = differs_beside(sandbox, together)
    why = why or chosen_otherwise(
        sandbox, [job for job, _ in finished], [one.match for one in played]
    )
    if why := why or mended_beside(sandbox, together, [o for o in failed if o[0].in_lockstep]):
        raise VoidResultError(why, _ASKED_AGAIN)
    if alone:
        _require_same_answers(sandbox, game.source, alone)
    if not audits:
        return "too many matches failed or did not end"
    start, seed = (game.num_players, game.parameters), finished[0][0].key
    audit = audit_matches(sandbox, game.source, played, start=start, pairs=_AUDITED, seed=seed)
    for finding in audit:
        if finding.outcome == "failed":
            raise VoidResultError(f"the audit of what seats were told failed: {finding.evidence}")
    return "; ".join(one.evidence for one in audit if one.outcome == "could_not_judge")


def _require_same_answers(sandbox: Sandbox, source: str, played: Sequence[PlayedMatch]) -> None:
    """Ask the module again call by call, as players that search in it do.

    Raises:
        VoidResultError: If it answers otherwise.
    """
    try:
        decks = [open_deck(match.match) for match in played]
        found = replay_transitions(sandbox, source, decks, protocol="columns")
    except ModuleFault as fault:
        raise VoidResultError(f"asked again, the module failed: {fault}") from fault
    for difference in found.differences:
        raise VoidResultError(f"{difference.function}: {difference.evidence}")


def made_again(
    sandbox: Sandbox, finished: Sequence[tuple[MatchJob, MatchEntry]]
) -> list[PlayedMatch]:
    """The matches, made again in full by one fresh worker, or each by its own where that fails.

    Raises:
        VoidResultError: If one does not come out the same.
    """
    job, game = finished[0][0], finished[0][0].game
    found: list[PlayedMatch] = []
    width = 0 if game.environment else _TOGETHER
    while width > 1 and len(found) < len(finished):
        with suppress(ModuleFault), sandbox.loaded("referee", game.source) as worker:
            while part := finished[len(found) : len(found) + width]:
                table = SandboxTable(worker, deadline_s=job.deadline_s)
                found += _made_together(table, part, len(found))
        width //= 4  # fewer take less memory
    for number, (one, entry) in enumerate(finished[len(found) :], len(found)):
        found.append(PlayedMatch(f"replay {number}", *replayed_match(sandbox, one, entry)))
    return found


def _made_together(
    table: SandboxTable, finished: Sequence[tuple[MatchJob, MatchEntry]], first: int
) -> list[PlayedMatch]:
    game = finished[0][0].game
    kept: list[list[Position]] = [[] for _ in finished]
    scripts = [_Script(entry.actions) for _, entry in finished]

    def advance(asked: Sequence[Asked]) -> list[Position | ModuleFault]:
        found = table.many(asked, game.num_players, game.parameters)
        for (place, _, _), position in zip(asked, found, strict=True):
            if isinstance(position, Position):
                kept[place].append(position)
        return found

    setups = [
        job.setup([script] * game.num_players, script.heard)
        for (job, _), script in zip(finished, scripts, strict=True)
    ]
    matches = play_side_by_side(setups, advance)
    for (job, entry), match in zip(finished, matches, strict=True):
        if why := _difference(entry, match):
            raise VoidResultError(f"match {job.match}, made again by a fresh worker, {why}")
    return [
        PlayedMatch(f"replay {number}", match, tuple(positions))
        for number, (match, positions) in enumerate(zip(matches, kept, strict=True), first)
    ]


def not_standing(
    job: Callable[[int], MatchJob],
    claimed: Mapping[int, MatchEntry],
    workers: Workers,
    journal: Path,
) -> dict[int, Json]:
    """Have a sample of what a journal claims played again, players and all.

    Args:
        job: The job of a match.
        claimed: By match.
        workers: Play them.
        journal: That claims it.

    Returns:
        What came out of matches that had not finished, and come out otherwise now. Where there is
        one, all that had not finished were tried.

    Raises:
        VoidResultError: If a finished match comes out otherwise.
    """
    found: dict[int, Json] = {}
    sample = _claims_to_try(claimed)
    others = [i for i in claimed if claimed[i].ending != "finished" and i not in sample]
    for indices in (sample, others):
        jobs = {i: _again(job(i), claimed[i]) for i in indices}
        for index, entry in play_all(jobs.items(), play_job, journal=None, workers=workers):
            anew = entry
            if claimed[index].ending == "finished" != MatchEntry.model_validate(entry).ending:
                anew = play_job(jobs[index])  # the computer may have stalled
            if not _stands(index, job(index), claimed[index], anew, journal):
                found[index] = anew
        if not found:
            break
    return found


def _claims_to_try(claimed: Mapping[int, MatchEntry]) -> list[int]:
    """Numbers of the claimed matches that are played again.

    Nobody can know before which they are, not even who knows the seed; where the journal is honest
    the result is the same whichever they are.
    """
    generator = np.random.default_rng()  # no stream of the run's: see above
    chosen: list[int] = []
    for finished, one_in in ((False, 1), (True, _ONE_IN)):
        kind = [i for i in claimed if (claimed[i].ending == "finished") == finished]
        share = min(_TRIED, -(-len(kind) // one_in))
        chosen += [kind[i] for i in generator.permutation(len(kind))[:share]]
    return sorted(chosen)


def _again(job: MatchJob, entry: MatchEntry) -> MatchJob:
    """The job of a match whose players are asked again.

    One whose budget is time may choose otherwise: it is asked, and does what the entry says; at
    the last ply it has to fail, or not, as it says.
    """
    job = replace(job, until=None)
    if not any(map(_by_time, job.seats)):
        return job
    done: list[list[Action]] = [[] for _ in job.seats]
    for ply in _scripted(job.held_sandbox, job, entry)[0].plies:
        if ply.player != CHANCE:
            done[ply.player].append(ply.action)
    return replace(job, roster=_Following(job.roster, done))


def _stands(index: int, job: MatchJob, entry: MatchEntry, found: Json, journal: Path) -> bool:
    """Hold what a journal says of a match against the entry of the same match, played again.

    What a player with a budget of time used is not the same twice. A match that did not finish may
    do so now, where the computer had stalled: it does not stand, and what came out now counts.

    Raises:
        VoidResultError: If a finished match comes out otherwise.
    """
    anew = MatchEntry.model_validate(found)
    parts: tuple[str, ...] = ("ending", "culprit", "actions", "returns")
    if entry.ending == anew.ending == "finished":  # else a reason may tell of the time it took
        parts += ("reason", "plies", "fault_line", "record")
        parts += () if job.in_lockstep and not entry.told else ("told",)
        parts += () if any(map(_by_time, job.seats)) else ("used", "lessons")
    for part in parts:
        one, other = getattr(entry, part), getattr(anew, part)
        if one != other and entry.ending != "finished":
            return False
        if one != other:
            raise VoidResultError(
                f"match {index} has {part} {one!s:.200} in the journal, and {other!s:.200} where "
                "its players were asked again by fresh workers",
                f"Delete its line from {journal}, and it is played again",
            )
    return True


def _by_time(player: PlayerSpec) -> bool:
    return player.settings.get("budget") == "time"


@dataclass(frozen=True)
class _Following:
    """A roster whose players with a budget of time do what is done, by seat, while that lasts."""

    roster: Roster
    done: Sequence[Sequence[Action]]

    @property
    def preload(self) -> tuple[str, ...]:
        """See `Roster.preload`."""
        return self.roster.preload

    def effective(self, spec: str) -> PlayerSpec:
        """See `Roster.effective`."""
        return self.roster.effective(spec)

    def in_lockstep(self, player: PlayerSpec) -> bool:
        """See `Roster.in_lockstep`."""
        return self.roster.in_lockstep(player)

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        """See `Roster.seat`."""
        made = self.roster.seat(player, seat=seat, match=match, game=game, sandbox=sandbox)
        return _Follower(made, iter(self.done[seat])) if _by_time(player) else made


@dataclass(frozen=True)
class _Follower:
    """A player that is asked, and does what was done while that lasts."""

    player: Player
    done: Iterator[Action]

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        decision = self.player.choose(log, legal, generator)
        return replace(decision, action=next(self.done, decision.action))

    def __getattr__(self, name: str) -> object:
        """Any other attribute of the player, such as its worker."""
        return getattr(self.player, name)


def replayed_match(
    sandbox: Sandbox, job: MatchJob, entry: MatchEntry
) -> tuple[Match, tuple[Position, ...]]:
    """A match played again as its entry says, with its positions.

    Raises:
        VoidResultError: If it does not come out the same.
    """
    match, positions = _scripted(sandbox, job, entry)
    if match.ending == "unfinished" != entry.ending:  # the computer may have stalled
        match, positions = _scripted(sandbox, job, entry)
    if why := _difference(entry, match):
        raise VoidResultError(f"match {job.match}, played again by a fresh worker, {why}")
    return match, positions


def _scripted(
    sandbox: Sandbox, job: MatchJob, entry: MatchEntry
) -> tuple[Match, tuple[Position, ...]]:
    script = _Script(entry.actions)
    with job.game.refereed(sandbox, job.deadline_s) as place:
        table = KeptPositions(place)
        setup = job.setup([script] * len(job.seats), script.heard)
        match = play_at(table, setup, job.game.parameters)
    return match, tuple(table.matches[0])


def _difference(entry: MatchEntry, match: Match) -> str:
    """The difference of a match that was played again, in words; "" where there is none."""
    made = entry_of(match, record=entry.record is not None, told=bool(entry.told))
    again = MatchEntry.model_validate(made)
    if again.ending == "fault" != entry.ending:
        return f"fails: {again.reason:.300}"
    plies = zip(entry.match().plies, again.match().plies, strict=False)
    for number, (one, other) in enumerate(plies):
        for part in _PART:
            if getattr(one, part) != getattr(other, part):
                return f"has another {part} at ply {number}"
    for part in ("actions", "ending", "returns"):
        if getattr(entry, part) != getattr(again, part):
            return f"has {part} {getattr(again, part)!s:.200}, not {getattr(entry, part)!s:.200}"
    if entry.told not in ("", again.told):
        return "tells a seat another thing, or asks or pays one otherwise, at some ply"
    return ""
