"""Strategize: policies become heuristics; each must score and is measured against random play."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import Heuristic, RoleError
from graph.new.playtest import PlayTest
from graph.new.state import RunState, folder_of, need_design
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.sandboxes import keep_grade


def strategize(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["evaluate"]]:
    """Ask for heuristics, try each in the sandbox, and order them by their play."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    if state.accepted is None:
        raise ValueError("strategize runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    keep_grade(folder_of(state), context.sandbox.grade)
    table = PlayTest(context, source, made.num_players, folder_of(state))
    notes: list[str] = []
    try:
        with place("strategize"):
            proposed = context.roles.strategist.heuristics(made, source, table.samples())
    except RoleError as error:
        proposed, notes = [], [f"no heuristics: {error}"]
    ranked: list[tuple[float, Heuristic]] = []
    for heuristic in proposed:
        runtime.stream_writer({"node": "strategize", "heuristic": heuristic.name})
        worth, said = table.against_random(heuristic)
        if worth is None:
            notes.append(f"{heuristic.name} was left out: {said}")
            continue
        ranked.append((worth, heuristic))
        notes.append(f"{heuristic.name}: {said}")
    ranked.sort(key=lambda pair: (-pair[0], pair[1].name))
    best = tuple(heuristic for _, heuristic in ranked)
    for heuristic in best:
        folder_of(state).write_text(f"players/{heuristic.name}.py", heuristic.source)
    return Command(goto="evaluate", update={"heuristics": best, "strategy_notes": tuple(notes)})
