"""Alarm of a request: it rings often on the way to the deadline, and at it.

A worker has no clock. Its host rings by a signal; where none can be sent, the worker's own timer
does, which counts processor time.
"""

import signal
import types
from collections.abc import Callable

from tools.guest.faults import SoftTimeoutError

TICKS = 32  # times that it rings in a request, the last time at the deadline
TICK, DEADLINE = signal.SIGPROF, signal.SIGALRM


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
