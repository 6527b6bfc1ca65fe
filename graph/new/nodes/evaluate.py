"""Evaluate: the accepted game is played."""

from collections.abc import Mapping
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from games.records import example_of_play, json_line
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.playing import (
    clock_of,
    learned_players,
    measured,
    play_of_run,
    play_on,
    what_learning_brought,
)
from graph.new.reporting import rulebook_text
from graph.new.results import players_object
from graph.new.state import RunState, folder_of, go_on, need_design
from graph.run.events import writer_of
from graph.run.folder import kept_json
from graph.run.sandboxes import keep_grade
from tools.playtest.of_run.reached import not_met
from tools.playtest.series import Series
from tools.replaying import VoidResultError
from tools.reporting.content import match_story

_RECORDS_KEPT = 5
_FOLLOWED = {False: 50, True: 10}  # matches of each player that are followed through the code


def evaluate(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["report"]]:
    """Play-test the accepted candidate; of matches already journalled a few are played again."""
    context = context_of(runtime, state.folder, state.seed)
    if state.accepted is None:
        raise ValueError("evaluate runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    folder = folder_of(state)
    keep_grade(folder, context.sandbox.grade)
    seats, more, place = play_on(state, folder)
    limit, anew = context.settings.playtest_s, state.playing is not None
    clock = clock_of(context, place, limit, anew=anew)
    tell = writer_of(runtime.stream_writer)
    learned, remark = learned_players(context, source, seats, folder, tell)
    play = play_of_run(
        context, source, seats, place, tell=tell, clock=clock, more=more, learned=learned
    )
    try:
        results = measured(play, state.heuristics, context.settings.protocol)
    except VoidResultError as error:
        return go_on("report", state, state.void(str(error)))
    evaluation, series = results.evaluation, results.shown
    few = _FOLLOWED[context.settings.quick]
    followed = [record for one in series.values() for record in one.records[:few]]
    made = need_design(state)
    rules = {rule.id: rule.text for rule in made.rules}
    missed, silent, seen = not_met(context.sandbox, source, rules, made.graph, followed)
    told = filter(None, (remark, *what_learning_brought(evaluation, learned)))
    notes, unreached = (*evaluation.notes, *told), (*evaluation.unreached, *missed)
    update = {"unreached": unreached, "notes": notes, "silent": silent, "followed": seen}
    evaluation = evaluation.model_copy(update=update)
    texts, record = _records(series, evaluation.best.player)
    if state.brief is not None:
        records = series[evaluation.best.player].records
        example = next((found for r in records if (found := example_of_play(r))), [])
        failed = "" if state.accepted is None else state.candidate(state.accepted).wrong
        book = rulebook_text(need_design(state), state.brief, example, failed)
        texts["rulebook.md"] = book
    texts["players/players.json"] = kept_json(players_object(evaluation))
    folder.write_together(texts)
    said = f"Play-tested, with {len(evaluation.players)} kinds of players."
    return go_on("report", state, state.played(evaluation, record).saying(said, "evaluate"))


def _records(series: Mapping[str, Series], best: str) -> tuple[dict[str, str], str]:
    """A few matches as text to read, all of them as JSONL to study.

    Returns:
        Their files, and the first match among the strongest players.
    """
    texts, shown = {}, ""
    for name, spec in {"best": best, "random": "random"}.items():
        records = series[spec].records
        texts[f"records/{name}.jsonl"] = "".join(map(json_line, records))
        for record in records[:_RECORDS_KEPT]:
            story = match_story(record)
            texts[f"records/{name}-{record.match_index + 1:03d}.txt"] = story
            shown = shown or story
    return texts, shown
