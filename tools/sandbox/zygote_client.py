"""The host's end of the zygote: start it, ask it for workers, hear how they ended."""

import contextlib
import importlib.util
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from games.values import Json
from tools.guest.faults import DEADLINE, TICK, TICKS
from tools.guest.protocol import Exited, Forked, MessageError, Ready, decoded
from tools.guest.serving import DUMP_SIGNAL
from tools.sandbox.backends import (
    SAME_EVERYWHERE,
    WALL,
    Ending,
    ForgeryError,
    Grade,
    Kit,
    Limits,
    PoolGoneError,
    SandboxUnavailableError,
    ending_of,
)
from tools.sandbox.connection import Connection

_START_S = 60.0
_ANSWER_S = 20.0
_END_S = 5.0
_MESSAGE_BYTES = 1 << 16
_SHOWN_CHARACTERS = 2000
_PROCESS_CLOCK = 2  # CPUCLOCK_SCHED: what the scheduler counts of a whole process
_LONG_S = 1e-3  # of work; to be stopped then costs a hundredth of it
_UNASKED_S = 3e-4  # more than it takes to wait for the next request
_MUCH_UNASKED_S = 0.1  # more than a busy machine's trouble adds to that: 0.04 was seen
_WALL_S = 30.0  # that others may have the processor, however short a request's own time is


class LayerRefusedError(Exception):
    """A layer that was asked for cannot be put in force here.

    Attributes:
        layer: Its name in `Layers`.
    """

    def __init__(self, layer: str, why: str) -> None:
        super().__init__(why)
        self.layer = layer


@dataclass(frozen=True)
class Layers:
    """The layers that a zygote and its workers put in force.

    Attributes:
        namespaces: An empty root, no network and no other process in sight.
        landlock: No file at all, by Landlock, where the kernel has it.
        seccomp: The system call allow-list; and refuse to go on as root.
        seatbelt: macOS's sandbox.
    """

    namespaces: bool = False
    landlock: bool = False
    seccomp: bool = False
    seatbelt: bool = False


class Zygote:
    """One running zygote. Its methods may be called from any thread.

    Attributes:
        told: Its report that it is confined, which holds for its workers.
        grade: How far its workers hold, as the backend that started it says.
    """

    grade: Grade

    def __init__(self, kit: Kit, limits: Limits, layers: Layers) -> None:
        """Start it and wait until it has loaded everything.

        Raises:
            LayerRefusedError: If a layer cannot be put in force.
            SandboxUnavailableError: If it cannot start here, saying why.
        """
        self._lock = threading.Lock()
        self._limits = limits
        paths = import_paths(kit)
        # Stream sockets keep no message boundaries, but one question is out at a time.
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
        ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
        with theirs:
            self._process = _start(theirs.fileno(), paths, ours)
        self._control = ours
        try:
            answer, _ = self._ask(kit.settings(limits) | {"layers": asdict(layers)}, (), _START_S)
        except PoolGoneError as error:
            reason = self._last_words()
            raise SandboxUnavailableError(
                f"the sandbox's process could not start: {error}; it said: {reason}"
            ) from error
        if "refused" in answer:
            self.close()
            raise LayerRefusedError(str(answer["refused"]), str(answer["why"]))
        try:
            self.told = decoded(Ready, answer)
        except MessageError as error:
            self.close()
            raise SandboxUnavailableError(
                f"the sandbox's process started with {answer!r}"
            ) from error

    def fork(self) -> "LocalProcess":
        """A fresh worker.

        Raises:
            SandboxUnavailableError: If the machine has no room for another process.
            PoolGoneError: If the zygote ended.
        """
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise SandboxUnavailableError(
                f"no worker could be started: {error}; close what is open or raise the limit of "
                "open files (ulimit -n)"
            ) from error
        with theirs:
            try:
                answer, handles = self._ask({"fork": True}, (theirs.fileno(),), _ANSWER_S)
            except PoolGoneError:
                ours.close()
                raise
        if "error" in answer:
            ours.close()
            raise SandboxUnavailableError(f"no worker could be started: {answer['error']}")
        connection = Connection(ours, self._limits.frame_bytes)
        pid = decoded(Forked, answer).pid
        return LocalProcess(self, pid, handles[0] if handles else None, connection)

    def exit_status(self, pid: int) -> int | None:
        """The end of a worker: its exit code, minus the signal, or None where unknown.

        Raises:
            PoolGoneError: If the zygote is gone, which takes its workers along.
        """
        answer, _ = self._ask({"status": pid}, (), _ANSWER_S)
        return decoded(Exited, answer).exit

    def kill(self, pid: int) -> None:
        """Have a worker killed where there is no handle to do it with."""
        with contextlib.suppress(PoolGoneError):
            self._ask({"kill": pid}, (), _ANSWER_S)

    def close(self) -> None:
        """Hang up; the zygote ends and takes its workers along."""
        self._control.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _ask(
        self, question: object, descriptors: Sequence[int], seconds: float
    ) -> tuple[dict[str, Json], list[int]]:
        with self._lock:
            try:
                self._control.settimeout(seconds)
                socket.send_fds(self._control, [json.dumps(question).encode()], list(descriptors))
                message, handles, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
            except OSError as error:
                self._hang_up()
                raise PoolGoneError(f"no answer ({error})") from error
            except KeyboardInterrupt:
                self._hang_up()  # its answer, still to come, would be taken for the next one's
                raise
        if not message:
            raise PoolGoneError("it ended")
        for handle in handles:
            os.set_inheritable(handle, False)
        return json.loads(message), list(handles)

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def _last_words(self) -> str:
        self._control.close()
        self._process.kill()
        _, said = self._process.communicate()
        text = said.decode("utf-8", "replace").strip()
        return text[-_SHOWN_CHARACTERS:] or "nothing"


class LocalProcess:
    """A worker that a zygote forked."""

    def __init__(
        self, zygote: Zygote, pid: int, handle: int | None, connection: Connection
    ) -> None:
        self.channel = connection
        self.pid = pid  # in the zygote's own count, not the host's
        self._zygote = zygote
        self._handle = handle
        self._lock = threading.Lock()
        self._killed = False
        self._host_pid = None if handle is None else _pid_of(handle)
        self._spent: float | None = None  # processor seconds at its last answer
        self._stopped = self._distrusted = False

    def resume(self) -> None:
        """See `Process.resume`."""
        if self._stopped:
            self._stopped = False
            self._signal(signal.SIGCONT)
        elif self._spent is not None and (now := self._time()) is not None:
            unasked = now - self._spent  # where it has ended, to speak with it says so
            self._distrusted |= unasked > _UNASKED_S
            if unasked > _MUCH_UNASKED_S:
                raise ForgeryError(f"ran for {unasked:.3g} s that nobody asked for", b"")

    def ring(self, begun: float, seconds: float) -> float:
        """See `Process.ring`.

        Seconds in which the worker could run, but others had the processor, do not count.

        Raises:
            SandboxUnavailableError: If it had so little of the processor that none can tell.
        """
        if self._handle is None:
            return begun + seconds * WALL  # it has a timer of its own
        spent, waited = self._time() or 0.0, 0.0
        for tick in range(1, TICKS + 1):
            due = seconds * tick / TICKS
            while True:
                if self.channel.arrives(begun + due + waited):
                    return time.monotonic()
                missing = due - (self._time() or 0.0) + spent
                if missing < seconds / TICKS or not self._is_kept_waiting():
                    break
                waited += missing
                if waited > max(seconds * WALL, _WALL_S):
                    raise SandboxUnavailableError(
                        f"others kept the processor for {waited:.0f} s from a call that may take "
                        f"{seconds:g} s; try again with less beside it"
                    )
            self._signal(TICK if tick < TICKS else DEADLINE)
        return time.monotonic()

    def rest(self, seconds: float) -> float:
        """See `Process.rest`: stopped after long work; after short work its clock is read.

        To stop it and let it go on costs as much as a short answer.
        """
        before, self._spent = self._spent, self._time()
        if before is not None and self._spent is not None:
            seconds = self._spent - before  # without what it waited for the processor
        if self._distrusted or seconds > _LONG_S:
            self._stopped = True
            self._signal(signal.SIGSTOP)
        return seconds

    def _time(self) -> float | None:
        """Its processor seconds; None where they are not told, or it has ended."""
        if self._host_pid is not None:
            with contextlib.suppress(OSError):
                return time.clock_gettime(~self._host_pid << 3 | _PROCESS_CLOCK)
        return None

    def _is_kept_waiting(self) -> bool:
        """True where it could run, but the processor is with others."""
        with contextlib.suppress(OSError):
            told = Path(f"/proc/{self._host_pid}/stat").read_text()
            return told.rpartition(")")[2].split()[0] == "R"
        return False

    def kill(self) -> None:
        """See `Process.kill`."""
        with self._lock:
            if self._killed:
                return
            self._killed = True
            if self._handle is None:
                self._zygote.kill(self.pid)
                return
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)

    def dump(self) -> None:
        """See `Process.dump`."""
        self._signal(DUMP_SIGNAL)

    def _signal(self, number: int) -> None:
        with self._lock:
            if not self._killed and self._handle is not None:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._handle, number)

    def ending(self, seconds: float) -> Ending:
        """See `Process.ending`."""
        with self._lock:
            if self._killed:
                return Ending("killed", "by the host")
            if self._handle is not None:
                ended = select.poll()
                ended.register(self._handle, select.POLLIN)  # readable once the process ended
                if not ended.poll(seconds * 1000):
                    return Ending("unknown", "hung up")
        return ending_of(self._zygote.exit_status(self.pid))


def _pid_of(handle: int) -> int | None:
    """The number of a process in the host's own count, by a handle on it; None if not told."""
    told = Path(f"/proc/self/fdinfo/{handle}")
    found = re.search(r"^Pid:\t(\d+)$", told.read_text() if told.exists() else "", re.MULTILINE)
    return int(found[1]) if found else None


def _start(descriptor: int, paths: Sequence[str], ours: socket.socket) -> "subprocess.Popen[bytes]":
    # A clean environment: generated code must not inherit the host's keys and paths.
    environment = {"PYTHONPATH": os.pathsep.join(paths), **SAME_EVERYWHERE, "TZ": "UTC"}
    if kernel := os.environ.get("OPENBLAS_CORETYPE"):
        environment["OPENBLAS_CORETYPE"] = kernel  # another kernel rounds otherwise, or crashes
    command = [sys.executable, "-s", "-S", "-P", "-m", "tools.guest.zygote", str(descriptor)]
    try:
        # Popen without preexec_fn execs at once: safe beside threads and open databases.
        return subprocess.Popen(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[descriptor],
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise SandboxUnavailableError(f"cannot start {sys.executable}: {error}") from error


def import_paths(kit: Kit) -> list[str]:
    """The folders that hold the packages a zygote imports, each once."""
    names = ["tools", "games", *(["numpy"] if kit.numpy else []), *kit.preload]
    paths: list[str] = []
    for name in names:
        top = name.partition(".")[0]
        spec = importlib.util.find_spec(top)
        if spec is None or spec.origin is None:
            raise SandboxUnavailableError(f"cannot preload {name!r}: there is no package {top!r}")
        origin = Path(spec.origin)
        folder = origin.parent.parent if spec.submodule_search_locations else origin.parent
        if str(folder) not in paths:
            paths.append(str(folder))
    if kit.is_wide:
        paths += [one for one in sys.path if one not in paths and Path(one).is_dir() and one]
    return paths
