"""Benchmark: how much memory does a worker take?

PSS, from `/proc/PID/smaps_rollup`: a page that n processes share counts one nth. The worker stands
alone beside its zygote, which is its dearest case, holds a game and has answered a call. A kernel
that shows this to root alone gives no figure to anybody else.
"""

from evals.bench.processes import UnreadableError, proportional_mb
from evals.bench.sandbox_calls import conditions_of
from evals.bench.sandbox_processor import new_worker
from evals.bench.timings import Timing, Unmeasured
from games import library
from tools.sandbox import Sandbox

_KITS = {"without numpy": "", "with numpy": "import numpy\n"}


def worker_memory(sandbox: Sandbox, repeats: int) -> tuple[list[Timing], list[Unmeasured]]:
    """PSS in MB of a worker of either kit."""
    timings, unmeasured = [], []
    for kit, extra in _KITS.items():
        name = f"worker PSS {kit}, MB"
        source = library.source("tic_tac_toe") + extra
        sandbox.worker("before", source).kill()
        try:
            values = tuple(_one(sandbox, source) for _ in range(repeats))
        except UnreadableError as error:
            unmeasured.append(Unmeasured(name, f"the kernel does not tell this user: {error}"))
            continue
        timings.append(Timing(name, values, conditions_of(sandbox)))
    return timings, unmeasured


def _one(sandbox: Sandbox, source: str) -> float:
    worker, pid = new_worker(sandbox, source)
    with worker:
        worker.call("initial_state", [2])
        return proportional_mb(pid)
