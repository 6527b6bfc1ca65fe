"""Traces: to LangSmith with a key, else the same runs to `trace.jsonl` in the run folder."""

import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from langsmith import Client

_LONGEST_TEXT = 20_000
# Bounds of LangSmith's part, so that an endpoint that never answers does not keep the process.
_REQUEST_MS = (3_000, 10_000)
_FLUSH_S = 5.0
_LOG = logging.getLogger(__name__)


def langsmith_configured() -> bool:
    """Whether runs go to LangSmith: a key is set and tracing is not switched off."""
    switched = os.environ.get("LANGSMITH_TRACING", "true").lower()
    return bool(os.environ.get("LANGSMITH_API_KEY")) and switched not in ("false", "0", "off")


@contextmanager
def tracing(path: Path) -> Iterator[None]:
    """Trace everything inside the block; a local trace is appended to `path`.

    With LangSmith the file stays empty. What LangSmith has not taken a few seconds after the end
    of the block is given up with a warning: a run never waits for its trace.
    """
    import langsmith

    remote = langsmith_configured()
    path.touch()
    client = _remote_client() if remote else local_client(path)
    langsmith.configure(client=client, enabled=True)
    try:
        yield
    finally:
        langsmith.configure(client=None, enabled=False)
        if remote:
            _close(client)


def _remote_client() -> "Client":
    """A LangSmith client by the environment, in threads that do not keep the process alive."""
    os.environ.setdefault("LANGSMITH_USE_DAEMON", "true")
    from langsmith import Client

    return Client(timeout_ms=_REQUEST_MS)


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


def local_client(path: Path) -> "Client":
    """A LangSmith client that writes runs to a file and reaches no network."""
    from langsmith import Client

    _drop_cut_line(path)

    class LocalClient(Client):
        """Appends one JSON line when a run starts and one when it ends."""

        def __init__(self) -> None:
            super().__init__(
                api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False, info={}
            )
            self._lock = threading.Lock()

        def create_run(self, name: str, inputs: object, run_type: str, **fields: object) -> None:
            start = {"event": "start", "name": name, "run_type": run_type, "inputs": inputs}
            self._append({**start, **_chosen(fields)})

        def update_run(self, run_id: object, **fields: object) -> None:
            self._append({"event": "end", **_chosen(fields), "id": run_id})

        def _append(self, line: dict[str, object]) -> None:
            text = json.dumps(line, default=_plain, sort_keys=True)
            with self._lock, path.open("a", encoding="utf-8") as file:
                file.write(text + "\n")

    return LocalClient()


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
        return cast("object", dump(mode="json"))
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
