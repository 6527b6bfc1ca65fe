"""Others on the host's machine: a process that keeps a secret, a shared segment."""

import ctypes
import json
import os
import subprocess
import sys
import types
from typing import IO, Self, cast

from games.contract import Json

NOBODY = 65534
_REMOVE, _CREATE = 0, 0o1000
_PROCESS = """
import ctypes, json, os, resource, signal, sys
libc = ctypes.CDLL(None)
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
libc.prctl(4, 1, 0, 0, 0)  # leaving root had made it undumpable, hence untraceable
libc.prctl(0x59616D61, -1, 0, 0, 0)  # whoever may trace at all, may trace this one
count = 0
def hear(number, frame):
    global count
    count += 1
for number in (signal.SIGUSR1, signal.SIGIO, signal.SIGTERM):
    signal.signal(number, hear)
secret = ctypes.create_string_buffer(os.environ["SECRET"].encode(), 64)
reading, writing = os.pipe()
def facts():
    return [sorted(os.sched_getaffinity(0)), os.nice(0), os.getpgid(0),
            os.sched_getscheduler(0), resource.getrlimit(resource.RLIMIT_CORE),
            bytes(secret).hex(), count]
print(json.dumps({"address": ctypes.addressof(secret), "descriptor": reading}), flush=True)
for line in sys.stdin:
    print(json.dumps(facts()), flush=True)
"""


class Bystander:
    """A process of the least privileged user, which any unconfined process may do things to."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", f"NOBODY = {NOBODY}\n{_PROCESS}"],
            env={"SECRET": os.urandom(16).hex()},
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        told = json.loads(cast("IO[bytes]", self._process.stdout).readline())
        self.known: dict[str, Json] = {"pid": self._process.pid, **told}
        self._before = self._facts()

    def harm(self) -> str:
        """What was done to it; "" for nothing."""
        try:
            after = self._facts()
        except (OSError, ValueError):
            return f"the bystander ended with {self._process.wait()}"
        return "" if after == self._before else f"the bystander changed: {self._before} to {after}"

    def _facts(self) -> list[Json]:
        asked = cast("IO[bytes]", self._process.stdin)
        asked.write(b"facts\n")
        asked.flush()
        return cast("list[Json]", json.loads(cast("IO[bytes]", self._process.stdout).readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()


class Segment:
    """A segment of shared memory that everybody on the machine may read.

    Attributes:
        key: The key that programs agree on.
        number: The kernel's number for it.
    """

    def __init__(self, key: int) -> None:
        self.key = key
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmat.restype = ctypes.c_void_p
        self.number = int(self._libc.shmget(key, 4096, _CREATE | 0o666))
        if self.number < 0:
            raise OSError(ctypes.get_errno(), "this machine gives no shared segment")
        self._address = self._libc.shmat(self.number, None, 0)
        ctypes.memmove(self._address, os.urandom(16), 16)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self._libc.shmdt(ctypes.c_void_p(self._address))
        self._libc.shmctl(self.number, _REMOVE, None)


def left_in_kernel(key: int) -> list[str]:
    """What stands under a key in the kernel's tables; it is removed."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    if (segment := libc.shmget(key, 0, 0)) >= 0:
        libc.shmctl(segment, _REMOVE, None)
        found.append("a shared segment")
    if (semaphores := libc.semget(key, 0, 0)) >= 0:
        libc.semctl(semaphores, 0, _REMOVE)
        found.append("semaphores")
    if (queue := libc.msgget(key, 0)) >= 0:
        libc.msgctl(queue, _REMOVE, None)
        found.append("a message queue")
    return found
