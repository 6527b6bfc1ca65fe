"""Node: reflect on what is proposed: a few matches of each, or reading until nothing is open."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import writer_of
from graph.vary.state import VaryContext, VaryState


def reflect(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["reflect", "rank"]]:
    """Reflect on candidates; the node comes back for those that still wait."""
    after = runtime.context.reflected(state, writer_of(runtime.stream_writer))
    return moved("reflect" if after.waiting else "rank", state, after)
