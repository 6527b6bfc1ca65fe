"""State of a run, between nodes: what comes in, what goes out, what only the nodes see.

Beside it the pure decisions on the next node.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.types import Overwrite
from pydantic import BaseModel, Field, JsonValue, WithJsonSchema

from agents.protocols import Ambiguity, Brief, Choices, Claim, Design, Fit, Heuristic
from games.checks import Outcome
from graph.new.context import RunSettings
from graph.run.candidates import Candidate, pooled
from graph.run.folder import RunFolder
from tools.reporting.content import Evaluation

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
    """The way on after a vote, by the findings left; `last` where no refinement is left.

    >>> after_vote("passed", last=True), after_vote("failed", last=True)
    ('strategize', 'report')
    >>> after_vote("failed", last=False)
    'refine'
    """
    if outcome == "passed":
        return "strategize"
    return "report" if last else "refine"


End: TypeAlias = Literal["made", "delivered", "gave_up", "question", "no_fit"]
Messages: TypeAlias = Annotated[list[AnyMessage], add_messages]


class Made(BaseModel):
    """A game that was made: what a revision begins with.

    Attributes:
        revision: Its number; 0 for the run's first game.
        design: Its design.
        candidate: Its code, with the findings.
        heuristics: Its players, best first.
        strategy_notes: What was found of them.
        evaluation: Its play-test.
        record: A match of it as text.
        claims: Those of the validator that it was held against, and others.
    """

    revision: int
    design: Design
    candidate: Candidate
    heuristics: tuple[Heuristic, ...] = ()
    strategy_notes: tuple[str, ...] = ()
    evaluation: Evaluation | None = None
    record: str = ""
    claims: tuple[Claim, ...] = ()


def _choices() -> dict[str, Any]:
    """The schema of `Choices`, without a reference that another schema could not follow."""
    schema = Choices.model_json_schema()
    schema["properties"]["settings"]["additionalProperties"] = True
    return {name: part for name, part in schema.items() if name != "$defs"}


class ChatInput(BaseModel):
    """A client's input: messages, and choices beside their words."""

    messages: Messages = Field(
        default_factory=list,
        description="The chat. The first message describes the game; a later one answers a "
        "question, asks about the game, or says what to change.",
    )
    choices: Annotated[dict[str, JsonValue], WithJsonSchema(_choices())] = Field(
        default_factory=dict,
        description="Options that go before the words: family, num_players, settings.",
    )


class ChatOutput(BaseModel):
    """A client's output.

    Attributes:
        messages: The chat, with a short message for every stage and the result last.
        folder: The run's folder, on the server.
        end: How the run ended; None while it waits or has stopped.
        reason: Why it asks, gave up or stopped, or is no more than delivered.
        summary: The result in a few lines.
        artefacts: Text of the files that were made, by name.
    """

    messages: Messages = Field(default_factory=list)
    folder: str = ""
    end: End | None = None
    reason: str = ""
    summary: str = ""
    artefacts: dict[str, str] = Field(default_factory=dict)


_OUTLIVE = frozenset({"messages", "folder", "settings", "remedied"})


class RunState(ChatOutput):
    """One run, between nodes; see `ChatOutput` for what a client gets of it.

    Attributes:
        settings: Effective settings; None until intake fixed them.
        choices: What the person fixed beside the prompt.
        fit: What the nearest family would make of the brief; where `end` is "no_fit".
        candidates: The pool.
        claims: Tests and verdicts of the validator; every candidate is held against the same.
        contested: Claims that are put to the vote, each with the coder's argument.
        remedied: How many of the person's remedies were taken in.
        ambiguities: Rules that two candidates read differently, with what was ruled.
        accepted: Number of the accepted candidate.
        heuristics: Heuristics that passed, best first.
        evaluation: The play-test results.
        record: The first random match as text, for the report.
        revision: How often the game was changed; each has a folder of its own.
        before: The game that is being changed, or was.
        earlier: What stood before each change, oldest first: an undo takes the last one back.
        asks: Whether it waits for a person to approve the rulebook.
        shown: The design whose rulebook the person was last asked about.
        given: The answer to that, where it came as a message.
        stopped: The node at which the model failed; the next message may go on there.
        notes: What a person should know beside the result.
    """

    settings: RunSettings | None = None
    choices: Choices = Choices()
    brief: Brief | None = None
    design: Design | None = None
    fit: Fit | None = None
    revision: int = 0
    before: Made | None = None
    earlier: tuple[tuple[Design, Brief], ...] = ()
    approved: bool = False
    asks: bool = False
    shown: Design | None = None
    given: str | None = None
    stopped: NodeName | None = None
    candidates: Annotated[list[Candidate], pooled] = Field(default_factory=list)
    rounds: int = 0
    claims: tuple[Claim, ...] = ()
    contested: tuple[Claim, ...] = ()
    remedied: int = 0
    ambiguities: tuple[Ambiguity, ...] = ()
    accepted: int | None = None
    heuristics: tuple[Heuristic, ...] = ()
    strategy_notes: tuple[str, ...] = ()
    evaluation: Evaluation | None = None
    record: str = ""
    notes: tuple[str, ...] = ()

    @property
    def made(self) -> Made | None:
        """The game that stands: the accepted one, else the one before it."""
        if self.accepted is None or self.design is None:
            return self.before
        shared = {name: getattr(self, name) for name in Made.model_fields if name != "candidate"}
        return Made(**shared, candidate=self.candidate(self.accepted))

    @property
    def with_this(self) -> tuple[tuple[Design, Brief], ...]:
        """Designs and briefs before each change, those of now included."""
        now = () if self.design is None or self.brief is None else ((self.design, self.brief),)
        return (*self.earlier, *now)

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)


def cleared() -> dict[str, Any]:
    """The fields of a run's work, as they are before its design."""
    fields = RunState.model_fields.items()
    made = {n: f.get_default(call_default_factory=True) for n, f in fields if n not in _OUTLIVE}
    return {**made, "candidates": Overwrite([])}


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
