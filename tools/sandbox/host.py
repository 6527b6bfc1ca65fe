"""The sandbox as the host sees it: lazily started pools and the workers they fork."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

from games.values import MAX_PLAYERS
from tools.sandbox.backends import (
    Backend,
    Grade,
    Kit,
    Limits,
    Pool,
    PoolGoneError,
    SandboxUnavailableError,
)
from tools.sandbox.local import default_backend
from tools.sandbox.worker import Worker

_LOADS_KEPT = 64
_LAYOUTS = 4  # of memory: a start takes a tenth of a second, and each halves what luck can do


class Sandbox:
    """Starts workers; several threads may share one sandbox, each with workers of its own.

    Attributes:
        limits: The bounds of every worker.
        backend: Where workers run.
    """

    def __init__(
        self,
        backend: Backend | None = None,
        *,
        preload: Sequence[str] = (),
        limits: Limits | None = None,
        layouts: int = 1,
    ) -> None:
        """Nothing is started before the first worker.

        Args:
            backend: Where workers run; the strongest that this platform has by default.
            preload: Names of trusted packages for workers that are `preloaded`; each may offer
                `OPERATIONS`, name to function of (module namespace, payload).
            limits: The bounds of every worker; by default the usual ones, less where the machine's
                free memory does not suffice for a full table.
            layouts: Processes that workers are forked from in turn, each of them with other
                addresses.

        Raises:
            SandboxUnavailableError: If this platform has no default.
        """
        self.limits = limits or Limits().divided(MAX_PLAYERS + 1)  # with their referee
        self.backend = backend or default_backend()
        self._preload = tuple(preload)
        self._lock = threading.Lock()
        self._pools: dict[tuple[Kit, int], Pool] = {}
        self._layouts = layouts
        self._turns = Counter[Kit]()
        self._workers: set[Worker] = set()
        self._loads: dict[str, bytes] = {}
        self._apart: Sandbox | None = None
        self._closed = False

    @property
    def apart(self) -> "Sandbox":
        """A sandbox alike, closed with this one, whose workers are forks of other processes.

        Workers of one pool have the same addresses. What a module makes of them is the same in all
        of them, and another thing here: its workers are of several pools, in turn, so that all of
        these would have to agree by chance.
        """
        with self._lock:
            if self._apart is None:
                self._apart = Sandbox(
                    self.backend, preload=self._preload, limits=self.limits, layouts=_LAYOUTS
                )
                self._apart._closed = self._closed
            return self._apart

    @property
    def grade(self) -> Grade:
        """The strength of the workers against hostile code; starts a pool to find out.

        Workers with more packages run sources of our own, and do not count.

        Raises:
            SandboxUnavailableError: If no pool can start here.
        """
        with self._lock:
            foreign = (pool for (kit, _), pool in self._pools.items() if not kit.is_wide)
            started = next(foreign, None)
        return (started or self._pool(Kit(), instead_of=None)).grade

    def start(self) -> None:
        """Start a pool now, so that the first worker does not wait for it.

        Raises:
            SandboxUnavailableError: If it cannot start here, saying why.
        """
        self._pool(Kit(), instead_of=None)

    def worker(
        self,
        role: str,
        source: str | None = None,
        *,
        preloaded: bool = False,
        more: tuple[str, ...] = (),
    ) -> Worker:
        """A fresh worker, for one module in one role.

        Args:
            role: What it is for ("referee", "player-0"), for messages.
            source: The module that will be loaded; numpy is there where it is imported. None for
                a worker whose module is not known yet: numpy is there.
            preloaded: Whether it has numpy and the preloaded packages, as a searching player does.
            more: Packages that it has besides, for a source of our own; they may import what this
                process may.

        Raises:
            SandboxUnavailableError: If the sandbox cannot start, or no process can be made.
        """
        kit = Kit(self._preload, numpy=True) if preloaded else kit_for(source)
        kit = replace(kit, preload=(*kit.preload, *more), is_wide=bool(more))
        layout = self._next_layout(kit)
        pool = self._pool(kit, layout, instead_of=None)
        try:
            process = pool.fork()
        except PoolGoneError:
            pool = self._pool(kit, layout, instead_of=pool)
            try:
                process = pool.fork()
            except PoolGoneError as error:
                raise SandboxUnavailableError(
                    f"the sandbox's process ended twice in a row: {error}"
                ) from error
        worker = Worker(role, process, self.limits, self._forget, self._loads)
        with self._lock:
            if len(self._loads) > _LOADS_KEPT:
                self._loads.clear()
            self._workers.add(worker)
        return worker

    @contextmanager
    def loaded(self, role: str, source: str) -> Iterator[Worker]:
        """A fresh worker that holds a module, for the time of a block.

        Raises:
            ModuleFault: If it does not load.
            SandboxUnavailableError: See `worker`.
        """
        with self.worker(role, source) as worker:
            worker.load(source)
            yield worker

    def close(self) -> None:
        """Kill every worker and end the pools."""
        with self._lock:
            self._closed = True
            workers, pools = list(self._workers), list(self._pools.values())
            self._pools.clear()
            apart = self._apart
        for worker in workers:
            worker.kill()
        for pool in pools:
            pool.close()
        if apart is not None:
            apart.close()

    def _forget(self, worker: Worker) -> None:
        with self._lock:
            self._workers.discard(worker)

    def _next_layout(self, kit: Kit) -> int:
        with self._lock:
            self._turns[kit] += 1
            return self._turns[kit] % self._layouts

    def _pool(self, kit: Kit, layout: int = 0, *, instead_of: Pool | None) -> Pool:
        with self._lock:
            if self._closed:
                raise SandboxUnavailableError("this sandbox is closed; make another one")
            pool = self._pools.get((kit, layout))
            if pool is not None and pool is instead_of:
                pool.close()
                pool = None
            if pool is None:
                pool = self._pools[kit, layout] = self.backend.start(kit, self.limits)
            return pool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ReusedWorkers(Sandbox):
    """A sandbox whose workers serve their role and module again, loaded anew.

    A worker is made in ten milliseconds, which is most of a short match. But what a module leaves
    in its process may reach its next match there, so that this is for choosing among candidates,
    and never for a result. Workers with preloaded packages are fresh all the same.

    >>> with Sandbox() as sandbox, ReusedWorkers(sandbox) as reused:
    ...     for _ in range(2):
    ...         with reused.worker("referee", "n = []") as worker:
    ...             worker.load("n = []")
    ...             print(worker.request("evaluate", {"expression": "n.append(1) or n"}, 1))
    [1]
    [1]
    """

    def __init__(self, sandbox: Sandbox) -> None:
        """Take workers of a sandbox, which is not closed with this one."""
        super().__init__(sandbox.backend, limits=sandbox.limits)
        self._sandbox = sandbox
        self._pools = sandbox._pools
        self._idle: dict[tuple[str, str | None], list[Worker]] = {}

    @property
    def apart(self) -> Sandbox:
        """See `Sandbox.apart`; its workers are fresh."""
        return self._sandbox.apart

    def worker(
        self,
        role: str,
        source: str | None = None,
        *,
        preloaded: bool = False,
        more: tuple[str, ...] = (),
    ) -> Worker:
        """See `Sandbox.worker`; one that was released before, if there is."""
        if preloaded or more:
            return self._sandbox.worker(role, source, preloaded=preloaded, more=more)
        with self._lock:
            idle = self._idle.setdefault((role, source), [])
            while idle:
                if (worker := idle.pop()).alive:
                    return worker
        worker = self._sandbox.worker(role, source)
        worker.keeper = lambda done: self._keep(idle, done)
        return worker

    def close(self) -> None:
        """Kill the workers that are idle; those at work are killed when they are released."""
        with self._lock:
            self._closed = True
            idle = [worker for kept in self._idle.values() for worker in kept]
            self._idle.clear()
        for worker in idle:
            worker.kill()

    def _pool(self, kit: Kit, layout: int = 0, *, instead_of: Pool | None) -> Pool:
        return self._sandbox._pool(kit, layout, instead_of=instead_of)

    def _keep(self, idle: list[Worker], worker: Worker) -> bool:
        with self._lock:
            if self._closed:
                return False
            worker.empty()
            idle.append(worker)
            return True


def kit_for(source: str | None) -> Kit:
    r"""The smallest kit for a module: numpy only where its source imports it.

    Args:
        source: The module; None where it is not known yet, which gives numpy.

    >>> kit_for("import random").numpy, kit_for("def f():\n    from numpy import array").numpy
    (False, True)
    """
    if source is None or "numpy" not in source:
        return Kit(numpy=source is None)
    # Not parsed: what a text can do to a parser, it shall do to nobody here.
    for part in re.split(r"[\n;:]", source.replace("\\\n", " ")):
        words = part.replace(",", " ").split()
        named = (
            words[1:] if words[:1] == ["import"] else words[1:2] if words[:1] == ["from"] else ()
        )
        if any(name.partition(".")[0] == "numpy" for name in named):
            return Kit(numpy=True)
    return Kit()
