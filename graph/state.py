"""What nodes read and write; every class here may stand in a checkpoint."""

from statistics import fmean
from typing import Annotated, Literal, TypeAlias

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.protocols import Brief, Design, Heuristic
from games.checks.findings import Finding, Outcome, verdict
from graph.settings import RunSettings

End: TypeAlias = Literal["made", "gave_up", "question"]


class Candidate(BaseModel):
    """One version of the module with its findings.

    Attributes:
        number: 0 for the draft, then one more a refinement.
        parent: Number of the candidate it was edited from; None for the draft.
        source: The module.
        findings: What the checks found; None until it was checked.
        refined: How often it was picked for refinement.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    parent: int | None = None
    source: str
    findings: tuple[Finding, ...] | None = None
    refined: int = 0

    @property
    def outcome(self) -> Outcome:
        """The verdict over its findings; unchecked is not passed."""
        return verdict(self.findings or ())

    @property
    def share_passed(self) -> float:
        """How far it got, in [0, 1]: the mean over its checks of the share passed; 0 unchecked.

        A check counts once however many findings it gives, so that a fault reported three times
        weighs no more than one reported once.
        """
        by_check: dict[str, list[bool]] = {}
        for finding in self.findings or ():
            by_check.setdefault(finding.check, []).append(finding.outcome == "passed")
        return fmean(fmean(passed) for passed in by_check.values()) if by_check else 0.0


def keep_newest(old: list[Candidate], new: list[Candidate]) -> list[Candidate]:
    """Merge candidates by number; a later version of the same number replaces the earlier.

    >>> a, b = Candidate(number=0, source="x"), Candidate(number=0, source="x", refined=1)
    >>> [c.refined for c in keep_newest([a], [b])]
    [1]
    """
    merged = {candidate.number: candidate for candidate in (*old, *new)}
    return [merged[number] for number in sorted(merged)]


class RunState(BaseModel):
    """One run, between nodes.

    Attributes:
        messages: The chat; the last human message is the prompt.
        settings: Effective settings; None until intake fixed them.
        folder: The run folder's path; empty until intake made it.
        candidates: The pool.
        accepted: Number of the accepted candidate.
        heuristics: Heuristics that passed, best first.
        evaluation: The play-test results, as they stand in the report.
        end: How the run ended; None while it goes on.
        reason: Why it gave up or asks.
        notes: What a person should know beside the result.
    """

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    settings: RunSettings | None = None
    folder: str = ""
    brief: Brief | None = None
    design: Design | None = None
    approved: bool = False
    candidates: Annotated[list[Candidate], keep_newest] = Field(default_factory=list)
    rounds: int = 0
    accepted: int | None = None
    heuristics: tuple[Heuristic, ...] = ()
    strategy_notes: tuple[str, ...] = ()
    evaluation: dict[str, JsonValue] | None = None
    end: End | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)
