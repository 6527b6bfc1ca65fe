"""Benchmark: how long until a new sandbox, and a new worker of a running one, gives an answer?

A cold start is a new `Sandbox`, its zygote, its self-test, a worker, its module and one answer. A
warm worker is a fork of a running zygote and its first answer. Both kits are taken in turn. Files
are in the page cache: the first cold start of all is not counted.
"""

import itertools
from collections.abc import Callable
from functools import partial

from pydantic import JsonValue

from evals.bench.timings import Timing, interleaved, seconds
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend

_SOURCES = {"without numpy": "", "with numpy": "import numpy\n"}
_ANSWER = "def answer():\n    return 1\n"


def cold_starts(backend: Backend, rounds: int) -> list[Timing]:
    """Milliseconds of a cold start, with either kit."""
    grades: dict[str, JsonValue] = {}

    def start(kit: str) -> None:
        source = _SOURCES[kit] + _ANSWER
        with Sandbox(backend) as sandbox, sandbox.worker("cold", source) as worker:
            worker.load(source)
            worker.call("answer")
            grades.update(grade=sandbox.grade.name, layers=list(sandbox.grade.layers))

    for kit in _SOURCES:
        start(kit)
    measures = {kit: _milliseconds(partial(start, kit)) for kit in _SOURCES}
    found = interleaved(measures, rounds)
    return [Timing(f"cold start {kit}, ms", values, grades) for kit, values in found.items()]


def warm_workers(sandbox: Sandbox, rounds: int) -> list[Timing]:
    """Milliseconds of a fork and its first answer, with either kit."""
    numbers = itertools.count()

    def start(source: str) -> None:
        with sandbox.worker("warm", source) as worker:
            worker.request("ping", {"number": next(numbers)}, 5)

    for source in _SOURCES.values():
        start(source)
    measures = {kit: _milliseconds(partial(start, source)) for kit, source in _SOURCES.items()}
    conditions: dict[str, JsonValue] = {
        "grade": sandbox.grade.name,
        "layers": list(sandbox.grade.layers),
    }
    found = interleaved(measures, rounds)
    return [Timing(f"warm worker {kit}, ms", values, conditions) for kit, values in found.items()]


def _milliseconds(work: Callable[[], object]) -> Callable[[], float]:
    return lambda: seconds(work) * 1e3
