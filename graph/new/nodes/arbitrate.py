"""Arbitrate: fresh validators vote on contested claims."""

from collections.abc import Sequence

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import (
    Claim,
    ClaimStatus,
    Design,
    Vote,
)
from graph.new.claims import (
    is_older,
    to_judge_again,
    unjudged,
    unmended,
    updated,
    without_struck,
)
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.state import (
    AfterVote,
    RunState,
    after_drafts,
    after_vote,
    drafts_passed,
    need_design,
)
from graph.new.trial import UNREADABLE, not_passing, write_checks
from graph.run.candidates import (
    best,
    keep_newest,
)
from graph.run.events import Voted, writer_of


def arbitrate(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterVote]:
    """Settle what is contested; what no majority voted for is struck, and kept as disputed."""
    context = context_of(runtime, state.folder)
    made, before = need_design(state), state.claims_before
    voted = [_voted(claim, made, context, before) for claim in state.contested]
    tell = writer_of(runtime.stream_writer)
    for claim in voted:
        tell(Voted(claim=claim.id, status=claim.status, votes=_counted(claim)))
    claims = updated(state.claims, voted)
    pool = without_struck(state.candidates, claims)
    newest = next((c for c in reversed(pool) if c.outcome == "passed"), pool[-1])
    update: dict[str, object] = {"claims": claims, "contested": (), "candidates": pool}
    elsewhere = newest.outcome == "passed" and unmended(newest, voted)  # upheld of another one
    alone = len(drafts_passed(pool)) < 2  # noqa: PLR2004 - else they are compared
    once_more = alone and bool(to_judge_again(newest, claims))
    again = unjudged(newest) or elsewhere or once_more
    again = again and context.settings.records_judged > 0
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
    write_checks(state, context, newest, claims)
    vote = after_vote(newest.outcome, last=state.rounds >= context.settings.max_rounds)
    goto: AfterVote = (after_drafts(pool) if vote == "strategize" else None) or vote
    if goto == "strategize":
        update |= {"accepted": newest.number}
    if goto == "report":
        update |= {"end": "gave_up", "reason": not_passing(state.rounds, best(pool).findings)}
    return Command(goto=goto, update=update)


def _voted(claim: Claim, design: Design, context: RunContext, before: Sequence[Claim]) -> Claim:
    """The claim with its votes: the first validator's, and those of others who can be read.

    A test that held before a revision is overtaken where it is voted down, and in no dispute.
    Two are asked, the second only where the first does not uphold it: two of three are a majority.
    """
    votes: list[Vote] = []
    for number in (1, 2):
        if any(vote.upheld for vote in votes):
            break
        try:
            with place(f"arbitrate/{claim.id}/{number}"):
                votes.append(context.roles.validator.arbitrate(design, claim, second=number > 1))
        except UNREADABLE:
            continue
    held = 1 + sum(vote.upheld for vote in votes)  # who made the claim votes for it
    struck: ClaimStatus = "amended" if is_older(claim, before) else "disputed"
    status = "upheld" if 2 * held > 1 + len(votes) else struck
    return claim.model_copy(update={"votes": tuple(votes), "status": status})


def _counted(claim: Claim) -> str:
    """The votes, for and against; the first one is that of the validator who made the claim.

    >>> from agents.protocols import Vote
    >>> votes = (Vote(upheld=True, why=""), Vote(upheld=False, why=""))
    >>> _counted(Claim(id="V1", rule="R1", says="", votes=votes))
    '2 to 1'
    """
    held = sum(vote.upheld for vote in claim.votes)
    return f"{1 + held} to {len(claim.votes) - held}"
