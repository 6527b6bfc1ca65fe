"""State of a run, between nodes; every class here may stand in a checkpoint."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import BaseModel, Field

from agents.protocols import Brief, Choices, Design, Fit, Heuristic
from graph.run.folder import RunFolder
from graph.run.pool import Candidate, keep_newest
from graph.run.settings import RunSettings
from tools.reporting.content import Evaluation

End: TypeAlias = Literal["made", "gave_up", "question", "no_fit"]


class RunState(BaseModel):
    """One run, between nodes.

    Attributes:
        messages: The chat; the last human message is the prompt.
        settings: Effective settings; None until intake fixed them.
        folder: The run folder's path; empty until intake made it.
        choices: What the person fixed beside the prompt.
        fit: What the nearest family would make of the brief; where `end` is "no_fit".
        candidates: The pool.
        accepted: Number of the accepted candidate.
        heuristics: Heuristics that passed, best first.
        evaluation: The play-test results.
        record: The first random match as text, for the report.
        end: How the run ended; None while it goes on.
        reason: Why it gave up or asks.
        notes: What a person should know beside the result.
    """

    messages: Annotated[list[AnyMessage], add_messages] = Field(default_factory=list)
    settings: RunSettings | None = None
    folder: str = ""
    choices: Choices = Choices()
    brief: Brief | None = None
    design: Design | None = None
    fit: Fit | None = None
    approved: bool = False
    candidates: Annotated[list[Candidate], keep_newest] = Field(default_factory=list)
    rounds: int = 0
    accepted: int | None = None
    heuristics: tuple[Heuristic, ...] = ()
    strategy_notes: tuple[str, ...] = ()
    evaluation: Evaluation | None = None
    record: str = ""
    end: End | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)


def folder_of(state: RunState) -> RunFolder:
    """The run's folder."""
    return RunFolder(Path(state.folder))


def need_design(state: RunState) -> Design:
    """The design, which every node after `design` may rely on.

    Raises:
        ValueError: If the graph was wired so that it is missing.
    """
    if state.design is None:
        raise ValueError("this node runs after design; the state holds no design")
    return state.design
