"""Node: suggest variants, as settings that change or as mechanics that are replaced."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import writer_of
from graph.vary.state import VaryContext, VaryState


def suggest(
    state: VaryState, runtime: Runtime[VaryContext]
) -> Command[Literal["reflect", "report"]]:
    """Propose variants; where there are none the run ends."""
    after = runtime.context.proposed(state, writer_of(runtime.stream_writer))
    return moved("report" if after.end else "reflect", state, after)
