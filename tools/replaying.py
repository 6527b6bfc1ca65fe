"""Replay of finished matches by fresh workers, and an audit of what their seats were told.

A check sees the matches that it plays itself. What a module does in matches that count is held
against what the same module, loaded anew, does when it is taken through them again: ply by ply as a
referee asks, then call by call; and what their seats were told must not depend on what is hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from games.checks.sampling import KeptPositions, PlayedMatch
from games.contract import Action, ModuleFault
from games.engine import Decision, Match, PlayerFault, Ply, play_match
from games.information import SeatLog
from games.table import Position
from games.text import plain_text
from games.trajectories import open_deck
from tools.checking import audit_matches
from tools.playtest.jobs import MatchEntry, MatchJob, entry_of
from tools.sandbox import Sandbox
from tools.transitions import replay_transitions

_AUDITED = 16  # pairs of matches, over all seats
_TOLD = frozenset(
    ("get_observations", "get_events", "get_current_player", "get_legal_actions")
    + ("get_chance_probabilities",)
)
_PART = ("player", "observation", "legal", "action", "rewards", "events")


class VoidResultError(Exception):
    """Matches whose module does not stand by them; they have no result."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the result is void: {plain_text(why)}. The module does not play the same in all "
            "matches, or tells what it hides; see: rulewright check"
        )
        self.why = why

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """How it goes from one process to another."""
        return type(self), (self.why,)


@dataclass
class _Script:
    """Every seat of a match that is played again: it does what was done."""

    actions: Sequence[Action]
    done: int = 0

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        del log, legal, generator
        if self.done >= len(self.actions):
            raise PlayerFault("the match had ended here")
        return Decision(self.actions[self.done])

    def heard(self, _: Ply) -> None:
        """Count a ply."""
        self.done += 1


def require_replays(sandbox: Sandbox, finished: Sequence[tuple[MatchJob, MatchEntry]]) -> None:
    """Take finished matches of one game through fresh workers, or its environment opened anew.

    Raises:
        VoidResultError: Naming the first difference, or what a seat was told of what is hidden.
    """
    if not finished:
        return
    played = [
        PlayedMatch(f"replay {number}", *replayed_match(sandbox, job, entry))
        for number, (job, entry) in enumerate(finished)
    ]
    game = finished[0][0].game
    if game.environment:
        return  # it was opened anew; of what it hides, nothing is known to hold it against
    try:
        decks = [open_deck(match.match) for match in played]
        found = replay_transitions(sandbox, game.source, decks, protocol="columns")
    except ModuleFault as fault:
        raise VoidResultError(f"asked again, the module failed: {fault}") from fault
    for difference in found.differences:
        raise VoidResultError(f"{difference.function}: {difference.evidence}")
    start = (game.num_players, game.parameters)
    for finding in audit_matches(sandbox, game.source, played, start=start, pairs=_AUDITED):
        if finding.outcome == "failed" and finding.function in _TOLD:
            raise VoidResultError(finding.evidence)


def replayed_match(
    sandbox: Sandbox, job: MatchJob, entry: MatchEntry
) -> tuple[Match, tuple[Position, ...]]:
    """A match played again as its entry says, with its positions.

    Raises:
        VoidResultError: If it does not come out the same.
    """
    script = _Script(entry.actions)
    with job.game.refereed(sandbox, job.deadline_s) as place:
        table = KeptPositions(place)
        match = play_match(
            table,
            [script] * len(job.seats),
            parameters=job.game.parameters,
            seed=job.key,
            match=job.match,
            deal=job.deal,
            max_plies=job.max_plies,
            on_ply=script.heard,
        )
    if why := _difference(entry, match):
        raise VoidResultError(f"match {job.match}, played again by a fresh worker, {why}")
    return match, tuple(table.matches[0])


def _difference(entry: MatchEntry, match: Match) -> str:
    """How a match that was played again differs; "" where it does not."""
    again = MatchEntry.model_validate(entry_of(match, record=entry.record is not None))
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
