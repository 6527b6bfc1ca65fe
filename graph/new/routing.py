"""Routing of a run: pure decisions on the next node."""

from typing import Literal, TypeAlias

from games.checks.findings import Outcome

AfterIntake: TypeAlias = Literal[
    "intake",
    "design",
    "revise",
    "approve",
    "code",
    "recode",
    "check",
    "refine",
    "strategize",
    "evaluate",
    "report",
]
AfterDesign: TypeAlias = Literal["approve", "code", "report"]
AfterCheck: TypeAlias = Literal["refine", "strategize", "report"]


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


def after_check(outcome: Outcome, *, rounds: int, max_rounds: int) -> AfterCheck:
    """Only a candidate that passed everything goes on; doubt is never a pass.

    >>> after_check("passed", rounds=9, max_rounds=6)
    'strategize'
    >>> after_check("failed", rounds=2, max_rounds=6), after_check("failed", rounds=6, max_rounds=6)
    ('refine', 'report')
    >>> after_check("could_not_judge", rounds=0, max_rounds=6)
    'refine'
    """
    if outcome == "passed":
        return "strategize"
    return "refine" if rounds < max_rounds else "report"
