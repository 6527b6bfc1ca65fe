"""Node: get to know the base: as it plays under several seeds, or as its rules make it."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import writer_of
from graph.vary.state import VaryContext, VaryState


def base(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["suggest"]]:
    """Get to know the base."""
    after = runtime.context.known(state, writer_of(runtime.stream_writer))
    return moved("suggest", state, after.but(folder=str(runtime.context.folder.path)))
