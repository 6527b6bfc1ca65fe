"""Recordings of what passed between a run and its model: plain JSON, replayed by place.

An exchange is found again by the canonical request and by the logical place of the call in the
run ("code/draft/0"), never by its order of arrival, so that a run with calls in parallel replays
alike. Text that was retrieved from the store stands in prompts between `<retrieved>` tags and is
left out of the canonical request: a recording outlives an edit of the library.
"""

import difflib
import hashlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from agents.model.errors import RecordingError, ReplayMissError
from agents.model.settings import ModelSettings
from games.environments.reading import read_plain

T = TypeVar("T")
UNPLACED = "unplaced"
REVISION = "revise/"
"""What the place of the first call of a revision begins with; its number follows."""
_PLACE: ContextVar[str] = ContextVar("rulewright_place", default=UNPLACED)
_DRAFT: ContextVar[int] = ContextVar("rulewright_draft", default=0)
# In the request's JSON a line break is backslash-n; a mere mention of the tag is followed by none.
_RETRIEVED = re.compile(r"<retrieved>\\n.*?\\n</retrieved>", re.DOTALL)
_EXCERPT = 60
_LARGEST = 64 * 2**20  # bytes
_IDENTICAL = sys.maxsize


@contextmanager
def set_for_a_while(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Inside the block the variable has this value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def place(name: str) -> AbstractContextManager[None]:
    """Name the logical place of the model calls made inside, such as "code/draft/0".

    It holds for this thread and for work started with a copy of its context. The name must be
    the same in every execution of the same run, so it is never a time or a counter of arrivals.
    """
    return set_for_a_while(_PLACE, name)


def draft_number(number: int) -> AbstractContextManager[None]:
    """Ask for the `number`-th independent answer to one request: each is asked for warmer.

    It holds where `place` does.
    """
    return set_for_a_while(_DRAFT, number)


def current_draft() -> int:
    """Number of the answer that is asked for, 0 for the first or only one."""
    return _DRAFT.get()


def current_place() -> str:
    """The innermost place, or "unplaced"."""
    return _PLACE.get()


class Exchange(BaseModel, frozen=True, extra="forbid"):
    """One request and its response; no header but those named here is kept.

    Attributes:
        place: Logical place of the call in the run.
        key: `request_key(request)`.
        request: `{"method", "endpoint", "body"}`, as the client made it; streaming is left out.
        role: Who asked, such as "designer".
        seconds: How long the reply took.
        status: HTTP status of the response; 0 where none came.
        content_type: Of the response.
        retry_after: The header of that name, where there was one.
        format: Whether `response` is the parsed body, or its text because it was not JSON.
        response: The response's body; the whole reply where it was streamed.
        given_up: Whether the call it belongs to failed in the end; it answers nobody again.
        sent: Requests that were sent for it, those whose form was refused included.
        unusable: Of a reply that could not be used, what of it was wrong.
    """

    place: str
    key: str
    request: dict[str, JsonValue]
    role: str = ""
    seconds: float = 0.0
    status: int
    content_type: str = "application/json"
    retry_after: str | None = None
    format: Literal["json", "text"] = "json"
    response: JsonValue
    given_up: bool = False
    sent: int = 1
    unusable: Literal["", "form", "content"] = ""

    def body(self) -> bytes:
        """The response's body as it is served again."""
        if self.format == "text":
            return str(self.response).encode()
        return json.dumps(self.response, ensure_ascii=False).encode()


def canonical_request(request: Mapping[str, JsonValue]) -> str:
    """The request as JSON with sorted keys, without what stands between `<retrieved>` tags."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return _RETRIEVED.sub("<retrieved/>", text)


def request_key(request: Mapping[str, JsonValue]) -> str:
    """First 32 hexadecimal digits of the SHA-256 of the canonical request."""
    return hashlib.sha256(canonical_request(request).encode()).hexdigest()[:32]


class _File(BaseModel, extra="forbid"):
    label: str
    exchanges: list[Exchange]
    ended: str = ""  # how the run ended, in words: for people


class Recording:
    """The exchanges of one run, in memory and, where a path is given, on disk after each one."""

    def __init__(self, path: Path | None = None, *, label: str = "") -> None:
        """Begin an empty recording; `label` says who answered."""
        self.path = path
        self.label = label
        self.exchanges: list[Exchange] = []
        self._served: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path: Path) -> "Recording":
        """Read a recording.

        Raises:
            RecordingError: If there is none at `path` or it is not one.
        """
        try:
            file = _File.model_validate_json(read_plain(path, _LARGEST))
        except OSError as error:
            raise RecordingError(f"cannot read the recording {path}: {error.strerror}") from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise RecordingError(
                f"{path} is no recording; required: JSON with 'label' and 'exchanges': "
                f"{where}: {first['msg']}"
            ) from error
        recording = cls(path, label=file.label)
        recording.exchanges = file.exchanges
        return recording

    @classmethod
    def open(cls, path: Path, *, label: str = "") -> "Recording":
        """Continue the recording at `path`, or begin one there."""
        return cls.load(path) if path.exists() else cls(path, label=label)

    def find(self, where: str, key: str) -> Exchange | None:
        """The next exchange not yet served with this place and key, or None."""
        with self._lock:
            matching = [
                e for e in self.exchanges if (e.place, e.key) == (where, key) and not e.given_up
            ]
            served = self._served[where, key]
            if served >= len(matching):
                return None
            self._served[where, key] += 1
            return matching[served]

    def add(self, exchange: Exchange) -> None:
        """Append an exchange that was just served, and write the file.

        Raises:
            RecordingError: If the file cannot be written.
        """
        with self._lock:
            self.exchanges.append(exchange)
            self._served[exchange.place, exchange.key] += not exchange.given_up
            if self.path is not None:
                self._write(self.path)

    def unusable(self, where: str, first: int, *, form: bool) -> None:
        """Mark the newest exchange at a place, from number `first` on, as of no use.

        Raises:
            RecordingError: If the file cannot be written.
        """
        with self._lock:
            there = [n for n, e in enumerate(self.exchanges) if n >= first and e.place == where]
            if there:
                kept = self.exchanges[there[-1]].model_copy(
                    update={"unusable": "form" if form else "content"}
                )
                self.exchanges[there[-1]] = kept
            if there and self.path is not None:
                self._write(self.path)

    def give_up(self, where: str, first: int) -> None:
        """Mark the exchanges at a place from number `first` on as those of a call that failed.

        They stay in the file, and a run that goes on from it asks the endpoint anew.

        Raises:
            RecordingError: If the file cannot be written.
        """
        with self._lock:
            for number, exchange in enumerate(self.exchanges[first:], first):
                if exchange.place == where and not exchange.given_up:
                    self.exchanges[number] = exchange.model_copy(update={"given_up": True})
                    self._served[where, exchange.key] -= 1
            if self.path is not None and len(self.exchanges) > first:
                self._write(self.path)

    def miss(self, where: str, request: Mapping[str, JsonValue]) -> ReplayMissError:
        """The error for a request that is not in the recording, with the nearest place."""
        places = sorted({exchange.place for exchange in self.exchanges})
        asked = f"no recorded exchange is left for this request at {where!r}"
        near = difflib.get_close_matches(where, places, n=1, cutoff=0.0)
        if not near:
            return ReplayMissError(f"{asked}: the recording is empty; record the run anew")
        here = [e for e in self.exchanges if e.place == near[0]]
        closest = max(here, key=lambda exchange: _common(request, exchange.request))
        return ReplayMissError(
            f"{asked}; the nearest recorded place is {near[0]!r}, "
            f"{_difference(request, closest.request)}. The run or a prompt changed since it was "
            "recorded: record it anew"
        )

    def _write(self, path: Path) -> None:
        file = {
            "label": self.label,
            "exchanges": [e.model_dump(exclude_defaults=True) for e in self.exchanges],
        }
        partial = path.with_name(path.name + ".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(file, ensure_ascii=False, indent=1) + "\n", "utf-8")
            partial.replace(path)
        except OSError as error:
            raise RecordingError(f"cannot write the recording {path}: {error.strerror}") from error


def open_recording(settings: ModelSettings, label: str = "") -> Recording:
    """The recording that the settings name; an empty one in memory where they name none."""
    if settings.replay is not None:
        return Recording.load(settings.replay)
    if settings.record is not None:
        return Recording.open(settings.record, label=label)
    return Recording()


def _common(asked: Mapping[str, JsonValue], recorded: Mapping[str, JsonValue]) -> int:
    """Length of the common beginning of two canonical requests, or `_IDENTICAL`."""
    pairs = zip(canonical_request(asked), canonical_request(recorded), strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), _IDENTICAL)


def _difference(asked: Mapping[str, JsonValue], recorded: Mapping[str, JsonValue]) -> str:
    at = _common(asked, recorded)
    if at == _IDENTICAL:
        return "where the same request was recorded fewer times"
    start = max(0, at - _EXCERPT // 2)
    return (
        f"where the request first differs at ...{canonical_request(asked)[start : at + _EXCERPT]!r}"
        f" (recorded: {canonical_request(recorded)[start : at + _EXCERPT]!r})"
    )
