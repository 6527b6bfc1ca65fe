"""Strategize: policies become heuristics; each must score and is measured against random play."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.models import place
from agents.protocols import Heuristic, RoleError
from graph.context import RunContext
from graph.defaults import context_of, folder_of, need_design
from graph.grades import keep_grade
from graph.selfplay import SelfPlay, samples_of
from graph.state import RunState


def strategize(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["evaluate"]]:
    """Ask for heuristics, try each in the sandbox, and order them by their play."""
    context = context_of(runtime, state.folder)
    made = need_design(state)
    if state.accepted is None:
        raise ValueError("strategize runs on an accepted candidate; none is accepted")
    source = state.candidate(state.accepted).source
    keep_grade(folder_of(state), context.sandbox.grade)
    table = SelfPlay(context, source, made.num_players, folder_of(state))
    notes: list[str] = []
    try:
        with place("strategize"):
            proposed = context.roles.strategist.heuristics(made, source, samples_of(table))
    except RoleError as error:
        proposed, notes = [], [f"no heuristics: {error}"]
    ranked: list[tuple[float, Heuristic]] = []
    for heuristic in proposed:
        runtime.stream_writer({"node": "strategize", "heuristic": heuristic.name})
        share, problem = table.against_random(heuristic)
        if share is None:
            notes.append(f"{heuristic.name} was left out: {problem}")
            continue
        ranked.append((share, heuristic))
        notes.append(f"{heuristic.name}: wins {share:.2f} of its matches against random play")
    ranked.sort(key=lambda pair: (-pair[0], pair[1].name))
    best = tuple(heuristic for _, heuristic in ranked)
    for heuristic in best:
        folder_of(state).write_text(f"players/{heuristic.name}.py", heuristic.source)
    return Command(goto="evaluate", update={"heuristics": best, "strategy_notes": tuple(notes)})
