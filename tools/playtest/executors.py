"""Executors for tournaments: this thread, processes of a fork server, Ray."""

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import forkserver, resource_tracker
from typing import Any, TypeVar

from tools.playtest.jobs import SandboxRecipe, keep_sandbox

T = TypeVar("T")

_SEMAPHORES = "ignore:resource_tracker:UserWarning"


class ExecutorUnavailableError(RuntimeError):
    """An executor that was asked for cannot be had here; the message says what to do."""


class InlineExecutor(Executor):
    """Runs each call at once, in the caller's thread."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401
        """See `concurrent.futures.Executor.submit`; what the call raises is raised here."""
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def process_pool(workers: int, recipe: SandboxRecipe) -> ProcessPoolExecutor:
    """Processes of a fork server, each with a sandbox of its own.

    They end with this process, however it ends, and leave an interrupt from the keyboard to it.
    numpy gets one thread in each of them.

    Raises:
        ValueError: If there are no workers.
    """
    if workers < 1:
        raise ValueError(f"{workers} workers; required: at least 1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when a process first imports numpy
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    _start_fork_server()
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(recipe,))


def _start_fork_server() -> None:
    """Start what the pool needs so that it says nothing when this process is interrupted or ends.

    Until it had set itself up, a fork server would answer an interrupt with a traceback; and of a
    process that ended at once, the tracker would warn that it removes the pool's semaphores.
    """
    if _SEMAPHORES not in sys.warnoptions:
        sys.warnoptions.append(_SEMAPHORES)
    resource_tracker.ensure_running()  # which lets the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(recipe: SandboxRecipe) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent watch", daemon=True).start()
    keep_sandbox(recipe)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody is left to tell; the sandbox ends with this process


class RayExecutor(Executor):
    """Runs calls as Ray tasks, on this machine or the cluster that Ray is connected to.

    It needs the extra `ray`. A Ray worker makes the process's sandbox at its first match.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        address: str | None = None,
        ray: Any = None,  # noqa: ANN401 - an extra, without types here
    ) -> None:
        """Connect to Ray, starting it here where nothing runs yet.

        Args:
            workers: Processors that a Ray started here may use; None for all.
            address: A cluster's address, as `ray.init` takes it; `workers` is then the cluster's.
            ray: The module; imported by default.

        Raises:
            ExecutorUnavailableError: If Ray is not installed.
        """
        self._ray = ray or _import_ray()
        self._ours = not self._ray.is_initialized()
        self._open = True
        self._running: set[Any] = set()
        if self._ours:
            given = {"address": address} if address else {"num_cpus": workers}
            self._ray.init(include_dashboard=False, log_to_driver=False, **given)
        self._task = self._ray.remote(_call).options(num_cpus=1, max_retries=0)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401
        """See `concurrent.futures.Executor.submit`; a lost Ray worker is a `BrokenExecutor`."""
        if not self._open:
            raise RuntimeError("this executor was shut down; make another one")
        reference = self._task.remote(fn, args, kwargs)
        self._running.add(reference)
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def arrived(done: Future[T]) -> None:
            self._running.discard(reference)
            error = done.exception()
            if error is None:
                future.set_result(done.result())
            elif isinstance(error, self._ray.exceptions.RayTaskError):  # the call's own
                future.set_exception(error)
            else:
                future.set_exception(BrokenExecutor(f"Ray lost a worker: {error}"))

        reference.future().add_done_callback(arrived)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See `concurrent.futures.Executor.shutdown`; a Ray that was started here ends."""
        if not self._open:
            return
        self._open = False
        references = list(self._running)
        if cancel_futures:
            for reference in references:
                self._ray.cancel(reference)
        elif wait and references:
            self._ray.wait(references, num_returns=len(references))
        if self._ours and self._ray.is_initialized():
            self._ray.shutdown()


def _call(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
    return fn(*args, **kwargs)


def _import_ray() -> Any:  # noqa: ANN401 - Ray is an extra, without types here
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ExecutorUnavailableError(
            "Ray is not installed; install the extra (pip install 'rulewright[ray]'), or leave the "
            "executor out: the default plays in processes of this machine"
        ) from error
