"""Backends, the places that run workers: a backend starts pools, a pool forks processes."""

import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from pydantic import BaseModel, Field

from games.values import Json
from tools.guest.faults import MESSAGE_CHARACTERS
from tools.guest.serving import OUT_OF_MEMORY_STATUS

Cause: TypeAlias = Literal[
    "unknown", "exited", "killed", "blocked_call", "out_of_memory", "cpu_limit", "crashed"
]

SAME_EVERYWHERE = {
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}
"""Environment of an interpreter that computes the same everywhere."""

LEAST_BYTES = 64 * 2**20
"""The least memory that a worker has beside the interpreter's own share."""
_OWN_SHARE = 192 * 2**20  # address space of an interpreter with all that is preloaded

ALWAYS = ("separate process", "resource limits", "hard kill")
"""Layers that every pool has."""


class SandboxUnavailableError(RuntimeError):
    """The sandbox itself could not start. Never show this as the game's output."""


class PoolGoneError(Exception):
    """The pool's own process no longer answers; start another pool."""


class ForgeryError(Exception):
    """The other side sent bytes that are no single answer to the last request.

    Attributes:
        seen: What it sent, as far as it was read.
    """

    def __init__(self, what: str, seen: bytes) -> None:
        super().__init__(what)
        self.seen = seen


class Limits(BaseModel, frozen=True, extra="forbid"):
    """Bounds of one worker.

    Attributes:
        memory_bytes: Address space, the interpreter's own share (some 150 MiB) included.
        cpu_s: Processor seconds over the worker's life; a backstop behind the deadlines.
        descriptors: Open files and sockets.
        request_bytes: Longest request.
        reply_bytes: Longest reply.
        table_bytes: Memory that what a table is told in one match may take on the host, about.
        output_characters: Printed text kept over the worker's life, for each of the two streams.
        load_s: Seconds that loading a module may take.
        call_s: Seconds that one call may take where the caller names no deadline.
        grace_s: Seconds after a deadline in which the worker may still say which line it was at;
            then it is killed.
    """

    memory_bytes: int = Field(default=2**30, gt=0)
    cpu_s: int = Field(default=3600, gt=0)
    descriptors: int = Field(default=32, ge=8)
    request_bytes: int = Field(default=16 * 2**20, gt=0, lt=2**32)
    reply_bytes: int = Field(default=8 * 2**20, gt=0, lt=2**32)
    table_bytes: int = Field(default=192 * 2**20, gt=0)
    output_characters: int = Field(default=64 * 2**10, ge=0)
    load_s: float = Field(default=5.0, gt=0)
    call_s: float = Field(default=2.0, gt=0)
    grace_s: float = Field(default=1.0, gt=0)

    @property
    def frame_bytes(self) -> int:
        """The longest frame: a refused reply is described in one, a little over the longest."""
        return self.reply_bytes + MESSAGE_CHARACTERS * 4

    def divided(self, together: int) -> "Limits":
        """Limits with which so many workers at once leave the machine some of its free memory."""
        free = free_bytes()
        share = self.memory_bytes if free is None else free // together
        most = _OWN_SHARE + max(LEAST_BYTES, share // LEAST_BYTES * LEAST_BYTES)
        return self.model_copy(update={"memory_bytes": min(self.memory_bytes, most)})


def free_bytes(system: Path = Path("/")) -> int | None:
    """Memory that the workers of a command may have together; None where the system tells none.

    It is of what is free in the machine, and in each control group (cgroup v2) around this process.
    """
    found: list[int] = []
    with suppress(OSError, ValueError, StopIteration):
        lines = (system / "proc/meminfo").read_bytes().splitlines()
        told = next(line for line in lines if line.startswith(b"MemAvailable:"))
        found.append(int(told.split()[1]) * 1024)
    with suppress(OSError, ValueError, StopIteration):
        groups = (system / "proc/self/cgroup").read_text().splitlines()
        own = Path(next(line for line in groups if line.startswith("0::"))[len("0::/") :])
        for group in (own, *own.parents):
            found += _left_in(system / "sys/fs/cgroup" / group)
    return max(0, min(found)) // 4 * 3 if found else None


def _left_in(group: Path) -> list[int]:
    """Bytes that a control group has left; what it keeps of files it can give back."""
    with suppress(OSError, ValueError, KeyError):  # "max" is no number: no bound
        most, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return [most - used + int(stat["inactive_file"])]
    return []


class Grade(BaseModel, frozen=True, extra="forbid"):
    """The strength of a sandbox against hostile code; stored in every result.

    Attributes:
        name: "strong": the kernel, which is the host's own, keeps the code from everything but its
            memory and processor time. "medium": a layer is missing, or its working is somebody
            else's word. "none": nothing keeps the code from the host's files and network.
        backend: Where the workers run.
        layers: What is in force, outermost first.
        reason: Why the grade is no better.
    """

    name: Literal["none", "medium", "strong"]
    backend: str
    layers: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Kit:
    """The packages a pool's processes hold before any module is loaded into them.

    Attributes:
        preload: Trusted packages, by name; each may offer `OPERATIONS`.
        numpy: Whether numpy is loaded.
        is_wide: Whether they import from every folder from which this process does.
    """

    preload: tuple[str, ...] = ()
    numpy: bool = False
    is_wide: bool = False

    def settings(self, limits: Limits) -> dict[str, Json]:
        """The first message to a pool's own process."""
        return {"preload": list(self.preload), "numpy": self.numpy, "limits": limits.model_dump()}


@dataclass(frozen=True)
class Ending:
    """The end of a worker's process, by whoever reaped it and not by its own word.

    Attributes:
        cause: "unknown" where it cannot be told; "blocked_call" where the kernel ended it for a
            system call that no module needs.
        detail: For people: the signal's name or the exit code.
    """

    cause: Cause
    detail: str = ""


_CAUSES: dict[int, Cause] = {
    signal.SIGKILL: "killed",
    signal.SIGTERM: "killed",
    signal.SIGXCPU: "cpu_limit",
    signal.SIGSYS: "blocked_call",
}


def ending_of(status: int | None) -> Ending:
    """The ending behind an exit code, which is minus the signal where one ended the process.

    >>> ending_of(-11)
    Ending(cause='crashed', detail='SIGSEGV')
    """
    if status is None:
        return Ending("unknown", "hung up")
    if status == OUT_OF_MEMORY_STATUS:
        return Ending("out_of_memory", "no memory was left")
    if status < 0:
        number = signal.Signals(-status)
        return Ending(_CAUSES.get(number, "crashed"), number.name)
    return Ending("exited", f"exit code {status}")


class Channel(Protocol):
    """Whole frames to and from one process; deadlines are absolute `time.monotonic()` seconds."""

    def send(self, body: bytes, deadline: float) -> None:
        """Send one frame.

        Raises:
            ForgeryError: If bytes are waiting that no request asked for.
            TimeoutError: If the other side has not read it before `deadline`.
            OSError: If the other side is gone.
        """

    def receive(self, deadline: float) -> bytes:
        """The body of the next frame, which must be all that was sent.

        Raises:
            ForgeryError: If the frame is too long, or more bytes follow it.
            TimeoutError: If it is not complete before `deadline`.
            OSError: If the other side is gone.
        """

    def rest(self, seconds: float) -> bytes:
        """Whatever still arrives, the first of it within `seconds`; never raises."""

    def close(self) -> None:
        """Hang up, and wake a thread that waits in `receive`."""


WALL = 10  # times its processor seconds that a request may last


class Process(Protocol):
    """One fresh process that waits for a module."""

    @property
    def channel(self) -> Channel:
        """The way to speak with it."""

    def kill(self) -> None:
        """End it at once; safe to call twice, and from another thread."""

    def resume(self) -> None:
        """Let it run, for the next request.

        Raises:
            ForgeryError: If it ran for long although nothing was asked of it.
        """

    def ring(self, begun: float, seconds: float) -> float:
        """Wait for its answer; ring its alarm from `begun` (monotonic) on until `seconds` later.

        May wait for nothing, where a worker has a timer of its own.

        Returns:
            When its answer is due (monotonic): a worker whose timer counts processor seconds has
            `WALL` times as many seconds of the clock.
        """

    def rest(self, seconds: float) -> float:
        """It has answered, after so many seconds: it is to run no more; may do nothing.

        Returns:
            The seconds of the processor that its answer took, or else these.
        """

    def dump(self) -> None:
        """Ask for the line it is at, which arrives on the channel; may do nothing."""

    def ending(self, seconds: float) -> Ending:
        """Its ending, after a wait of up to `seconds`.

        Raises:
            PoolGoneError: If whoever reaped it is gone.
        """


class Pool(Protocol):
    """Forks processes of one kit."""

    @property
    def grade(self) -> Grade:
        """The layers in force for its processes; tried out when the pool started."""

    def fork(self) -> Process:
        """A fresh process.

        Raises:
            SandboxUnavailableError: If there is no room for another process.
            PoolGoneError: If the pool's own process ended.
        """

    def close(self) -> None:
        """End the pool and all of its processes."""


class Backend(Protocol):
    """A place where workers can run."""

    @property
    def name(self) -> str:
        """The name by which people choose it."""

    def start(self, kit: Kit, limits: Limits) -> Pool:
        """Start a pool and try out that it holds.

        Raises:
            SandboxUnavailableError: If it cannot run here or does not hold, and the ways out.
        """
