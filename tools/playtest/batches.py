"""Batches: matches of one line-up and rotation as one job, played in lockstep where players can.

No two matches of a batch are of one deal, and each entrant has fresh workers for each seat of a
batch. So a player that remembers its other matches gains nothing.
"""

import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self, TypeGuard

from games.engine import Player, PlayerFault
from games.lockstep import Columns, Entry, LockstepPlayer, MatchBatch, Move, Outcome
from games.values import Json, ModuleFault
from tools.guest.protocol import RoundRequest
from tools.playtest.efforts import effort_of, effort_together
from tools.playtest.jobs import (
    GameSetup,
    MatchJob,
    PlayerSpec,
    close_players,
    failed_entry,
    play_job,
)
from tools.sandbox import Worker

Played = list[tuple[int, Json]]

_WIDTH = 256  # matches at the same time
_NARROWEST = 16  # below it, matches are played alone
_CHARACTERS = 2**20  # of the actions of a match; with more its entry is measured, see `play_job`
_HANGS = 3  # that end the work on a batch: the module is at fault
_OTHERWISE = (
    "the match came to no end beside other matches, and to one alone: the module does not play the "
    "same in all matches; see: rulewright check"
)


@dataclass(frozen=True)
class BatchJob:
    """Matches of one line-up, each of another deal.

    Attributes:
        first: The job of the first.
        players: By entrant.
        matches: Index, deal, and entrants by seat of each.
        lockstep: Whether all players can play many matches at once.
    """

    first: MatchJob
    players: tuple[PlayerSpec, ...]
    matches: tuple[tuple[int, int, tuple[int, ...]], ...]
    lockstep: bool

    def alone(self, place: int) -> MatchJob:
        """The job of one of them."""
        match, deal, seated = self.matches[place]
        seats = tuple(self.players[entrant] for entrant in seated)
        return replace(self.first, match=match, deal=deal, seats=seats)


def play_batch(batch: BatchJob) -> Played:
    """Play the matches of a batch; those that were given up are left out.

    The entries are the same however the matches are put into batches.

    Raises:
        ValueError: If a player cannot play this game.
        SandboxUnavailableError: If this process cannot have workers.
    """
    first = batch.first
    found: dict[int, Json] = {}
    unclean: set[int] = set()
    if batch.lockstep:
        _together(batch, found, unclean)
    hangs = 0
    for place, (match, _, _) in enumerate(batch.matches):
        if match in found:
            continue
        if hangs >= _HANGS:
            told = f"did not answer in time in {hangs} matches; the others were not played"
            found[match] = failed_entry(ModuleFault("raised", "module", told))
            continue
        entry = play_job(batch.alone(place))
        if batch.lockstep and isinstance(entry, dict):
            hangs += entry["ending"] == "unfinished" and entry["plies"] != first.max_plies
            entry = {**entry, "told": ""}
            if match in unclean and entry["ending"] == "finished":
                entry = failed_entry(ModuleFault("raised", "module", _OTHERWISE))
        if entry is not None:
            found[match] = entry
    return [(match, found[match]) for match, _, _ in batch.matches if match in found]


def _together(batch: BatchJob, found: dict[int, Json], unclean: set[int]) -> None:
    """Play what can be played in lockstep; what is left over is to be played alone."""
    with suppress(PlayerFault, ModuleFault):
        for match, entry in play_lean(batch, found, unclean):
            found[match] = entry


def play_lean(
    batch: BatchJob, found: Container[int], unclean: set[int]
) -> Iterator[tuple[int, Json]]:
    """Play the matches of a batch in lockstep, in narrower batches where memory does not do.

    Args:
        batch: The matches; those in `found` or `unclean` when a narrower batch begins are left out.
        found: Matches that need not be played; the caller adds what it is given.
        unclean: Takes those in which something failed.

    Yields:
        Indices and entries of clean matches as they end.

    Raises:
        ModuleFault: If the module failed as a whole.
        PlayerFault: If a player did.
    """
    width = _WIDTH
    while True:
        matches = [one for one in batch.matches if one[0] not in found and one[0] not in unclean]
        try:
            yield from _lean(replace(batch, matches=tuple(matches)), width, unclean)
        except ModuleFault as fault:
            if fault.kind not in ("out_of_memory", "bad_value") or width < 2 * _NARROWEST:
                raise
            width //= 2  # less memory, shorter messages
        else:
            return


def _lean(batch: BatchJob, width: int, unclean: set[int]) -> Iterator[tuple[int, Json]]:
    first, told = batch.first, dict[tuple[int, int], Json]()
    seats_of = {match: sitting for match, _, sitting in batch.matches}
    with (
        _Seats(batch) as players,
        first.held_sandbox.loaded("referee", first.game.source) as worker,
    ):
        entries = [
            Entry(match, deal, tuple(players.at(who, seat) for seat, who in enumerate(sitting)))
            for match, deal, sitting in batch.matches
        ]
        matches = MatchBatch(
            WorkerRounds(worker, first.game, first.deadline_s),
            first.game.num_players,
            first.key,
            first.max_plies,
            width,
            _late(first.until),
        )
        try:
            for outcome in matches.play(entries):
                if sum(map(len, outcome.actions)) <= _CHARACTERS:
                    who = seats_of[outcome.match]
                    yield outcome.match, _entry(outcome, who, players.made, told)
        finally:
            unclean.update(matches.unclean)


class _Seats:
    """The players of a batch: one for each entrant and seat, with workers of its own."""

    def __init__(self, batch: BatchJob) -> None:
        self._batch = batch
        self.made: dict[tuple[int, int], LockstepPlayer] = {}
        self._players: list[Player] = []

    def at(self, entrant: int, seat: int) -> LockstepPlayer:
        """The player of an entrant at a seat.

        Raises:
            TypeError: If it plays one match at a time.
        """
        if (entrant, seat) not in self.made:
            first, spec = self._batch.first, self._batch.players[entrant]
            player = first.roster.seat(
                spec, seat=seat, match=first.match, game=first.game, sandbox=first.held_sandbox
            )
            self._players.append(player)
            if not is_in_lockstep(player):
                raise TypeError(f"{spec.name} plays one match at a time")
            self.made[entrant, seat] = player
        return self.made[entrant, seat]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        close_players(self._players)


def is_in_lockstep(player: Player) -> TypeGuard[LockstepPlayer]:
    """True for a player of many matches at once."""
    return hasattr(player, "reads")


def _late(until: float | None) -> Callable[[], bool]:
    return lambda: until is not None and time.monotonic() >= until


def _entry(
    outcome: Outcome,
    seated: Sequence[int],
    players: dict[tuple[int, int], LockstepPlayer],
    told: dict[tuple[int, int], Json],
) -> Json:
    """The entry of a clean match, as `tools.playtest.jobs.entry_of` makes it."""
    used: list[Json] = []
    acted = max((seat + 1 for seat, count in enumerate(outcome.decisions) if count), default=0)
    for seat, entrant in enumerate(seated[:acted]):
        key = (entrant, outcome.decisions[seat])
        effort = players[entrant, seat].effort
        if effort is None:
            summed = effort_together(map(effort_of, outcome.efforts[seat]))
            used.append(summed.model_dump(mode="json"))
            continue
        if key not in told:
            told[key] = effort_of(effort, key[1]).model_dump(mode="json")
        used.append(told[key])
    plies, returns = len(outcome.actions), outcome.returns
    return {
        "ending": "unfinished" if returns is None else "finished",
        "returns": None if returns is None else [*returns],
        "plies": plies,
        "actions": [*outcome.actions],
        "culprit": None,
        "reason": f"no end after {plies} plies" if returns is None else "",
        "fault_line": None,
        "used": used,
        "told": "",
        "forced": outcome.forced,
        "options": outcome.options,
    }


@dataclass(frozen=True)
class WorkerRounds:
    """`games.lockstep.Rounds` of a worker.

    Attributes:
        worker: Has loaded the module.
        game: Its number of players and parameters.
        seconds: A message may take; None for the sandbox's `call_s`.
    """

    worker: Worker
    game: GameSetup
    seconds: float | None = None

    def advance(
        self, moves: Sequence[Move], sighted: Sequence[int], followed: Sequence[int]
    ) -> Columns:
        """See `Rounds.advance`."""
        request = RoundRequest(
            self.game.num_players,
            {**self.game.parameters},
            [*sighted],
            [*followed],
            [slot for slot, _ in moves],
            [action for _, action in moves],
        )
        seconds = self.seconds or self.worker.limits.call_s
        return Columns.of(self.worker.request("round", request._asdict(), seconds), len(moves))
