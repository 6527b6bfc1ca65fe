"""Intake: chat messages become a brief, and the run gets its folder."""

from pathlib import Path

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.models import place
from agents.protocols import RoleError
from graph.context import RunContext
from graph.defaults import context_of
from graph.folder import create_folder
from graph.prompting import prompt_of
from graph.routing import AfterIntake, after_intake
from graph.state import RunState


def intake(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterIntake]:
    """Read the prompt, make the run folder, and stop early where no game can be made."""
    context = context_of(runtime)
    asked = state.brief.prompt if state.end == "question" and state.brief else ""
    prompt = prompt_of(state.messages, answering=asked)
    folder = Path(state.folder) if state.folder and state.end is None else None
    if folder is None:
        folder = create_folder(None, title=prompt, runs=context.runs).path
    runtime.stream_writer({"node": "intake", "folder": str(folder)})
    fresh = {
        "folder": str(folder),
        "settings": context.settings,
        "rounds": 0,
        "accepted": None,
        "design": None,
        "evaluation": None,
        "approved": False,
        "heuristics": (),
        "strategy_notes": (),
    }
    try:
        with place("intake/clarify"):
            brief = context.roles.designer.clarify(prompt)
    except RoleError as error:
        ended = {**fresh, "end": "gave_up", "reason": str(error), "brief": None}
        return Command(goto="report", update=ended)
    question = brief.question
    return Command(
        goto=after_intake(question),
        update={
            **fresh,
            "brief": brief,
            "end": "question" if question else None,
            "reason": question or "",
        },
    )
