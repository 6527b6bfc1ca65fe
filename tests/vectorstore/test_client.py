"""One owner at a time, across processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vectorstore.client import owner_lock
from vectorstore.settings import StoreError, StoreLockedError

ROOT = Path(__file__).parents[2]
HOLD = """
import sys, time
from pathlib import Path
from vectorstore.client import owner_lock
lock = owner_lock(Path(sys.argv[1]), wait_s=0, tell=print)
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextmanager
def owner(path: Path, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock for so long, or until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_second_process_is_told_who_holds_the_store(tmp_path: Path) -> None:
    told: list[str] = []
    with owner(tmp_path / "lock", 60) as other:
        with pytest.raises(StoreLockedError) as caught:
            owner_lock(tmp_path / "lock", wait_s=0.3, tell=told.append)
        assert f"in use by process {other.pid} on " in str(caught.value)
        assert "wait for it to end" in str(caught.value)
        assert len(told) == 1
        assert f"process {other.pid}" in told[0]


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    told: list[str] = []
    with owner(tmp_path / "lock", 0.5):
        lock = owner_lock(tmp_path / "lock", wait_s=30, tell=told.append)
    lock.close()
    assert len(told) == 1


def test_a_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    with owner(tmp_path / "lock", 60) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        started = time.monotonic()
        owner_lock(tmp_path / "lock", wait_s=5, tell=pytest.fail).close()
        assert time.monotonic() - started < 5


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        lock = owner_lock(tmp_path / "lock", wait_s=0, tell=pytest.fail)
        with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
            owner_lock(tmp_path / "lock", wait_s=0, tell=pytest.fail)
        lock.close()
        lock.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write .*choose a folder"):
        owner_lock(tmp_path / "file" / "lock", wait_s=0, tell=pytest.fail)
