"""Strategize: policies become heuristics; those that beat random play together are kept."""

from collections.abc import Mapping, Sequence
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import JsonValue

from agents.model.errors import MalformedReplyError
from agents.model.recording import place
from agents.protocols import Design, Heuristic, RoleError
from agents.strategy.contest import fault_of
from games.contract import ModuleFault
from graph.new.playtest import PlayTest
from graph.new.rivals.extras import extended
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.sandboxes import keep_grade


def strategize(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["evaluate"]]:
    """Ask for heuristics, try each in the sandbox, and select an ensemble by play."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    if state.accepted is None:
        raise ValueError("strategize runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    folder = folder_of(state)
    keep_grade(folder, context.sandbox.grade)
    table = PlayTest(context, source, made.num_players, folder, tell=runtime.stream_writer)
    notes: list[str] = []
    candidate = state.candidate(state.accepted)
    if context.settings.extras and not context.settings.quick:
        source = extended(table, made, notes)
        candidate = candidate.model_copy(update={"source": source})
        table = PlayTest(context, source, made.num_players, folder, tell=runtime.stream_writer)
        folder.write_text("game.py", source)
    with place("strategize"):
        sound = proposed(context, made, source, table.samples(), notes)
    kept = _selected(table, sound, notes)
    if not kept and context.settings.lessons:
        notes.append("Heuristics were fitted to matches of the game, without a model.")
        kept = _selected(table, _fitted(table, notes), notes)
    for heuristic in kept:
        folder.write_text(f"players/{heuristic.name}.py", heuristic.source)
    update = {"heuristics": kept, "strategy_notes": tuple(notes), "candidates": [candidate]}
    return Command(goto="evaluate", update=update)


def _selected(
    table: PlayTest, candidates: Sequence[Heuristic], notes: list[str]
) -> tuple[Heuristic, ...]:
    if not candidates:
        notes.append("No heuristic could be used.")
        return ()
    selection, kept = table.contest(candidates).select()
    notes += selection.notes
    return kept


def _fitted(table: PlayTest, notes: list[str]) -> list[Heuristic]:
    try:
        return table.taught()
    except ModuleFault as fault:
        notes.append(f"No heuristic could be fitted: {fault}")
        return []


def proposed(
    context: RunContext,
    made: Design,
    source: str,
    samples: Sequence[Mapping[str, JsonValue]],
    notes: list[str],
) -> list[Heuristic]:
    """The strategist's heuristics that work; it is told once of those that do not.

    A reply that cannot be read costs the heuristics, never the game; `notes` say so.
    """
    strategist = context.roles.strategist
    try:
        asked = strategist.heuristics(made, source, samples)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"No heuristics: {error}")
        return []
    once = {one.source or one.name: one for one in reversed(asked)}
    faults = {one.name: fault_of(one, samples, context.sandbox) for one in once.values()}
    different = [one for one in asked if one.name in faults]
    if len(different) < len(asked):
        notes.append(f"{len(asked) - len(different)} heuristics were the same as others.")
    sound = [one for one in different if faults[one.name] is None]
    broken = [(one, why) for one in different if (why := faults[one.name]) is not None]
    if not broken:
        return sound
    try:
        mended = strategist.repair(made, source, samples, broken)
    except (RoleError, MalformedReplyError) as error:
        notes.append(f"What does not work could not be repaired: {error}")
        mended = []
    for one, why in broken:
        again = next((other for other in mended if other.name == one.name), None)
        still = fault_of(again, samples, context.sandbox) if again else why
        if again and still is None:
            sound.append(again)
        else:
            notes.append(f"{one.name} was left out: {still}")
    return sound
