"""Node: write each variant's folder, `report.html` and `vary.json`, whatever the run came to."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import Reported, writer_of
from graph.vary.report import TOLD, variations_page
from graph.vary.state import VaryContext, VaryState


def report(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["__end__"]]:
    """Write all that a person opens; `vary.json` comes last."""
    folder, told = runtime.context.folder, runtime.context.told(state)
    folder.write_text("report.html", variations_page(told, folder))
    folder.write_json(TOLD, told.model_dump(mode="json"))
    writer_of(runtime.stream_writer)(Reported(end=told.end, folder=str(folder.path)))
    return moved("__end__", state, state)
