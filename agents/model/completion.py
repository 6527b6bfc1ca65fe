"""Chat completions: spelled from a stream, held against the protocol, and made plain."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    ValidationError,
)

from agents.model.errors import BadBodyError, error_words, fault_words

_MOST_TOKENS = 10_000_000  # more than any model reads or writes in one call
_LONGEST_TOKEN = 8  # characters, on the average of any model's text
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
_QUOTED = 160
_NO_ARGUMENTS = frozenset({"arguments", "function", "id", "index", "name", "type"})
_DONE = "[DONE]"
_LINE_END = re.compile(r"\r\n|\r|\n")
_BROKEN = re.compile("filter|error|abort|insufficient", re.IGNORECASE)  # ends of no whole reply
_STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry|error)?:")


def _arguments(given: object) -> str:
    """The arguments of a call as the text of one object, in whatever way they are one.

    What is none is no JSON afterwards, so that the model is told.
    """
    text = _as_text(given)
    half = text[: len(text) // 2]
    text = half if half * 2 == text and isinstance(_parsed(half), dict) else text
    value = _parsed(text)
    value = (_parsed(value) or value) if isinstance(value, str) else value
    if value is None:
        return text
    if isinstance(value, dict) or not value:
        return json.dumps(value or {}, ensure_ascii=False)
    return f"{text} is no JSON object"


def _as_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments)


def _parsed(text: str) -> JsonValue:
    with suppress(ValueError, RecursionError):
        return well_formed(json.loads(text, strict=False))
    return None


def _joined(content: object) -> object:
    """Content that comes in parts as one text; what is no text, such as a thought, is left out."""
    parts = [content] if isinstance(content, dict) else content
    return "".join(map(_words_of, parts)) if isinstance(parts, list) else content


def _words_of(part: object) -> str:
    if isinstance(part, dict) and part.get("type") in ("text", "output_text"):
        part = part.get("text")
    return part if isinstance(part, str) else ""


class _Function(BaseModel):
    name: str
    arguments: Annotated[str, BeforeValidator(_arguments)]


def _with_arguments(call: object) -> object:
    """The call with its arguments under `arguments`, wherever in it they stand.

    The one object under another name is it where `arguments` holds nothing. Where that is not
    there either, the arguments are no JSON, so that the model is told.
    """
    said = _said_of(call) if isinstance(call, dict) else None
    if not isinstance(call, dict) or said is None:
        return call
    given = said.get("arguments")
    if given in (None, "", "{}", {}):
        others = (said[name] for name in said if name not in _NO_ARGUMENTS)
        found = [one for one in others if isinstance(_parsed(_as_text(one)), dict)]
        given = found[0] if len(found) == 1 else given if "arguments" in said and not found else "?"
    return {**call, "function": {"name": said.get("name"), "arguments": given}}


def _said_of(call: dict[str, Any]) -> dict[str, Any]:
    """All that a call, or a part of one, says; some servers do not put it under `function`."""
    function = call.get("function")
    return {**call, **function} if isinstance(function, dict) else call


class _ToolCall(BaseModel):
    id: Annotated[str | None, Field(coerce_numbers_to_str=True)] = None
    type: Annotated[Literal["function"], BeforeValidator(lambda _: "function")] = "function"
    function: _Function


_Called: TypeAlias = Annotated[_ToolCall, BeforeValidator(_with_arguments)]


def _each_once(calls: list[_ToolCall] | None) -> list[_ToolCall] | None:
    """The calls, each under an id of its own; one that came twice under its id is one."""
    kept: dict[str, _ToolCall] = {}
    for call in calls or ():
        name = call.id or f"call_{len(kept)}"
        if name in kept and kept[name].function == call.function and call.id:
            continue
        while name in kept:
            name = f"{name}_{len(kept)}"
        kept[name] = call.model_copy(update={"id": name})
    return [*kept.values()] or None


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _with_calls(said: object) -> object:
    said = {"content": said} if isinstance(said, str) else said
    return {**said, "tool_calls": _calls_of(said)} if isinstance(said, dict) else said


class _Message(BaseModel):
    role: Annotated[Literal["assistant"], BeforeValidator(lambda _: "assistant")] = "assistant"
    content: Annotated[str | None, BeforeValidator(_joined)] = None
    refusal: str | None = None
    tool_calls: Annotated[list[_Called] | None, AfterValidator(_each_once)] = None
    thought: Annotated[str | None, BeforeValidator(_text_or_none)] = Field(
        default=None,
        exclude=True,
        validation_alias=AliasChoices("reasoning_content", "reasoning"),
    )


class _Choice(BaseModel):
    index: Annotated[int, BeforeValidator(lambda index: index or 0)] = 0
    message: Annotated[_Message, BeforeValidator(_with_calls)] = Field(
        validation_alias=AliasChoices("message", "text")
    )
    finish_reason: Annotated[str | None, BeforeValidator(_text_or_none)] = None


class _Completion(BaseModel):
    model: Annotated[str | None, BeforeValidator(_text_or_none)] = None
    choices: list[_Choice]


def sound_completion(body: bytes, content_type: str) -> dict[str, JsonValue]:
    """The completion in a body, with what we know and checked of the protocol, and nothing else.

    A usage that cannot be true is left out, as one that was not reported. Of too few tokens for
    its length the reply has as many as it takes.

    Raises:
        BadBodyError: Saying what the body is instead.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = fault_words(body.decode(errors="replace"))[:_QUOTED]
        raise BadBodyError(
            f"the body is not JSON but {content_type or 'of no declared type'}, {len(body)} bytes, "
            f"beginning {start!r}"
        ) from error
    if said := error_words(value):
        raise BadBodyError(f"the endpoint answered with an error: {said}")
    try:
        completion = _Completion.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the body"
        start = body[:_QUOTED].decode(errors="replace")
        raise BadBodyError(f"{where} is wrong: {problem['msg']}; it begins {start!r}") from error
    except RecursionError as error:
        raise BadBodyError("the body is nested beyond reading") from error
    if not completion.choices:
        raise BadBodyError("'choices' is empty")
    choice = min(completion.choices, key=lambda choice: choice.index)
    completion.choices = [choice]
    message, is_cut = choice.message, choice.finish_reason == "length"
    if not (message.content or message.refusal or message.tool_calls or is_cut):
        message.content = message.thought  # all that some servers send
    if _BROKEN.search(reason := choice.finish_reason or ""):
        said = (message.refusal or message.content or "")[:_QUOTED]
        raise BadBodyError(f"the endpoint stopped the reply after {said!r}: {reason}")
    sound: dict[str, JsonValue] = {"id": "reply", "object": "chat.completion", "created": 0}
    sound |= completion.model_dump(exclude_none=True)
    if (tokens := reported_tokens(value)) is not None:
        told = len(f"{message.content}{message.tool_calls}") // _LONGEST_TOKEN
        tokens = tokens[0], max(tokens[1], told)
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
    asked, said = (_count(usage.get(name)) for name in _COUNTS[:2])
    return None if asked is None or said is None else (asked, said)


def _count(told: JsonValue) -> int | None:
    """Tokens, if they can be: JSON has 11 and 11.0 for one number."""
    if not isinstance(told, int | float) or not 0 <= told <= _MOST_TOKENS:
        return None
    return int(told) if int(told) == told else None


def is_stream(body: bytes) -> bool:
    r"""True if a body is a stream of events, whatever its content type says.

    >>> is_stream(b"\n: wait\n\ndata: {}\n\n"), is_stream(b'{"choices": []}')
    (True, False)
    """
    return _STREAM.match(body) is not None


def spelled(body: bytes) -> dict[str, Any]:
    """The completion that the events of a stream spell, of the first choice.

    Raises:
        BadBodyError: If an event is not of the protocol, tells of an error, or the end lacks.
    """
    spelling = _Spelling()
    try:
        for event, lines in _events(body.decode("utf-8-sig", errors="replace")):
            spelling.hear(event, lines)
        completion = spelling.completion()
    except BadBodyError:
        raise
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise BadBodyError(
            f"an event of the stream is not of the protocol: {error}; it begins "
            f"{spelling.said[:_QUOTED]!r}"
        ) from error
    if spelling.finish is None:
        end = body[-_QUOTED:].decode(errors="replace")
        raise BadBodyError(f"the stream broke off after {len(body)} bytes; it ends {end!r}")
    return completion


def _events(text: str) -> Iterator[tuple[str, list[str]]]:
    """Name and lines of data of each event; an error may stand between them as it is."""
    name, data = "", list[str]()
    for line in [*_LINE_END.split(text), ""]:
        field, _, said = line.partition(":")
        if not line:
            yield name, data
            name, data = "", []
        elif field == "event":
            name = said.strip()
        elif field in ("data", "error") or line.startswith("{"):
            name = "error" if field == "error" else name
            data.append(line if line.startswith("{") else said)


def _values(text: str) -> Iterator[Any]:
    """The values of JSON that stand in a text, one after the other."""
    decoder = json.JSONDecoder()
    while text := text.strip():
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:]


def _calls_of(said: dict[str, Any]) -> list[Any]:
    """The calls of a message, or the one of servers that know the form before tools alone."""
    legacy = said.get("function_call")
    calls = said.get("tool_calls") or (legacy and {"function": legacy}) or []
    return [call for call in (calls if isinstance(calls, list) else [calls]) if call]


def _follows(before: Sequence[object], more: object) -> bool:
    """True if an object begins where another has ended."""
    return _as_text(more).startswith("{") and _as_text(before[-1] if before else "").endswith("}")


def _put_together(parts: Sequence[object]) -> object:
    """Arguments from their parts: of a text, of an object, or each time the object so far.

    What two parts say differently makes text of all, which is no JSON: the model is told.

    >>> _put_together([{"source": "x ="}, {"source": "x = 1"}, {"seed": 4}])
    {'source': 'x = 1', 'seed': 4}
    >>> _put_together([{"seed": 4}, {"seed": 5}]), _put_together(['{"seed"', ": 4}"])
    ('{"seed": 4}{"seed": 5}', '{"seed": 4}')
    """
    said = [part for part in parts if part]
    whole: dict[str, Any] = {}
    for part in said if len(said) > 1 else ():
        if not isinstance(part, dict) or not all(
            _as_text(part[name]).startswith(_as_text(whole[name])) for name in part if name in whole
        ):
            return "".join(map(_as_text, said))
        whole |= part
    return whole or (said or parts)[0]


class _Spelling:
    """A completion as far as the events have spelled it."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.texts: dict[str, list[Any]] = {"content": [], "refusal": [], "reasoning_content": []}
        self.calls: list[dict[str, Any]] = []
        self.open: dict[object, dict[str, Any]] = {}
        self.finish: str | None = None
        self.said = ""

    def hear(self, name: str, data: Sequence[str]) -> None:
        """Take an event; one that is named so is an error, whatever is in it."""
        parts = [part.strip() for part in data]
        self.said = said = "\n".join(part for part in parts if part != _DONE)
        value: Any
        for value in [_parsed(said)] if name == "error" else _values(said):
            words = error_words(value) or (said[:_QUOTED] if name == "error" else "")
            if words:
                raise BadBodyError(f"the endpoint ended the stream: {words}")
            self.take(value)
        if _DONE in parts:
            self.finish = self.finish or ("stop" if self.texts["content"] else None)

    def take(self, event: dict[str, Any]) -> None:
        self.head |= {k: event[k] for k in ("id", "created", "model", "usage") if event.get(k)}
        for choice in event.get("choices") or ():
            if not choice.get("index"):
                self.finish = choice.get("finish_reason") or self.finish
                # A whole message is what some servers send at once, and some at the end once more.
                whole = None if any(map(any, self.texts.values())) else choice.get("message")
                said = choice.get("delta") or (not self.calls and whole)
                self._extend(said or {"content": choice.get("text")})

    def _extend(self, delta: dict[str, Any]) -> None:
        """A call's first part has its name; what follows has more of its arguments."""
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        said = {**delta, "reasoning_content": _text_or_none(thought)}
        for name, parts in self.texts.items():
            parts.append(_joined(said.get(name)) or "")
        for part in _calls_of(delta):
            self._call(part.get("index", 0), part.get("id") or None, _said_of(part))

    def _call(self, key: object, number: object, said: dict[str, Any]) -> None:
        call = self.open.get(key)
        more = {name: said[name] for name in said if name not in _NO_ARGUMENTS - {"arguments"}}
        is_new = call is None
        if call and said.get("name"):  # where a server has no ids, an object follows another
            follows = any(_follows(call["said"].get(name, ()), more[name]) for name in more)
            is_new = number != call["id"] if number else follows
        if call is None or is_new:
            call = self.open[key] = {"id": number, "name": "", "said": {}}
            self.calls.append(call)
        call["name"] = call["name"] or said.get("name") or ""
        for name in more:
            call["said"].setdefault(name, []).append(more[name])

    def completion(self) -> dict[str, Any]:
        calls = []
        for call in self.calls:
            said = {name: _put_together(parts) for name, parts in call["said"].items()}
            calls.append({"id": call["id"], "function": {"name": call["name"], **said}})
        texts = {name: "".join(parts) or None for name, parts in self.texts.items()}
        if texts["content"] or calls:
            del texts["reasoning_content"]
        choice = {"message": {**texts, "tool_calls": calls}, "finish_reason": self.finish}
        return {"object": "chat.completion", **self.head, "choices": [choice]}
