"""The sandbox as the host sees it: a lazily started zygote and the workers it forks."""

import threading
import types
from collections.abc import Sequence
from typing import Self

from tools.sandbox.limits import RESOURCE_LIMITS_ONLY, Grade, Limits
from tools.sandbox.worker import Worker
from tools.sandbox.zygote import SandboxUnavailableError, Zygote, ZygoteGoneError


class Sandbox:
    """Starts workers; several threads may share one sandbox, each with workers of its own.

    Attributes:
        limits: The bounds of every worker.
    """

    def __init__(
        self,
        preload: Sequence[str] = (),
        limits: Limits | None = None,
        use_numpy: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        """Nothing is started before the first worker.

        Args:
            preload: Names of trusted packages to import before workers are forked; each may
                offer `OPERATIONS`, name to function of (module namespace, payload).
            limits: The bounds of every worker.
            use_numpy: Whether workers have numpy; without it the sandbox starts faster.
        """
        self.limits = limits or Limits()
        self._preload = tuple(preload)
        self._use_numpy = use_numpy
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._workers: set[Worker] = set()
        self._closed = False

    @property
    def grade(self) -> Grade:
        """How far the workers hold against hostile code."""
        return RESOURCE_LIMITS_ONLY

    def start(self) -> None:
        """Start the zygote now, so that the first worker does not wait for it.

        Raises:
            SandboxUnavailableError: If it cannot start here, saying why.
        """
        self._running(instead_of=None)

    def worker(self, role: str) -> Worker:
        """A fresh worker, for one module in one role.

        Args:
            role: What it is for ("referee", "player-0"), for messages.

        Raises:
            SandboxUnavailableError: If the sandbox cannot start, or no process can be made.
        """
        zygote = self._running(instead_of=None)
        try:
            pid, handle, connection = zygote.fork()
        except ZygoteGoneError:
            zygote = self._running(instead_of=zygote)
            try:
                pid, handle, connection = zygote.fork()
            except ZygoteGoneError as error:
                raise SandboxUnavailableError(
                    f"the sandbox's process ended twice in a row: {error}"
                ) from error
        worker = Worker(
            role,
            connection,
            handle,
            self.limits,
            exit_status=lambda: zygote.exit_status(pid),
            forget=self._forget,
        )
        with self._lock:
            self._workers.add(worker)
        return worker

    def close(self) -> None:
        """Kill every worker and end the zygote."""
        with self._lock:
            self._closed = True
            workers, zygote = list(self._workers), self._zygote
            self._zygote = None
        for worker in workers:
            worker.kill()
        if zygote is not None:
            zygote.close()

    def _forget(self, worker: Worker) -> None:
        with self._lock:
            self._workers.discard(worker)

    def _running(self, *, instead_of: Zygote | None) -> Zygote:
        with self._lock:
            if self._closed:
                raise SandboxUnavailableError("this sandbox is closed; make another one")
            if self._zygote is not None and self._zygote is instead_of:
                self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                self._zygote = Zygote(self._preload, self.limits, use_numpy=self._use_numpy)
            return self._zygote

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()
