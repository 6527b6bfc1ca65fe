"""Repeated measurements with what they were made under, and what processes use (Linux)."""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeVar

from pydantic import JsonValue

from evals.results import Row

Key = TypeVar("Key")
_PROC = Path("/proc")


@dataclass(frozen=True)
class Timing:
    """One quantity, measured again and again under the same conditions.

    Attributes:
        name: What was measured, with its unit.
        values: One a repetition, in order.
        conditions: What it was measured under: grade, payload, kit and the like.
    """

    name: str
    values: tuple[float, ...]
    conditions: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The median; other processes only ever add time, but not to most repetitions."""
        return median(self.values)

    def as_sample(self) -> Row:
        """For an evaluation's samples."""
        return {
            "measured": self.name,
            **self.conditions,
            "repetitions": len(self.values),
            "min": round(min(self.values), 3),
            "median": round(self.median, 3),
            "max": round(max(self.values), 3),
        }

    def as_text(self) -> str:
        """For a terminal."""
        low, high = min(self.values), max(self.values)
        return f"{self.name}: median {self.median:.2f} of {len(self.values)} ({low:.2f}-{high:.2f})"


def interleaved(
    measures: Mapping[Key, Callable[[], float | list[float]]], rounds: int
) -> dict[Key, tuple[float, ...]]:
    """Values of several measures, taken in turn so that all meet the same moments of a machine.

    Every other round takes them in reverse order. A measure gives one value or several a round.
    """
    values: dict[Key, list[float]] = {key: [] for key in measures}
    for number in range(rounds):
        for key in list(measures)[:: -1 if number % 2 else 1]:
            found = measures[key]()
            values[key] += found if isinstance(found, list) else [found]
    return {key: tuple(taken) for key, taken in values.items()}


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one piece of work."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def machine() -> Row:
    """The machine that the figures were measured on."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": usable,
        "load_average": list(os.getloadavg()),
    }


class UnreadableError(OSError):
    """The kernel does not tell, or not to this user; there is no figure."""


@dataclass(frozen=True)
class ProcessUse:
    """Resources that a process holds.

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


@contextlib.contextmanager
def _told_by_kernel() -> Iterator[None]:
    """Says of what cannot be read that it is not told."""
    try:
        yield
    except OSError as error:
        raise UnreadableError(str(error)) from error


def process_use(pid: int) -> ProcessUse:
    """Resources that a process holds now.

    Raises:
        UnreadableError: If this user may not know.
    """
    with _told_by_kernel():
        pages = int((_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1])
        descriptors = len(list((_PROC / str(pid) / "fd").iterdir()))
    return ProcessUse(pages * os.sysconf("SC_PAGE_SIZE") // 1024, descriptors)


def proportional_mb(pid: int) -> float:
    """A process's memory in MB, where a page that n processes share counts one nth (PSS).

    Raises:
        UnreadableError: If this user may not know.
    """
    with _told_by_kernel():
        text = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    if len(sizes) != 1:
        raise UnreadableError(f"/proc/{pid}/smaps_rollup holds no Pss")
    return int(sizes[0]) * 1024 / 1e6


def processor_s(pid: int) -> float:
    """Processor seconds that a sleeping process has used, as the scheduler counted them.

    Raises:
        UnreadableError: If the kernel does not count them.
    """
    with _told_by_kernel():
        return int((_PROC / str(pid) / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9


@contextlib.contextmanager
def on_one_processor() -> Iterator[None]:
    """Hold this thread, and every process below it, to one and the same processor.

    A question and its answer alternate, so nothing is lost by it; without it the figures tell as
    much of where the scheduler happened to put the two.
    """
    usable = os.sched_getaffinity(0)
    try:
        _hold({max(usable)})
        yield
    finally:
        _hold(usable)


def _hold(processors: set[int]) -> None:
    for task in [0, *descendants(os.getpid())]:
        with contextlib.suppress(ProcessLookupError):  # it ended since it was listed
            os.sched_setaffinity(task, processors)
