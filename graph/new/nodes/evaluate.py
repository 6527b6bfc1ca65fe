"""Evaluate and report: the accepted game is played, then come the page, `run.json` and files."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from langsmith import trace

from agents.players.greedy import ENSEMBLE, SCORES
from agents.players.registry import PlayerRoster
from agents.protocols import Heuristic
from games.records import example_of_play, json_line
from graph.new.nodes.check import write_checks
from graph.new.playtest import Clock, LineUp, PlayTest, shown_as
from graph.new.reporting import changes_text, report_of, rulebook_text, run_object
from graph.new.results import artefacts, final_text, open_ends, players_object
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import best
from graph.run.sandboxes import keep_grade
from tools.playtest.report import (
    LadderStep,
    affordable_simulations,
    best_score,
    play_of,
    rung_of,
    score_step,
    sides_of,
    skill_ladder,
)
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, replayed_sample
from tools.replaying import VoidResultError
from tools.reporting.content import Evaluation, match_story
from tools.reporting.page import render

_RECORDS_KEPT = 5
_REPLAYED = {False: 8, True: 2}  # matches that fresh workers replay, fewer where the clock cut
_SERIES = 9  # of a play-test: random play twice, two players alone, four rungs, first against last
# Plies that the matches of one series may take: counts, so that the same seed gives the same ones.
_LADDER_PLIES = {False: 60_000, True: 8_000}
# Plies that one step of the ladder may simulate, so that a long game still ends in good time.
_AFFORDABLE = {False: 8_000_000, True: 120_000}
_WEAKER = 4  # the weaker search has this fraction of the stronger one's simulations
_HONESTY = (
    "The ranking rests on the game module's honesty: the searches run beside it. Fresh workers "
    "replayed a sample of {replayed} finished matches without a difference; to check further, play "
    "with: rulewright match RUN --player ... --host-search."
)
_LONG = (
    "Matches of this game are long: {} random matches and {} of every other series were planned "
    "instead of {} and {}."
)
_NO_GUARANTEE = (
    "The searches play with hidden information: more simulations are no guarantee that an opponent "
    "who knows how they play cannot exploit them."
)


def evaluate(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["report"]]:
    """Play-test the accepted candidate; of matches already journalled a few are played again."""
    context = context_of(runtime, state.folder)
    if state.accepted is None:
        raise ValueError("evaluate runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    folder = folder_of(state)
    keep_grade(folder, context.sandbox.grade)
    clock = Clock(context.settings.playtest_s, folder, context.clock)
    tell, seats = runtime.stream_writer, need_design(state).num_players
    play = PlayTest(context, source, seats, folder, tell=tell, clock=clock)
    try:
        evaluation, series = playtest(play, state.heuristics)
    except VoidResultError as error:
        lost = {"end": "gave_up", "reason": str(error), "accepted": None}
        return Command(goto="report", update=lost)
    record = _write_records(state, series, evaluation.best.player)
    if state.brief is not None:
        records = series[evaluation.best.player].records
        example = next((found for r in records if (found := example_of_play(r))), [])
        folder.write_text("rulebook.md", rulebook_text(need_design(state), state.brief, example))
    folder.write_json("players/players.json", players_object(evaluation))
    return Command(goto="report", update={"evaluation": evaluation, "record": record})


def playtest(
    play: PlayTest, heuristics: Sequence[Heuristic]
) -> tuple[Evaluation, dict[str, Series]]:
    """Play the game and measure it; also returns the series of each player at every seat.

    Raises:
        VoidResultError: If fresh workers do not play a sample of the matches the same.
    """
    settings, play.clock.expected = play.context.settings, _SERIES
    rounds = play.within(settings.ladder_matches, _LADDER_PLIES[settings.quick])
    specs, notes = _players(play, heuristics, rounds)
    wanted = settings.random_matches, settings.ladder_matches
    if play.random_matches < wanted[0] or rounds < wanted[1]:
        notes.append(_LONG.format(play.random_matches, rounds, *wanted))
    sources = {heuristic.name: heuristic.source for heuristic in heuristics}
    alone, paired, sides = _played_alone(play, specs, sources, rounds)

    def compare(lower: str, higher: str, number: int | str) -> LadderStep:
        if len(sides) == 1:
            return score_step(lower, higher, paired)
        beside = LineUp((), sources, sides)
        return play.versus(lower, higher, f"step-{number}-versus", beside, rounds)

    order, steps, span = _climbed(specs, compare)
    sample = _REPLAYED[bool(play.clock.kept.cut)]
    replayed = replayed_sample(list(play.played.values()), sample)
    if len(specs) > 1:
        notes.append(_HONESTY.format(replayed=replayed))
    best = best_score(play.played.values(), play.source) if len(sides) == 1 else None
    evaluation = Evaluation(
        plays=tuple(play_of(spec, series, sides, best) for spec, series in alone.items()),
        shared=len(sides) == 1,
        sides=sides,
        best_score=best and best[0],
        best_declared=best is not None and best[1],
        cut=play.clock.kept.cut,
        ladder=tuple(rung_of(step, len(sides), best) for step in steps),
        players=tuple(order),
        settings={spec: shown_as(PlayerRoster().effective(spec).name, sources) for spec in order},
        span=rung_of(span, len(sides), best) if span else None,
        notes=(*notes, *play.clock.notes),
        sandbox=play.context.sandbox.grade,
    )
    return evaluation, alone


def _played_alone(
    play: PlayTest, specs: Sequence[str], sources: Mapping[str, str], rounds: int
) -> tuple[dict[str, Series], dict[str, Series], Sides]:
    """Series of one player at every seat, those that share their deals, and the sides they show."""
    # The weaker search is only there to be climbed over; a team's players have no other rival.
    good = [spec for spec in specs[1:] if spec.startswith("greedy") or spec == specs[-1]]
    alone = {"random": play.random, **play.alone(good, sources, rounds)}
    sides = sides_of(alone.values(), play.num_players)
    if len(sides) > 1:
        return alone, alone, sides
    # Random play once more where heuristics are loaded: they are part of what keys the deals.
    missing = ["random"] if sources else []
    missing += [spec for spec in specs if spec not in alone]
    paired = {**alone, **play.alone(missing, sources, rounds)}
    return {spec: alone.get(spec, paired[spec]) for spec in specs}, paired, sides


def _climbed(
    specs: Sequence[str], compare: Callable[[str, str, int | str], LadderStep]
) -> tuple[list[str], list[LadderStep], LadderStep | None]:
    """The ladder's order and steps, and the step from random play to its top, if there is one."""
    with trace("skill ladder", run_type="tool", inputs={"players": specs}) as told:
        order, steps = skill_ladder(specs, compare)
        span = next((s for s in steps if (s.lower, s.higher) == ("random", order[-1])), None)
        if span is None and order[-1] != "random":
            span = compare("random", order[-1], "span")
        told.end(outputs={"order": order})
    return order, steps, span


def search_notes(name: str, simulations: int, wanted: int) -> list[str]:
    """What a reader must know of the searches of the ladder.

    Args:
        name: Of the player that searches.
        simulations: A move, of the stronger one.
        wanted: What it would have had in a shorter game.
    """
    notes = []
    if simulations < wanted:
        notes.append(
            f"Matches of this game take long: searches were held to {simulations} simulations a "
            f"move instead of {wanted}, so that the play-test ends in time."
        )
    if name == "ismcts":
        notes.append(_NO_GUARANTEE)
    return notes


def _players(
    play: PlayTest, heuristics: Sequence[Heuristic], rounds: int
) -> tuple[list[str], list[str]]:
    """Specs from weak to strong, and remarks on how the searches were sized."""
    settings = play.context.settings
    specs, notes = ["random"], []
    if heuristics:
        together = SCORES if settings.protocol == "paper" else ENSEMBLE
        specs.append(f"greedy:heuristic={together}")
    else:
        more = " Without --quick more matches try them." if settings.quick else ""
        notes.append(f"No heuristic could be used, so the ladder has no greedy player.{more}")
    finished = [r for r in play.random.records if r.match.ending == "finished"]
    if not finished:
        notes.append("No random match finished, so no search was tried.")
        return specs, notes
    name = play.search_name()
    sides = len(sides_of([play.random], play.num_players))
    most = affordable_simulations(finished, rounds, _AFFORDABLE[settings.quick], _WEAKER, sides)
    large = min(settings.large_budget, most)
    large = play.clock.simulations(large, lambda most: play.paced(name, most))
    if not large:
        limit = settings.playtest_s
        why = f" for the {limit:g} s of --quick; without --quick one is tried" if limit else ""
        notes.append(f"No search was tried: a match of the smallest one takes too long{why}.")
        return specs, notes
    small = max(1, min(settings.small_budget, large // _WEAKER))
    notes += search_notes(name, large, settings.large_budget)
    specs += [f"{name}:simulations={small}", f"{name}:simulations={large}"]
    return specs, notes


def _write_records(state: RunState, series: Mapping[str, Series], best: str) -> str:
    """A few matches as text to read, all of them as JSONL to study.

    Returns:
        The first match among the strongest players.
    """
    folder = folder_of(state)
    shown = ""
    for name, spec in {"best": best, "random": "random"}.items():
        records = series[spec].records
        folder.write_text(f"records/{name}.jsonl", "".join(map(json_line, records)))
        for record in records[:_RECORDS_KEPT]:
            story = match_story(record)
            folder.write_text(f"records/{name}-{record.match_index + 1:03d}.txt", story)
            shown = shown or story
    return shown


_LONGEST_NAME = 40


def report(state: RunState, runtime: Runtime[RunContext]) -> dict[str, object]:
    """Write what there is to report, whether or not a game was made."""
    context = context_of(runtime, state.folder)
    folder = folder_of(state)
    left = open_ends(state)
    end = state.end or ("delivered" if left else "made")
    reason = state.reason if end != "delivered" else "; ".join(left)
    ended = state.model_copy(update={"end": end, "reason": reason})
    if ended.accepted is not None:
        folder.write_text("game.py", ended.candidate(ended.accepted).source)
    elif end == "gave_up" and ended.candidates:  # what --accept would take
        shown = best(ended.candidates)
        folder.write_text("game.py", shown.source)
        write_checks(ended, context, shown, ended.claims)
    if ended.design is not None:
        folder.write_text("report.html", render(report_of(ended, context)))
    if ended.design is not None and ended.before is not None:
        folder.write_text("changes.md", changes_text(ended.before, ended))
    kept = _keep_own_game(ended, context)
    if kept is not None and "problem" in kept:
        ended = ended.model_copy(update={"notes": (*ended.notes, kept["problem"])})
    folder.write_json("run.json", {**run_object(ended, context), "own_game": kept})
    runtime.stream_writer({"node": "report", "end": ended.end, "folder": str(folder.path)})
    said = final_text(ended)
    update = {"end": ended.end, "reason": reason, "notes": ended.notes, "summary": said}
    return {**update, "artefacts": artefacts(ended), "messages": [AIMessage(said)]}


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
