"""Attempts to get out that a new pool makes in a throw-away worker: each must fail."""

import ctypes
import mmap
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import clock_gettime

from games.values import Json
from tools.guest.confine.kernel import call

TELL_TIME = "tell the time"
_PRIVATE_ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_PAGE = 4096
_PTRACE = {"x86_64": 101, "aarch64": 117}
_CLOCKS = (0, 1, 4, 5, 6, 7, 11)  # linux/time.h: all but the two of processor time and alarms


def canaries(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Try what no worker may do; returns the names of what succeeded."""
    del namespace, payload
    return [name for name, attempt in _ATTEMPTS.items() if _succeeds(attempt)]


def trip(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Make one call that must end the process: trace another one.

    Args:
        namespace: Unused.
        payload: `machine`, the architecture.

    Returns:
        "alive", where the process was not ended.
    """
    del namespace
    _succeeds(lambda: call(_PTRACE[str(payload["machine"])], 0, 0, 0, 0))
    return "alive"


OPERATIONS = {"canaries": canaries, "trip": trip}


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
    os.wait()


def _tell_the_time() -> None:
    for clock in _CLOCKS:
        with suppress(OSError):
            if clock_gettime(clock):
                return
    raise OSError("no clock tells the time")


def _executable_memory() -> None:
    with mmap.mmap(-1, _PAGE, _PRIVATE_ANONYMOUS, mmap.PROT_WRITE | mmap.PROT_EXEC):
        pass


def _make_executable() -> None:
    with mmap.mmap(-1, _PAGE, _PRIVATE_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
        address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(ctypes.c_void_p(address), _PAGE, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")


_ATTEMPTS: dict[str, Callable[[], object]] = {
    "list the root folder": lambda: os.listdir("/"),  # noqa: PTH208 - the bare call
    "open a file": lambda: os.open("/", os.O_RDONLY),
    "create a file": lambda: Path("/tmp/canary").touch(),  # the canary must fail to create it
    "stat a file": lambda: os.stat("/"),  # noqa: PTH116 - the bare call
    "open a TCP socket": lambda: socket.socket(socket.AF_INET).close(),
    "open a UNIX socket": lambda: socket.socket(socket.AF_UNIX).close(),
    "make a pipe": os.pipe,
    "fork": _fork,
    "signal the parent": lambda: os.kill(os.getppid(), signal.SIGCONT),
    "signal itself": lambda: os.kill(os.getpid(), signal.SIGCONT),
    "map executable memory": _executable_memory,
    "make memory executable": _make_executable,
    TELL_TIME: _tell_the_time,
}

CANARIES = tuple(_ATTEMPTS)
