"""One match as a job, picklable for whatever process plays it, and the entry it leaves."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, Field, JsonValue, SkipValidation

from games.engine import (
    Effort,
    Ending,
    Learned,
    Learner,
    Match,
    MatchSetup,
    Player,
    Ply,
    play_at,
)
from games.environments import Environment, ModuleEnvironment, SourceTable
from games.environments.registry import environment_named
from games.records import ply_row, read_ply
from games.streams import Uniforms
from games.table import Table
from games.values import CHANCE, Action, Json, ModuleFault, canonical_key
from tools.guest.framing import weight_of
from tools.playtest.efforts import EffortSummary, effort_of, effort_together
from tools.sandbox import Limits, Sandbox, SandboxTable, Worker
from tools.sandbox.local import backend_named
from tools.sandbox.module import GivenUpError, TimedTable, environment_in

_ENTRY_BYTES, _ENTRY_WEIGHT = 4 * 2**20, 32 * 2**20  # many times what any library game leaves


Setting: TypeAlias = int | float | str
Part = TypeVar("Part", bound=BaseModel)


class PlayerSpec(BaseModel, frozen=True, extra="forbid"):
    """A player as it really plays, defaults filled in.

    Attributes:
        player: The kind of player.
        settings: Every setting of that kind that has an effect beside the others, by name.
    """

    player: str = Field(min_length=1)
    settings: dict[str, Setting] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """The spec that gives this player again; equal names are equal players."""
        pairs = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.player}:{pairs}" if pairs else self.player

    def part(self, model: type[Part]) -> Part:
        """Those of the settings that a model declares.

        Raises:
            ValidationError: If they do not go together.
        """
        return model.model_validate(self.of(model))

    def of(self, model: type[BaseModel]) -> dict[str, Setting]:
        """Those of the settings that a model declares, by name."""
        return {key: value for key, value in self.settings.items() if key in model.model_fields}


@dataclass(frozen=True)
class GameSetup:
    """The game of a tournament.

    Attributes:
        name: Its name, for people.
        source: The module; "" where an environment has none.
        num_players: Seats, 2 to 8.
        parameters: Those given; where a tournament runs, all of them, defaults filled in.
        heuristics: Sources of its heuristics by name.
        environment: Name of the environment that is its referee; "" for the module.
        twin_of: Source of the module that the environment plays under other names; "" for none.
    """

    name: str
    source: str
    num_players: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    heuristics: Mapping[str, str] = field(default_factory=dict)
    environment: str = ""
    twin_of: str = ""

    @property
    def renamed_from(self) -> "GameSetup":
        """The module that the environment plays under other names; itself where it plays none."""
        if not self.twin_of:
            return self
        return replace(self, source=self.twin_of, environment="", twin_of="")

    def opened(self) -> Environment:
        """The environment.

        Raises:
            EnvironmentNotFoundError: If it cannot be had in this process.
        """
        # What is no game of the library takes none.
        takes = self.twin_of or "library:" in self.environment
        given = self.parameters if takes else {}
        table = SourceTable(self.twin_of)
        return environment_named(
            self.environment,
            given,
            self.num_players,
            of_file=lambda name, has, seats: ModuleEnvironment(name, seats, has, "", table),
        )

    @contextmanager
    def refereed(self, sandbox: Sandbox, deadline_s: float | None = None) -> Iterator[Table]:
        """The table of a match: the environment or the module, in a fresh worker.

        Raises:
            ModuleFault: If it does not load.
        """
        if self.environment:
            with environment_in(sandbox, self.opened(), deadline_s=deadline_s) as environment:
                yield environment
            return
        with sandbox.loaded("referee", self.source) as worker:
            yield SandboxTable(worker, deadline_s=deadline_s)


class Roster(Protocol):
    """The players that can be entered. It goes to other processes: picklable, and small.

    One that holds `models` stays in this process: their client and budget are shared by threads.
    """

    @property
    def preload(self) -> tuple[str, ...]:
        """The modules that the sandbox of its players must preload."""

    def effective(self, spec: str) -> PlayerSpec:
        """Read a spec.

        Raises:
            ValueError: Listing what is known, if the player, a setting or a value is not.
        """

    def in_lockstep(self, player: PlayerSpec) -> bool:
        """True for one that is a `games.lockstep.LockstepPlayer`."""

    def seat(
        self, player: PlayerSpec, *, seat: int, match: int, game: GameSetup, sandbox: Sandbox
    ) -> Player:
        """Make a player; where it has a `close`, that is called after the match.

        Raises:
            ValueError: If it cannot play this game.
            ModuleFault: If the module or a heuristic does not load.
        """


@dataclass(frozen=True)
class SandboxRecipe:
    """The recipe by which a process makes its own sandbox.

    Attributes:
        backend: Its name; None for the platform's own.
        accept_no_isolation: Must be said to get "process".
        limits: The bounds of every worker.
        preload: What searching players need: the roster's `preload`.
    """

    backend: str | None = None
    accept_no_isolation: bool = False
    limits: Limits = field(default_factory=Limits)
    preload: tuple[str, ...] = ()

    def make(self) -> Sandbox:
        """A sandbox; nothing is started yet.

        Raises:
            ValueError: See `tools.sandbox.local.backend_named`.
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
        sandbox: Makes the sandbox of the process, once; or this process's own, for threads.
        key: The run's seed, which keys its streams.
        match: Index of the match.
        deal: Index of the deal.
        max_plies: Plies after which the match is left unfinished.
        deadline_s: Seconds one ply of the referee may take; None for the sandbox's `call_s`.
        record: Whether its entry keeps the whole closed-deck record.
        lessons: What each seat's entrant learned in earlier deals; empty where nobody did.
        until: `time.monotonic()` from which on it is given up; None for as long as it takes.
    """

    game: GameSetup
    seats: tuple[PlayerSpec, ...]
    roster: Roster
    sandbox: SandboxRecipe | Sandbox
    key: int
    match: int
    deal: int
    max_plies: int
    deadline_s: float | None = None
    record: bool = False
    lessons: tuple[tuple[str, ...], ...] = ()
    until: float | None = None

    @property
    def in_lockstep(self) -> bool:
        """True where all players play many matches at once, and nobody keeps what they leave."""
        alone = self.record or self.game.environment or self.lessons
        return not alone and all(map(self.roster.in_lockstep, self.seats))

    @property
    def held_sandbox(self) -> Sandbox:
        """The sandbox in which this process plays it."""
        if isinstance(self.sandbox, Sandbox):
            return self.sandbox
        return keep_sandbox(self.sandbox)

    def setup(
        self, players: Sequence[Player], on_ply: Callable[[Ply], None] = lambda _: None
    ) -> MatchSetup:
        """The match between these players; `on_ply` is told of every ply."""
        chance = Uniforms.of(self.key, "chance", match=self.deal)
        return MatchSetup(players, self.key, self.match, chance, self.max_plies, on_ply)


def play_job(job: MatchJob) -> Json:
    """Play a match and return its entry for the journal; the same in every process.

    None is no entry: the match was given up, because the time `job.until` came.

    A module that does not answer in time leaves the match unfinished; any other failing of the
    module, also while it loads, is its fault.

    Raises:
        ValueError: If a player cannot play this game.
        SandboxUnavailableError: If this process cannot have workers.
    """
    try:
        match, learned = _played(job, job.held_sandbox)
    except GivenUpError:
        return None
    except ModuleFault as fault:  # while it loaded; it cannot be sent between processes
        match, learned = _not_begun(fault), []
    entry = entry_of(match, record=job.record, learned=learned)
    text = canonical_key(entry).encode()
    if len(text) > _ENTRY_BYTES or weight_of(text) > _ENTRY_WEIGHT:
        size = f"{max(len(text), weight_of(text) // 8) / 2**20:.1f} MiB"
        told = f"a match leaves {size} to keep; required: at most 4: keep what is told small"
        entry = failed_entry(ModuleFault("bad_value", "module", told))
    return entry


def failed_entry(fault: ModuleFault) -> Json:
    """The entry of a match that a fault of the module kept from its beginning."""
    return entry_of(_not_begun(fault))


def _played(job: MatchJob, sandbox: Sandbox) -> tuple[Match, list[Learned]]:
    players: list[Player] = []
    try:
        for seat, player in enumerate(job.seats):
            made = job.roster.seat(
                player, seat=seat, match=job.match, game=job.game, sandbox=sandbox
            )
            players.append(made)
            if isinstance(made, Learner) and job.lessons:
                made.recall(job.lessons[seat])
        with job.game.refereed(sandbox, job.deadline_s) as place:
            table = TimedTable(place, job.until)
            match = _asked_once_more(
                play_at(table, job.setup(players), job.game.parameters), players
            )
        if table.late:
            match = replace(match, ending="unfinished")
        learners = [one if isinstance(one, Learner) else None for one in players]
        learned = [one.learn(match.returns) if one else ("", Effort()) for one in learners]
        return match, learned if any(learners) else []
    finally:
        close_players(players)


def close_players(players: Iterable[object]) -> None:
    """Have players release what they hold."""
    for made in players:
        close = getattr(made, "close", None)
        if callable(close):
            close()


def _asked_once_more(match: Match, players: Sequence[Player]) -> Match:
    """The match, forfeited by a seat whose worker ran on, or ended, after its last answer."""
    for seat, player in enumerate(players):
        worker = getattr(player, "worker", None)
        if isinstance(worker, Worker) and worker.alive:
            try:
                worker.request("ping", {}, worker.limits.call_s)
            except ModuleFault as fault:
                if match.ending == "finished":
                    told = f"seat {seat}, after its last answer: {fault}"
                    match = replace(
                        match, ending="forfeit", returns=None, culprit=seat, reason=told
                    )
    return match


def _not_begun(fault: ModuleFault) -> Match:
    return Match(
        ending="unfinished" if fault.kind == "timed_out" else "fault",
        reason=str(fault),
        fault_line=fault.line,
    )


_OF_A_MATCH = ("ending", "returns", "culprit", "reason", "fault_line")  # that an entry takes over


class MatchEntry(BaseModel, frozen=True, extra="forbid"):
    """A played match as a journal keeps it.

    Attributes:
        ending: See `games.engine.Match`; a module that hung leaves it unfinished.
        returns: By seat; None unless it finished.
        plies: How many there were.
        actions: Every decision and chance outcome, in order: with the seeds, the match again.
        culprit: Seat that forfeited.
        reason: Why it did not finish.
        fault_line: Line of the module at fault.
        used: By seat.
        told: Digest of all that seats were told, asked and paid at every ply; "" where the match
            was played in lockstep, which tells them no more than they read.
        forced: Decisions with one legal action, over all seats.
        options: Legal actions, summed over all decisions.
        lessons: What each seat learned for later deals; empty where nobody did.
        record: The plies in full and the final observations, where the job asked for them.
    """

    ending: Ending
    returns: tuple[float, ...] | None
    plies: int
    actions: tuple[Action, ...]
    culprit: int | None
    reason: str
    fault_line: int | None
    used: tuple[EffortSummary, ...]
    told: str = ""
    forced: int = 0
    options: int = 0
    lessons: tuple[str, ...] = ()
    record: dict[str, SkipValidation[JsonValue]] | None = None

    def match(self) -> Match:
        """The match again, from its record: closed deck.

        Its plies' states are empty and its final state is None, so that an open-deck reading of it
        is refused instead of answered wrongly. Without a record it has no plies.
        """
        record: dict[str, Any] = self.record or {"plies": [], "final_observations": []}
        return Match(
            plies=tuple(map(read_ply, record["plies"])),
            final_observations=tuple(record["final_observations"]),
            **{name: getattr(self, name) for name in _OF_A_MATCH},
        )


def entry_of(
    match: Match, *, record: bool = False, told: bool = True, learned: Sequence[Learned] = ()
) -> Json:
    """The entry of a match; `MatchEntry` reads it.

    Args:
        match: As the referee played it.
        record: Whether to keep the plies in full.
        told: Whether to keep the digest of what seats were told, which costs as much as to tell it.
        learned: By seat, from `Learner.learn`; empty where nobody learns.
    """
    seats = max([1 + ply.player for ply in match.plies] + [len(learned)], default=0)
    efforts: list[list[Effort]] = [[] for _ in range(seats)]
    for ply in match.plies:
        if ply.player != CHANCE:
            efforts[ply.player].append(ply.effort)
    used = [effort_together(map(effort_of, one)) for one in efforts]
    for seat, (_, beyond) in enumerate(learned):
        rest = effort_of(beyond).model_copy(update={"decisions": 0})
        used[seat] = effort_together([used[seat], rest])
    lessons = tuple(lesson for lesson, _ in learned)
    decided = [ply for ply in match.plies if ply.player != CHANCE]
    entry = MatchEntry(
        **{name: getattr(match, name) for name in _OF_A_MATCH},
        plies=len(match.plies),
        actions=tuple(ply.action for ply in match.plies),
        used=tuple(used),
        told=_digest(match) if told else "",
        forced=sum(len(ply.legal) == 1 for ply in decided),
        options=sum(len(ply.legal) for ply in decided),
        lessons=lessons if any(lessons) else (),
    )
    silent = {"record"} if entry.lessons else {"record", "lessons"}
    kept: dict[str, Json] = entry.model_dump(mode="json", exclude=silent)
    if record:
        # In lists, so that an entry is the same whether its journal was read or not.
        kept["record"] = {**record_row(match)}
    return kept


def record_row(match: Match) -> dict[str, Json]:
    """The plies of a match in full and its final observations, as an entry keeps them."""
    return {
        "plies": list(map(ply_row, match.plies)),
        "final_observations": list(match.final_observations),
    }


def _digest(match: Match) -> str:
    said = sha256()
    for ply in match.plies:
        said.update(canonical_key([ply.player, [*ply.legal], [*ply.rewards]]).encode())
    for log in match.logs:
        said.update(b"seat")
        for entry in log.entries:
            said.update(canonical_key(entry.row()).encode())
    return said.hexdigest()


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
