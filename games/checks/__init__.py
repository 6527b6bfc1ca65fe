"""Named predicates over a module, and findings: what each concludes, with evidence."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

Outcome: TypeAlias = Literal["passed", "failed", "could_not_judge"]


class Finding(BaseModel, frozen=True, extra="forbid"):
    """One named predicate over a module, judged.

    Attributes:
        check: The check's name, such as "contract" or "leak_audit".
        outcome: `could_not_judge` is neither a pass nor a fail and never becomes one.
        rule: Id of the rule sentence it concerns ("R3"), or the contract's own words.
        evidence: What was seen, in words a coder can act on; empty only where it passed.
        function: The contract function at fault, where one can be named.
        line: Line in the module's source, 1-based, where one is known.
        claim: Id of the validator's claim that it rests on; empty for a program's finding.
        unplayable: Whether a test failed since the module refuses an action of its own sequence.
        same_source: Whether the module and the expected values are one source, so that it cannot
            fail.
    """

    check: str
    outcome: Outcome
    rule: str = ""
    evidence: str = ""
    function: str | None = None
    line: int | None = Field(default=None, ge=1)
    claim: str = ""
    unplayable: bool = False
    same_source: bool = False


def verdict(findings: Iterable[Finding]) -> Outcome:
    """The outcome of a list of findings: any failure fails, then any doubt leaves it unjudged.

    >>> ok, bad = Finding(check="a", outcome="passed"), Finding(check="b", outcome="failed")
    >>> doubt = Finding(check="c", outcome="could_not_judge")
    >>> verdict([ok, doubt]), verdict([ok, doubt, bad]), verdict([ok]), verdict([])
    ('could_not_judge', 'failed', 'passed', 'could_not_judge')
    """
    outcomes = [finding.outcome for finding in findings]
    if "failed" in outcomes:
        return "failed"
    if not outcomes or "could_not_judge" in outcomes:
        return "could_not_judge"
    return "passed"
