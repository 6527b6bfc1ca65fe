"""Revise: a message on a game that is there is answered, or changes the design and then the code.

A change begins a folder of its own; the game before it stays as it is.
"""

import shutil
from typing import Any, Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import NEW_FAMILY, Brief, Choices, Design, Revision, RoleError, Talk
from games.checks.findings import Finding
from graph.new.answers import human_words
from graph.new.nodes.code import GraphCoderTools
from graph.new.nodes.design import write_design
from graph.new.results import rule_changes, verdict_lines
from graph.new.state import Made, RunState, cleared, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of, folder_given
from graph.run.pool import Candidate, carried
from tools.edits import EditError, apply_edits
from tools.reporting.verdict import shares_text

_ANOTHER = "It would be a run of its own: rulewright new"


def revise(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["intake", "design", "approve", "code", "recode", "__end__"]]:
    """Ask the designer what the last message means for the design at hand."""
    context = context_of(runtime, state.folder)
    if state.brief is None:
        raise ValueError("revise runs on a design; the state holds no brief")
    said = human_words(state)
    figures = (*verdict_lines(state), *(shares_text(state.evaluation) if state.evaluation else ()))
    talk = Talk(message=said[-1], history=_history(state), figures=figures)
    try:
        with place(f"revise/{len(said)}"):
            found = context.roles.designer.revise(need_design(state), state.brief, talk)
    except RoleError as error:
        found = Revision(reply=str(error))
    runtime.stream_writer({"node": "revise", "changed": found.design is not None})
    brief = state.brief.model_copy(update={"corrections": (*state.brief.corrections, said[-1])})
    if found.other and state.asks:
        choices = _of_family(brief.choices, need_design(state))
        brief = brief.model_copy(update={"choices": choices})
        return Command(goto="design", update={"asks": False, "brief": brief})
    if found.other and folder_given(runtime) is None:
        return Command(goto="intake", update={**cleared(), "folder": "", "settings": None})
    if found.design is None:
        return _replied(state, f"{found.reply} {_ANOTHER}" if found.other else found.reply)
    return _changed(state, brief, found.design, found.reply, ask=context.settings.approve)


def _of_family(choices: Choices, design: Design) -> Choices:
    """The choices, for a game of the design's family, whose settings further words can change."""
    if choices.family is not None or design.family == NEW_FAMILY:
        return choices
    return choices.but(Choices(family=design.family))


def _history(state: RunState) -> tuple[str, ...]:
    """What the person said before, and what was answered; no messages of single stages.

    Where the run lies on this machine is nothing that a model is told, or that a request rests on.
    """
    root = str(folder_of(state).root.path)
    return tuple(
        f"{'person' if isinstance(message, HumanMessage) else 'designer'}: "
        f"{message.text.replace(root, 'RUN')}"
        for message in state.messages[:-1]
        if message.name in (None, "reply", "revise")
    )


def _replied(state: RunState, reply: str) -> Command[Any]:
    """An answer; the game stays, and who was asked to approve it is asked again."""
    if state.asks:
        return Command(goto="approve", update={"messages": [AIMessage(reply, name="revise")]})
    return Command(
        goto=END, update={"messages": [AIMessage(reply, name="reply")], "summary": reply}
    )


def _changed(state: RunState, brief: Brief, made: Design, reply: str, *, ask: bool) -> Command[Any]:
    """The changed design: over the one that waits for approval, else in a folder of its own."""
    update = {"design": made, "brief": brief, "messages": [AIMessage(reply, name="revise")]}
    if state.asks:
        write_design(folder_of(state), made, brief)
        return Command(goto="approve", update=update)
    number = state.revision + 1
    folder = folder_of(state).root.revision(number)
    folder.journals.mkdir(parents=True, exist_ok=True)
    write_design(folder, made, brief)
    place_of = {"revision": number, "folder": str(folder.path), "before": state.made}
    goto = "approve" if ask else "code" if state.made is None else "recode"
    return Command(goto=goto, update={**cleared(), **place_of, **update, "asks": ask})


def recode(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["code", "check", "report"]]:
    """Edit the code of the game before for the changed rules; where none changed, keep it all."""
    context = context_of(runtime, state.folder)
    design, base = need_design(state), state.before
    if base is None:
        raise ValueError("recode runs on a game that was made; the state holds none")
    folder = folder_of(state)
    old = folder.root.revision(base.revision)
    findings = _to_do(base.design, design)
    if not findings:
        old.carry(folder, ("checks.json", "players/", "records/"))
        return Command(goto="report", update=_as_before(base))
    claims = carried(base.claims, base.candidate, base.design, design)
    try:
        with place(f"recode/{state.revision}"):
            tools = GraphCoderTools(context, design)
            mending = context.roles.coder.edit(design, base.candidate.source, findings, tools)
        edits = [(edit.search, edit.replace) for edit in mending.edits]
        source = apply_edits(base.candidate.source, edits) if edits else base.candidate.source
    except RoleError:
        source = base.candidate.source  # the coder holds that it keeps the new rules as it stands
    except EditError:
        return Command(goto="code", update={"claims": claims})
    if source == base.candidate.source:  # the same matches: none of them is played again
        shutil.copytree(old.journals, folder.journals, dirs_exist_ok=True)
    folder.write_text("game.py", source)
    runtime.stream_writer({"node": "recode", "changes": len(findings)})
    drafted = [Candidate(number=0, source=source)]
    return Command(goto="check", update={"candidates": drafted, "claims": claims})


def _to_do(before: Design, after: Design) -> list[Finding]:
    """What the code must do otherwise, a finding a changed rule or setting."""
    return [
        Finding(
            check="revision",
            outcome="failed",
            rule=line.name if line.name.startswith("R") else "",
            evidence=f"the person changed the game; {line.name}, {line.state}: {line.text}",
        )
        for line in rule_changes(before, after)
    ]


def _as_before(base: Made) -> dict[str, object]:
    """All that was found of the game before, for a design with the same rules."""
    kept = ("heuristics", "strategy_notes", "evaluation", "record", "claims")
    found = {name: getattr(base, name) for name in kept}
    return {**found, "candidates": [base.candidate], "accepted": base.candidate.number}
