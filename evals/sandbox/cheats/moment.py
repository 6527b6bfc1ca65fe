"""Moment of an answer: one worker answers late, and another one reads a clock when it is asked."""

import ctypes
import datetime
import signal
import time
from collections.abc import Callable

_TICKS = 5  # CLOCK_REALTIME_COARSE: kept in the kernel's pages, twenty milliseconds wide at most
_LONG_S = 1000.0
_library = ctypes.CDLL(None)


def wait(seconds: float) -> None:
    """Use so much processor time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def read() -> dict[str, float | None]:
    """What each clock shows, in seconds; None where it is refused."""
    return {name: _shown(clock) for name, clock in CLOCKS.items()}


def _shown(clock: Callable[[], float]) -> float | None:
    try:
        return clock()
    except OSError:
        return None


def _by_ticks() -> float:
    moment = (ctypes.c_long * 2)()
    _library.clock_gettime(_TICKS, moment)
    return float(moment[0] + moment[1] / 1e9)


def _left_armed() -> float:
    """A timer that no request stops."""
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    if not left:
        signal.setitimer(signal.ITIMER_REAL, _LONG_S)
        return 0.0
    return _LONG_S - left


CLOCKS = {
    "time": time.time,
    "perf_counter": time.perf_counter,
    "datetime": lambda: datetime.datetime.now().timestamp(),  # noqa: DTZ005
    "ticks": _by_ticks,
    "timer": _left_armed,
    "thread's processor time": time.thread_time,
    "processor time": time.process_time,
}
