"""Reading a local trace back as a tree of spans."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from graph.folder import RunFolderError


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
    children: list["Span"] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """How long it took; None where it did not end."""
        if self.start is None or self.end is None:
            return None
        return (
            datetime.fromisoformat(self.end) - datetime.fromisoformat(self.start)
        ).total_seconds()

    @property
    def tokens(self) -> int | None:
        """Tokens a model used, in and out; None where none were counted."""
        counts = list(_usage(self.outputs)) if self.run_type == "llm" else []
        return sum(counts) if counts else None

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
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    spans: dict[str, Span] = {}
    for number, line in enumerate(lines, start=1):
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines):
                break
            raise RunFolderError(f"{path} line {number} is not JSON: {error}") from error
        _take(spans, fields)
    return _tree(spans)


def _take(spans: dict[str, Span], fields: dict[str, Any]) -> None:
    key = str(fields.get("id"))
    if fields.get("event") == "start":
        parent = fields.get("parent_run_id")
        spans[key] = Span(
            id=key,
            name=str(fields.get("name")),
            run_type=str(fields.get("run_type")),
            inputs=fields.get("inputs"),
            start=fields.get("start_time"),
            parent=str(parent) if parent else None,
        )
    if key in spans and (fields.get("event") == "end" or fields.get("end_time")):
        span = spans[key]
        span.outputs = fields.get("outputs", span.outputs)
        span.error = fields.get("error", span.error)
        span.end = fields.get("end_time", span.end)


def _tree(spans: dict[str, Span]) -> list[Span]:
    roots: list[Span] = []
    for span in sorted(spans.values(), key=lambda span: span.start or ""):
        parent = spans.get(span.parent or "")
        (parent.children if parent else roots).append(span)
    return roots


def _usage(value: Any) -> "list[int]":  # noqa: ANN401 - whatever the tracer wrote
    found: list[int] = []
    if isinstance(value, dict):
        usage = value.get("usage_metadata")
        if isinstance(usage, dict) and isinstance(usage.get("total_tokens"), int):
            return [usage["total_tokens"]]
        for item in value.values():
            found += _usage(item)
    elif isinstance(value, list):
        for item in value:
            found += _usage(item)
    return found
