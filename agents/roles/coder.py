"""The coder, asked of a chat model: whole modules with the help of tools, and partial edits."""

import re
from collections.abc import Sequence
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
from tools.edits import EditError, apply_edits

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_BLOCK = re.compile(r"^```(?:python|py)?[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
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
    """The module in a reply.

    Raises:
        ReplyError: If there is not exactly one block of code.
    """
    if message.tool_calls or message.invalid_tool_calls:
        raise ReplyError("it calls a tool; answer with the complete module")
    blocks = _BLOCK.findall(str(message.text).replace("\r\n", "\n"))
    if len(blocks) != 1:
        raise ReplyError(
            f"it has {len(blocks)} closed blocks of code; required: exactly one, which begins with "
            "```python and ends with ```, with the complete module"
        )
    return str(blocks[0])


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
