"""Repeated measurements with what they were made under."""

import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

from pydantic import JsonValue

from evals.results import Row

Key = TypeVar("Key")


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
        """What is reported: other processes only ever add time, but not to most repetitions."""
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
    """What the figures were measured on."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": usable,
        "load_average": list(os.getloadavg()),
    }
