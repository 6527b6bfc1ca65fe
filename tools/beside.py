"""Matches of one lean batch, played once more as they were counted, but in other company.

A module may be the same to who asks once, and not to who asks twice; it may fail where it is asked
first. So a sample of finished matches is played in a batch that holds each of them twice, forwards
and then backwards, by a fresh worker and fresh players: both have to come out as they were counted.
Matches in which the module failed are played beside one that finished, and have to fail again.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from games.engine import PlayerFault
from games.values import Json, ModuleFault
from tools.playtest.batches import BatchJob, play_lean
from tools.playtest.jobs import MatchEntry, MatchJob
from tools.sandbox import Sandbox

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


def _series(
    claimed: Sequence[tuple[MatchJob, MatchEntry]],
) -> list[list[tuple[MatchJob, MatchEntry]]]:
    """The matches by what keys their streams and who plays: those can be of one batch."""
    return [list(group) for _, group in groupby(sorted(claimed, key=_of), _of)]


def _of(one: tuple[MatchJob, MatchEntry]) -> tuple[int, tuple[str, ...]]:
    return one[0].key, tuple(sorted({player.name for player in one[0].seats}))


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
