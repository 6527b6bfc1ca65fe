"""The coder, asked of a chat model: whole modules with the help of tools, and partial edits."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from agents.model.chat import ChatModel, Message
from agents.model.errors import RefusedRequestError, ReplyError
from agents.model.replies import ask_structured
from agents.prompting import contract, load_prompt
from agents.protocols import CoderTools, Design, Edit, RoleError
from agents.roles.texts import design_text, findings_text
from agents.roles.tool_calls import answer_calls, tool_specifications
from games.checks.findings import Finding
from games.contract import REQUIRED_CONSTANTS, REQUIRED_FUNCTIONS
from tools.edits import EditError, apply_edits

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_MARKS = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+-]*)")
_LABELS = ("", "py", "python", "python3")
_CODE_START = re.compile(r'^(?:import |from \w+ import |GAME\b|def |"""|ZONES\b)', re.MULTILINE)
_REQUIRED = {*REQUIRED_FUNCTIONS, *REQUIRED_CONSTANTS}
_PROSE_CUTS = 3
_SNIPPETS, _SNIPPET_LENGTH, _TITLE_LENGTH = 4, 1_500, 200
_NO_ROUND_LEFT = "No tool call is left. Answer now with the complete module."


class EditReply(BaseModel):
    """One partial edit."""

    model_config = ConfigDict(extra="forbid")

    search: str = Field(description="Copied exactly from the module; occurs exactly once in it.")
    replace: str = Field(description="What stands there afterwards.")


class EditsReply(BaseModel):
    """Partial edits that mend the findings."""

    model_config = ConfigDict(extra="forbid")

    cause: str = Field(description="What was wrong, or why nothing is to be edited.")
    edits: list[EditReply]


class ModelCoder:
    """See `agents.protocols.Coder`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def draft(self, design: Design, tools: CoderTools) -> str:
        """See `Coder.draft`: a bounded loop of tool calls, then one block of code."""
        if self.model.takes_tools:
            try:
                return self._draft_with_tools(design, tools)
            except RefusedRequestError as error:
                if not error.form:
                    raise
                self.model.takes_tools = False
        return self.model.ask(_drafting(design, tools, offer=False), read_module)

    def _draft_with_tools(self, design: Design, tools: CoderTools) -> str:
        conversation = _drafting(design, tools, offer=True)
        offered = tool_specifications()
        for _ in range(self.model.settings.tool_rounds):
            reply = self.model.ask(conversation, _module_or_calls, tools=offered)
            if isinstance(reply, str):
                return reply
            conversation += [reply, *answer_calls(reply, tools)]
        conversation.append({"role": "user", "content": _NO_ROUND_LEFT})
        return self.model.ask(conversation, read_module, tools=offered, tool_choice="none")

    def edit(self, design: Design, source: str, findings: Sequence[Finding]) -> Sequence[Edit]:
        """See `Coder.edit`; the edits it returns do apply to `source`."""
        messages = load_prompt("coder_edit").fill(
            contract=contract(),
            design=design_text(design),
            source=source,
            findings=findings_text(design, findings),
        )
        reply = ask_structured(
            self.model, messages, EditsReply, lambda reply: _applicable(reply, source)
        )
        if not reply.edits:
            raise RoleError(f"the coder proposes no edit: {reply.cause}")
        return [Edit(search=edit.search, replace=edit.replace) for edit in reply.edits]


def _drafting(design: Design, tools: CoderTools, *, offer: bool) -> list[Message]:
    found = tools.search_snippets(f"{design.title}. {design.summary}")[:_SNIPPETS]
    snippets = [{"title": s.title[:_TITLE_LENGTH], "text": s.text[:_SNIPPET_LENGTH]} for s in found]
    return list(
        load_prompt("coder_draft").fill(
            contract=contract(), design=design_text(design), snippets=snippets, tools=offer
        )
    )


def read_module(message: "AIMessage") -> str:
    """The module in a reply: its one block of code, else the one whole module that it holds.

    A module is whole where it parses and defines what the contract requires; it may stand among
    other blocks, twice alike, or without marks around it.

    Raises:
        ReplyError: If there is no block and no whole module, or more than one.
    """
    if message.tool_calls or message.invalid_tool_calls:
        raise ReplyError("it calls a tool; answer with the complete module")
    text = str(message.text).replace("\r\n", "\n")
    blocks = list(dict.fromkeys(_blocks(text)))
    if len(blocks) == 1:
        return blocks[0]
    whole = [found for found in blocks or _unmarked(text) if _is_whole(found)]
    if len(whole) == 1:
        return whole[0]
    raise ReplyError(
        f"it has {len(blocks)} closed blocks of code and {len(whole)} different whole modules; "
        "required: exactly one block, which begins with ```python and ends with ```, with the "
        "complete module"
    )


def _blocks(text: str) -> Iterator[str]:
    """The closed blocks of code that are Python, or say nothing of their language."""
    marks, label, lines = "", "", list[str]()
    for line in text.split("\n"):
        if marks and line.rstrip() == marks:
            if label in _LABELS:
                yield "\n".join([*lines, ""])
            marks = ""
        elif marks:
            lines.append(line)
        elif opening := _MARKS.match(line):
            marks, label, lines = opening[1], opening[2].lower(), []


def _unmarked(text: str) -> list[str]:
    """What of a text without blocks parses, from where code begins to where prose follows."""
    start = _CODE_START.search(text)
    lines = text[start.start() :].split("\n") if start else []
    for _ in range(_PROSE_CUTS):
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as error:
            lines = lines[: (error.lineno or 1) - 1]
        except (ValueError, RecursionError, MemoryError):
            return []
        else:
            return ["\n".join([*lines, ""]).rstrip() + "\n"]
    return []


def _is_whole(source: str) -> bool:
    """Whether a source parses and defines what the contract requires."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names >= _REQUIRED


def _module_or_calls(message: "AIMessage") -> "str | AIMessage":
    if message.tool_calls or message.invalid_tool_calls:
        return message
    return read_module(message)


def _applicable(reply: EditsReply, source: str) -> EditsReply:
    """The reply, if its edits apply to the source and change it."""
    if not reply.edits:
        return reply
    try:
        edited = apply_edits(source, [(edit.search, edit.replace) for edit in reply.edits])
    except EditError as error:
        raise ReplyError(str(error)) from error
    if edited == source:
        raise ReplyError("its edits change nothing")
    return reply
