"""Faults inside a worker, as plain data for the host; and the alarm of a request.

A worker has no clock. Its host rings by a signal; where none can be sent, the worker's own timer
does, which counts processor time.
"""

import signal
import types
from collections.abc import Callable
from traceback import walk_tb

from games.values import IllegalActionError, Json, ModuleFault

MODULE_FILE = "<game>"
MESSAGE_CHARACTERS = 2000
_CHAIN = 10

ILLEGAL_ACTION = "illegal_action"
UNKNOWN_OPERATION = "unknown_operation"
INTERNAL = "internal"
TICKS = 32  # times that it rings in a request, the last time at the deadline
TICK, DEADLINE = signal.SIGPROF, signal.SIGALRM


class SoftTimeoutError(BaseException):
    """The soft alarm rang; a BaseException so that `except Exception` does not swallow it."""


class ClockError(PermissionError):
    """The module read a clock, and there is none in its worker."""


class UnknownOperationError(Exception):
    """The host asked for an operation that this worker does not have."""


def describe(error: BaseException, function: str, *, own_code: bool = False) -> dict[str, Json]:
    """An error as `{"kind", "function", "line", "message"}`.

    Args:
        error: What was raised.
        function: The contract function that was being called, or "module" while loading.
        own_code: Whether the operation is a preloaded package's: then an error that no line of the
            module took part in is "internal", ours and not the module's.
    """
    origin = error
    wrapped = isinstance(error, ModuleFault | IllegalActionError)
    if wrapped and error.__cause__ is not None:
        origin = error.__cause__
    line = _module_line(origin)
    if isinstance(error, ModuleFault):
        line = line or error.line
        function = error.function
    return {
        "kind": _kind(error, origin, function, internal=own_code and line is None),
        "function": function,
        "line": line,
        "message": _message(error, origin),
    }


def _kind(error: BaseException, origin: BaseException, function: str, *, internal: bool) -> str:
    if isinstance(origin, SoftTimeoutError):
        return "timed_out"
    if isinstance(origin, MemoryError):
        return "out_of_memory"
    if isinstance(error, ModuleFault):
        return error.kind
    if isinstance(error, IllegalActionError):
        return ILLEGAL_ACTION
    if isinstance(error, UnknownOperationError):
        return UNKNOWN_OPERATION
    if internal:
        return INTERNAL
    return "unreadable" if function == "module" else "raised"


def _message(error: BaseException, origin: BaseException) -> str:
    if isinstance(origin, MemoryError):
        return "needed more memory than a worker may have"
    if isinstance(error, ModuleFault):
        text = error.message
    else:
        try:
            text = str(error)
        except Exception as failure:  # noqa: BLE001 - the exception class is the module's own code
            text = f"[its message cannot be shown: {type(failure).__name__}]"
        if not isinstance(error, IllegalActionError | UnknownOperationError | SoftTimeoutError):
            text = f"{type(error).__name__}: {text}"
    return text[:MESSAGE_CHARACTERS].encode("utf-8", "replace").decode()


def _module_line(error: BaseException | None) -> int | None:
    """The innermost line of the module that the error, or one it came out of, passed through."""
    for _ in range(_CHAIN):
        if error is None:
            return None
        steps = walk_tb(error.__traceback__)
        if lines := [line for at, line in steps if at.f_code.co_filename == MODULE_FILE]:
            return lines[-1]
        error = error.__context__
    return None


class Alarm:
    """The one alarm of a worker; between two requests nobody hears it.

    Attributes:
        seconds: That the request may take; 0 where there is none.
        rung: Times that it rang in this request; `TICKS` at the deadline.
        listener: Is given the frame that was interrupted, instead of `SoftTimeoutError` at the
            deadline.
    """

    def __init__(self) -> None:
        """Be silent."""
        self.seconds = 0.0
        self.rung = 0
        self.listener: Callable[[types.FrameType | None], None] | None = None
        self._has_timer = False

    def listen(self, *, has_timer: bool) -> None:
        """Hear the signals from now on; with a timer of its own, where the host sends none."""
        self._has_timer = has_timer
        for number in (TICK, DEADLINE):
            signal.signal(number, self._ring)

    def begin(self, seconds: float) -> None:
        """A request may take so long."""
        self.rung, self.seconds = 0, seconds
        if self._has_timer:
            signal.setitimer(signal.ITIMER_PROF, seconds / TICKS, seconds / TICKS)

    def end(self) -> None:
        """The request is over."""
        self.seconds, self.listener = 0.0, None
        if self._has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _ring(self, number: int, frame: types.FrameType | None) -> None:
        if not self.seconds or self.rung == TICKS:
            return
        self.rung = TICKS if number == DEADLINE else min(self.rung + 1, TICKS)
        if self.listener is not None:
            self.listener(frame)
        elif self.rung == TICKS:
            raise SoftTimeoutError


ALARM = Alarm()
