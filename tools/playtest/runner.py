"""Runner: a list of jobs, played in this process or in others, with a journal of what is finished.

Whatever plays more than one match is a list of jobs for `play_all`: matches, tournaments, ladders,
self-play, evaluations. The whole of its use:

    with journal_at(path, identity) as journal, Workers(jobs=2).opened() as workers:
        for index, entry in play_all(jobs, play, journal=journal, workers=workers):
            ...

`jobs` are pairs of an index and a picklable value, `play` is a picklable function from that value
to an entry (JSON). Nothing else in the product imports `concurrent.futures`.
"""

import importlib
import marshal
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import forkserver, resource_tracker
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from games.values import Json, canonical_key
from tools.guest.framing import weight_of
from tools.playtest.journal import Journal

T = TypeVar("T")
Job = TypeVar("Job")
Left = TypeVar("Left")

ExecutorKind: TypeAlias = Literal["threads", "processes", "ray"]

_SIZE, _SIZE_EACH = 60 * 2**20, 2**20  # bytes of all entries, and of one where there are many
_WEIGHT, _WEIGHT_EACH = 400 * 2**20, 4 * 2**20
_SMALL = 2**20  # held bytes of an entry that needs no closer look
_HEAD = 8  # times the room of a value in `marshal`: in memory each has a head of its own
_PLAIN = 2  # of marshal's versions: the same bytes for the same values
_AHEAD = 2  # jobs handed over for each worker: one being played, one waiting
_CONNECT_S = 10.0
_SEMAPHORES = "ignore:resource_tracker:UserWarning"


class ExecutorError(ValueError):
    """No such executor; the message says which there are."""


class ExecutorUnavailableError(RuntimeError):
    """An executor that was asked for cannot be had here; the message says what to do."""


class RunStoppedError(RuntimeError):
    """A process that played ended; what is in the journal is kept."""


@dataclass(frozen=True)
class Workers:
    """An executor and its size.

    Attributes:
        jobs: Jobs at the same time.
        kind: What plays them. With one at a time, threads and processes are this thread.
        address: A Ray cluster's; None for the Ray of this machine.
        executor: Plays them instead; it is not shut down.
    """

    jobs: int = 1
    kind: ExecutorKind = "processes"
    address: str | None = None
    executor: Executor | None = None

    def __post_init__(self) -> None:
        """Refuse what plays nothing.

        Raises:
            ExecutorError: If nothing would be played.
        """
        if self.jobs < 1:
            raise ExecutorError(f"{self.jobs} matches at the same time; required: at least 1")

    @classmethod
    def named(cls, name: str, jobs: int) -> "Workers":
        """The executor that somebody names: threads, processes, ray or ray:ADDRESS.

        Raises:
            ExecutorError: If there is none of that name.

        >>> Workers.named("ray:auto", 4)
        Workers(jobs=4, kind='ray', address='auto', executor=None)
        """
        kind, colon, address = name.partition(":")
        for known in get_args(ExecutorKind):
            if kind == known and bool(colon) == bool(address) and (kind == "ray" or not colon):
                return cls(jobs, known, address or None)
        raise ExecutorError(
            f"no executor {name!r}; known: threads, processes, ray, ray:ADDRESS (a cluster's)"
        )

    @contextmanager
    def opened(self) -> Iterator["Workers"]:
        """The same with its executor, which ends with the block.

        Raises:
            ExecutorUnavailableError: If it needs what is not installed.
        """
        if self.executor is not None:
            yield self
        else:
            with self._made() as executor:
                yield replace(self, executor=executor)

    def _made(self) -> Executor:
        if self.kind == "ray":
            return RayExecutor(self.jobs, address=self.address)
        if self.jobs == 1:
            return _InlineExecutor()
        if self.kind == "threads":
            return ThreadPoolExecutor(self.jobs, thread_name_prefix="match")
        return _process_pool(self.jobs)

    def within(self, memory: int | None, each: int) -> "Workers":
        """The same, with fewer jobs where each of them needs so much of a memory."""
        if memory is None or self.executor is not None:
            return self
        return replace(self, jobs=max(1, min(self.jobs, memory // each)))

    @property
    def ahead(self) -> int:
        """Jobs that are handed over before the first of them is done."""
        return 1 if isinstance(self.executor, _InlineExecutor) else _AHEAD * self.jobs


def play_all(
    jobs: Iterable[tuple[int, Job]],
    play: Callable[[Job], Left],
    *,
    journal: Journal | None,
    workers: Workers,
    keep: Callable[[int], bool] = lambda _: True,
    many: bool = False,
) -> Iterator[tuple[int, Json]]:
    """Yield what the journal holds, in order; then play every other job and yield what arrives.

    The bytes of a finished journal depend on the jobs alone: neither on the workers nor on how
    often the run was killed and begun again. An entry is on disk before it is yielded.

    Args:
        jobs: Indices and jobs; taken one by one, a few ahead of the workers, so what was yielded
            may decide what comes. Those that the journal holds are not played.
        play: Makes the entry of a job; whatever process calls it, the same. None is no entry.
        journal: Keeps every entry. None keeps nothing.
        workers: Best opened by the caller, whose block then ends them.
        keep: Asked of every index at the end; entries it denies leave the journal.
        many: Whether a job leaves several entries, each as a pair of its index and itself. The
            job's own index is that of one of them.

    Raises:
        RunStoppedError: If a process of the executor ended, or the entries take too much room.
        ExecutorUnavailableError: If the executor needs what is not installed.
        JournalError: If the journal cannot be written.
    """
    entries = dict(sorted(journal.entries.items())) if journal else {}
    yield from [*entries.items()]
    known = frozenset(entries)
    missing = (job for job in jobs if job[0] not in known)
    room = _Room()
    for entry in entries.values():
        room.take(entry)
    with workers.opened() as opened:
        for number, left in _arriving(missing, play, opened):
            arrived: Any = left if many else [(number, left)]
            for index, entry in arrived:
                if entry is None:
                    continue
                room.take(entry)
                if journal:
                    journal.append(index, entry)
                    entries[index] = entry
                yield index, entry
    if journal:
        journal.settle({index: entries[index] for index in sorted(entries) if keep(index)})


def held_bytes(entry: Json) -> int:
    """About how many bytes an entry takes in memory; the same for the same entry."""
    return _HEAD * len(marshal.dumps(entry, _PLAIN))


@dataclass
class _Room:
    """The room that a run's entries take in its journal, and in memory where they are folded."""

    count: int = 0
    size: int = 0
    weight: int = 0

    def take(self, entry: Json) -> None:
        """Make room for one more.

        Raises:
            RunStoppedError: If there is none.
        """
        self.count += 1
        if held_bytes(entry) < _SMALL:
            return
        text = canonical_key(entry).encode()
        self.size += len(text)
        self.weight += weight_of(text)
        small = self.size <= max(_SIZE, _SIZE_EACH * self.count)
        if not small or self.weight > max(_WEIGHT, _WEIGHT_EACH * self.count):
            raise RunStoppedError(
                f"{self.count} matches leave {self.size / 2**20:.0f} MiB to keep, more than a run "
                "may; finished matches are in the journal, where there is one: play fewer, or mend "
                "a module that tells too much at every ply"
            )


def _arriving(
    coming: Iterator[tuple[int, Job]], play: Callable[[Job], Left], workers: Workers
) -> Iterator[tuple[int, Left]]:
    """Hand jobs over, a few ahead of the workers; yield each entry when it arrives."""
    executor = workers.executor
    assert executor is not None, "workers must be opened"  # for mypy
    running: dict[Future[Left], int] = {}
    try:
        while True:
            while len(running) < workers.ahead and (job := next(coming, None)) is not None:
                running[executor.submit(play, job[1])] = job[0]
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            # What other calls came to is kept before what one of them raised is raised here.
            for future in sorted(done, key=lambda one: (bool(one.exception()), running[one])):
                yield running.pop(future), future.result()
    except BrokenExecutor as error:
        raise RunStoppedError(
            f"a process that played matches ended ({error}); finished matches are in the journal, "
            "where there is one: start again to go on"
        ) from error
    finally:
        for future in running:
            future.cancel()


class _InlineExecutor(Executor):
    """Runs each call at once, in the caller's thread."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401 - as `Executor`
        """See `concurrent.futures.Executor.submit`; what the call raises is raised here."""
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _process_pool(workers: int) -> ProcessPoolExecutor:
    """Processes of a fork server.

    They end with this process, however it ends, and leave an interrupt from the keyboard to it.
    numpy gets one thread in each of them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when a process first imports numpy
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    _start_fork_server()
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)


_PRELOADED = ["tools.playtest.fork_server", __name__, "tools.playtest.jobs"]


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


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent watch", daemon=True).start()


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
            ExecutorUnavailableError: If Ray is not installed, or none answers at the address.
        """
        self._ray = ray or _import_ray()
        self._ours = not self._ray.is_initialized()
        self._open = True
        self._running: set[Any] = set()
        if self._ours:
            given = {"address": address} if address else {"num_cpus": workers}
            try:
                _require_listening(address or "")
                self._ray.init(include_dashboard=False, log_to_driver=False, **given)
            except OSError as error:  # a ConnectionError, where Ray says it
                raise ExecutorUnavailableError(
                    f"no Ray answers at {address or 'this machine'} ({error}); start one there, or "
                    "leave the address out to start one here"
                ) from error
        self._task = self._ray.remote(_call).options(num_cpus=1, max_retries=0)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401 - as `Executor`
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


def _require_listening(address: str) -> None:
    """Refuse HOST:PORT where nobody listens: Ray would try for ten minutes, then end the process.

    Raises:
        OSError: If nobody does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), _CONNECT_S).close()


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
