"""Calls of a traced run as a person reads them: who asked, what was said, tried, found, edited."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agents.roles.tool_calls import SUBMIT
from graph.run.traces import Span, objects_in

_SHORT, _LONG, _NAMED = 100, 400, 4
_WAYS, _MOST_TOOLS = ("input", "output"), 20
_SUBMITTED = "(carried out; submit ended the conversation, so nothing was sent back)"


@dataclass(frozen=True)
class TracedCall:
    """One request to a model and its reply.

    Attributes:
        role: Who asked, such as "designer"; empty in traces of earlier builds.
        place: Where in the run, such as "check/0/tests".
        seconds: How long it took; None where it did not end.
        tokens_in: Of the prompt; None where they were not counted.
        tokens_out: Of the reply.
        gist: The reply in a line or two.
        tools: Each tool call of the reply with its result; empty where it was not answered.
        edits: Each edit of the reply, as a diff.
        error: What it ended with; empty where it was answered.
        prompt: What was sent, message by message.
    """

    role: str
    place: str
    seconds: float | None
    tokens_in: int | None
    tokens_out: int | None
    gist: str
    tools: tuple[tuple[str, str], ...]
    edits: tuple[str, ...]
    error: str
    prompt: tuple[str, ...]


def calls_of(roots: Sequence[Span]) -> dict[str, TracedCall]:
    """The model's calls of a trace, by the id of their span, in the order of their start."""
    spans = [span for root in roots for span in _all(root) if span.run_type == "llm"]
    spans.sort(key=lambda span: span.start or "")
    calls, follower = dict[str, TracedCall](), dict[str, Span]()
    for span in reversed(spans):
        place = str(span.metadata.get("place") or span.name.removeprefix("model "))
        calls[span.id] = _call(span, place, follower.get(place))
        follower[place] = span
    return dict(reversed(calls.items()))


def found_in(roots: Sequence[Span]) -> dict[str, list[str]]:
    """Failures of checks, by the id of the span that found each first."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for span in (span for root in roots for span in _all(root) if span.run_type != "llm"):
        lines = [*_findings(span.outputs)]
        found[span.id] = [line for line in dict.fromkeys(lines) if line not in seen]
        seen.update(lines)
    return found


def _all(span: Span) -> Iterator[Span]:
    """A span after those inside it, which know more of what they did."""
    for child in span.children:
        yield from _all(child)
    yield span


def _findings(outputs: object) -> Iterator[str]:
    """The findings that did not pass."""
    for value in objects_in(outputs):
        if not {"check", "outcome", "evidence"} <= value.keys() or value["outcome"] == "passed":
            continue
        where = "".join(
            f", {word}{value[key]}"
            for key, word in (("rule", ""), ("function", "in "), ("line", "line "))
            if value.get(key) not in (None, "", "contract")
        )
        outcome = str(value["outcome"]).replace("_", " ")
        yield f"{value['check']}: {outcome}{where}: {_brief(value['evidence'], _LONG)}"


def _call(span: Span, place: str, follower: Span | None) -> TracedCall:
    reply = next((v for v in objects_in(span.outputs) if "tool_calls" in v and "content" in v), {})
    usage = next(objects_in(reply.get("usage_metadata")), {})
    counts = [c if isinstance(c := usage.get(f"{way}_tokens"), int) else None for way in _WAYS]
    answers = {one.of_call: one.content for one in _messages(follower)[-_MOST_TOOLS:]}
    calls = [v for v in objects_in(reply.get("tool_calls")) if "name" in v and "args" in v]
    silent = _SUBMITTED if any(c["name"] == SUBMIT for c in calls) else ""
    text = str(reply.get("content") or "")
    said = _parsed(text)
    return TracedCall(
        role=str(span.metadata.get("role") or ""),
        place=place,
        seconds=span.seconds,
        tokens_in=counts[0],
        tokens_out=counts[1],
        gist=_gist(text, said),
        tools=tuple(
            (
                f"{c['name']}({_fields(c['args'])})",
                _brief(answers.get(str(c.get("id"))) or silent, _LONG),
            )
            for c in calls
        ),
        edits=tuple(
            _diff(v["search"], v["replace"])
            for v in objects_in([said, *calls])
            if isinstance(v.get("search"), str) and isinstance(v.get("replace"), str)
        ),
        error=_brief((span.error or "").partition("Traceback (most recent call")[0], _LONG),
        prompt=tuple(f"[{one.kind}] {one.content}" for one in _messages(span)),
    )


class _Message(NamedTuple):
    kind: str
    content: object
    of_call: str  # the tool call that it answers


def _messages(span: Span | None) -> list[_Message]:
    """The messages that a call was sent."""
    return [
        _Message(value["type"], value["content"], str(value.get("tool_call_id")))
        for value in objects_in(span.inputs if span else None)
        if "content" in value and "type" in value
    ]


def _parsed(text: str) -> Any:  # noqa: ANN401 - whatever a model wrote
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _gist(text: str, said: object) -> str:
    if isinstance(said, dict):
        return _fields(said)
    before, fence, code = text.partition("```")
    lines = f"({code.count(chr(10))} lines of code)" if fence else ""
    return " ".join(filter(None, (_brief(before, 2 * _SHORT), lines)))


def _fields(value: object) -> str:
    """The fields of an object in short: texts by their beginning, lists by number and names.

    >>> _fields({"edges": [{"source": "M1"}], "rules": [{"id": "R1"}, {"id": "R2"}]})
    '1 edges; 2 rules (R1, R2)'
    """
    if not isinstance(value, dict):
        return _brief(value, _SHORT)
    told = []
    for name, item in value.items():
        if isinstance(item, list):
            shown = [v for v in item[:_NAMED] if isinstance(v, dict)]
            named = (v.get("name") or v.get("id") for v in shown)
            names = ", ".join(_brief(name, 40) for name in named if name)
            told.append(f"{len(item)} {name}" + (f" ({names})" if names else ""))
        elif item not in (None, ""):
            told.append(f"{name}: {_brief(item, _SHORT)}")
    return "; ".join(told)


def _brief(value: object, length: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    words = " ".join(text[: 4 * length].split())
    if "\n" in text.strip() and length == _SHORT:
        return f"{words[:40]}... ({text.count(chr(10))} lines)"
    return words if len(words) <= length else words[:length] + "..."


def _diff(before: str, after: str) -> str:
    pair = before.splitlines(), after.splitlines()
    return "\n".join(list(difflib.unified_diff(*pair, n=2, lineterm=""))[2:])
