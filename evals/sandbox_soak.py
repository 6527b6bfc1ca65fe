"""Eval: do 10,000 workers and 1,000,000 requests leave anything behind?

Counts are taken while no worker is alive, from the kernel's tables. A process, a zombie, a
descriptor or a wrong answer too many is a failure. Memory is compared from the first tenth on, when
allocators have the pools they work with, in whole pages: what one small object a worker would come
to is far above the bound.
"""

from collections.abc import Callable, Sequence
from typing import cast

from evals.bench.processes import UnreadableError
from evals.bench.soak import Amount, Moment, soak
from evals.bench.timings import machine
from evals.results import EvalError, EvalResult, Score
from tools.sandbox import Sandbox

_BYTES_A_WORKER = 16
_OBJECTS_A_WORKER = 0.1


def run(seed: int, tell: Callable[[str], None]) -> EvalResult:
    """Run the whole soak; the seed plays no part.

    Raises:
        EvalError: If this user may not know what the processes hold.
    """
    amount = Amount()
    with Sandbox() as sandbox:
        try:
            moments = soak(sandbox, amount, tell)
        except UnreadableError as error:
            raise EvalError(
                f"what the processes hold cannot be read by this user: {error}"
            ) from error
        grade = sandbox.grade
    return EvalResult(
        name="sandbox-soak",
        scores=tuple(scores(moments)),
        samples=tuple(moment.as_sample() for moment in moments),
        effective={"seed": seed, **machine(), "sandbox": grade.model_dump(mode="json")},
    )


def scores(moments: Sequence[Moment]) -> list[Score]:
    """What the moments of a soak come to; the first is from before it.

    Raises:
        EvalError: If there are fewer than three.
    """
    if len(moments) < 3:  # noqa: PLR2004
        raise EvalError(f"{len(moments)} moments show no growth; required: at least 3")
    start, last = moments[0], moments[-1]

    def more(name: str, field: str) -> Score:
        most = max(cast("int", getattr(moment, field)) for moment in moments)
        return Score(
            name=name,
            value=most - cast("int", getattr(start, field)),
            at_most=0,
            scored=len(moments) - 1,
        )

    warm = moments[max(1, len(moments) // 10)]
    workers = last.workers - warm.workers

    def growth(name: str, field: str, unit: float, at_most: float) -> Score:
        grown = cast("int", getattr(last, field)) - cast("int", getattr(warm, field))
        return Score(name=name, value=grown * unit / workers, at_most=at_most, scored=workers)

    return [
        Score(name="workers", value=last.workers, scored=len(moments)),
        Score(name="requests", value=last.requests, scored=len(moments)),
        Score(name="wrong answers", value=last.wrong, at_most=0, scored=last.requests),
        more("processes left behind", "below"),
        more("zombies left behind", "zombies"),
        more("descriptors that the host gained", "host_descriptors"),
        more("descriptors that the sandbox's processes gained", "below_descriptors"),
        growth("bytes that the host grew a worker", "host_kib", 1024, _BYTES_A_WORKER),
        growth("bytes that the zygote grew a worker", "below_kib", 1024, _BYTES_A_WORKER),
        growth("objects that the host gained a worker", "host_blocks", 1, _OBJECTS_A_WORKER),
    ]
