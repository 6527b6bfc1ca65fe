"""Intake: chat messages become a brief, and the run gets its folder."""

from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite

from agents.models import place
from agents.protocols import RoleError
from graph.context import RunContext
from graph.defaults import context_of, runs_of
from graph.folder import create_folder
from graph.prompting import prompt_of
from graph.routing import AfterIntake, after_intake
from graph.state import RunState


def intake(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterIntake]:
    """Read the prompt, make the run folder, and stop early where no game can be made."""
    asked = state.brief.prompt if state.end == "question" and state.brief else ""
    prompt = prompt_of(state.messages, answering=asked)
    folder = _folder(state, runtime, prompt)
    context = context_of(runtime, folder)
    runtime.stream_writer({"node": "intake", "folder": folder})
    fresh = {
        "folder": folder,
        "candidates": Overwrite([]),
        "settings": context.settings,
        "rounds": 0,
        "accepted": None,
        "design": None,
        "evaluation": None,
        "approved": False,
        "heuristics": (),
        "strategy_notes": (),
        "notes": (),
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


def _folder(state: RunState, runtime: Runtime[RunContext], prompt: str) -> str:
    """The folder of this run: the one it was started with, or that it asked its question in.

    A further message on a thread whose run has got beyond intake begins a new run.
    """
    begun = state.settings is not None and state.end != "question"
    if state.folder and not begun:
        return state.folder
    info = runtime.execution_info
    return _new_folder(info.task_id if info else uuid4().hex, prompt, runs_of(runtime))


@lru_cache(maxsize=32)
def _new_folder(task: str, title: str, runs: Path) -> str:
    """A new folder, the same one when the task that asked for it is tried again."""
    del task
    return str(create_folder(None, title=title, runs=runs).path)
