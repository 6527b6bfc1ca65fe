"""Time limits of a decision: whose failing it is where one runs out of time.

A worker's alarm rings once, at the deadline of a request. A `Watch` has it ring on the way there
too, and notes each time which call of the module is going on. A call that was seen at `LONG` of
them and has not returned at the deadline hangs: the module's failing. Where many calls took the
time, each of them short, the search was given more to do than fits its deadline.
"""

import signal
import types
from collections.abc import Callable
from threading import current_thread, main_thread
from time import monotonic
from typing import Self

from agents.belief.module import DeadlineError, HungError
from games.contract import ModuleFault
from tools.guest.faults import MODULE_FILE

SHARE = 4  # a resampler's call may take the time left over this
MOST = 0.5  # of a decision's time that such calls may take together
TICKS = 32  # times that the alarm rings in a decision
LONG = 4  # rings at which a call that hangs has been seen before the last one


class LateError(Exception):
    """The decision ran out of time, and no one call of the module took it."""


class Watch:
    """Watches over one decision; a context manager.

    Where no alarm is set there is nothing to watch: calls may then take for ever.

    Raises:
        ModuleFault: With kind "timed_out" on leaving it, if a call of the module hung.
        LateError: On leaving it, if the time ran out without one.
    """

    def __init__(self) -> None:
        """Begin at the time that the alarm has left."""
        alone = current_thread() is main_thread()  # no other thread can have an alarm
        self.seconds = signal.getitimer(signal.ITIMER_REAL)[0] if alone else 0.0
        self.deadline = self.until = monotonic() + self.seconds
        self.call: types.FrameType | None = None  # the module's call that went on at the last ring
        self.seen = 0  # rings at which it went on
        self.resampling = 0.0  # seconds that the module's resampler took

    def patient(self, call: Callable[[], object]) -> object:
        """Make a call of the module's resampler within a share of the time left.

        Raises:
            HungError: If the call did not return in time, or those before it took `MOST` of all
                the time already.
        """
        if not self.seconds:
            return call()
        now = monotonic()
        share = (self.deadline - now) / SHARE
        if self.resampling > self.seconds * MOST:
            raise HungError(
                f"such calls have taken {self.resampling:.3g} s of {self.seconds:.3g} s"
            )
        self.until = now + share
        try:
            return call()
        except DeadlineError as error:
            raise HungError(f"the call did not return within {share:.3g} s") from error
        finally:
            self.until = self.deadline
            self.resampling += monotonic() - now

    @property
    def hangs(self) -> bool:
        """Whether the module's call that went on at the last ring had gone on for long."""
        return self.call is not None and self.seen > LONG

    def end(self) -> None:
        """Let the alarm ring no more."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def __enter__(self) -> Self:
        """Have the alarm ring often."""
        if self.seconds:
            self._before = signal.signal(signal.SIGALRM, self._ring)
            tick = self.seconds / TICKS
            signal.setitimer(signal.ITIMER_REAL, tick, tick)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        """Set the alarm back, and say whose time it was that ran out."""
        if self.seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)  # not by `end`: `_ring` knows this frame alone
            signal.signal(signal.SIGALRM, self._before)
            left = self.deadline - monotonic()
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, left)
        call, hangs, self.call = self.call, self.hangs, None
        if isinstance(error, DeadlineError) and self.seconds:
            if hangs and call is not None:
                raise ModuleFault(
                    "timed_out",
                    call.f_code.co_name,
                    f"one call did not return in {self.seen * self.seconds / TICKS:.3g} s of the "
                    f"{self.seconds:.3g} s that the decision had",
                ) from error
            raise LateError(f"no decision within {self.seconds:.3g} s") from error

    def _ring(self, number: int, frame: types.FrameType | None) -> None:
        del number
        if frame is not None and frame.f_code is Watch.__exit__.__code__:
            return  # the decision is ending already, and says so itself
        going_on = _outermost(frame)
        self.seen = self.seen + 1 if going_on is self.call else 1
        self.call = going_on
        if monotonic() >= self.until - self.seconds / TICKS / 4:
            raise DeadlineError


def _outermost(frame: types.FrameType | None) -> types.FrameType | None:
    """The module's frame that ours called; None where our own code is at work."""
    found = None
    while frame is not None:
        if frame.f_code.co_filename == MODULE_FILE:
            found = frame
        frame = frame.f_back
    return found
