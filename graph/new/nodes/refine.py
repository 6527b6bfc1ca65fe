"""Refine: pick a candidate from the pool and ask the coder for partial edits."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.claims import Edit
from agents.model.recording import place
from agents.protocols import RoleError
from games.checks.findings import Finding
from games.streams import stream
from graph.new.nodes.code import GraphCoderTools
from graph.new.state import RunState, folder_of, need_design
from graph.run.claims import contested, to_settle
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import (
    EDIT,
    STRATEGIES,
    Candidate,
    earlier_attempts,
    keep_newest,
    what_failed,
)
from tools.edits import EditError, apply_edits

_To: TypeAlias = Command[Literal["check", "refine", "arbitrate", "report"]]


def refine(state: RunState, runtime: Runtime[RunContext]) -> _To:
    """One refinement: pick, edit, and send the edited candidate to the checks."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    settings = context.settings
    generator = stream(settings.seed, "refine", ply=state.rounds)
    parent = STRATEGIES[settings.refine](state.candidates, generator)
    open_findings = [f for f in parent.findings or () if f.outcome != "passed"]
    tried = parent.model_copy(update={"refined": parent.refined + 1})
    state = state.model_copy(update={"rounds": state.rounds + 1})
    runtime.stream_writer({"node": "refine", "round": state.rounds, "candidate": parent.number})
    try:
        with place(f"refine/{state.rounds}"):
            mending = context.roles.coder.edit(
                made,
                parent.source,
                open_findings,
                GraphCoderTools(context, made, state.claims),
                earlier_attempts(state.candidates, parent),
            )
    except RoleError as error:
        tried = tried.model_copy(update={"cause": str(error)})
        return _given_up(state, tried, f"{error}; still open: {what_failed(open_findings)}")
    vote, refused = contested(state.claims, open_findings, mending.contested)
    update: dict[str, object] = {"candidates": [tried], "rounds": state.rounds, "contested": vote}
    if mending.edits:
        try:
            child = _child(state, parent, mending.edits, mending.cause)
        except EditError as error:
            refused.append(str(error))
        else:
            folder_of(state).write_text("game.py", child.source)
            goto: Literal["arbitrate", "check"] = "arbitrate" if vote else "check"
            return Command(goto=goto, update={**update, "candidates": [tried, child]})
    if vote:
        return Command(goto="arbitrate", update=update)
    message = "; ".join(refused) or f"nothing was edited: {mending.cause}"
    return _refused(state, tried, message, last=state.rounds >= settings.max_rounds)


def _child(state: RunState, parent: Candidate, edits: Sequence[Edit], cause: str) -> Candidate:
    """The edited candidate.

    Raises:
        EditError: If the edits do not apply, or lead to a candidate that is known.
    """
    source = apply_edits(parent.source, [(edit.search, edit.replace) for edit in edits])
    known = next((c.number for c in state.candidates if c.source == source), None)
    if known is not None:
        raise EditError(f"it leads to candidate {known} again, which did not pass")
    number = len(state.candidates)
    return Candidate(number=number, parent=parent.number, source=source, cause=cause)


def _refused(state: RunState, tried: Candidate, message: str, *, last: bool) -> _To:
    """An edit that does not apply, or makes nothing new, becomes a finding: the coder is told."""
    noted = Finding(check=EDIT, outcome="failed", evidence=message)
    parent = tried.model_copy(update={"findings": (*(tried.findings or ()), noted)})
    if last:
        return _given_up(state, parent, f"the last edit was of no use: {message}")
    return Command(goto="refine", update={"candidates": [parent], "rounds": state.rounds})


def _given_up(state: RunState, tried: Candidate, reason: str) -> _To:
    """The report, unless claims that nobody verified are all that is left: these are voted on."""
    pool = keep_newest(state.candidates, [tried])
    settle = to_settle(state.claims, pool, last=True)
    update: dict[str, object] = {"candidates": [tried], "rounds": state.rounds}
    if settle:
        return Command(goto="arbitrate", update={**update, "contested": settle})
    return Command(goto="report", update={**update, "end": "gave_up", "reason": reason})
