"""A soak: thousands of workers, one after the other, and what they leave behind.

Workers end in every way there is: killed by the host, by themselves, by the kernel for a system
call that no module needs, by a deadline; nearly all by the host, as in play. Between batches, when
no worker is alive, the kernel is asked what this process and the ones below it hold.
"""

import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from pydantic import JsonValue

from evals.bench.processes import descendants, held
from games.contract import ModuleFault
from tools.sandbox import Sandbox, Worker

_SOURCE = """
import os
from enum import sys

ctypes = sys.modules["ctypes"]


def add(x, y):
    return [x + y, {"sum": x + y}]


def leave():
    os._exit(3)


def stop():
    while True:
        pass


def crash():
    ctypes.string_at(0)


def trace():
    ctypes.CDLL(None).ptrace(16, 1, 0, 0)
"""
_ODD_ENDING_EVERY = 50
_ODD_ENDINGS = ("leave", "crash", "stop", "trace")
_STOP_S = 0.05
_SETTLE_S = 5.0
_WARMING = 50


@dataclass(frozen=True)
class Amount:
    """How much is done.

    Attributes:
        workers: Workers, one after the other.
        requests: Requests, the same number to each worker.
        moments: How often what is held is looked at.
    """

    workers: int = 10_000
    requests: int = 1_000_000
    moments: int = 20


@dataclass(frozen=True)
class Moment:
    """What is held while no worker is alive.

    Attributes:
        workers: Workers that have come and gone.
        requests: Requests that were answered.
        wrong: Answers that were not what arithmetic demands.
        host_kib: Memory of this process.
        host_blocks: Objects of this process, as its interpreter counts them.
        host_descriptors: Its open files and sockets.
        below: Processes below this one.
        below_kib: Their memory together.
        below_descriptors: Their open files and sockets together.
        zombies: Those of them that ended and nobody has buried.
    """

    workers: int
    requests: int
    wrong: int
    host_kib: int
    host_blocks: int
    host_descriptors: int
    below: int
    below_kib: int
    below_descriptors: int
    zombies: int

    def as_sample(self) -> dict[str, JsonValue]:
        """For an evaluation's samples."""
        return dict(asdict(self))


def soak(sandbox: Sandbox, amount: Amount, tell: Callable[[str], None]) -> list[Moment]:
    """Start, ask and end workers; what was held at the start, then after every batch.

    The first moment is after some workers of warming up, which are not counted.

    Raises:
        UnreadableError: If this user may not know what the processes hold.
        SandboxUnavailableError: If a worker cannot be had.
    """
    each = max(amount.requests // amount.workers, 1)
    batch = max(amount.workers // amount.moments, 1)
    others = len(descendants(os.getpid()))  # before the sandbox has a process
    _Batch(sandbox, 0, each).run(min(batch, _WARMING))
    expected = len(_settled(others)) - others
    moments = [_moment(0, 0, 0, others + expected)]
    wrong = 0
    for first in range(0, amount.workers, batch):
        count = min(batch, amount.workers - first)
        wrong += _Batch(sandbox, first, each).run(count)
        done = first + count
        moments.append(_moment(done, done * each, wrong, others + expected))
        tell(f"{moments[-1].as_sample()}")
    return moments


@dataclass(frozen=True)
class _Batch:
    sandbox: Sandbox
    first: int
    requests: int

    def run(self, count: int) -> int:
        """Have `count` workers come and go; how many answers were wrong."""
        return sum(self._one(self.first + number) for number in range(count))

    def _one(self, number: int) -> int:
        wrong = 0
        with self.sandbox.worker("soak", _SOURCE) as worker:
            worker.load(_SOURCE)
            for x in range(self.requests):
                total = x + number
                wrong += worker.call("add", [x, number]) != [total, {"sum": total}]
            if number % _ODD_ENDING_EVERY == 0:
                way = _ODD_ENDINGS[number // _ODD_ENDING_EVERY % len(_ODD_ENDINGS)]
                wrong += not _ended(worker, way)
        return wrong


def _ended(worker: Worker, way: str) -> bool:
    try:
        worker.call(way, deadline_s=_STOP_S)
    except ModuleFault:
        return True
    return False


def _settled(at_least: int) -> dict[int, str]:
    """The processes below this one, once ended ones are buried, or after a while."""
    deadline = time.monotonic() + _SETTLE_S
    below = descendants(os.getpid())
    while time.monotonic() < deadline:
        time.sleep(0.05)
        before, below = below, descendants(os.getpid())
        if len(below) <= at_least or (below == before and "Z" not in below.values()):
            break
    return below


def _moment(workers: int, requests: int, wrong: int, expected: int) -> Moment:
    below = _settled(expected)
    gc.collect()
    ours, theirs = held(os.getpid()), [held(pid) for pid in below]
    return Moment(
        workers=workers,
        requests=requests,
        wrong=wrong,
        host_kib=ours.resident_kib,
        host_blocks=sys.getallocatedblocks(),
        host_descriptors=ours.descriptors,
        below=len(below),
        below_kib=sum(one.resident_kib for one in theirs),
        below_descriptors=sum(one.descriptors for one in theirs),
        zombies=list(below.values()).count("Z"),
    )
