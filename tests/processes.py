"""Processes that tests start, watch and wait for."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 240.0  # as long as a busy machine may take; a test that hangs ends by then


def parent_of(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def children(of: int) -> list[int]:
    pids = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [int(pid) for pid in pids if parent_of(pid) == of]


def descendants(of: int) -> list[int]:
    found = children(of)
    return found + [pid for child in found for pid in descendants(child)]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
