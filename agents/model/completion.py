"""Chat completions: spelled from a stream, held against the protocol, and made plain."""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, JsonValue, ValidationError

from agents.model.errors import BadBodyError

_MOST_TOKENS = 10_000_000  # more than any model reads or writes in one call
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_QUOTED = 160


def _sendable(arguments: str) -> str:
    """Arguments that can be sent back; what is no JSON stays as it is, for the model to be told."""
    try:
        return json.dumps(well_formed(json.loads(arguments)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments


class _Function(BaseModel):
    name: str
    arguments: Annotated[str, AfterValidator(_sendable)]


class _ToolCall(BaseModel):
    id: str
    type: Literal["function"] = "function"
    function: _Function


class _Message(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    index: int = 0
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    model: str | None = None
    choices: list[_Choice]


def sound_completion(body: bytes, content_type: str) -> dict[str, JsonValue]:
    """The completion in a body, with what we know and checked of the protocol, and nothing else.

    A usage that cannot be true is left out, as one that was not reported.

    Raises:
        BadBodyError: Saying what the body is instead.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = body[:80].decode(errors="replace")
        raise BadBodyError(
            f"the body is not JSON but {content_type or 'of no declared type'}, {len(body)} bytes, "
            f"beginning {start!r}"
        ) from error
    try:
        completion = _Completion.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the body"
        raise BadBodyError(f"{where} is wrong: {problem['msg']}") from error
    if not completion.choices:
        raise BadBodyError("'choices' is empty")
    choice = completion.choices[0]
    if choice.finish_reason == "content_filter":
        said = (choice.message.refusal or choice.message.content or "")[:_QUOTED]
        raise BadBodyError(f"the endpoint's content filter stopped the reply after {said!r}")
    sound: dict[str, JsonValue] = {"id": "reply", "object": "chat.completion", "created": 0}
    sound |= completion.model_dump(exclude_none=True)
    if (tokens := reported_tokens(value)) is not None:
        sound["usage"] = dict(zip(_COUNTS, (*tokens, sum(tokens)), strict=True))
    return sound


def well_formed(value: JsonValue) -> JsonValue:
    r"""The value with pairs of surrogates joined, and half a pair replaced: no file could hold it.

    >>> well_formed(["\ud83c\udf1e", "\ud83c of spades"])
    ['🌞', '? of spades']
    """
    joined: JsonValue = json.loads(json.dumps(value))
    text = json.dumps(joined, ensure_ascii=False).encode(errors="replace")
    parsed: JsonValue = json.loads(text)
    return parsed


def reported_tokens(response: JsonValue) -> tuple[int, int] | None:
    """Prompt and completion tokens that a response reports; None where it tells none to believe.

    >>> reported_tokens({"usage": {"prompt_tokens": 7, "completion_tokens": 2}})
    (7, 2)
    >>> reported_tokens({"usage": {"prompt_tokens": -7, "completion_tokens": 2}})
    >>> reported_tokens("<html>"), reported_tokens({"usage": None})
    (None, None)
    """
    usage = response.get("usage") if isinstance(response, dict) else None
    if not isinstance(usage, dict):
        return None
    asked, said = (usage.get(name) for name in _COUNTS[:2])
    if not (isinstance(asked, int) and isinstance(said, int)):
        return None
    return (asked, said) if 0 <= asked <= _MOST_TOKENS and 0 <= said <= _MOST_TOKENS else None


def spelled(body: bytes) -> dict[str, Any]:
    """The completion that the events of a stream spell, of the first choice.

    Raises:
        BadBodyError: If an event is not of the protocol, tells of an error, or the end lacks.
    """
    spelling = _Spelling()
    try:
        for line in body.decode(errors="replace").split("\n"):
            field, _, data = line.partition(":")
            if field == "data" and data.strip() == "[DONE]":
                spelling.finish = spelling.finish or "stop"
            elif field == "data" and data.strip():
                spelling.take(json.loads(data))
        completion = spelling.completion()
    except BadBodyError:
        raise
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise BadBodyError(f"an event of the stream is not of the protocol: {error}") from error
    if spelling.finish is None:
        raise BadBodyError(f"the stream broke off after {len(body)} bytes")
    return completion


class _Spelling:
    """A completion as far as the events have spelled it."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self.calls: list[dict[str, Any]] = []
        self.open: dict[int, dict[str, Any]] = {}
        self.finish: str | None = None

    def take(self, event: dict[str, Any]) -> None:
        if event.get("error"):
            raise BadBodyError(f"the endpoint ended the stream: {str(event['error'])[:_QUOTED]}")
        self.head |= {k: event[k] for k in ("id", "created", "model", "usage") if event.get(k)}
        for choice in event.get("choices") or ():
            if not choice.get("index"):
                self.finish = choice.get("finish_reason") or self.finish
                self._extend(choice.get("delta") or {})

    def _extend(self, delta: dict[str, Any]) -> None:
        """A call's first part has its id and name; what follows has more of its arguments."""
        for name, parts in self.texts.items():
            parts.append(delta.get(name) or "")
        for part in delta.get("tool_calls") or ():
            key, said = part.get("index", 0), part.get("function") or {}
            call = self.open.get(key)
            if call is None or part.get("id") not in (None, "", call["id"]):
                number = part.get("id") or f"call_{len(self.calls)}"
                call = self.open[key] = {"id": number, "name": "", "parts": []}
                self.calls.append(call)
            call["name"] = call["name"] or said.get("name") or ""
            call["parts"].append(said.get("arguments") or "")

    def completion(self) -> dict[str, Any]:
        calls = [
            {"id": c["id"], "function": {"name": c["name"], "arguments": "".join(c["parts"])}}
            for c in self.calls
        ]
        texts = {name: "".join(parts) or None for name, parts in self.texts.items()}
        choice = {"message": {**texts, "tool_calls": calls}, "finish_reason": self.finish}
        return {"object": "chat.completion", **self.head, "choices": [choice]}
