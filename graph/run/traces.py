"""Traces: to LangSmith with a key, else to `trace.jsonl`, which is read back as a tree."""

import dataclasses
import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.run.folder import RunFolderError

if TYPE_CHECKING:
    from langsmith import Client

_LONGEST_TEXT = 20_000
# Bounds of LangSmith's part, so that an endpoint that never answers does not keep the process.
_REQUEST_MS = (3_000, 10_000)
_FLUSH_S = 5.0
_OFFLINE: Any = {"api_url": "http://127.0.0.1:9", "api_key": "none"}
_OFFLINE |= {"auto_batch_tracing": False, "info": {}}
_ON, _OFF = ("true", "1", "on"), ("false", "0", "off")  # of LANGSMITH_TRACING
_DEEPEST = 50  # spans within spans
_MOST_SPANS = 50_000  # more take minutes to be drawn
_DEEPEST_VALUE = 100
_OPEN: list["Client"] = []
_LOG = logging.getLogger(__name__)


def langsmith_configured() -> bool:
    """True where runs go to LangSmith too: a key is set and tracing is not switched off.

    Raises:
        RunFolderError: If the switch is neither on nor off.
    """
    switched = os.environ.get("LANGSMITH_TRACING", "true").lower()
    if switched not in (*_ON, *_OFF):
        raise RunFolderError(
            f"LANGSMITH_TRACING is {switched!r}; required: {' or '.join((*_ON, *_OFF))}"
        )
    return bool(os.environ.get("LANGSMITH_API_KEY")) and switched in _ON


@contextmanager
def tracing(path: Path) -> Iterator[None]:
    """Trace everything inside the block; the trace is appended to `path`, and goes to LangSmith.

    What LangSmith has not taken a few seconds after the end
    of the block is given up with a warning: a run never waits for its trace.
    """
    import langsmith

    remote = langsmith_configured()
    path.touch()
    if remote:
        os.environ.setdefault("LANGSMITH_USE_DAEMON", "true")  # its threads keep no process alive
    client = _client_of(path, upload=remote)
    _OPEN.append(client)
    langsmith.configure(client=client, enabled=True)
    try:
        yield
    finally:
        _OPEN.remove(client)
        around = _OPEN[-1] if _OPEN else None  # a variation has games made inside its own run
        langsmith.configure(client=around, enabled=around is not None)
        if remote:
            _close(client)


def experiment_client(*, upload: bool) -> "Client":
    """A LangSmith client for an experiment; without upload one that sends nothing anywhere."""
    from langsmith import Client

    if upload:
        return Client(timeout_ms=_REQUEST_MS)
    return Client(**_OFFLINE)


def _close(client: "Client") -> None:
    """Send what is left, for a few seconds."""
    client.flush(timeout=_FLUSH_S)
    queue = client.tracing_queue
    if queue is not None and queue.unfinished_tasks:
        _LOG.warning(
            "LangSmith did not take the whole trace within %g s; check LANGSMITH_ENDPOINT and "
            "LANGSMITH_API_KEY, or unset the key to trace to trace.jsonl",
            _FLUSH_S,
        )
    client.close(timeout=0)


def _client_of(path: Path, *, upload: bool) -> "Client":
    """A LangSmith client that writes runs to a file; without upload it reaches no network."""
    from langgraph.constants import TAG_HIDDEN
    from langsmith import Client

    lock = threading.Lock()
    _drop_cut_line(path)

    class KeepingClient(Client):
        """Appends one JSON line when a run starts and one when it ends."""

        def create_run(self, name: str, inputs: Any, run_type: Any, **fields: Any) -> None:  # noqa: ANN401 - the client's own
            if upload:
                super().create_run(name, inputs, run_type, **fields)
            start = {"event": "start", "name": name, "run_type": run_type, "inputs": inputs}
            self._append({**start, **_chosen(fields)})

        def update_run(self, run_id: Any, **fields: Any) -> None:  # noqa: ANN401 - the client's own
            if upload:
                super().update_run(run_id, **fields)
            self._append({"event": "end", **_chosen(fields), "id": run_id})

        def _append(self, line: dict[str, object]) -> None:
            tags = line.get("tags")
            if isinstance(tags, list) and TAG_HIDDEN in tags:  # LangGraph's own steps
                return
            text = json.dumps(line, default=_plain, sort_keys=True)
            # A folder that was moved away is told by the next step, and not made again by this.
            with suppress(FileNotFoundError), lock, path.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    return KeepingClient(timeout_ms=_REQUEST_MS) if upload else KeepingClient(**_OFFLINE)


def _drop_cut_line(path: Path) -> None:
    """Cut off what a killed process has left of its last line."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _chosen(fields: dict[str, object]) -> dict[str, object]:
    kept = ("id", "parent_run_id", "trace_id", "start_time", "end_time", "error", "outputs", "tags")
    chosen = {key: fields[key] for key in kept if fields.get(key) is not None}
    extra = fields.get("extra")
    if isinstance(extra, dict) and extra.get("metadata"):
        chosen["metadata"] = extra["metadata"]
    return chosen


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped: object = dump(mode="json")
        return dumped
    if dataclasses.is_dataclass(value) and not isinstance(value, type):  # such as a command
        return {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


@dataclass
class Span:
    """One traced run: a node, a role's call, a model's answer, a tool.

    Attributes:
        id: The run's id.
        name: Its name.
        run_type: "chain", "llm", "tool", ...
        inputs: What went in.
        outputs: What came out; None while it has not ended.
        error: The error it ended with.
        start: When it started, ISO 8601.
        end: When it ended.
        parent: Id of the span it belongs to.
        metadata: What was said about it, such as the place and role of a model's call.
        children: Spans inside it, in order of their start.
    """

    id: str
    name: str
    run_type: str
    inputs: Any
    start: str | None
    parent: str | None
    outputs: Any = None
    error: str | None = None
    end: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    children: list["Span"] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """Its seconds; None where it did not end."""
        if self.start is None or self.end is None:
            return None
        return (
            datetime.fromisoformat(self.end) - datetime.fromisoformat(self.start)
        ).total_seconds()

    @property
    def tokens(self) -> int | None:
        """Tokens a model used, in and out; None where none were counted."""
        if self.run_type != "llm":
            return None
        usages = [value.get("usage_metadata") for value in objects_in(self.outputs)]
        counts = [usage.get("total_tokens") for usage in usages if isinstance(usage, dict)]
        counted = [count for count in counts if isinstance(count, int)]
        return sum(counted) if counted else None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "type": self.run_type,
            "seconds": self.seconds,
            "tokens": self.tokens,
            "error": self.error,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "children": [child.as_dict() for child in self.children],
        }


def read_spans(path: Path) -> list[Span]:
    """The roots of the trace in `path`.

    Raises:
        RunFolderError: If it cannot be read. A last line cut by a kill is left out.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise RunFolderError(
            f"{path} is not there: only commands write it. A run that a server or a program began "
            "is traced there: see Studio, or LangSmith (docs/langgraph.md)"
        ) from error
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RunFolderError(
            f"{path} is damaged: byte {error.start} is no UTF-8 text. Nothing else needs this "
            "file; delete it, and the next `rulewright resume` begins a new one"
        ) from error
    spans: dict[str, Span] = {}
    for number, line in enumerate(lines, start=1):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number == len(lines):
                break
            raise RunFolderError(f"{path} line {number} is not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise RunFolderError(f"{path} line {number} is no JSON object; delete that line")
        flat = {key: None if isinstance(v, dict | list) else v for key, v in fields.items()}
        _take(spans, flat if _is_deep(fields) else fields)
        if len(spans) > _MOST_SPANS:
            raise RunFolderError(
                f"{path} holds more than {_MOST_SPANS} spans, which no run of ours leaves; nothing "
                "else needs this file: delete it"
            )
    return _tree(spans)


def _is_deep(value: object) -> bool:
    """True for a value nested deeper than we write, and than can be printed safely."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST_VALUE):
        lists = [v.values() if isinstance(v, dict) else v for v in level]
        level = [v for inner in lists for v in inner if isinstance(v, dict | list)]
    return bool(level)


def _take(spans: dict[str, Span], fields: dict[str, Any]) -> None:
    key = str(fields.get("id"))
    if fields.get("event") == "start":
        parent = fields.get("parent_run_id")
        spans[key] = Span(
            id=key,
            name=str(fields.get("name")),
            run_type=str(fields.get("run_type")),
            inputs=fields.get("inputs"),
            start=_time(fields.get("start_time")),
            parent=str(parent) if parent else None,
            metadata=next(objects_in(fields.get("metadata")), {}),
        )
    if key in spans and (fields.get("event") == "end" or fields.get("end_time")):
        span = spans[key]
        span.outputs = fields.get("outputs", span.outputs)
        span.error = str(fields.get("error") or "") or span.error
        span.end = _time(fields.get("end_time")) or span.end


def _time(value: object) -> str | None:
    """A time as it is written, in UTC where it says no zone; None where it is none."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _tree(spans: dict[str, Span]) -> list[Span]:
    roots: list[Span] = []
    depths: dict[str, int] = {}
    for span in sorted(spans.values(), key=lambda span: span.start or ""):
        parent = spans.get(span.parent or "")
        depth = 0 if parent is None else depths.get(parent.id, 0) + 1
        if parent is None or depth > _DEEPEST:
            roots.append(span)  # what nests deeper was not written by us
            depth = 0
        else:
            parent.children.append(span)
        depths[span.id] = depth
    return roots


def objects_in(value: object) -> Iterator[dict[str, Any]]:
    """Every JSON object in a value, itself first, in the order in which they are written."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            yield item
        if isinstance(item, dict | list):
            left.extend(reversed(list(item.values()) if isinstance(item, dict) else item))
