"""Node: choose the candidates that differ most in play, from the base and from each other."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import VariantsChosen, writer_of
from graph.vary.state import VaryContext, VaryState
from tools.variation.profile import farthest, profile_distance


def select(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["check", "report"]]:
    """Choose as many as are still wanted, by farthest-point selection with the base in the set."""
    wanted = runtime.context.settings.n - len(state.kept)
    able = [one for one in state.candidates if one.tried and one.tried.profile]
    profiles = [state.noise.mean, *(one.tried.profile for one in able if one.tried)]
    distances = [[profile_distance(a, b, state.noise.units) for b in profiles] for a in profiles]
    kept = {one.number for one in state.kept}
    there = [0, *(i for i, one in enumerate(able, 1) if one.number in kept)]
    free = [i for i, one in enumerate(able, 1) if not one.reason and one.number not in kept]
    found = farthest(distances, there, free, wanted, state.noise.chance)
    numbers = [able[i - 1].number for i in found]
    if not numbers:
        few = len(state.kept) < runtime.context.settings.n
        end: Literal["varied", "fewer", "none"] = "varied"
        reason = ""
        if few:
            end = "fewer" if state.kept else "none"
            reason = "no further candidate passes, and is told from the base and the others in play"
        return moved("report", state, state.ended(end, reason))
    after = state.choosing(numbers)
    writer_of(runtime.stream_writer)(VariantsChosen(chosen=len(numbers), of=len(free)))
    return moved("check", state, after)
