"""Clocks, put out of a zygote's reach before it forks; what is left counts processor time.

A worker does not run between two requests, so a clock that does not go on then cannot tell how
long another worker took to answer. System calls that tell the time are the filter's to refuse.
Three ways lead around it: the pages in which the kernel keeps the time for the C library, the
processor's counter, and Python's own functions, which take a refused clock for 0.
"""

import ctypes
import datetime
import gc
import logging
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from tools.guest.confine import kernel
from tools.guest.faults import ClockError

_PAGES = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*\[vvar\w*\]$", re.MULTILINE)
_OWN = frozenset({"agents", "games", "tools"})
_TELLING = ("time", "monotonic", "perf_counter", "clock_gettime")
_MOMENTS = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions that take the present for a moment that is not given, and which argument that is."""


def stop_clocks(preloaded: Iterable[str] = ()) -> str:
    """Leave no clock in reach of this process and of those it forks.

    A package of others that is preloaded, such as OpenSpiel's, may need a clock, and ends its
    worker without one. Beside it only our own source runs, so clocks stay in reach there.

    Args:
        preloaded: Names of preloaded packages.

    Returns:
        Why one is left; "" where none is.
    """
    _refuse_in_python()
    others = {name.partition(".")[0] for name in preloaded} - _OWN
    if others:
        return f"{', '.join(sorted(others))} may need one"
    try:
        for start, end in _PAGES.findall(Path("/proc/self/maps").read_text(encoding="utf-8")):
            # With zeros there the C library makes a system call, or has 0 for the time.
            kernel.blank(int(start, 16), int(end, 16) - int(start, 16))
        kernel.trap_counter()
    except OSError as error:
        return str(error)
    return ""


def _refuse_in_python() -> None:
    logging_needs = {"time": lambda: 0.0, "time_ns": lambda: 0, "strftime": time.strftime}
    vars(logging).update(time=SimpleNamespace(**logging_needs), _startTime=0)
    for name in _TELLING:
        for function in (name, f"{name}_ns"):
            setattr(time, function, _refused)
    time.sleep = _refused
    for name, place in _MOMENTS.items():
        setattr(time, name, _of_a_moment(getattr(time, name), place))
    # The class is C's and takes no new attributes; `today` asks `time` by itself.
    methods = next(found for found in gc.get_referents(vars(datetime.datetime)) if "now" in found)
    methods.update(now=classmethod(_refused), utcnow=classmethod(_refused))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


def _refused(*_: object, **__: object) -> NoReturn:
    raise ClockError("read the clock; a game has no clock")


def _of_a_moment(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    def told(*given: Any) -> Any:  # noqa: ANN401 - as the C function
        return function(*given) if given[place:] not in ((), (None,)) else _refused()

    return told
