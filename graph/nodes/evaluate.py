"""Evaluate: the players play the accepted game; the play-test's numbers and records."""

import json
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from games.records import to_jsonl, to_text
from graph.context import RunContext
from graph.defaults import context_of, folder_of, need_design
from graph.grades import keep_grade
from graph.playtest import playtest
from graph.selfplay import SelfPlay
from graph.state import RunState
from tools.playtest import Series

_RECORDS_KEPT = 5


def evaluate(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["report"]]:
    """Play-test the accepted candidate; matches already journalled are not played again."""
    context = context_of(runtime, state.folder)
    if state.accepted is None:
        raise ValueError("evaluate runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    folder = folder_of(state)
    keep_grade(folder, context.sandbox.grade)
    play = SelfPlay(
        context, source, need_design(state).num_players, folder, tell=runtime.stream_writer
    )
    evaluation, series = playtest(play, state.heuristics)
    _write_records(state, series)
    folder.write_json(
        "players/players.json",
        {"players": list(evaluation.players), "order": "from the weakest to the strongest"},
    )
    return Command(goto="report", update={"evaluation": json.loads(evaluation.model_dump_json())})


def _write_records(state: RunState, series: Series) -> None:
    """A few matches as text to read, all of them as JSONL to study."""
    folder = folder_of(state)
    folder.write_text("records/random.jsonl", "".join(map(to_jsonl, series.records)))
    for record in series.records[:_RECORDS_KEPT]:
        folder.write_text(f"records/match-{record.match_index:03d}.txt", to_text(record))
