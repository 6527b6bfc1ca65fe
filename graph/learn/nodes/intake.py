"""Node: read the recorded matches to their end, and keep those that the run works with."""

from pathlib import Path
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.learn.environment import require_recorded_start
from graph.learn.learning import Learning
from graph.learn.matches import take_in
from graph.learn.state import LearnContext, LearnState
from graph.run.checkpoints import moved
from graph.run.events import MatchesRead, writer_of


def intake(state: LearnState, runtime: Runtime[LearnContext]) -> Command[Literal["synthesise"]]:
    """Read the recorded matches to their end, and keep those that the run works with."""
    context = runtime.context
    request, folder = context.request, context.folder
    held, recorded = take_in(Path(request.trajectories), context.files, request.settings)
    after = state.taking_in(folder, held, recorded)
    if request.settings.closed_deck:
        after = after.at_stage("inference", None, "resample_history")
    material = Learning(context, after).material
    if request.settings.environment and not request.settings.closed_deck:
        require_recorded_start(context, material)
    folder.write_text("rules.md", request.rules)
    left = sum(match.truncated for match in material.matches)
    read = MatchesRead(
        matches=len(material.matches) - held,
        held_out=held,
        not_used=recorded - len(material.matches) or None,
        of_both_left_before_their_end=left or None,
        environment=material.header.environment,
    )
    writer_of(runtime.stream_writer)(read)
    return moved("synthesise", state, after)
