"""Refine: pick a candidate from the pool and ask the coder for partial edits."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import RoleError
from games.checks.findings import Finding
from games.streams import stream
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import STRATEGIES, Candidate, what_failed
from tools.edits import EditError, apply_edits


def refine(
    state: RunState, runtime: Runtime[RunContext]
) -> Command[Literal["check", "refine", "report"]]:
    """One refinement: pick, edit, and send the edited candidate to the checks."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    settings = context.settings
    generator = stream(settings.seed, "refine", ply=state.rounds)
    parent = STRATEGIES[settings.refine](state.candidates, generator)
    open_findings = [f for f in parent.findings or () if f.outcome != "passed"]
    tried = parent.model_copy(update={"refined": parent.refined + 1})
    rounds = state.rounds + 1
    runtime.stream_writer({"node": "refine", "round": rounds, "candidate": parent.number})
    try:
        with place(f"refine/{rounds}"):
            edits = context.roles.coder.edit(made, parent.source, open_findings)
    except RoleError as error:
        return Command(
            goto="report",
            update={
                "candidates": [tried],
                "rounds": rounds,
                "end": "gave_up",
                "reason": f"{error}; still open: {what_failed(open_findings)}",
            },
        )
    try:
        source = apply_edits(parent.source, [(edit.search, edit.replace) for edit in edits])
    except EditError as error:
        return _edit_refused(tried, rounds, settings.max_rounds, str(error))
    known = next((c.number for c in state.candidates if c.source == source), None)
    if known is not None:
        problem = f"it leads to candidate {known} again, which did not pass"
        return _edit_refused(tried, rounds, settings.max_rounds, problem)
    child = Candidate(number=len(state.candidates), parent=parent.number, source=source)
    folder_of(state).write_text("game.py", source)
    return Command(goto="check", update={"candidates": [tried, child], "rounds": rounds})


def _edit_refused(
    tried: Candidate, rounds: int, max_rounds: int, message: str
) -> Command[Literal["check", "refine", "report"]]:
    """An edit that does not apply, or makes nothing new, becomes a finding: the coder is told."""
    noted = Finding(check="edit", outcome="failed", evidence=message)
    parent = tried.model_copy(update={"findings": (*(tried.findings or ()), noted)})
    update: dict[str, object] = {"candidates": [parent], "rounds": rounds}
    if rounds < max_rounds:
        return Command(goto="refine", update=update)
    return Command(
        goto="report",
        update={**update, "end": "gave_up", "reason": f"the last edit was of no use: {message}"},
    )
