"""The pace of a module: what a ply takes, and which of its functions takes the most."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median

from games.checks import Finding
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.table import GameTable, Position, Table
from games.values import Action, Json, ModuleFault
from tools.sandbox import Sandbox, SandboxedModule, Worker

PACE = "pace"
"""The check's name: it never fails."""
SLOW_S = 0.005
"""Seconds a ply from which on a module is slow: no game of the library comes near."""
_WATCHED_S = 5.0  # that matches are followed function by function
_WATCHED_MATCHES = 9  # so that a first call does not stand for its function
_WATCHED_PLIES = 200
_CALLS = 5  # of a function that is judged: fewer may each have waited for the processor


@dataclass(frozen=True)
class PacedTable:
    """A table that notes the seconds of every ply.

    Attributes:
        table: The table.
        clock: The seconds that its worker has spent: a busy machine makes no module slow.
        seconds: Of the plies so far.
    """

    table: Table
    clock: Callable[[], float]
    seconds: list[float] = field(default_factory=list)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        return self.table.open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        begun = self.clock()
        reached = self.table.advance(position, action)
        self.seconds.append(self.clock() - begun)
        return reached


def is_slow(seconds: list[float]) -> bool:
    """True where these times show a slow module; a busy machine delays only a few plies.

    >>> is_slow([0.001, 0.001, 0.5]), is_slow([0.02, 0.01, 0.02]), is_slow([])
    (False, True, False)
    """
    return bool(seconds) and median(seconds) >= SLOW_S


def slow_finding(seconds: list[float], slowest: tuple[str, float] | None) -> list[Finding]:
    """The finding for a slow module: it passes, but players that search it will be weak."""
    if not is_slow(seconds) or slowest is None:
        return []
    function, takes = slowest
    evidence = (
        f"slow: a ply takes {median(seconds) * 1000:.0f} ms, and a call of {function} "
        f"{takes * 1000:.0f} ms; players that search will be weak in the time they have"
    )
    return [Finding(check=PACE, outcome="passed", evidence=evidence, function=function)]


def slowest_function(
    sandbox: Sandbox, source: str, num_players: int, parameters: Mapping[str, Json]
) -> tuple[str, float] | None:
    """The function that takes the most, with the seconds of a call; None where none is slow.

    Random matches are followed in a fresh worker, a call at a time, for a few seconds at most. What
    a call of the quickest function takes is the machine's, which delays all of them when it is
    busy: only what a function takes beyond that is its own.
    """
    with suppress(ModuleFault), sandbox.loaded(PACE, source) as worker:
        module = _WatchedModule(worker)
        for match in range(_WATCHED_MATCHES):
            play_match(
                GameTable(Game(module)),
                [UniformPlayer()] * num_players,
                parameters=parameters,
                seed=0,
                match=match,
                max_plies=_WATCHED_PLIES,
            )
        return _slowest(module.seconds)
    return None


def _slowest(seconds: Mapping[str, list[float]]) -> tuple[str, float] | None:
    """The function that takes the most beyond the quickest, by the seconds of their calls.

    >>> quick = [0.0001] * 9
    >>> _slowest({"get_rewards": [0.05] * 9, "apply_action": quick})
    ('get_rewards', 0.05)
    >>> _slowest({"get_rewards": [0.05] * 9, "apply_action": [0.05] * 9})  # a busy machine
    >>> _slowest({"initial_state": [0.011, 0.012], "apply_action": quick})  # too few calls
    """
    usual = {name: median(each) for name, each in seconds.items() if len(each) >= _CALLS}
    quickest = min(usual.values(), default=0.0)
    beyond = {name: each - quickest for name, each in usual.items()}
    slowest = max(beyond, key=beyond.__getitem__, default="")
    if sum(beyond.values()) >= SLOW_S <= 2 * beyond[slowest]:
        return slowest, usual[slowest]
    return None


class _WatchedModule(SandboxedModule):
    """A module that notes the seconds of every call, and takes none after a while."""

    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self.seconds: dict[str, list[float]] = {}
        self._ends = time.monotonic() + _WATCHED_S

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """See `Module.call`."""
        begun = self.worker.spent
        if time.monotonic() > self._ends:
            raise ModuleFault("timed_out", function, "followed for long enough")
        try:
            return super().call(function, *arguments, **keywords)
        finally:
            self.seconds.setdefault(function, []).append(self.worker.spent - begun)
