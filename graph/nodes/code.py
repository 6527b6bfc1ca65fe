"""Code: the coder writes the module."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.models import place
from agents.protocols import RoleError
from graph.coder_tools import GraphCoderTools
from graph.context import RunContext
from graph.defaults import context_of, folder_of, need_design
from graph.state import Candidate, RunState


def code(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["check", "report"]]:
    """Draft the module; the draft is candidate 0."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    try:
        with place("code/draft"):
            source = context.roles.coder.draft(made, GraphCoderTools(context, made))
    except RoleError as error:
        return Command(goto="report", update={"end": "gave_up", "reason": str(error)})
    folder_of(state).write_text("game.py", source)
    runtime.stream_writer({"node": "code", "lines": source.count("\n")})
    return Command(goto="check", update={"candidates": [Candidate(number=0, source=source)]})
