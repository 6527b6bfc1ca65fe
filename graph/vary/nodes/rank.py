"""Node: choose the candidates that differ most: in play, or in their words."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import writer_of
from graph.vary.state import VaryContext, VaryState


def rank(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["make", "report"]]:
    """Choose as many as are still wanted."""
    after = runtime.context.ranked(state, writer_of(runtime.stream_writer))
    return moved("report" if after.end else "make", state, after)
