"""Arbitrate: fresh validators vote on contested claims."""

from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import place
from agents.protocols import Claim, Design, Vote
from graph.new.claims import (
    Voted,
    after,
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
    go_on,
    need_design,
)
from graph.new.trial import UNREADABLE, Trial, not_passing, write_checks
from graph.run.candidates import best
from graph.run.events import VoteCounted, writer_of


def arbitrate(state: RunState, runtime: Runtime[RunContext]) -> Command[AfterVote]:
    """Settle what is contested, and go on from what the claims leave of the findings."""
    context = context_of(runtime, state.folder, state.seed)
    made = need_design(state)
    voted = [_voted(claim, made, context) for claim in state.contested]
    tell = writer_of(runtime.stream_writer)
    for claim in voted:
        votes = " to ".join(map(str, Voted(claim.votes).counted))
        tell(VoteCounted(claim=claim.id, status=claim.status, votes=votes))
    claims = updated(state.claims, voted)
    votes = ", ".join(f"{claim.id} {claim.status}" for claim in claims if claim.votes)
    pool = without_struck(state.candidates, claims)
    newest = next((c for c in reversed(pool) if c.outcome == "passed"), pool[-1])
    settled = state.holding(claims).saying(
        f"Votes on claims of the validator: {votes}.", "arbitrate"
    )
    settled = settled.with_versions(*pool)
    elsewhere = newest.outcome == "passed" and unmended(newest, voted)  # upheld of another one
    again = bool(unjudged(newest) or elsewhere) and context.settings.records_judged > 0
    several = drafts_passed(pool).values() if again else ()
    if len(several) > 1:  # each is judged before they are compared
        anew = (c for c in pool if c.number in several and unjudged(c))
        settled = settled.with_versions(*(replace(one, findings=None) for one in anew))
        return go_on("check", state, settled)
    if newest.findings is None or again:
        copies = (
            () if newest is pool[-1] else (replace(newest, number=len(pool), parent=newest.number),)
        )
        return go_on("check", state, settled.with_versions(*copies))
    write_checks(state, context, newest, claims)
    vote = after_vote(newest.outcome, last=state.rounds >= context.settings.max_rounds)
    goto: AfterVote = (after_drafts(pool) if vote == "strategize" else None) or vote
    if goto == "strategize":
        trial = Trial(made, context, newest.number, newest.source)
        settled = trial.accepted(settled, trial.shown(claims))
    if goto == "report":
        settled = settled.ending("gave_up", not_passing(state.rounds, best(pool).findings))
    return go_on(goto, state, settled)


def _voted(claim: Claim, design: Design, context: RunContext) -> Claim:
    """The claim after the votes of those validators whose replies can be read.

    A second one is asked only if the first does not uphold the claim: two of three are a majority.
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
    return after(claim, Voted(tuple(votes)))
