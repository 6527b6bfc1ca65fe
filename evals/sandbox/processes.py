"""Processes below this one, and what the kernel says that they use (Linux)."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


class UnreadableError(OSError):
    """The kernel does not tell, or not to this user; there is no figure."""


@dataclass(frozen=True)
class ProcessUse:
    """What a process holds.

    Attributes:
        resident_kib: Pages in memory, shared ones included.
        descriptors: Open files and sockets.
    """

    resident_kib: int
    descriptors: int


def stats() -> Iterator[tuple[int, list[str]]]:
    """Each process, and `/proc/PID/stat` from its state on: state, parent, group, session."""
    for entry in _PROC.glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue
        yield int(entry.name), text.rpartition(") ")[2].split()


def descendants(of: int) -> dict[int, str]:
    """Processes below one, parents first: state letter by process id ("Z" for a zombie)."""
    below: dict[int, list[tuple[int, str]]] = {}
    for pid, fields in stats():
        below.setdefault(int(fields[1]), []).append((pid, fields[0]))
    found: dict[int, str] = {}
    waiting = [of]
    while waiting:
        children = below.get(waiting.pop(0), [])
        found.update(children)
        waiting += [pid for pid, _ in children]
    return found


def process_use(pid: int) -> ProcessUse:
    """What a process holds now.

    Raises:
        UnreadableError: If this user may not know.
    """
    try:
        pages = int((_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
        descriptors = len(list((_PROC / str(pid) / "fd").iterdir()))
    except OSError as error:
        raise UnreadableError(str(error)) from error
    return ProcessUse(pages * os.sysconf("SC_PAGE_SIZE") // 1024, descriptors)


def proportional_mb(pid: int) -> float:
    """A process's memory in MB, where a page that n processes share counts one nth (PSS).

    Raises:
        UnreadableError: If this user may not know.
    """
    try:
        text = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    except OSError as error:
        raise UnreadableError(str(error)) from error
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    if len(sizes) != 1:
        raise UnreadableError(f"/proc/{pid}/smaps_rollup holds no Pss")
    return int(sizes[0]) * 1024 / 1e6


def processor_s(pid: int) -> float:
    """Processor seconds that a sleeping process has used, as the scheduler counted them.

    Raises:
        UnreadableError: If the kernel does not count them.
    """
    try:
        text = (_PROC / str(pid) / "schedstat").read_text(encoding="ascii")
    except OSError as error:
        raise UnreadableError(str(error)) from error
    return int(text.split()[0]) / 1e9


@contextlib.contextmanager
def on_one_processor() -> Iterator[None]:
    """Hold this thread, and every process below it, to one and the same processor.

    A question and its answer alternate, so nothing is lost by it; without it the figures tell as
    much of where the scheduler happened to put the two.
    """
    usable = os.sched_getaffinity(0)
    tasks = [0, *descendants(os.getpid())]
    try:
        for task in tasks:
            os.sched_setaffinity(task, {max(usable)})
        yield
    finally:
        for task in [0, *descendants(os.getpid())]:
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(task, usable)
