"""The coder's tool calls: what is offered, how a call is read, and what it is answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.model.chat import Message
from agents.prompting import fence
from agents.protocols import CoderTools
from games.checks.findings import Finding
from vectorstore.documents import Example

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_LONGEST_EXAMPLE = 14_000
_LONGEST_RECORD = 6_000
_LONGEST_EVIDENCE = 1_000


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    """Arguments of a search."""

    query: str = Field(min_length=1, description="What to look for, in a few words.")


class RunArguments(_Arguments):
    """Arguments of a run of the checks."""

    source: str = Field(min_length=1, description="The complete module.")


class PlayArguments(_Arguments):
    """Arguments of a recorded match."""

    source: str = Field(min_length=1, description="The complete module.")
    seed: int = Field(ge=0, description="Another seed gives another match.")


def _search_examples(tools: CoderTools, arguments: SearchArguments) -> str:
    return _pieces(tools.search_examples(arguments.query)[:1])


def _search_snippets(tools: CoderTools, arguments: SearchArguments) -> str:
    return _pieces(tools.search_snippets(arguments.query))


def _run_module(tools: CoderTools, arguments: RunArguments) -> str:
    return fence(_findings(tools.run_module(arguments.source)), source="checks of the draft")


def _play_record(tools: CoderTools, arguments: PlayArguments) -> str:
    record = tools.play_record(arguments.source, arguments.seed)
    return fence(record, source="match record", limit=_LONGEST_RECORD)


_TOOLS: Mapping[str, tuple[str, type[_Arguments], Callable[[CoderTools, Any], str]]] = {
    "search_examples": (
        "Find the complete module of a game near a query.",
        SearchArguments,
        _search_examples,
    ),
    "search_snippets": (
        "Find single functions near a query, each with the rule text it implements.",
        SearchArguments,
        _search_snippets,
    ),
    "run_module": (
        "Load a draft in the sandbox and run the quick checks on it.",
        RunArguments,
        _run_module,
    ),
    "play_record": (
        "Play one random match of a draft and return its record.",
        PlayArguments,
        _play_record,
    ),
}


def tool_specifications() -> list[dict[str, object]]:
    """The tools as a request offers them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": arguments.model_json_schema(),
            },
        }
        for name, (description, arguments, _) in _TOOLS.items()
    ]


def answer_calls(reply: "AIMessage", tools: CoderTools) -> list[Message]:
    """One answer for each call of a reply; a wrong call is answered with what is wrong.

    A tool that fails by itself (no sandbox, no store) raises: that is not the model's to see.
    """
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": _answer(call, tools)}
        for call in reply.tool_calls
    ]
    answers += [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": f"The arguments of {call['name']} are not a JSON object. Call it again.",
        }
        for call in reply.invalid_tool_calls
    ]
    return answers


def _answer(call: Any, tools: CoderTools) -> str:  # noqa: ANN401 - langchain's ToolCall
    if call["name"] not in _TOOLS:
        return f"There is no tool {call['name']!r}; the tools are: {', '.join(_TOOLS)}."
    _, model, run = _TOOLS[call["name"]]
    try:
        arguments = model.model_validate(call["args"])
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        return f"The argument {where or '(all)'} of {call['name']} is wrong: {problem['msg']}."
    return run(tools, arguments)


def _pieces(found: Sequence[Example]) -> str:
    if not found:
        return "Nothing was found."
    text = "\n\n".join(f"{piece.title}\n{piece.text}" for piece in found)
    return fence(text, "retrieved", limit=_LONGEST_EXAMPLE)


def _findings(findings: Sequence[Finding]) -> str:
    wrong = [found for found in findings if found.outcome != "passed"]
    passed = f"{len(findings) - len(wrong)} of {len(findings)} checks passed."
    lines = [
        f"{found.check}: {found.outcome}"
        + (f", in {found.function}" if found.function else "")
        + (f", line {found.line}" if found.line is not None else "")
        + f": {found.evidence[:_LONGEST_EVIDENCE]}"
        for found in wrong
    ]
    return "\n".join([passed, *lines])
