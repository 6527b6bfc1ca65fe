"""Waits for a model: how long it may be silent, and what a person is told meanwhile."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from agents.model.recording import set_for_a_while


class Waiting(BaseModel):
    """A model is waited for.

    Attributes:
        model: The model.
        role: Who asks, such as "designer".
        seconds: Seconds since the request went out.
        attempt: The try, from 1.
        of: Tries there are.
        lines: Lines of the reply that have come.
        after: What was wrong with the try before; empty at the first.
        over: The wait has ended.
    """

    model_config = ConfigDict(frozen=True)
    model: str
    role: str
    seconds: int
    attempt: int
    of: int
    lines: int = 0
    after: str = ""
    over: bool = False


Hear: TypeAlias = Callable[[Waiting], object]
_WAIT: ContextVar["Wait | None"] = ContextVar("rulewright_wait", default=None)
_HEARS: ContextVar[tuple[Hear, float] | None] = ContextVar("rulewright_hears", default=None)


def listen(hear: Hear, every_s: float = 10.0) -> None:
    """Let `hear` be told every `every_s` seconds what a model is waited for.

    It holds for the rest of this context, such as a node's, and for work started with a copy of
    it. `hear` is called from another thread.
    """
    _HEARS.set((hear, every_s))


def listening(hear: Hear | None, every_s: float = 10.0) -> AbstractContextManager[None]:
    """Let `hear` be told inside the block, as `listen` does; None changes nothing."""
    return set_for_a_while(_HEARS, (hear, every_s) if hear else _HEARS.get())


@dataclass
class Wait:
    """The wait for one reply.

    Attributes:
        model: Whom is waited for.
        role: Who asks, such as "designer".
        attempt: The try, from 1.
        of: Tries there are.
        after: What was wrong with the try before; empty at the first.
        silence_s: Seconds without a whole line of the reply that are borne.
        total_s: Seconds that all of it may take.
        lines: Lines of the reply that have come.
        doubts_form: Whether the endpoint may fail at the form of the request.
        known: Whether a recording that is continued held the reply, which was paid before.
        sent: Requests that went out; further ones in the next form of a refused one.
        started: When the wait began, in the monotonic clock's seconds.
    """

    model: str
    role: str
    attempt: int
    of: int
    after: str = ""
    silence_s: float = float("inf")
    total_s: float = float("inf")
    lines: int = 0
    doubts_form: bool = False
    known: bool = False
    sent: int = 0
    started: float = field(default_factory=time.monotonic)

    def begin(self, silence_s: float, total_s: float) -> None:
        """A request goes out now, with so many seconds."""
        self.silence_s, self.total_s = silence_s, total_s
        self.started, self.lines, self.known, self.sent = time.monotonic(), 0, False, 0

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.started

    @property
    def overdue(self) -> bool:
        """True if all its time is used up."""
        return self.seconds >= self.total_s

    def event(self) -> Waiting:
        """The event that a person is told."""
        return Waiting(
            model=self.model,
            role=self.role,
            seconds=round(self.seconds),
            attempt=self.attempt,
            of=self.of,
            lines=self.lines,
            after=self.after,
        )


def in_seconds(seconds: float) -> str:
    """A time in seconds, as people read it.

    >>> in_seconds(1695.4), in_seconds(0.25)
    ('1,695 s', '0.25 s')
    """
    return f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.3g} s"  # noqa: PLR2004 - two digits


def current_wait() -> Wait | None:
    """The wait that this request belongs to."""
    return _WAIT.get()


@contextmanager
def waiting(wait: Wait) -> Iterator[None]:
    """Tell who listens of this wait, of a further try at once, and that an answer has come."""
    heard, over = _HEARS.get(), threading.Event()
    with set_for_a_while(_WAIT, wait):
        if heard is None:
            yield
            return
        hear, every_s = heard

        def tell() -> None:
            while not over.wait(every_s):
                hear(wait.event())

        if wait.after:
            hear(wait.event())
        ticker = threading.Thread(target=copy_context().run, args=(tell,), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            over.set()
            ticker.join()
    hear(wait.event().model_copy(update={"over": True}))
