import os
import subprocess
import sys
from collections.abc import Iterator
from mmap import PAGESIZE, mmap

import pytest

from evals.bench.timings import (
    Timing,
    UnreadableError,
    descendants,
    interleaved,
    machine,
    on_one_processor,
    process_use,
    processor_s,
    proportional_mb,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PARENT = """
import subprocess, sys
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_measures_take_turns_and_every_other_round_is_turned_round() -> None:
    order: list[str] = []

    def note(name: str) -> float:
        order.append(name)
        return float(len(order))

    values = interleaved({"a": lambda: note("a"), "b": lambda: note("b")}, 3)
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert values == {"a": (1.0, 4.0, 5.0), "b": (2.0, 3.0, 6.0)}


def test_a_sample_states_its_conditions_and_its_extremes() -> None:
    sample = Timing("x, ms", (3.0, 1.0, 2.5), {"grade": "strong"}).as_sample()
    assert sample == {
        "measured": "x, ms",
        "grade": "strong",
        "repetitions": 3,
        "min": 1.0,
        "median": 2.5,
        "max": 3.0,
    }


def test_a_timing_without_values_has_no_median() -> None:
    with pytest.raises(ValueError, match="no median"):
        _ = Timing("x, ms", ()).median


def test_figures_say_what_they_were_measured_on() -> None:
    assert machine().keys() == {"kernel", "python", "cores", "load_average"}


@pytest.fixture
def parent() -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", PARENT]
    pipes = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipes, stdout=pipes, text=True) as process:
        yield process
        process.communicate()


def test_descendants_are_children_and_theirs(parent: "subprocess.Popen[str]") -> None:
    assert parent.stdout is not None
    grandchild = int(parent.stdout.readline())
    found = list(descendants(os.getpid()))
    assert found.index(parent.pid) < found.index(grandchild)
    assert list(descendants(parent.pid)) == [grandchild]


def test_an_open_file_is_one_more_descriptor() -> None:
    before = process_use(os.getpid())
    with open(os.devnull):  # noqa: PTH123 - any descriptor will do
        assert process_use(os.getpid()).descriptors == before.descriptors + 1
    assert process_use(os.getpid()).descriptors == before.descriptors


def test_memory_that_is_touched_is_counted() -> None:
    before = proportional_mb(os.getpid())
    with mmap(-1, 30_000_000) as block:  # never memory that was freed and is touched already
        for page in range(0, len(block), PAGESIZE):
            block[page] = 1
        assert 20 < proportional_mb(os.getpid()) - before < 40


def test_work_takes_processor_time() -> None:
    before = processor_s(os.getpid())
    sum(range(3_000_000))
    os.sched_yield()
    assert processor_s(os.getpid()) > before


def test_a_process_that_is_not_there_gives_no_figure() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    for read in (process_use, proportional_mb, processor_s):
        with pytest.raises(UnreadableError):
            read(process.pid)


def test_one_processor_holds_children_and_lets_all_go_again(
    parent: "subprocess.Popen[str]",
) -> None:
    before = os.sched_getaffinity(0)
    with on_one_processor():
        assert os.sched_getaffinity(0) == os.sched_getaffinity(parent.pid) == {max(before)}
    assert os.sched_getaffinity(0) == os.sched_getaffinity(parent.pid) == before
