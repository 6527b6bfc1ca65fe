"""The coder, asked of a chat model: whole modules with the help of tools, and partial edits."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, model_validator

from agents.model.chat import ChatModel, Message, Tries
from agents.model.errors import FormError, ModelError, ReplyError
from agents.model.replies import Remark, ask_structured, beyond_thought, parse_reply
from agents.prompting import contract, fence, load_prompt
from agents.protocols import Attempt, CoderTools, Design, Edit, Mending, RoleError
from agents.roles.texts import design_text, findings_text, numbered
from agents.roles.tool_calls import (
    SUBMIT,
    CallError,
    Contested,
    EditReply,
    SubmitArguments,
    Workbench,
    answer_calls,
    edited,
    tool_specifications,
)
from games.checks import Finding
from games.text import bound_by
from games.values import REQUIRED_CONSTANTS, REQUIRED_FUNCTIONS, ModuleFault
from tools.sandbox.reading import foreign_tree
from vectorstore.documents import Example

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_MARKS = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+-]*)")
_LABELS = ("", "py", "python", "python3")
_CODE_START = re.compile(r'^(?:import |from \w+ import |GAME\b|def |"""|ZONES\b)', re.MULTILINE)
_REQUIRED = {*REQUIRED_FUNCTIONS, *REQUIRED_CONSTANTS}
_PROSE_CUTS = 3
_SNIPPETS, _TITLE_LENGTH, _LINE = 4, 200, 80
_WANTED = ("value_function", "resample_state", "resample_history")
_BY_TOOLS = "Work with the tools; the module as it stands is the draft `start`. End with `submit`."
_ANSWER = (
    "Call edit_draft with your edits, then submit; or answer with one JSON object with `cause`, "
    "`contested` and `edits`."
)
_ANEW = "not said; the whole module was written anew"
_SUBMIT_NOW = "No other call is left. Call submit now, with the best draft."
_EDIT_NOW = (
    "One call is left. Call edit_draft on `start` with all your edits, and what it makes is your "
    "answer; or submit `start` with the claims that you contest."
)
_MODULE_NOW = "No tool call is left. Answer now with the complete module."


Answer = TypeVar("Answer")


class EditsReply(BaseModel, extra="forbid"):
    """Partial edits that mend the findings."""

    cause: Remark = Field(description="What was wrong, or why nothing is to be edited.")
    contested: Contested = Field(
        description="Claims of the validator that the rules do not bear out; mostly none."
    )
    edits: list[EditReply]

    @model_validator(mode="before")
    @classmethod
    def _none_contested(cls, value: object) -> object:
        return {"contested": [], **value} if isinstance(value, dict) else value


class ModelCoder:
    """See `agents.protocols.Coder` and `Extender`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def draft(self, design: Design, tools: CoderTools) -> str:
        """See `Coder.draft`: a bounded loop of tool calls, then a block of code or a draft."""
        bench = Workbench(tools)
        done = self._with_tools(_drafting(design, tools, offer=True), bench, read_module)
        if done is not None:
            return done
        if bench.answer is not None:
            return bench.source(bench.answer.draft)
        return self.model.ask(_drafting(design, tools, offer=False), read_module)

    def edit(
        self,
        design: Design,
        source: str,
        findings: Sequence[Finding],
        tools: CoderTools,
        earlier: Sequence[Attempt] = (),
    ) -> Mending:
        """See `Coder.edit`; the edits it returns do apply to `source`."""
        bench = Workbench(tools, source)
        task = _editing(design, source, findings, tools, earlier)

        def accept(reply: EditsReply) -> EditsReply:
            return _applicable(reply, source)

        def read(message: "AIMessage") -> EditsReply:
            blocks = [*code_blocks(beyond_thought(str(message.text)))]
            whole = [block for block in blocks if _is_whole(block)]
            if len(whole) != 1:
                return accept(_edits(message, blocks))
            edit = EditReply(search=source, replace=whole[0])
            return accept(EditsReply(cause=_ANEW, contested=[], edits=[edit]))

        begun = [*task, {"role": "user", "content": _BY_TOOLS}]
        reply = self._with_tools(begun, bench, read)
        if bench.answer is not None:
            new, said = bench.source(bench.answer.draft), bench.answer
            return _mending(source, new, said, bench.missed)
        if reply is None and bench.missed:
            task.append({"role": "user", "content": _missed(bench.missed)})
        reply = reply or ask_structured(self.model, task, EditsReply, accept)
        return _mending(source, edited(source, reply.edits) if reply.edits else source, reply)

    def extend(self, design: Design, source: str) -> Mapping[str, str]:
        """See `Extender.extend`: one block with functions whose names the module does not have."""
        messages = load_prompt("coder_extras").fill(design=design_text(design), source=source)
        return self.model.ask(
            messages, lambda message: optional_functions(read_module(message), source)
        )

    def _with_tools(
        self, conversation: list[Message], bench: Workbench, read: "Callable[[AIMessage], Answer]"
    ) -> Answer | None:
        """Talk until there is an answer in words, or a draft was submitted; the calls are bounded.

        An endpoint that takes no tools is remembered, and asked without them from then on.
        """
        from langchain_core.messages import AIMessage

        offered = tool_specifications(bench.tools)
        rounds = self.model.settings.tool_rounds if self.model.learned.takes_tools else 0
        try:
            for number in range(rounds + 1 if rounds else 0):
                more = number < rounds and not bench.stuck
                choice = {} if more else _last_choice(conversation, bench)
                reply = self.model.ask(
                    conversation,
                    lambda said: said if said.tool_calls or said.invalid_tool_calls else read(said),
                    tries=Tries(further=True),
                    tools=offered,
                    **choice,
                )
                if not isinstance(reply, AIMessage):
                    return reply
                conversation += [reply, *answer_calls(reply, bench)]
                if bench.answer is not None:
                    return None
                if not more:
                    break
        except ModelError as error:
            if not error.form:
                raise
            self.model.learned.takes_tools = False
            return None
        bench.settle()
        return None


def _edits(message: "AIMessage", blocks: Sequence[str]) -> EditsReply:
    """Edits in words, where calls were offered; what is told of others names both ways.

    Of code in their place it is told what it lacks: JSON it was not meant to be.
    """
    try:
        return parse_reply(message, EditsReply)
    except FormError as error:
        faults = [fault for block in blocks if (fault := _unreadable(block))]
        raise FormError(f"{faults[0] if faults else error}. {_ANSWER}") from error


def _unreadable(block: str) -> str:
    """Why a block that defines functions is no module: it does not parse, or lacks some."""
    if "\ndef " not in block:
        return ""
    try:
        foreign_tree(block)
    except SyntaxError as error:
        return str(ModuleFault.of_syntax(error))
    except ValueError:
        return ""
    lost = ", ".join(sorted(_REQUIRED - bound_names(block)))
    return f"its code is no whole module, for it does not define {lost}" if lost else ""


def _last_choice(conversation: list[Message], bench: Workbench) -> dict[str, Any]:
    """The demand that ends the calls: to submit a draft, to make one, or for the module.

    A coder that has made none of its own is not made to submit the module as it stands.
    """
    choice: Any = {"type": "function", "function": {"name": SUBMIT}}
    said = _SUBMIT_NOW
    if not bench.is_new:
        said, choice = (_EDIT_NOW, "required") if bench.drafts else (_MODULE_NOW, "none")
    conversation.append({"role": "user", "content": said})
    return {"tool_choice": choice}


def _mending(
    source: str, new: str, said: EditsReply | SubmitArguments, missed: Sequence[str] = ()
) -> Mending:
    """The source in its new form; an edit that missed its place is nothing to give up for."""
    if new == source and not said.contested and not missed:
        raise RoleError(f"the coder proposes no edit: {said.cause}")
    edits = () if new == source else (Edit(search=source, replace=new),)
    contested = tuple(said.contested)
    return Mending(cause=said.cause, edits=edits, contested=contested, refused=tuple(missed))


def _missed(missed: Sequence[str]) -> str:
    """The facts that a new conversation must know of the one before."""
    return f"Edits of yours did not apply:\n{fence(chr(10).join(missed), source='edits')}"


def _drafting(design: Design, tools: CoderTools, *, offer: bool) -> list[Message]:
    found = tools.drafting_snippets(design)
    return list(
        load_prompt("coder_draft").fill(
            contract=contract(), design=design_text(design), snippets=_quoted(found), tools=offer
        )
    )


def _editing(
    design: Design,
    source: str,
    findings: Sequence[Finding],
    tools: CoderTools,
    earlier: Sequence[Attempt],
) -> list[Message]:
    rules = {rule.id: rule.text for rule in design.rules}
    quotes = dict.fromkeys((rules[f.rule], f.function) for f in findings if f.rule in rules)
    near = [piece for quote in quotes for piece in tools.snippets_for_rule(*quote)]
    snippets = list({piece.id: piece for piece in near}.values())
    return list(
        load_prompt("coder_edit").fill(
            contract=contract(),
            design=design_text(design),
            source=numbered(source),
            findings=findings_text(design, findings, tools),
            earlier=[attempt.model_dump() for attempt in earlier],
            snippets=_quoted(snippets[:_SNIPPETS]),
        )
    )


def _quoted(pieces: Sequence[Example]) -> list[dict[str, str]]:
    return [{"title": p.title[:_TITLE_LENGTH], "text": p.text} for p in pieces]


def answer_in_words(message: "AIMessage", wanted: str) -> str:
    """The text of a reply behind its thought, its lines ended in one way.

    Raises:
        ReplyError: If it calls a tool instead.
    """
    if message.tool_calls or message.invalid_tool_calls:
        raise ReplyError(f"it calls a tool; answer with {wanted}")
    return beyond_thought(str(message.text)).replace("\r\n", "\n")


def read_module(message: "AIMessage") -> str:
    """The module in a reply: its one block of code, else the one whole module that it holds.

    A module is whole where it parses and defines what the contract requires; it may stand among
    other blocks, twice alike, or without marks around it.

    Raises:
        ReplyError: If there is no block and no whole module, or more than one.
    """
    text = answer_in_words(message, "the complete module")
    blocks = list(dict.fromkeys(code_blocks(text)))
    if len(blocks) == 1:
        return blocks[0]
    whole = [found for found in blocks or _unmarked(text) if _is_whole(found)]
    if len(whole) == 1:
        return whole[0]
    if broken := broken_off(text):
        raise ReplyError(f"{broken}; required: the complete module, and shorter if need be")
    raise ReplyError(
        f"it has {len(blocks)} closed blocks of code and {len(whole)} different whole modules; "
        "required: exactly one block, which begins with ```python and ends with ```, with the "
        "complete module"
    )


def broken_off(text: str) -> str:
    r"""That a reply ends within a block of code, with its last line; empty where it does not.

    >>> broken_off("```python\nx = 1\ny = ")
    "it breaks off within a block of code: no line ``` follows its last line, 'y ='"
    """
    if len([*code_blocks(f"{text}\n```")]) == len([*code_blocks(text)]):
        return ""
    last = next(line for line in reversed(text.split("\n")) if line.strip())
    return (
        "it breaks off within a block of code: no line ``` follows its last line, "
        f"{last.strip()[:_LINE]!r}"
    )


def code_blocks(text: str) -> Iterator[str]:
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
    """Parts of a text without blocks that parse, from the first code to the next prose."""
    start = _CODE_START.search(text)
    lines = text[start.start() :].split("\n") if start else []
    for _ in range(_PROSE_CUTS):
        try:
            foreign_tree("\n".join(lines))
        except SyntaxError as error:
            lines = lines[: (error.lineno or 1) - 1]
        except ValueError:
            return []
        else:
            return ["\n".join([*lines, ""]).rstrip() + "\n"]
    return []


def _is_whole(source: str) -> bool:
    """True if a source parses and defines what the contract requires."""
    return bound_names(source) >= _REQUIRED


def bound_names(source: str) -> set[str]:
    """The names that a source binds at its top; none where it does not parse."""
    try:
        body = foreign_tree(source).body
    except (SyntaxError, ValueError):
        return set()
    return set[str]().union(*map(bound_by, body))


def _applicable(reply: EditsReply, source: str) -> EditsReply:
    """The reply, if its edits apply to the source and change it."""
    if not reply.edits:
        return reply
    try:
        new = edited(source, reply.edits)
    except CallError as error:
        raise ReplyError(str(error)) from error
    if new == source:
        raise ReplyError("the edits change nothing; mend the cause, or leave `edits` empty")
    return reply


def optional_functions(block: str, source: str) -> dict[str, str]:
    """The optional functions in a block, each with all of its helpers.

    Raises:
        ReplyError: If it is no Python, holds anything but functions, or defines again what the
            module has: the accepted game must stay as it is.
    """
    try:
        body = foreign_tree(block).body
        taken = _names(foreign_tree(source))
    except (SyntaxError, ValueError) as error:
        raise ReplyError(f"the block is no Python: {error}") from error
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    if len(functions) < len(body):
        raise ReplyError("the block holds more than functions; required: functions alone")
    again = sorted(node.name for node in functions if node.name in taken)
    if again:
        raise ReplyError(f"the module has {', '.join(again)} already; leave these as they are")
    helpers = [node for node in functions if node.name not in _WANTED]
    return {
        node.name: "\n\n\n".join(ast.unparse(part) for part in (*helpers, node))
        for node in functions
        if node.name in _WANTED
    }


def _names(module: ast.Module) -> set[str]:
    """Names that a module uses outside its functions."""
    defined = [node for node in module.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    parts = [part for node in module.body if node not in defined for part in ast.walk(node)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    names |= {(p.asname or p.name).partition(".")[0] for p in parts if isinstance(p, ast.alias)}
    return names.union(node.name for node in defined)
