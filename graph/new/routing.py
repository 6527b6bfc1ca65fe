"""Routing of a run: pure decisions on the next node."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from games.checks.findings import Outcome
from graph.run.pool import Candidate

NodeName: TypeAlias = Literal[
    "intake",
    "design",
    "revise",
    "approve",
    "code",
    "recode",
    "check",
    "compare",
    "refine",
    "arbitrate",
    "strategize",
    "evaluate",
    "report",
]
AfterIntake: TypeAlias = NodeName  # a message may go on at any node where a run had stopped
AfterDesign: TypeAlias = Literal["approve", "code", "report"]
AfterCheck: TypeAlias = Literal["check", "compare", "refine", "arbitrate", "strategize", "report"]
AfterVote: TypeAlias = Literal["check", "compare", "refine", "strategize", "report"]


def after_intake(question: str | None) -> AfterIntake:
    """A brief that leaves a question open goes to the report, which asks it.

    >>> after_intake(None), after_intake("Which game?")
    ('design', 'report')
    """
    return "design" if question is None else "report"


def after_design(*, approve: bool) -> AfterDesign:
    """Ask a person first where that was wanted.

    >>> after_design(approve=True), after_design(approve=False)
    ('approve', 'code')
    """
    return "approve" if approve else "code"


def drafts_passed(pool: Sequence[Candidate]) -> dict[int, int]:
    """Draft -> the newest candidate that passed, itself or edited from it."""
    parents = {candidate.number: candidate.parent for candidate in pool}
    found: dict[int, int] = {}
    for candidate in pool:
        root = candidate.number
        while (parent := parents[root]) is not None:
            root = parent
        if candidate.outcome == "passed":
            found[root] = candidate.number
    return found


def after_drafts(pool: Sequence[Candidate]) -> Literal["check", "compare"] | None:
    """Every draft is checked; where there are several, what passed is compared.

    Later on two candidates pass only where a vote made them: they are compared where they come of
    different drafts.

    >>> after_drafts([Candidate(number=0, source="x")])
    'check'
    >>> after_drafts([Candidate(number=0, source="x", findings=())])
    """
    if any(candidate.findings is None for candidate in pool):
        return "check"
    drafts = [candidate for candidate in pool if candidate.parent is None]
    passed = drafts_passed(pool)
    return "compare" if len(passed) > 1 or (passed and len(drafts) == len(pool) > 1) else None


def after_check(outcome: Outcome, *, last: bool, vote: bool) -> AfterCheck:
    """Only a candidate that passed everything goes on; doubt is never a pass.

    Args:
        outcome: Of the candidate.
        last: Whether no refinement is left.
        vote: Whether a claim of the validator is to be voted on first.

    >>> after_check("passed", last=True, vote=False)
    'strategize'
    >>> after_check("failed", last=False, vote=False), after_check("failed", last=True, vote=False)
    ('refine', 'report')
    >>> after_check("failed", last=True, vote=True)
    'arbitrate'
    >>> after_check("could_not_judge", last=False, vote=False)
    'refine'
    """
    if outcome == "passed":
        return "strategize"
    if vote:
        return "arbitrate"
    return "report" if last else "refine"


def after_vote(outcome: Outcome, *, last: bool) -> AfterVote:
    """What is left of a candidate's findings decides; `last` where no refinement is left.

    >>> after_vote("passed", last=True), after_vote("failed", last=True)
    ('strategize', 'report')
    >>> after_vote("failed", last=False)
    'refine'
    """
    if outcome == "passed":
        return "strategize"
    return "report" if last else "refine"
