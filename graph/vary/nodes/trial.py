"""Node: play every candidate a little, and take its profile."""

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.run.checkpoints import moved
from graph.run.events import MatchPlayed, writer_of
from graph.vary.state import VaryContext, VaryState
from tools.playtest.of_run.played import jobs_here
from tools.variation.trial import TrialResult


def trial(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["select"]]:
    """Play every candidate; one with a problem is not kept, and it is said why."""
    context, tell = runtime.context, writer_of(runtime.stream_writer)

    def played(done: int, of: int) -> None:
        tell(MatchPlayed(node="trial", series="candidates", played=done, of=of))

    amounts = state.noise.amounts
    jobs = [(one.number, context.job(one.twist, "trial", amounts)) for one in state.candidates]
    found = context.side_by_side("trial", jobs, TrialResult, played, jobs_here())
    tried = []
    for one in state.candidates:
        result = found[one.number]
        seats = context.request.base.setup(one.twist).num_players
        reason = result.problem or state.dull(result, seats)
        tried.append(one.model_copy(update={"tried": result, "reason": reason}))
    return moved("select", state, state.with_candidates(tried))
