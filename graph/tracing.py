"""Traces: to LangSmith with a key, else the same runs to `trace.jsonl` in the run folder."""

import json
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


def langsmith_configured() -> bool:
    """Whether runs go to LangSmith: a key is set and tracing is not switched off."""
    switched = os.environ.get("LANGSMITH_TRACING", "true").lower()
    return bool(os.environ.get("LANGSMITH_API_KEY")) and switched not in ("false", "0", "off")


@contextmanager
def tracing(path: Path) -> Iterator[None]:
    """Trace everything inside the block; a local trace is appended to `path`."""
    import langsmith

    if langsmith_configured():
        with langsmith.tracing_context(enabled=True):
            yield
        return
    client = local_client(path)
    langsmith.configure(client=client, enabled=True)
    try:
        yield
    finally:
        langsmith.configure(client=None, enabled=False)


def local_client(path: Path) -> "Client":
    """A LangSmith client that writes runs to a file and reaches no network."""
    from langsmith import Client

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
