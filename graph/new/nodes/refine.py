"""Refine: one candidate is picked and edited; the edited one goes to the checks."""

from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.budget import BudgetExhaustedError
from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import (
    EditError,
    Mending,
    RoleError,
    apply_edits,
)
from games.checks import Finding
from games.streams import stream
from graph.new.claims import (
    contested,
    to_settle,
)
from graph.new.coding import GraphCoderTools
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.state import (
    AfterEdit,
    RunState,
    folder_of,
    go_on,
    need_design,
)
from graph.run.candidates import (
    EDIT,
    STRATEGIES,
    Candidate,
    earlier_attempts,
    what_failed,
)
from graph.run.events import Refines, writer_of

_UNREAD = "no edit in it could be read; answer in the form that is asked for"


def refine(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterEdit]:
    """One refinement: pick, edit, and send the edited candidate to the checks."""
    context = context_of(runtime, state.folder, state.seed)
    made = need_design(state)
    settings = context.settings
    generator = stream(settings.seed, "refine", ply=state.rounds)
    parent = STRATEGIES[settings.refine](state.candidates, generator)
    open_findings = [f for f in parent.findings or () if f.outcome != "passed"]
    open_findings += [Finding(check=EDIT, outcome="failed", evidence=r) for r in parent.refused]
    tried = replace(parent, refined=parent.refined + 1)
    now = state.refining()
    writer_of(runtime.stream_writer)(Refines(round=now.rounds, candidate=parent.number))
    try:
        with place(f"refine/{now.rounds}"):
            mending = context.roles.coder.edit(
                made,
                parent.source,
                open_findings,
                GraphCoderTools(context, made, state.claims),
                earlier_attempts(state.candidates, parent),
            )
    except MalformedReplyError as error:
        told = f"{error}; still open: {what_failed(parent.findings or ())}"
        return _unreadable(state, now, tried, told, last=now.rounds >= settings.max_rounds)
    except BudgetExhaustedError as error:
        left = what_failed(parent.findings or ())
        raise BudgetExhaustedError(f"{error}; still open: {left}") from error
    except RoleError as error:
        tried = replace(tried, cause=str(error))
        if not parent.refused and now.rounds < settings.max_rounds:  # it is asked once more
            return go_on("refine", state, now.with_versions(replace(tried, refused=(str(error),))))
        reason = f"{error}; still open: {what_failed(parent.findings or ())}"
        return _given_up(state, now.with_versions(tried), reason)
    vote, refused = contested(state.claims, open_findings, mending.contested)
    children, missed = _edited(state, parent, mending)
    refused += missed
    if not (children or vote or refused):
        refused.append(f"nothing was edited: {mending.cause}")
    tried = replace(tried, refused=(*tried.refused, *refused))
    now = now.with_versions(tried, *children)
    if not children and not vote and now.rounds >= settings.max_rounds:
        left = f"{'; '.join(refused)}; still open: {what_failed(parent.findings or ())}"
        return _given_up(state, now, f"the last edit was of no use: {left}")
    for child in children:
        folder_of(state).write_text("game.py", child.source)
    goto: AfterEdit = "arbitrate" if vote else "check" if children else "refine"
    return go_on(goto, state, now.holding(state.claims, vote))


def _unreadable(
    before: RunState, now: RunState, tried: Candidate, reason: str, *, last: bool
) -> Command[AfterEdit]:
    """The way on after an edit that could not be read: it costs a round, and nothing else."""
    if last:
        return _given_up(before, now.with_versions(tried), f"the last edit was of no use: {reason}")
    told = replace(tried, refused=(*tried.refused, _UNREAD))
    return go_on("refine", before, now.with_versions(told))


def _edited(
    state: RunState, parent: Candidate, mending: Mending
) -> tuple[list[Candidate], list[str]]:
    """The new candidate, if there is one, and what of the edits was of no use."""
    refused = [*mending.refused]
    if not mending.edits:
        return [], refused
    try:
        source = apply_edits(parent.source, mending.edits)
    except EditError as error:
        return [], [*refused, str(error)]
    known = next((c.number for c in state.candidates if c.source == source), None)
    if known is not None:
        return [], [*refused, f"it leads to candidate {known} again, which did not pass"]
    number, cause = len(state.candidates), mending.cause
    child = Candidate(number=number, parent=parent.number, source=source, cause=cause)
    return [child], refused


def _given_up(before: RunState, now: RunState, reason: str) -> Command[AfterEdit]:
    """The report, unless claims that nobody verified are all that is left: these are voted on."""
    settle = to_settle(now.claims, now.candidates, last=True)
    if settle:
        return go_on("arbitrate", before, now.holding(now.claims, settle))
    return go_on("report", before, now.ending("gave_up", reason))
