"""Time limits of a decision: whose failing it is where one runs out of time.

A worker's alarm rings on the way to the deadline of a request. A `Watch` notes each time which call
of the module is going on. A call that was seen at `LONG` of them and has not returned at the
deadline hangs: the module's failing. Where many calls took the time, each of them short, the search
was given more to do than fits its deadline.
"""

import types
from collections.abc import Callable
from typing import Self

from agents.belief.module import DeadlineError, HungError
from games.contract import ModuleFault
from tools.guest.faults import ALARM, MODULE_FILE, TICKS

SHARE = 4  # a resampler's call may take the time left over this
MOST = 0.5  # of a decision's time that such calls may take together
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
        """Begin with the time that the alarm is set to."""
        self.seconds = ALARM.seconds
        self.until = TICKS  # rings, after which the time of what goes on is up
        self.call: types.FrameType | None = None  # the module's call that went on at the last ring
        self.seen = 0  # rings at which it went on
        self.resampling = 0  # rings at which the module's resampler went on

    def patient(self, call: Callable[[], object]) -> object:
        """Make a call of the module's resampler within a share of the time left.

        Raises:
            HungError: If the call did not return in time, or those before it took `MOST` of all
                the time already.
        """
        if not self.seconds:
            return call()
        begun = ALARM.rung
        if self.resampling > TICKS * MOST:
            raise HungError(f"such calls have taken {self._told(self.resampling)}")
        self.until = begun + max((TICKS - begun) // SHARE, 1)
        try:
            return call()
        except DeadlineError as error:
            if ALARM.rung == TICKS:
                raise
            share = self._told(self.until - begun)
            raise HungError(f"the call did not return within {share}") from error
        finally:
            self.until = TICKS
            self.resampling += ALARM.rung - begun

    @property
    def hangs(self) -> bool:
        """Whether the module's call that went on at the last ring had gone on for long."""
        return self.call is not None and self.seen > LONG

    def end(self) -> None:
        """Hear the alarm no more."""
        self.until = TICKS + 1

    def __enter__(self) -> Self:
        """Hear the alarm whenever it rings."""
        if self.seconds:
            ALARM.listener = self._ring
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        """Let the alarm be, and say whose time it was that ran out."""
        ALARM.listener = None
        call, hangs, self.call = self.call, self.hangs, None
        if isinstance(error, DeadlineError) and self.seconds:
            if hangs and call is not None:
                raise ModuleFault(
                    "timed_out",
                    call.f_code.co_name,
                    f"one call did not return in {self._told(self.seen)} that the decision had",
                ) from error
            raise LateError(f"no decision within {self.seconds:.3g} s") from error

    def _told(self, rings: int) -> str:
        return f"{rings * self.seconds / TICKS:.3g} s of the {self.seconds:.3g} s"

    def _ring(self, frame: types.FrameType | None) -> None:
        if frame is not None and frame.f_code is Watch.__exit__.__code__:
            return  # the decision is ending already, and says so itself
        going_on = _outermost(frame)
        self.seen = self.seen + 1 if going_on is self.call else 1
        self.call = going_on
        if ALARM.rung >= self.until:
            raise DeadlineError


def _outermost(frame: types.FrameType | None) -> types.FrameType | None:
    """The module's frame that ours called; None where our own code is at work."""
    found = None
    while frame is not None:
        if frame.f_code.co_filename == MODULE_FILE:
            found = frame
        frame = frame.f_back
    return found
