"""A module behind a worker, as the contract's `Module`, as a table and as an environment."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from games.contract import read_events, read_state
from games.engine import Asked
from games.environments import Environment, ModuleEnvironment
from games.environments.registry import TwinEnvironment
from games.environments.served import preload_of, served_source, source_of
from games.table import Position, Table, position_of, refused
from games.values import Action, IllegalActionError, Json, ModuleFault
from tools.guest.protocol import (
    AdvanceRequest,
    MessageError,
    OpenRequest,
    PliesRequest,
    RawPly,
    decoded,
)
from tools.sandbox.host import Sandbox
from tools.sandbox.worker import Worker, raise_fault

_RANDOM_PREFIX = "resample_"
_SEED = (0,)  # of `random` and `numpy.random`, before every call of a resampler
_MATCH_S = 600.0  # that the table of one match may take
_SEARCH_S = 60.0  # that an environment's own search may take for a decision


class SandboxedModule:
    """`games.modules.Module` over a worker that has loaded its source."""

    def __init__(
        self,
        worker: Worker,
        *,
        deadline_s: float | None = None,
        before: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Read the module through `worker`.

        Args:
            worker: A worker after `load`.
            deadline_s: Seconds one call may take; the worker's own limit by default.
            before: Told of every function that is to be called; what it raises comes instead.
        """
        self.worker, self._deadline_s, self._before = worker, deadline_s, before

    @property
    def names(self) -> frozenset[str]:
        """See `Module.names`."""
        return self.worker.names

    def constant(self, name: str) -> Json:
        """See `Module.constant`."""
        seconds = self._deadline_s or self.worker.limits.call_s
        return self.worker.request("constant", {"name": name}, seconds)

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """See `Module.call`."""
        self._before(function)
        return self.worker.call(
            function,
            arguments,
            keywords,
            deadline_s=self._deadline_s,
            seed=_SEED if function.startswith(_RANDOM_PREFIX) else None,
        )

    def call_echo(self, function: str, arguments: list[Json]) -> tuple[Json, list[Json]]:
        """See `Module.call_echo`."""
        self._before(function)
        return self.worker.call_echo(function, arguments, deadline_s=self._deadline_s)


class SandboxTable:
    """`games.table.Table` over a worker that has loaded its source.

    The worker sends the raw values of one ply; the host holds them against the contract with the
    same code as for a game in its own process.
    """

    def __init__(
        self,
        worker: Worker,
        *,
        deadline_s: float | None = None,
        before: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Play in `worker`; one ply may take `deadline_s`, by default the worker's `call_s`.

        `before` is told what begins a ply, "initial_state" or "apply_action", and may raise.
        """
        self.worker, self._before = worker, before
        self._deadline_s = deadline_s or worker.limits.call_s
        self._weight = 0

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        self._before("initial_state")
        self._weight = 0
        request = OpenRequest(num_players, dict(parameters))
        return self._opened(num_players, self._values("open", request._asdict()))

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        self._before("apply_action")
        request = AdvanceRequest(position.state, action)
        return self._advanced(position, action, self._values("advance", request._asdict()))

    def many(
        self, asked: Sequence[Asked], num_players: int, parameters: Mapping[str, Json]
    ) -> list[Position | ModuleFault]:
        """The positions of several matches, or their faults: see `play_side_by_side`.

        All of them together may take what one match may.

        Raises:
            ModuleFault: If the worker did not answer, or too much was told.
        """
        moves: list[Json] = [None if at is None else [at.state, action] for _, at, action in asked]
        request = PliesRequest(num_players, dict(parameters), moves)
        told = self._weighed("plies", request._asdict())
        rows = told if isinstance(told, list) and len(told) == len(asked) else [None] * len(asked)
        found: list[Position | ModuleFault] = []
        for (_, at, action), row in zip(asked, rows, strict=True):
            try:
                value_of = _values_of(row)
                if at is None:
                    found.append(self._opened(num_players, value_of))
                else:
                    found.append(self._advanced(at, action, value_of))
            except ModuleFault as fault:
                found.append(fault)
        return found

    def _opened(self, num_players: int, value_of: Callable[[str], Json]) -> Position:
        state = read_state("initial_state", value_of("initial_state"))
        return position_of(value_of, state, [[]] * num_players, self.worker.names)

    def _advanced(
        self, position: Position, action: Action, value_of: Callable[[str], Json]
    ) -> Position:
        events = read_events(value_of("get_events"), len(position.rewards))
        try:
            state = read_state("apply_action", value_of("apply_action"))
        except IllegalActionError as refusal:
            raise refused(action, refusal) from refusal
        return position_of(value_of, state, events, self.worker.names)

    def _values(self, op: str, payload: Mapping[str, Json]) -> Callable[[str], Json]:
        """The functions' raw values; to ask for one that a fault forestalled raises the fault.

        Raises:
            ModuleFault: See `_weighed`.
        """
        return _values_of(self._weighed(op, payload))

    def _weighed(self, op: str, payload: Mapping[str, Json]) -> Json:
        """A reply.

        Raises:
            ModuleFault: If all that was told in this match takes more memory than it may.
        """
        before = self.worker.weight
        reply = self.worker.request(op, payload, self._deadline_s)
        self._weight += self.worker.weight - before
        most = self.worker.limits.table_bytes
        if self._weight > most:
            raise ModuleFault(
                "bad_value",
                "apply_action",
                f"states, observations and events of one match take {self._weight / 2**20:.0f} MiB "
                f"of memory; required: at most {most / 2**20:.0f} in all: keep them small",
            )
        return reply


def _values_of(reply: Json) -> Callable[[str], Json]:
    """The raw values of a ply by function; a missing one raises the ply's fault."""
    try:
        ply = decoded(RawPly, reply)
    except MessageError:
        ply = RawPly({}, None)

    def value_of(function: str) -> Json:
        if function not in ply.values:
            raise_fault(ply.fault, function)
        return ply.values[function]

    return value_of


class GivenUpError(Exception):
    """The time for a match is over."""


class TimedTable:
    """A table that remembers whether the module failed to answer in time, in all or once."""

    def __init__(self, table: Table, until: float | None) -> None:
        self._table, self._until = table, until
        self._spent = 0.0
        self.late = False

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        with self._watched():
            return self._table.open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        with self._watched():
            return self._table.advance(position, action)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        begun = time.monotonic()
        if self._until is not None and begun >= self._until:
            raise GivenUpError
        try:
            yield
            self._spent += time.monotonic() - begun
            self._require_time()
        except ModuleFault as fault:
            self.late = fault.kind == "timed_out"
            raise

    def _require_time(self) -> None:
        if self._spent > _MATCH_S:
            told = f"the referee's part of the match took more than {_MATCH_S:g} s"
            raise ModuleFault("timed_out", "apply_action", told)


@contextmanager
def environment_in(
    sandbox: Sandbox, environment: Environment, *, deadline_s: float | None = None
) -> Iterator[Environment]:
    """The same environment, which plays in a worker; one that plays elsewhere as it is.

    Its `open` and `advance` raise `ModuleFault` where it raises, ends itself, or does not answer
    in time.

    Args:
        sandbox: Where it plays.
        environment: The environment.
        deadline_s: Seconds one ply may take; the worker's `call_s` by default.

    Raises:
        ModuleFault: If it does not load.
    """
    if isinstance(environment, TwinEnvironment):
        with environment_in(sandbox, environment.origin, deadline_s=deadline_s) as origin:
            yield TwinEnvironment(origin, environment.seed)
        return
    source = source_of(environment)
    if isinstance(environment, ModuleEnvironment):
        if source is None:
            yield environment
            return
        with sandbox.loaded("environment", source) as worker:
            yield replace(environment, table=SandboxTable(worker, deadline_s=deadline_s))
        return
    with sandbox.worker("environment", more=preload_of(environment)) as worker:
        worker.load(served_source(environment))
        told = environment
        yield _WorkerEnvironment(
            *(told.name, told.num_players, told.parameters, told.rules, told.versions),
            *(worker, deadline_s),
        )


def worker_of(environment: Environment) -> Worker:
    """The worker in which an environment plays that `environment_in` gave.

    Raises:
        TypeError: If it plays elsewhere.
    """
    while isinstance(environment, TwinEnvironment):
        environment = environment.origin
    if isinstance(environment, _WorkerEnvironment):
        return environment.worker
    table = environment.table if isinstance(environment, ModuleEnvironment) else None
    if isinstance(table, SandboxTable):
        return table.worker
    raise TypeError(f"{environment.name} plays in no worker")


@dataclass(frozen=True)
class _WorkerPosition(Position):
    """A position, with all that led to it."""

    history: tuple[Action, ...] = field(repr=False, compare=False)


@dataclass(frozen=True)
class _WorkerEnvironment:
    """One whose `position` and `best` are functions of a worker's module; see `Environment`."""

    name: str
    num_players: int
    parameters: Mapping[str, Json]
    rules: str
    versions: Mapping[str, str]
    worker: Worker
    deadline_s: float | None

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        del num_players, parameters  # its own
        return self._position(())

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        return self._position((*_history(position), action))

    def best(self, position: Position, simulations: int, seed: int) -> Action | None:
        """See `SearchableEnvironment.best`."""
        asked: list[Json] = [[*_history(position)], simulations, seed]
        found = self.worker.call("best", asked, deadline_s=_SEARCH_S)
        return found if isinstance(found, str) else None

    def _position(self, history: tuple[Action, ...]) -> Position:
        told: Any = self.worker.call("position", [[*history]], deadline_s=self.deadline_s)
        try:
            state, player, legal, probabilities, rewards, observations = told
        except (TypeError, ValueError) as error:
            raise ModuleFault("bad_value", "position", f"gave {told!r:.80}") from error
        return _WorkerPosition(
            state=state,
            player=player,
            legal=tuple(legal),
            probabilities=tuple(probabilities),
            rewards=tuple(rewards),
            observations=tuple(observations),
            events=((),) * self.num_players,
            history=history,
        )


def _history(position: Position) -> tuple[Action, ...]:
    if not isinstance(position, _WorkerPosition):
        raise TypeError("required: a position that this environment gave")
    return position.history
