"""The coder's workbench: named drafts, the tools that work on them, and what calls are answered.

A draft is sent once and named from then on: checks, tests, edits and the answer name it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from agents.model.chat import Message
from agents.model.replies import Remark
from agents.prompting import cut_within, fence
from agents.protocols import CoderTools, Edit, EditError, Objection, apply_edits
from agents.roles.texts import record_text
from games.checks import Finding
from tools.pace import PACE
from vectorstore.documents import Example

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

SUBMIT, RUN_TESTS = "submit", "run_tests"
START = "start"
"""The draft that is there from the beginning: the module that is to be mended."""
_LONGEST_EXAMPLE = 14_000
_LONGEST_RECORD = 6_000
_LONGEST_EVIDENCE = 1_000
_LINE_NUMBER = re.compile(r"^ *\d+\| ?", re.MULTILINE)


class CallError(ValueError):
    """A tool call that cannot be carried out; the message is the model's answer."""


class _Arguments(BaseModel, extra="forbid"):
    """An object without other keys than these."""


class SearchArguments(_Arguments):
    """Arguments of a search."""

    query: str = Field(min_length=1, description="What to look for, in a few words.")


class RunArguments(_Arguments):
    """Arguments of a run of the checks."""

    source: str = Field(default="", description="A complete new module; it becomes a draft.")
    draft: str = Field(default="", description="Or the name of a draft.")


class DraftArguments(_Arguments):
    """Arguments that name a draft."""

    draft: str = Field(min_length=1, description="Name of the draft.")


class EditReply(_Arguments):
    """One partial edit."""

    search: str = Field(description="Copied exactly from the module; occurs exactly once in it.")
    replace: str = Field(description="What stands there afterwards.")


class EditArguments(DraftArguments):
    """Arguments of an edit: it makes a new draft."""

    edits: list[EditReply] = Field(min_length=1)


class PlayArguments(DraftArguments):
    """Arguments of a recorded match."""

    seed: int = Field(ge=0, description="Another seed gives another match.")


def _or_none_of_them(said: object) -> object:
    return [] if said is None else said


Contested: TypeAlias = Annotated[list[Objection], BeforeValidator(_or_none_of_them)]
"""Objections of the coder; null is none of them."""


class SubmitArguments(DraftArguments):
    """The coder's answer: a draft, and what it objects to."""

    cause: Remark = Field(default="", description="What was wrong, in one or two sentences.")
    contested: Contested = Field(
        default_factory=list, description="Claims of the validator that the rules do not bear out."
    )


class Workbench:
    """One task's drafts and tools.

    Attributes:
        drafts: Sources by name.
        answer: What was submitted.
        said: What calls that worked were answered, by what was called.
        missed: Why edits did not apply, since the newest draft was made.
        stuck: Whether the newest reply called nothing but what had been called before.
    """

    def __init__(self, tools: CoderTools, start: str | None = None) -> None:
        """`start` is the module that is to be mended, if there is one."""
        self.tools = tools
        self.drafts: dict[str, str] = {} if start is None else {START: start}
        self.answer: SubmitArguments | None = None
        self.said: dict[str, str] = {}
        self.missed: list[str] = []
        self.stuck = False

    def source(self, name: str) -> str:
        """A draft by its name; raises `CallError`."""
        if name not in self.drafts:
            known = ", ".join(self.drafts) or "none yet; send one to run_module"
            raise CallError(f"There is no draft {name!r}; drafts: {known}.")
        return self.drafts[name]

    def keep(self, source: str) -> str:
        """The name of a source, a new one where it is new."""
        for name, known in self.drafts.items():
            if known == source:
                return name
        name = f"draft{len(self.drafts) + (START not in self.drafts)}"
        self.drafts[name] = source
        self.missed.clear()
        return name

    @property
    def is_new(self) -> bool:
        """True if there is a draft that was not there from the beginning."""
        return len(self.drafts) > (START in self.drafts)

    def settle(self) -> None:
        """Take the newest draft of a coder that never submits one."""
        if self.is_new:
            self.answer = SubmitArguments(draft=list(self.drafts)[-1])

    def search_examples(self, arguments: SearchArguments) -> str:
        """Find the complete module of a game near a query."""
        return _pieces(self.tools.search_examples(arguments.query)[:1])

    def search_snippets(self, arguments: SearchArguments) -> str:
        """Find single functions near a query, each with the rule text it implements."""
        return _pieces(self.tools.search_snippets(arguments.query))

    def run_module(self, arguments: RunArguments) -> str:
        """Load a draft in the sandbox and run the quick checks on it."""
        if bool(arguments.source) == bool(arguments.draft):
            raise CallError("Give either source, a complete module, or draft, a name.")
        source = arguments.source or self.source(arguments.draft)
        name = self.keep(source)
        found = self.tools.run_module(source)
        told = fence(_findings(found), source="checks")
        if not self.tools.has_tests:
            return f"{name}:\n{told}"
        passed = all(one.outcome == "passed" for one in found)
        tests = self._tested(source) if passed else "The validator's tests were not run."
        return f"{name}:\n{told}\n{tests}"

    def edit_draft(self, arguments: EditArguments) -> str:
        """Make a new draft by partial edits of one, and run the quick checks on it."""
        before = self.source(arguments.draft)
        try:
            source = edited(before, arguments.edits)
        except CallError as error:
            self.missed.append(str(error))
            raise
        return self.run_module(RunArguments(source=source))

    def run_tests(self, arguments: DraftArguments) -> str:
        """Hold a draft against the validator's tests, and play again what it found faulty."""
        return self._tested(self.source(arguments.draft))

    def _tested(self, source: str) -> str:
        found = self.tools.run_tests(source)
        text = _findings(found, "tests") if found else "There are no tests yet."
        return fence(text, source="tests")

    def play_record(self, arguments: PlayArguments) -> str:
        """Play one random match of a draft and return its record."""
        played = self.tools.play_record(self.source(arguments.draft), arguments.seed)
        text = played if isinstance(played, str) else record_text(*played, limit=_LONGEST_RECORD)[0]
        return fence(text, source="match record", limit=2 * _LONGEST_RECORD)

    def submit(self, arguments: SubmitArguments) -> str:
        """Answer with a draft; with the module as it stands where only claims are contested."""
        self.source(arguments.draft)
        self.answer = arguments
        return "Submitted."


_TOOLS: Mapping[str, tuple[type[_Arguments], Callable[[Workbench, Any], str]]] = {
    "search_examples": (SearchArguments, Workbench.search_examples),
    "search_snippets": (SearchArguments, Workbench.search_snippets),
    "run_module": (RunArguments, Workbench.run_module),
    "edit_draft": (EditArguments, Workbench.edit_draft),
    RUN_TESTS: (DraftArguments, Workbench.run_tests),
    "play_record": (PlayArguments, Workbench.play_record),
    SUBMIT: (SubmitArguments, Workbench.submit),
}


def tool_specifications(tools: CoderTools) -> list[dict[str, object]]:
    """The tools as a request offers them; `run_tests` where there are tests."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": run.__doc__,
                "parameters": arguments.model_json_schema(),
            },
        }
        for name in _offered(tools)
        for arguments, run in [_TOOLS[name]]
    ]


def _offered(tools: CoderTools) -> list[str]:
    return [name for name in _TOOLS if name != RUN_TESTS or tools.has_tests]


def edited(source: str, edits: Sequence[EditReply]) -> str:
    """The edited source; line numbers that were copied along are taken off first.

    Raises:
        CallError: If an edit does not apply; nothing is applied then.
    """
    plain = [Edit(search=_unnumbered(e.search), replace=_unnumbered(e.replace)) for e in edits]
    try:
        return apply_edits(source, plain)
    except EditError as error:
        raise CallError(str(error)) from error


def _unnumbered(text: str) -> str:
    r"""Code without the line numbers of the prompt, where every line has one.

    >>> _unnumbered("  12| x = 1\n  13| y = 2"), _unnumbered("a | b")
    ('x = 1\ny = 2', 'a | b')
    """
    lines = text.splitlines()
    numbered = bool(lines) and all(_LINE_NUMBER.match(line) for line in lines)
    return _LINE_NUMBER.sub("", text) if numbered else text


def answer_calls(reply: "AIMessage", bench: Workbench) -> list[Message]:
    """One answer for each call of a reply; a wrong call is answered with what is wrong.

    A call that was made before is not carried out again where that worked. A tool that fails by
    itself (no sandbox, no store) raises: that is not the model's to see.
    """
    answers: list[Message] = []
    bench.stuck = all(_key(call) in bench.said for call in reply.tool_calls)
    bench.stuck = bench.stuck and not reply.invalid_tool_calls
    for call in reply.tool_calls:
        late = bench.answer is not None
        said = "Not run: too many calls at once." if late else _answer(call, bench)
        answers.append({"role": "tool", "tool_call_id": call["id"], "content": said})
    answers += [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": f"The arguments of {call['name']} are not a JSON object. Call it again.",
        }
        for call in reply.invalid_tool_calls
    ]
    return answers


def _key(call: Any) -> str:  # noqa: ANN401 - langchain's ToolCall
    return json.dumps([call["name"], call["args"]], sort_keys=True)


def _answer(call: Any, bench: Workbench) -> str:  # noqa: ANN401 - langchain's ToolCall
    if call["name"] not in _TOOLS:
        return (
            f"There is no tool {call['name']!r}; the tools are: {', '.join(_offered(bench.tools))}."
        )
    model, run = _TOOLS[call["name"]]
    key = _key(call)
    if key in bench.said:
        return bench.said[key]
    try:
        bench.said[key] = run(bench, model.model_validate(call["args"]))
    except CallError as error:
        return str(error)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        takes = ", ".join(model.model_fields)
        wrong = f"The argument {where or '(all)'} of {call['name']} is wrong: {problem['msg']}."
        return f"{wrong} It takes: {takes}."
    return bench.said[key]


def _pieces(found: Sequence[Example]) -> str:
    if not found:
        return "Nothing was found."
    text = "\n\n".join(f"{piece.title}\n{piece.text}" for piece in found)
    return fence(text, "retrieved", limit=_LONGEST_EXAMPLE)


def _findings(findings: Sequence[Finding], kind: str = "checks") -> str:
    told = [found for found in findings if found.outcome != "passed" or found.check == PACE]
    count = sum(found.outcome == "passed" for found in findings)
    passed = f"{count} of {len(findings)} {kind} passed."
    lines = [
        f"{found.check}: {found.outcome}"
        + (f", in {found.function}" if found.function else "")
        + (f", line {found.line}" if found.line is not None else "")
        + f": {cut_within(found.evidence, _LONGEST_EVIDENCE)}"
        for found in told
    ]
    return "\n".join([passed, *lines])
