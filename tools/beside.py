"""Matches of one lean batch, played once more as they were counted, but in other company.

A module may be the same to who asks once, and not to who asks twice; it may fail where it is asked
first. So a sample of finished matches is played in a batch that holds each of them twice, forwards
and then backwards, by a fresh worker and fresh players: both have to come out as they were counted.
Matches in which the module failed are played beside one that finished, and have to fail again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from numpy.random import Generator

from games.engine import Match, Player, PlayerFault, Ply
from games.information import SeatLog, seat_turns
from games.lockstep import SeatView
from games.streams import stream
from games.values import Json, ModuleFault
from tools.playtest.batches import BatchJob, is_in_lockstep, play_lean
from tools.playtest.jobs import MatchEntry, MatchJob, close_players
from tools.sandbox import Sandbox

_TOGETHER = 64  # positions in a message
_AskedPly: TypeAlias = tuple[MatchJob, int, Ply, SeatLog]  # its number, and what its seat knew
_SAME = ("ending", "actions", "returns", "used", "forced", "options")


def differs_beside(sandbox: Sandbox, claimed: Sequence[tuple[MatchJob, MatchEntry]]) -> str:
    """The first difference of matches that are played once more beside others; "" for none.

    The players are asked again too, by other lists of positions. Where there is no memory to play
    several at once, nothing can be said, and nothing is.

    Args:
        sandbox: Where they are played.
        claimed: Clean matches of players that play in lockstep, and how they came out.
    """
    for together in _series(claimed):
        both = [*together, *together[::-1]]
        entries = {job.match: entry for job, entry in together}
        unclean: set[int] = set()
        try:
            for match, anew in play_lean(_batch(sandbox, both), (), unclean):
                if part := _difference(entries[match], anew):
                    return f"match {match}, played again beside others, came out with other {part}"
        except (ModuleFault, PlayerFault) as fault:
            if isinstance(fault, PlayerFault) or fault.kind != "out_of_memory":
                return f"matches, played again beside each other, failed: {fault}"
        for match in sorted(unclean):
            return f"match {match}, played again beside others, failed"
    return ""


def mended_beside(
    sandbox: Sandbox,
    finished: Sequence[tuple[MatchJob, MatchEntry]],
    failed: Sequence[tuple[MatchJob, MatchEntry]],
) -> str:
    """The first of the matches in which the module failed that is clean beside a finished one.

    Whatever fails only where it is asked first may choose which matches count. Returns "" where
    all fail again, or where the batch fails as a whole.
    """
    others = {_of(one): one for one in finished}
    for together in _series(failed):
        if (other := others.get(_of(together[0]))) is None:
            continue
        try:
            for match, _ in play_lean(_batch(sandbox, [other, *together]), (), set()):
                if match != other[0].match:
                    return f"match {match} failed, and does not where it is played beside others"
        except (ModuleFault, PlayerFault):
            continue
    return ""


def chosen_otherwise(sandbox: Sandbox, jobs: Sequence[MatchJob], matches: Sequence[Match]) -> str:
    """The first choice that a player of many matches would not make again; "" for none.

    It is asked all that it was asked in these matches, as they were made again in full, from the
    last position to the first: so what a module tells in lean play alone makes a difference.
    """
    asked: dict[tuple[str, int], list[_AskedPly]] = {}
    for job, match in zip(jobs, matches, strict=True):
        turns = [iter(seat_turns(log.entries)) for log in match.logs]
        for number, ply in enumerate(match.plies):
            if ply.player >= 0 and job.roster.in_lockstep(job.seats[ply.player]):
                place = (job.seats[ply.player].name, ply.player)
                known = match.logs[ply.player].entries[: next(turns[ply.player]).end]
                log = SeatLog(ply.player, known)
                asked.setdefault(place, []).append((job, number, ply, log))
    for (name, seat), plies in asked.items():
        job = plies[0][0]
        player = job.roster.seat(
            job.seats[seat], seat=seat, match=job.match, game=job.game, sandbox=sandbox
        )
        try:
            if why := _chosen_otherwise(name, player, plies[::-1]):
                return why
        finally:
            close_players([player])
    return ""


def _chosen_otherwise(name: str, player: Player, plies: Sequence[_AskedPly]) -> str:
    if not is_in_lockstep(player) or player.reads == "nothing":
        return ""  # it draws on the host
    for start in range(0, len(plies), _TOGETHER):
        part = plies[start : start + _TOGETHER]
        try:
            chosen = player.choose_many([_view(*asked) for asked in part])
        except PlayerFault as fault:
            return f"{name}, asked again, failed: {fault}"
        for (job, number, ply, _), decision in zip(part, chosen, strict=True):
            if decision.action != ply.action:
                return (
                    f"{name} chose {ply.action!r:.80} at ply {number} of match {job.match}, and "
                    f"{decision.action!r:.80} where it was asked again"
                )
    return ""


def _view(job: MatchJob, number: int, ply: Ply, log: SeatLog) -> SeatView:
    def generator() -> Generator:
        return stream(job.key, "player", match=job.match, seat=ply.player, ply=number)

    return SeatView(log, tuple(sorted(ply.legal)), generator)


def _series(
    claimed: Sequence[tuple[MatchJob, MatchEntry]],
) -> list[list[tuple[MatchJob, MatchEntry]]]:
    """The matches by what keys their streams and who plays: those can be of one batch.

    Two of one number are of two series.
    """
    found: list[tuple[object, dict[int, tuple[MatchJob, MatchEntry]]]] = []
    for one in claimed:
        number, key = one[0].match, _of(one)
        alike = (own for other, own in found if other == key and number not in own)
        if (own := next(alike, None)) is None:
            found.append((key, own := {}))
        own[number] = one
    return [[*own.values()] for _, own in found]


def _of(one: tuple[MatchJob, MatchEntry]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    job = one[0]
    heuristics = tuple(sorted(job.game.heuristics.values()))
    return job.key, heuristics, tuple(sorted({player.name for player in job.seats}))


def _batch(sandbox: Sandbox, claimed: Sequence[tuple[MatchJob, MatchEntry]]) -> BatchJob:
    jobs = [job for job, _ in claimed]
    players = {player.name: player for job in jobs for player in job.seats}
    order = list(players)
    return BatchJob(
        replace(jobs[0], sandbox=sandbox, until=None),
        tuple(players.values()),
        tuple((j.match, j.deal, tuple(order.index(p.name) for p in j.seats)) for j in jobs),
        lockstep=True,
    )


def _difference(entry: MatchEntry, anew: Json) -> str:
    again = MatchEntry.model_validate(anew)
    return next((part for part in _SAME if getattr(entry, part) != getattr(again, part)), "")
