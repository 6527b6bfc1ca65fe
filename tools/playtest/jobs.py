"""One match as a job: everything it takes, picklable, for whatever process plays it."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from games.contract import Action, Json, ModuleFault
from games.engine import Match, Player, play_match
from games.table import Position, Table
from tools.playtest.outcomes import outcome_entry
from tools.sandbox import Limits, Sandbox, SandboxTable
from tools.sandbox.choosing import backend_named


class Effective(BaseModel):
    """A player as it really plays.

    Attributes:
        player: Which kind of player.
        settings: Every setting it has, defaults filled in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    player: str = Field(min_length=1)
    settings: dict[str, JsonValue]

    @property
    def name(self) -> str:
        """The kind and all settings in one line; equal names are equal players."""
        pairs = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.player}:{pairs}" if pairs else self.player


@dataclass(frozen=True)
class GameSetup:
    """The game of a tournament.

    Attributes:
        name: Its name, for people.
        source: The module.
        num_players: Seats, 2 to 8.
        parameters: Those given; where a tournament runs, all of them, defaults filled in.
        heuristics: Sources of its heuristics by name.
    """

    name: str
    source: str
    num_players: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    heuristics: Mapping[str, str] = field(default_factory=dict)


class Roster(Protocol):
    """Who can be entered. It goes to other processes with every job: picklable, and small."""

    @property
    def preload(self) -> tuple[str, ...]:
        """What the sandbox of its players must preload."""
        ...

    def effective(self, spec: str) -> Effective:
        """Read a spec.

        Raises:
            ValueError: Listing what is known, if the player, a setting or a value is not.
        """
        ...

    def seat(
        self, player: Effective, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        """Make a player; where it has a `close`, that is called after the match.

        Raises:
            ValueError: If it cannot play this game.
            ModuleFault: If the module or a heuristic does not load.
        """
        ...


@dataclass(frozen=True)
class SandboxRecipe:
    """How a process makes its own sandbox.

    Attributes:
        backend: Its name; None for the platform's own.
        accept_no_isolation: Must be said to get "process".
        limits: The bounds of every worker.
        preload: What searching players need; the tournament takes it from the roster.
    """

    backend: str | None = None
    accept_no_isolation: bool = False
    limits: Limits = field(default_factory=Limits)
    preload: tuple[str, ...] = ()

    def make(self) -> Sandbox:
        """A sandbox; nothing is started yet.

        Raises:
            ValueError: See `tools.sandbox.choosing.backend_named`.
            SandboxUnavailableError: If this platform has no such backend.
        """
        backend = backend_named(self.backend, accept_no_isolation=self.accept_no_isolation)
        return Sandbox(backend, preload=self.preload, limits=self.limits)


@dataclass(frozen=True)
class MatchJob:
    """One match to play.

    Attributes:
        game: With all its parameters.
        seats: Who sits where.
        roster: Makes the players.
        sandbox: Makes the sandbox of the process, once.
        seed: The tournament's seed.
        match: Index of the match.
        deal: Index of the deal.
        max_plies: Plies after which the match is left unfinished.
        deadline_s: Seconds one ply of the referee may take; None for the sandbox's `call_s`.
    """

    game: GameSetup
    seats: tuple[Effective, ...]
    roster: Roster
    sandbox: SandboxRecipe
    seed: int
    match: int
    deal: int
    max_plies: int
    deadline_s: float | None = None


def play_job(job: MatchJob) -> Json:
    """Play a match and return its entry for the journal; the same in every process.

    A module that does not answer in time leaves the match unfinished; any other failing of the
    module, also while it loads, is its fault.

    Raises:
        ValueError: If a player cannot play this game.
        SandboxUnavailableError: If this process cannot have workers.
    """
    try:
        match = _played(job, keep_sandbox(job.sandbox))
    except ModuleFault as fault:  # while it loaded; it cannot be sent between processes
        match = _not_begun(fault)
    return outcome_entry(match)


def _played(job: MatchJob, sandbox: Sandbox) -> Match:
    players: list[Player] = []
    try:
        for seat, player in enumerate(job.seats):
            made = job.roster.seat(
                player, seat=seat, match=job.match, game=job.game, sandbox=sandbox
            )
            players.append(made)
        with sandbox.worker("referee", job.game.source) as worker:
            worker.load(job.game.source)
            table = _Timed(SandboxTable(worker, deadline_s=job.deadline_s))
            match = play_match(
                table,
                players,
                parameters=job.game.parameters,
                seed=job.seed,
                match=job.match,
                deal=job.deal,
                max_plies=job.max_plies,
            )
    finally:
        for made in players:
            close = getattr(made, "close", None)
            if callable(close):
                close()
    return replace(match, ending="unfinished") if table.late else match


def _not_begun(fault: ModuleFault) -> Match:
    return Match(
        ending="unfinished" if fault.kind == "timed_out" else "fault",
        returns=None,
        plies=(),
        final_state=None,
        final_observations=(),
        reason=str(fault),
        fault_line=fault.line,
    )


class _Timed:
    """A table that remembers whether the module failed to answer in time."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.late = False

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        with self._watched():
            return self._table.open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        with self._watched():
            return self._table.advance(position, action)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except ModuleFault as fault:
            self.late = fault.kind == "timed_out"
            raise


_LOCK = threading.Lock()
_KEPT: dict[tuple[int, SandboxRecipe], Sandbox] = {}  # by process: a forked one takes none over


@contextmanager
def sandbox_of_process(recipe: SandboxRecipe) -> Iterator[Sandbox]:
    """This process's one sandbox of a recipe; whoever made it here closes it at the block's end."""
    key = (os.getpid(), recipe)
    with _LOCK:
        ours = key not in _KEPT
    sandbox = keep_sandbox(recipe)
    try:
        yield sandbox
    finally:
        if ours:
            with _LOCK:
                _KEPT.pop(key, None)
            sandbox.close()


def keep_sandbox(recipe: SandboxRecipe) -> Sandbox:
    """This process's one sandbox of a recipe, kept for as long as the process lives.

    Raises:
        SandboxUnavailableError: If this platform has no such backend.
    """
    key = (os.getpid(), recipe)
    with _LOCK:
        if key not in _KEPT:
            _KEPT[key] = recipe.make()
        return _KEPT[key]
