"""Replies in a schema, from any server: json_schema, else a function call, else plain JSON."""

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from math import inf
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from pydantic import (
    BaseModel,
    BeforeValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from agents.model.chat import ChatModel, Message, Tries
from agents.model.completion import well_formed
from agents.model.errors import FormError, ModelError, RefusedRequestError
from agents.model.settings import ReplyMethod

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

METHODS: tuple[ReplyMethod, ...] = ("json_schema", "function_calling", "plain")
_OBJECT_START = re.compile(r"^[ \t]*\{", re.MULTILINE)
# A text, which stays, or a comment or a last comma. Nothing that was matched is given up again, and
# what has no end goes to the end: else a hostile reply holds the process for hours.
_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_LOOSE = re.compile(rf'("(?:[^"\\]|\\.)*+"?)|{_COMMENT}|,(?=(?:\s|{_COMMENT})*+[}}\]])', re.DOTALL)
_THINKS, _THOUGHT = "<think>", "</think>"
_PROBLEMS_SHOWN = 5
_IN_WORDS, _FORM = "Answer with one JSON object and nothing else.", "It must fit this schema:\n{}"
_MISFITS = 2  # from so many on each request shows its form: the server does not bind replies to it


def _or_null(value: object, inner: ValidatorFunctionWrapHandler) -> object:
    try:
        return inner(value)
    except ValidationError:
        return None


HINT = WrapValidator(_or_null)
"""Of a field that may be null and that nothing is decided by: a wrong value is null."""
Remark: TypeAlias = Annotated[str, BeforeValidator(lambda said: "" if said is None else said)]
"""A text that may be empty: null is the empty text."""
Reply = TypeVar("Reply", bound=BaseModel)
Result = TypeVar("Result")


def ask_structured(
    model: ChatModel,
    messages: Sequence[Message],
    reply: type[Reply],
    accept: Callable[[Reply], Result],
) -> Result:
    """Ask for a reply in the schema of `reply` and turn it into a result.

    A server that refuses one way of asking, or gives nothing in it that can be read, is asked in
    the next way; the first way that works is kept in `model.learned`. All ways share the tries
    that the settings allow: the first has most of them, each further one the last of them.
    A reply that does not fit is answered with the schema, which some servers take and do not bind
    replies to; after two of them every request shows it.

    Args:
        model: Whom to ask.
        messages: The conversation.
        reply: Schema of the reply: every field required; what is extra is left out.
        accept: Turns the parsed reply into the result, or raises `ReplyError` where its content
            cannot be right; the model is told and asked again.

    Raises:
        RefusedRequestError: If the server takes no request for a reply in a schema.
        EndpointError: For `ChatModel.ask`'s reasons.
        MalformedReplyError: If no reply fitted the schema within the bounded tries.
    """
    works = model.learned.reply_method
    others = () if works == model.settings.reply_method is not None else METHODS
    methods = [*([works] if works else []), *(one for one in others if one != works)]
    refused: list[str] = []
    tries, most = Tries(), model.settings.retries + 1

    def read(message: "AIMessage") -> Result:
        try:
            value = parse_reply(message, reply)
        except FormError as error:
            model.learned.misfits += 1
            error.form = "" if shown else _FORM.format(_form(reply))
            raise
        model.learned.reply_method, tries.until = method, inf
        return accept(value)

    for further, method in zip(reversed(range(len(methods))), methods, strict=True):
        tries.further, tries.proven = bool(further), method == works
        tries.until = max(tries.unreadable + 1 + tries.proven, most - further)
        shown = method == "plain" or model.learned.misfits >= _MISFITS
        asked, options = [*messages, *(_asked(reply) if shown else [])], _options(method, reply)
        try:
            return model.ask(asked, read, tries=tries, **options)
        except ModelError as error:
            if not error.form or not (further or isinstance(error, RefusedRequestError)):
                raise
            refused.append(f"{method}: {error}")
    raise RefusedRequestError(
        f"{model.identity} takes no request for a reply in a schema: {'; '.join(refused)}",
        form=False,
    )


def _options(method: ReplyMethod, reply: type[BaseModel]) -> dict[str, Any]:
    if method == "plain":
        return {}
    from langchain_core.utils.function_calling import convert_to_openai_tool

    tool = convert_to_openai_tool(reply, strict=True)
    function = tool["function"]
    if method == "function_calling":
        choice = {"type": "function", "function": {"name": function["name"]}}
        return {"tools": [tool], "tool_choice": choice}
    schema = {"name": function["name"], "schema": function["parameters"], "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _form(reply: type[BaseModel]) -> str:
    """The form of a reply, in a line."""
    return json.dumps(reply.model_json_schema(), separators=(",", ":"))


def _asked(reply: type[BaseModel]) -> list[Message]:
    """The demand for a reply in a form, in words."""
    return [{"role": "user", "content": f"{_IN_WORDS} {_FORM.format(_form(reply))}"}]


def parse_reply(message: "AIMessage", reply: type[Reply]) -> Reply:
    """The reply's value, from a function call or from the text, bare or fenced.

    Raises:
        FormError: Saying what does not fit.
    """
    if message.tool_calls:
        return _validated(message.tool_calls[0]["args"], reply)
    if message.invalid_tool_calls:
        raise FormError("the arguments of its call are not valid JSON: one object is required")
    return _validated(_json_object(str(message.text)), reply)


def beyond_thought(text: str) -> str:
    """The words of a reply behind its thought, which may have no beginning, or no end.

    >>> [beyond_thought(said) for said in ("<think>two, no</think>three", "<think>two", "one")]
    ['three', '', 'one']
    """
    said = text.rpartition(_THOUGHT)[2]
    return "" if said.lstrip().startswith(_THINKS) else said


def _json_object(text: str) -> object:
    """The first JSON object of a text, whatever stands around it; of a thinker's, behind that."""
    said = beyond_thought(text)
    text = said if "{" in said else text
    at_line_start = _OBJECT_START.search(text)
    start = text.find("{", at_line_start.start() if at_line_start else 0)
    if start < 0:
        raise FormError("it holds no JSON object" if text.strip() else "it is empty")
    try:
        return _decoded(text, start)
    except (ValueError, RecursionError) as error:  # such as a number of 5,000 digits
        with contextlib.suppress(ValueError, RecursionError):
            return _decoded(_LOOSE.sub(lambda part: part[1] or "", text[start:]))
        raise FormError(f"its JSON does not parse: {error}") from error


def _decoded(text: str, start: int = 0) -> object:
    """The value that begins there; a text of it may run over several lines."""
    value: object = well_formed(json.JSONDecoder(strict=False).raw_decode(text, start)[0])
    return value


def _validated(value: object, reply: type[Reply]) -> Reply:
    value = _blank_is_null(value, reply)
    try:
        return reply.model_validate(value, extra="ignore")  # the trace shows the whole reply
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'the object'}: "
            f"{problem['msg'].partition(' or instance of ')[0]}"
            for problem in error.errors()[:_PROBLEMS_SHOWN]
        ]
        raise FormError(f"it does not fit the schema: {'; '.join(problems)}") from error


def _blank_is_null(value: object, reply: type[BaseModel]) -> object:
    """The reply with null for an empty text that names none of a field's words, where null may be.

    But for hints nothing else is read as null: a verdict's number that is missing or blank stays a
    fault.
    """
    if not isinstance(value, dict):
        return value
    blank = [
        name
        for name, field in reply.model_fields.items()
        if value.get(name) == ""
        and any(get_origin(part) is Literal for part in get_args(field.annotation))
        and NoneType in get_args(field.annotation)
    ]
    return {**value, **dict.fromkeys(blank)}
