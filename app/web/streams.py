"""Server-sent events, by which a page hears of news and fetches them; and analyses in threads."""

import asyncio
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.web.guard import refusal_of
from app.web.pages import Refusal
from app.web.settings import WebLimits

_QUIET_S = 20.0  # without an event, after which a comment keeps the connection
_ANALYSES = 16  # that are kept

Listener = tuple[asyncio.AbstractEventLoop, asyncio.Event]


class _Counted(StreamingResponse):
    """A stream that is released though its reader went away before the first word."""

    def __init__(
        self, release: Callable[[], None], sent: AsyncIterator[str], headers: dict[str, str]
    ) -> None:
        super().__init__(sent, headers=headers, media_type="text/event-stream")
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


@dataclass
class Streams:
    """Open streams, by what they are about.

    Attributes:
        limits: How many may be open, and for how long.
    """

    limits: WebLimits
    closing: bool = False
    _open: int = 0
    _by_reader: Counter[str] = field(default_factory=Counter)
    _listeners: dict[str, set[Listener]] = field(default_factory=lambda: defaultdict(set))

    def tell(self, topic: str) -> None:
        """Wake all streams of a topic; from any thread."""
        for loop, event in [*self._listeners.get(topic, ())]:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def close(self) -> None:
        """End all streams."""
        self.closing = True
        for topic in [*self._listeners]:
            self.tell(topic)

    def answer(self, topic: str, reader: str, mark: Callable[[], str]) -> StreamingResponse:
        """A stream of the marks of something, each sent when it is another than before.

        Args:
            topic: What it is about.
            reader: Who reads it: one may have few open.
            mark: Its newest mark.

        Raises:
            Refusal: If too many streams are open.
        """
        if self._open >= self.limits.streams or self.closing:
            raise Refusal(503, "Too many pages are open; close one, then load this one again")
        if self._by_reader[reader] >= self.limits.streams_a_seat:
            raise Refusal(429, "This page is open too often; close it elsewhere")
        self._open += 1
        self._by_reader[reader] += 1

        def release() -> None:
            self._open -= 1
            self._by_reader[reader] -= 1
            self._by_reader += Counter()  # drops readers that are gone

        headers = {"x-accel-buffering": "no", "cache-control": "no-store"}
        return _Counted(release, self._marks(topic, mark), headers)

    async def _marks(self, topic: str, mark: Callable[[], str]) -> AsyncIterator[str]:
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        listener, until = (loop, event), loop.time() + self.limits.stream_s
        self._listeners[topic].add(listener)
        sent = ""
        try:
            yield "retry: 1000\n\n"
            while True:
                if (now := mark()) != sent:
                    sent = now
                    yield f"data: {now}\n\n"
                if self.closing or (left := until - loop.time()) <= 0:
                    return
                try:
                    async with asyncio.timeout(min(left, _QUIET_S)):
                        await event.wait()
                    event.clear()
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listeners[topic].discard(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]


Heard: TypeAlias = Callable[[int, int], None]
"""Hears how many decisions of how many are valued."""
Work: TypeAlias = Callable[[Heard], dict[str, Any]]


class _StoppedError(Exception):
    """Somebody stopped an analysis."""


@dataclass
class Analysis:
    """An analysis of a recorded match, in a thread.

    Attributes:
        heard: Told whenever there is something new.
        doing: How far it is; empty once it has ended.
        found: What it found; {} until then.
        said: Why it ended without.
        news: How often there was something new.
    """

    heard: Callable[[], None]
    doing: str = "solving"
    found: dict[str, Any] = field(default_factory=dict)
    said: str = ""
    news: int = 0
    _is_stopped: bool = False

    def start(self, work: Work) -> None:
        """Begin."""
        run = copy_context().run  # of where generated code runs
        threading.Thread(target=run, args=(self._run, work), daemon=True).start()

    def stop(self) -> None:
        """Stop before the next decision."""
        if self.doing:
            self._is_stopped = True
            self._tell("stopping at the next decision")

    def _run(self, work: Work) -> None:
        try:
            self.found = work(self._valued)
        except _StoppedError:
            self.said = "The analysis was stopped."
        except Exception as error:  # noqa: BLE001 - the page says so
            self.said = refusal_of(error).said
        self._tell("")

    def _valued(self, done: int, of: int) -> None:
        if self._is_stopped:
            raise _StoppedError
        self._tell(f"{done} of {of} decisions")

    def _tell(self, doing: str) -> None:
        self.doing, self.news = doing, self.news + 1
        self.heard()


@dataclass
class Analyses:
    """The newest analyses, by what is analysed.

    Attributes:
        heard: Told of one of which there is something new.
    """

    heard: Callable[[str], None]
    _kept: dict[str, Analysis] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, topic: str) -> Analysis | None:
        """An analysis that goes on or has ended."""
        return self._kept.get(topic)

    def begin(self, topic: str, work: Work) -> None:
        """Begin an analysis, unless it goes on already or has found something."""
        with self._lock:
            known = self._kept.get(topic)
            if known is not None and not known.said:
                return
            self._kept.pop(topic, None)
            ended = [name for name, one in self._kept.items() if not one.doing]
            for name in ended[: max(0, len(self._kept) - _ANALYSES)]:
                del self._kept[name]
            made = self._kept[topic] = Analysis(lambda: self.heard(topic))
            made.start(work)

    def close(self) -> None:
        """Stop all."""
        for one in [*self._kept.values()]:
            one.stop()
