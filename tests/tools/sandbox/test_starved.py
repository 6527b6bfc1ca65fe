"""A call's seconds are processor seconds: who is kept from the processor is not late."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from games.values import ModuleFault
from tools.sandbox import Sandbox
from tools.sandbox.backends import SandboxUnavailableError

_OTHERS = 20
_MODULE = """
def adds(number):
    total = 0
    for one in range(number):
        total += one
    return total

def ends_never():
    while True:
        pass
"""


@pytest.fixture(scope="module")
def crowded() -> Iterator[Sandbox]:
    """A sandbox on one processor, which twenty busy processes share with it."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system cannot hold processes to one processor")
    usual = os.sched_getaffinity(0)
    with contextlib.ExitStack() as stack:
        os.sched_setaffinity(0, {min(usual)})
        stack.callback(os.sched_setaffinity, 0, usual)
        sandbox = stack.enter_context(Sandbox())
        with sandbox.worker("warm", _MODULE) as worker:
            worker.load(_MODULE)
        for _ in range(_OTHERS):
            # Each in a session of its own: some kernels share the processor among sessions.
            command = [sys.executable, "-S", "-c", "while True: pass"]
            busy = subprocess.Popen(command, start_new_session=True)
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        os.sched_setaffinity(0, usual)
        yield sandbox


def test_a_loop_without_end_is_late_where_it_has_the_processor() -> None:
    with Sandbox() as sandbox, sandbox.worker("referee", _MODULE) as worker:
        worker.load(_MODULE)
        with pytest.raises(ModuleFault, match="timed_out"):
            worker.call("ends_never", [], deadline_s=0.1)


def test_a_call_is_not_late_while_others_have_the_processor(crowded: Sandbox) -> None:
    """A fifth of a second of work takes twenty times as long here; the call may take one."""
    with crowded.worker("referee", _MODULE) as worker:
        worker.load(_MODULE)
        number = 3_000_000
        assert worker.call("adds", [number], deadline_s=1.0) == number * (number - 1) // 2


def test_what_a_worker_spent_leaves_out_what_others_had(crowded: Sandbox) -> None:
    """One of twenty-one on a processor has far less than a third of it."""
    with crowded.worker("referee", _MODULE) as worker:
        worker.load(_MODULE)
        before, begun = worker.spent, time.monotonic()
        worker.call("adds", [1_000_000], deadline_s=1.0)
        assert 0 < worker.spent - before < (time.monotonic() - begun) / 3


def test_a_worker_that_got_nearly_nothing_is_not_blamed(
    crowded: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.sandbox.zygote_client._WALL_S", 0.0)
    with crowded.worker("referee", _MODULE) as worker:
        worker.load(_MODULE)
        with pytest.raises(SandboxUnavailableError, match=r"others kept the processor .* 0.1 s"):
            worker.call("ends_never", [], deadline_s=0.1)
