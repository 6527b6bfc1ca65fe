"""Report: the page, `run.json` and files, whether or not a game was made."""

import hashlib
import re
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.reporting import changes_text, report_of, rulebook_text, run_object
from graph.new.results import artefacts, final_text, open_ends
from graph.new.state import RunState, folder_of, go_on
from graph.new.trial import CHECKS, checks_text
from graph.run.candidates import best
from graph.run.events import Reported, writer_of
from graph.run.folder import kept_json
from tools.reporting.page import render

_LONGEST_NAME = 40


def report(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["__end__"]]:
    """Write what there is to report, whether or not a game was made."""
    context = context_of(runtime, state.folder, state.seed)
    folder = folder_of(state)
    left = open_ends(state)
    end = state.end or ("delivered" if left else "made")
    reason = state.reason if end != "delivered" else "; ".join(left)
    ended = state.ending(end, reason)
    texts: dict[str, str] = {}
    if ended.accepted is not None:
        texts["game.py"] = ended.candidate(ended.accepted).source
    elif end == "gave_up" and ended.candidates:  # what --accept would take
        shown = best(ended.candidates)
        texts["game.py"] = shown.source
        texts[CHECKS] = checks_text(context, shown, ended.claims)
        if ended.design is not None and ended.brief is not None:
            texts["rulebook.md"] = rulebook_text(ended.design, ended.brief, failed=shown.wrong)
    if ended.design is not None:
        texts["report.html"] = render(report_of(ended, context))
    if ended.design is not None and ended.before is not None:
        texts["changes.md"] = changes_text(ended.before, ended)
    kept = _keep_own_game(ended, context)
    if kept is not None and "problem" in kept:
        ended = ended.noting([kept["problem"]])
    texts["run.json"] = kept_json({**run_object(ended, context), "own_game": kept})
    folder.write_together(texts)
    writer_of(runtime.stream_writer)(Reported(end=ended.end, folder=str(folder.path)))
    said = final_text(ended)
    return go_on("__end__", state, ended.summed_up(said, artefacts(ended)).saying(said))


def _keep_own_game(state: RunState, context: RunContext) -> dict[str, str] | None:
    """Put the accepted game into the store's own games.

    The same game is kept once, however often it is made: its name is made from its content.

    Returns:
        `{"id": name}` where it was kept, `{"problem": why}` where the store could not take it,
        None where there is no accepted game or the run keeps none.
    """
    from vectorstore.documents import StoreError
    from vectorstore.indexing import own_game_document

    if state.accepted is None or state.design is None or state.brief is None:
        return None
    taken = state.candidate(state.accepted)
    if not context.keeps_own_games or taken.outcome != "passed":
        return None
    document = own_game_document(
        own_name(state.design.title, taken.source),
        title=state.design.title,
        summary=state.design.summary,
        rulebook=rulebook_text(state.design, state.brief),
        source=taken.source,
    )
    try:
        context.retrieval.store.index([document])
    except StoreError as error:
        return {"problem": f"the game was not added to the own games: {error}"}
    return {"id": document.id}


def own_name(title: str, source: str) -> str:
    """A name that the same source and title get every time.

    >>> own_name("Dragon Hearts!", "GAME = {}")
    'dragon-hearts-f4b5a209d5c5'
    """
    slug = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:_LONGEST_NAME].strip("-") or "game"
    return f"{slug}-{hashlib.sha256(source.encode()).hexdigest()[:12]}"
