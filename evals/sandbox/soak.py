"""Eval: do 10,000 workers and 1,000,000 requests leave anything behind?

Workers come and go one after the other. They end in every way there is: killed by the host, by
themselves, by the kernel for a system call that no module needs, by a deadline; nearly all by the
host, as in play. Counts are taken between batches, while no worker is alive, from the kernel's
tables. A process, a zombie, a descriptor or a wrong answer too many is a failure. Memory is
compared from the first tenth on, when allocators have the pools they work with, in whole pages:
what one small object a worker would come to is far above the bound.
"""

import gc
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from evals.bench.timings import UnreadableError, descendants, machine, process_use
from evals.results import EvalError, EvalOptions, EvalResult, Score, Tell, read_data
from games.values import ModuleFault
from tools.sandbox import Sandbox, Worker

_SOURCE: str = read_data("data/sources.yaml")["soak"]
_ODD_ENDING_EVERY = 50
_ODD_ENDINGS = ("leave", "crash", "stop", "trace")
_STOP_S = 0.05
_SETTLE_S = 5.0
_WARMING = 50
_BYTES_A_WORKER = 16
_OBJECTS_A_WORKER = 0.1
_TELLING = 1000  # workers; of fewer, one page of memory is more than a bound


@dataclass(frozen=True)
class SoakAmount:
    """The amount of work.

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
    """Resources that are held while no worker is alive.

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


def run(options: EvalOptions) -> EvalResult:
    """Run the whole soak; the seed plays no part.

    Raises:
        EvalError: If this user may not know what the processes hold.
    """
    amount = SoakAmount(500, 50_000, 10) if options.quick else SoakAmount()
    with Sandbox() as sandbox:
        try:
            moments = soak(sandbox, amount, options.tell)
        except UnreadableError as error:
            raise EvalError(
                f"what the processes hold cannot be read by this user: {error}"
            ) from error
        return EvalResult(
            scores=tuple(scores(moments)),
            samples=tuple(asdict(moment) for moment in moments),
            effective={**machine(), "sandbox": sandbox.grade.model_dump(mode="json")},
        )


def scores(moments: Sequence[Moment]) -> list[Score]:
    """Scores of a soak's moments; the first moment is from before it.

    Raises:
        EvalError: If there are fewer than three.
    """
    if len(moments) < 3:  # noqa: PLR2004 - a slope needs three points
        raise EvalError(f"{len(moments)} moments show no growth; required: at least 3")
    start, last = moments[0], moments[-1]

    def more(name: str, field: str) -> Score:
        most = max(getattr(moment, field) for moment in moments)
        return Score(name, most - getattr(start, field), len(moments) - 1, at_most=0)

    warm = moments[max(1, len(moments) // 10)]
    workers = last.workers - warm.workers

    def growth(name: str, field: str, unit: float, at_most: float) -> Score:
        grown = getattr(last, field) - getattr(warm, field)
        bound = at_most if workers >= _TELLING else None
        return Score(name, grown * unit / workers, workers, at_most=bound)

    return [
        Score("workers", last.workers, len(moments)),
        Score("requests", last.requests, len(moments)),
        Score("wrong answers", last.wrong, last.requests, at_most=0),
        more("processes left behind", "below"),
        more("zombies left behind", "zombies"),
        more("descriptors that the host gained", "host_descriptors"),
        more("descriptors that the sandbox's processes gained", "below_descriptors"),
        growth("bytes that the host grew a worker", "host_kib", 1024, _BYTES_A_WORKER),
        growth("bytes that the zygote grew a worker", "below_kib", 1024, _BYTES_A_WORKER),
        growth("objects that the host gained a worker", "host_blocks", 1, _OBJECTS_A_WORKER),
    ]


def soak(sandbox: Sandbox, amount: SoakAmount, tell: Tell) -> list[Moment]:
    """Start, ask and end workers; what was held at the start, then after every batch.

    The first moment is after some workers of warming up, which are not counted.

    Raises:
        UnreadableError: If this user may not know what the processes hold.
        SandboxUnavailableError: If a worker cannot be had.
    """
    each = max(amount.requests // amount.workers, 1)
    batch = max(amount.workers // amount.moments, 1)
    others = frozenset(descendants(os.getpid()))  # not the sandbox's: it has no process yet
    _wrong_answers(sandbox, range(min(batch, _WARMING)), each)
    expected = len(_settled(others, 0))
    moments = [_moment(0, 0, 0, others, expected)]
    wrong = 0
    for first in range(0, amount.workers, batch):
        done = min(first + batch, amount.workers)
        wrong += _wrong_answers(sandbox, range(first, done), each)
        moments.append(_moment(done, done * each, wrong, others, expected))
        tell(f"{asdict(moments[-1])}")
    return moments


def _wrong_answers(sandbox: Sandbox, numbers: range, requests: int) -> int:
    """Have a worker for each number come and go; how many answers were wrong."""
    wrong = 0
    for number in numbers:
        with sandbox.loaded("soak", _SOURCE) as worker:
            for x in range(requests):
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


def _settled(others: frozenset[int], at_least: int) -> dict[int, str]:
    """The processes below this one but the others, once ended ones are buried, or after a while."""
    deadline = time.monotonic() + _SETTLE_S
    below: dict[int, str] = {}
    while time.monotonic() < deadline:
        time.sleep(0.05)
        found = descendants(os.getpid())
        before, below = below, {pid: found[pid] for pid in found if pid not in others}
        is_quiet = len(below) <= at_least or below == before
        if is_quiet and "Z" not in below.values():
            break
    return below


def _moment(
    workers: int, requests: int, wrong: int, others: frozenset[int], expected: int
) -> Moment:
    below = _settled(others, expected)
    gc.collect()
    sys._clear_type_cache()  # it keeps names, up to one for every address that they ever had
    ours, theirs = process_use(os.getpid()), [process_use(pid) for pid in below]
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
