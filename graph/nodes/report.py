"""Report: the page, `run.json`, the last message; the accepted game joins the own games."""

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from graph.context import RunContext
from graph.defaults import context_of, folder_of
from graph.own_games import keep_own_game
from graph.reporting import report_of, run_object
from graph.state import RunState
from graph.summary import final_text
from tools.reporting.page import render


def report(state: RunState, runtime: Runtime[RunContext]) -> dict[str, object]:
    """Write what there is to report, whether or not a game was made."""
    context = context_of(runtime, state.folder)
    folder = folder_of(state)
    ended = state.model_copy(update={"end": state.end or "made"})
    if ended.accepted is not None:
        folder.write_text("game.py", ended.candidate(ended.accepted).source)
    if ended.design is not None:
        folder.write_text("report.html", render(report_of(ended, context)))
    kept = keep_own_game(ended, context)
    if kept is not None and "problem" in kept:
        ended = ended.model_copy(update={"notes": (*ended.notes, kept["problem"])})
    folder.write_json("run.json", {**run_object(ended, context), "own_game": kept})
    runtime.stream_writer({"node": "report", "end": ended.end, "folder": str(folder.path)})
    update = {"end": ended.end, "notes": ended.notes}
    return {**update, "messages": [AIMessage(final_text(ended))]}
