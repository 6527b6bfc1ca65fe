"""Refine: one candidate is picked and edited; the edited one goes to the checks."""

from typing import Literal, TypeAlias

from langgraph.runtime import Runtime
from langgraph.types import Command

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
    RunState,
    folder_of,
    need_design,
)
from graph.run.candidates import (
    EDIT,
    STRATEGIES,
    Candidate,
    earlier_attempts,
    keep_newest,
    what_failed,
)

_AfterEdit: TypeAlias = Literal["check", "refine", "arbitrate", "report"]


_To: TypeAlias = Command[_AfterEdit]


def refine(state: RunState, runtime: Runtime[RunContext]) -> _To:
    """One refinement: pick, edit, and send the edited candidate to the checks."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    settings = context.settings
    generator = stream(settings.seed, "refine", ply=state.rounds)
    parent = STRATEGIES[settings.refine](state.candidates, generator)
    open_findings = [f for f in parent.findings or () if f.outcome != "passed"]
    open_findings += [Finding(check=EDIT, outcome="failed", evidence=r) for r in parent.refused]
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
        if not parent.refused and state.rounds < settings.max_rounds:  # it is asked once more
            tried = tried.model_copy(update={"refused": (str(error),)})
            return Command(goto="refine", update={"candidates": [tried], "rounds": state.rounds})
        left = what_failed([found for found in open_findings if found.check != EDIT])
        return _given_up(state, tried, f"{error}; still open: {left}")
    vote, refused = contested(state.claims, open_findings, mending.contested)
    children, missed = _edited(state, parent, mending)
    refused += missed
    if not (children or vote or refused):
        refused.append(f"nothing was edited: {mending.cause}")
    tried = tried.model_copy(update={"refused": (*tried.refused, *refused)})
    if not children and not vote and state.rounds >= settings.max_rounds:
        return _given_up(state, tried, f"the last edit was of no use: {'; '.join(refused)}")
    for child in children:
        folder_of(state).write_text("game.py", child.source)
    goto: _AfterEdit = "arbitrate" if vote else "check" if children else "refine"
    update = {"candidates": [tried, *children], "rounds": state.rounds, "contested": vote}
    return Command(goto=goto, update=update)


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


def _given_up(state: RunState, tried: Candidate, reason: str) -> _To:
    """The report, unless claims that nobody verified are all that is left: these are voted on."""
    pool = keep_newest(state.candidates, [tried])
    settle = to_settle(state.claims, pool, last=True)
    update: dict[str, object] = {"candidates": [tried], "rounds": state.rounds}
    if settle:
        return Command(goto="arbitrate", update={**update, "contested": settle})
    return Command(goto="report", update={**update, "end": "gave_up", "reason": reason})
