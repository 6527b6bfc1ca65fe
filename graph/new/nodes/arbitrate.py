"""Arbitrate: two fresh validators vote on every claim that is contested."""

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.claims import Claim, ClaimStatus
from agents.model.recording import place
from agents.protocols import Design
from graph.new.nodes.check import UNREADABLE, not_passing, write_checks
from graph.new.routing import AfterVote, after_drafts, after_vote, drafts_passed
from graph.new.state import RunState, need_design
from graph.run.claims import unjudged, unmended, updated, without_struck
from graph.run.context import RunContext
from graph.run.opening import context_of
from graph.run.pool import keep_newest


def arbitrate(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterVote]:
    """Settle what is contested; what no majority voted for is struck, and kept as disputed."""
    context = context_of(runtime, state.folder)
    voted = [_voted(claim, need_design(state), context) for claim in state.contested]
    for claim in voted:
        told = {"claim": claim.id, "status": claim.status, "votes": _counted(claim)}
        runtime.stream_writer({"node": "arbitrate", **told})
    claims = updated(state.claims, voted)
    pool = without_struck(state.candidates, claims)
    newest = next((c for c in reversed(pool) if c.outcome == "passed"), pool[-1])
    update: dict[str, object] = {"claims": claims, "contested": (), "candidates": pool}
    elsewhere = newest.outcome == "passed" and unmended(newest, voted)  # upheld of another one
    again = (unjudged(newest) or elsewhere) and context.settings.records_judged > 0
    several = drafts_passed(pool).values() if again else ()
    if len(several) > 1:  # each is judged before they are compared
        anew = [c for c in pool if c.number in several and unjudged(c)]
        update["candidates"] = keep_newest(
            pool, [c.model_copy(update={"findings": None}) for c in anew]
        )
        return Command(goto="check", update=update)
    if newest.findings is None or again:
        copy = newest.model_copy(update={"number": len(pool), "parent": newest.number})
        pool += [] if newest is pool[-1] else [copy]
        update["candidates"] = pool
        return Command(goto="check", update=update)
    write_checks(state, context, newest.number, newest.findings, claims)
    vote = after_vote(newest.outcome, last=state.rounds >= context.settings.max_rounds)
    goto: AfterVote = (after_drafts(pool) if vote == "strategize" else None) or vote
    if goto == "strategize":
        update |= {"accepted": newest.number}
    if goto == "report":
        update |= {"end": "gave_up", "reason": not_passing(state.rounds, newest.findings)}
    return Command(goto=goto, update=update)


def _voted(claim: Claim, design: Design, context: RunContext) -> Claim:
    """The claim with its votes: the first validator's, and those of two who can be read."""
    votes = []
    for number in (1, 2):
        try:
            with place(f"arbitrate/{claim.id}/{number}"):
                votes.append(context.roles.validator.arbitrate(design, claim, second=number > 1))
        except UNREADABLE:
            continue
    held = 1 + sum(vote.upheld for vote in votes)  # who made the claim votes for it
    status: ClaimStatus = "upheld" if 2 * held > 1 + len(votes) else "disputed"
    return claim.model_copy(update={"votes": tuple(votes), "status": status})


def _counted(claim: Claim) -> str:
    """The votes, for and against; the first one is that of the validator who made the claim.

    >>> from agents.claims import Vote
    >>> votes = (Vote(upheld=True, why=""), Vote(upheld=False, why=""))
    >>> _counted(Claim(id="V1", rule="R1", says="", votes=votes))
    '2 to 1'
    """
    held = sum(vote.upheld for vote in claim.votes)
    return f"{1 + held} to {len(claim.votes) - held}"
