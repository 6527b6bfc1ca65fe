"""Node: make, check and play what was chosen."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import writer_of
from graph.vary.state import VaryContext, VaryState


def make(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["rank"]]:
    """Make what was chosen; in the place of what is not kept others may be chosen."""
    after = runtime.context.made(state, writer_of(runtime.stream_writer))
    return moved("rank", state, after)
