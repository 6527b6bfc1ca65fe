import os
import subprocess
import sys
from collections.abc import Iterator
from mmap import PAGESIZE, mmap

import pytest

from evals.sandbox.processes import (
    UnreadableError,
    descendants,
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
