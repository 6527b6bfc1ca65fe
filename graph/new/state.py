"""State of a run, between nodes: what comes in, what goes out, what only the nodes see.

Beside it the pure decisions on the next node.
"""

from collections.abc import Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph.message import add_messages
from langgraph.types import Command, Overwrite
from pydantic import BaseModel, Field, JsonValue, WithJsonSchema
from pydantic.dataclasses import dataclass

from agents.protocols import Ambiguity, Brief, Choices, Claim, Design, Fit, Heuristic, RoleSet
from games.checks import Outcome
from graph.new.context import RunSettings
from graph.run.candidates import Candidate, keep_newest, pooled
from graph.run.checkpoints import as_plain
from graph.run.folder import RunFolder
from tools.reporting.content import Evaluation

Retried: TypeAlias = Literal[
    "intake",
    "design",
    "revise",
    "code",
    "recode",
    "check",
    "compare",
    "refine",
    "arbitrate",
    "strategize",
]
"""Nodes that ask a model: a run may stop there, and a message may go on there."""
AfterIntake: TypeAlias = Literal["intake", "design", "approve", "revise", "report"]
AfterDesign: TypeAlias = Literal["approve", "code", "report"]
AfterApproval: TypeAlias = Literal["approve", "code", "recode", "design", "revise", "report"]
AfterRevision: TypeAlias = Literal["intake", "design", "approve", "code", "recode", "__end__"]
AfterComparing: TypeAlias = Literal["refine", "arbitrate", "strategize", "report"]
AfterCheck: TypeAlias = Literal[AfterComparing, "check", "compare"]
AfterEdit: TypeAlias = Literal["check", "refine", "arbitrate", "report"]
AfterVote: TypeAlias = Literal["check", "compare", "refine", "strategize", "report"]
Node = TypeVar("Node", bound=str)


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


def after_check(outcome: Outcome, *, last: bool, vote: bool) -> AfterComparing:
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
    return "arbitrate" if vote and outcome != "passed" else after_vote(outcome, last=last)


def after_vote(outcome: Outcome, *, last: bool) -> Literal["refine", "strategize", "report"]:
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
Changed: TypeAlias = tuple[Design, Brief]
Messages: TypeAlias = Annotated[list[AnyMessage], add_messages]


class Made(BaseModel, frozen=True):
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


class PlayOn(BaseModel, frozen=True, extra="forbid"):
    """A person's wish to have a finished game played on.

    Attributes:
        matches: Matches of good players in all; 0 for as many as would decide.
        players: Seats; 0 for those of the design.
    """

    matches: int = Field(default=0, ge=0)
    players: int = Field(default=0, ge=0)


@dataclass(frozen=True)
class RunState:
    """One run, between nodes.

    Attributes:
        messages: See `ChatOutput`, and there of folder, end, reason, summary and artefacts.
        settings: Effective settings; None until intake fixed them.
        choices: What the person fixed beside the prompt.
        fit: What the nearest family would make of the brief; where `end` is "no_fit".
        maker: Identity of the roles that designed it last; empty before any did.
        candidates: The pool.
        claims: Tests and verdicts of the validator; every candidate is held against the same.
        contested: Claims that are put to the vote, each with the coder's argument.
        remedied: How many of the person's remedies were taken in.
        ambiguities: Rules that two candidates read differently, with what was ruled.
        accepted: Number of the accepted candidate.
        heuristics: Heuristics that passed, best first.
        evaluation: The play-test results.
        record: The first random match as text, for the report.
        playing: The wish that its play-test follows; None where nobody had one.
        played_on: How many of the person's wishes to play on were taken in.
        revision: How often the game was changed; each has a folder of its own.
        before: The game that is being changed, or was.
        earlier: What stood before each change, oldest first: an undo takes the last one back.
        asks: Whether it waits for a person to approve the rulebook.
        shown: The design whose rulebook the person was last asked about.
        given: The answer to that, where it came as a message.
        stopped: The node at which the model failed; the next message may go on there.
        notes: What a person should know beside the result.
        step: The checkpoint of the newest step that wrote into the folder; see `_kept`.
        key: The thread that the folder names, which no client of another run knows.
    """

    messages: Messages = field(default_factory=list)
    folder: str = ""
    end: End | None = None
    reason: str = ""
    summary: str = ""
    artefacts: dict[str, str] = field(default_factory=dict)
    settings: RunSettings | None = None
    choices: Choices = Choices()
    brief: Brief | None = None
    design: Design | None = None
    fit: Fit | None = None
    revision: int = 0
    before: Made | None = None
    earlier: tuple[Changed, ...] = ()
    approved: bool = False
    asks: bool = False
    shown: Design | None = None
    given: str | None = None
    stopped: Retried | None = None
    maker: str = ""
    candidates: Annotated[tuple[Candidate, ...], pooled] = ()
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
    playing: PlayOn | None = None
    played_on: int = 0
    notes: tuple[str, ...] = ()
    step: str = ""
    key: str = ""

    @property
    def seed(self) -> int | None:
        """The run's seed; None until intake fixed it."""
        return None if self.settings is None else self.settings.seed

    @property
    def made(self) -> Made | None:
        """The game that stands: the accepted one, else the one before it."""
        if self.accepted is None or self.design is None:
            return self.before
        return Made(
            revision=self.revision,
            design=self.design,
            candidate=self.candidate(self.accepted),
            heuristics=self.heuristics,
            strategy_notes=self.strategy_notes,
            evaluation=self.evaluation,
            record=self.record,
            claims=self.claims,
        )

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)

    def in_folder(self, path: Path) -> "RunState":
        """In another folder."""
        return replace(self, folder=str(path))

    def afresh(self, folder: str, settings: RunSettings | None) -> "RunState":
        """As it is before its design: the chat and the counts of what was asked outlive a game."""
        fresh = RunState(self.messages, folder, settings=settings, remedied=self.remedied)
        key = self.key if folder else ""
        return replace(fresh, played_on=self.played_on, step=self.step, key=key)

    def saying(self, text: str, name: str | None = None) -> "RunState":
        """With a message to the chat, by the name of a node."""
        return replace(self, messages=[*self.messages, AIMessage(text, name=name)])

    def hearing(self, answer: str) -> "RunState":
        """With an answer to the rulebook that came as a message of the chat."""
        return replace(self, given=answer)

    def heard(self, answer: str) -> "RunState":
        """With the answer taken in; one that is no message of the chat yet becomes one."""
        said = [] if self.given is not None else [HumanMessage(answer)]
        return replace(self, messages=[*self.messages, *said], given=None, shown=self.design)

    def showing_whole(self) -> "RunState":
        """With the whole rulebook to be shown next."""
        return replace(self, shown=None)

    def waiting(self, *, asks: bool) -> "RunState":
        """Waiting for a person to approve the rulebook, or not."""
        return replace(self, asks=asks)

    def approving(self) -> "RunState":
        """With the rulebook approved."""
        return replace(self, asks=False, approved=True)

    def choosing(self, choices: Choices) -> "RunState":
        """With what the person fixed beside the prompt."""
        return replace(self, choices=choices)

    def briefed(self, brief: Brief) -> "RunState":
        """With the brief of the first design."""
        return replace(self, brief=brief)

    def designed(self, design: Design) -> "RunState":
        """With a design, or with the design as a ruling or its matches amended it."""
        return replace(self, design=design)

    def made_by(self, roles: RoleSet) -> "RunState":
        """As the work of these roles; who plays it on may be others."""
        return replace(self, maker=roles.identity)

    def changed(self, design: Design, brief: Brief) -> "RunState":
        """With the design that a message made of the one of now."""
        now = () if self.design is None or self.brief is None else ((self.design, self.brief),)
        return replace(self, design=design, brief=brief, earlier=(*self.earlier, *now))

    def undone(self) -> "RunState":
        """With the design as it stood before its last change.

        Raises:
            IndexError: If it was never changed.
        """
        design, brief = self.earlier[-1]
        return replace(self, design=design, brief=brief, earlier=self.earlier[:-1])

    def revising(
        self, number: int, folder: Path, base: Made | None, shown: Design | None
    ) -> "RunState":
        """As a revision that is still to be made: its design stands, and nothing else does.

        Args:
            number: Of the revision.
            folder: Its own.
            base: The game that it is made from.
            shown: The design that the person saw last.
        """
        return replace(
            self.afresh(str(folder), self.settings),
            revision=number,
            before=base,
            shown=shown,
            design=self.design,
            brief=self.brief,
            earlier=self.earlier,
        )

    def as_before(self, base: Made) -> "RunState":
        """With all that was found of the game before, for a design with the same rules."""
        return replace(
            self,
            heuristics=base.heuristics,
            strategy_notes=base.strategy_notes,
            evaluation=base.evaluation,
            record=base.record,
            claims=base.claims,
            candidates=(base.candidate,),
            accepted=base.candidate.number,
        )

    def with_versions(self, *versions: Candidate) -> "RunState":
        """With candidates, each in the place of the one of its number."""
        return replace(self, candidates=keep_newest(self.candidates, versions))

    def refining(self) -> "RunState":
        """In one refinement more."""
        return replace(self, rounds=self.rounds + 1)

    def holding(self, claims: Sequence[Claim], contested: Sequence[Claim] = ()) -> "RunState":
        """With the claims that candidates are held against, and those that go to the vote."""
        return replace(self, claims=tuple(claims), contested=tuple(contested))

    def ruling(self, found: Sequence[Ambiguity]) -> "RunState":
        """With further rules that two candidates read differently."""
        return replace(self, ambiguities=(*self.ambiguities, *found))

    def accepting(self, number: int) -> "RunState":
        """With a candidate accepted."""
        return replace(self, accepted=number)

    def noting(self, notes: Sequence[str]) -> "RunState":
        """With further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_players(self, kept: tuple[Heuristic, ...], notes: Sequence[str]) -> "RunState":
        """With the heuristics that were kept, and what was found of them."""
        return replace(self, heuristics=kept, strategy_notes=tuple(notes))

    def played(self, evaluation: Evaluation, record: str) -> "RunState":
        """With its play-test, and a match as text."""
        return replace(self, evaluation=evaluation, record=record)

    def ending(self, end: End | None, reason: str, fit: Fit | None = None) -> "RunState":
        """At an end; None goes on."""
        return replace(self, end=end, reason=reason, asks=False, fit=fit or self.fit)

    def void(self, reason: str) -> "RunState":
        """Given up because the accepted game could not be played as it was before."""
        return replace(self.ending("gave_up", reason), accepted=None)

    def summed_up(self, summary: str, artefacts: dict[str, str] | None = None) -> "RunState":
        """With its result in a few lines, and the text of its files where they are new."""
        kept = self.artefacts if artefacts is None else artefacts
        return replace(self, summary=summary, artefacts=kept)

    def stopping(self, node: Retried, reason: str) -> "RunState":
        """Stopped at a node whose model failed."""
        return replace(self, stopped=node, end=None, reason=reason)

    def trying_again(self) -> "RunState":
        """No longer stopped."""
        return replace(self, stopped=None, reason="")

    def remedying(self) -> "RunState":
        """With one more of the person's remedies taken in."""
        return replace(self, remedied=self.remedied + 1, end=None, reason="")

    def playing_on(self, wish: PlayOn) -> "RunState":
        """With one more wish to play on taken in."""
        taken = replace(self, playing=wish, played_on=self.played_on + 1)
        return replace(taken, end=None, reason="")


def go_on(node: Node, before: RunState, after: RunState) -> Command[Node]:
    """Go on at a node, with what has changed as any checkpointer keeps it.

    The first steps of a run write every field, so that a client finds each of them. Messages and
    candidates join those of before.
    """
    names = [one.name for one in fields(after)]
    both = ((name, getattr(before, name), getattr(after, name)) for name in names)
    update = {n: as_plain(new) for n, old, new in both if new != old or before.settings is None}
    if "messages" in update:
        update["messages"] = after.messages[len(before.messages) :]
    if "candidates" in update:
        changed = [as_plain(one) for one in after.candidates if one not in before.candidates]
        left = {one.number for one in after.candidates}
        lost = any(one.number not in left for one in before.candidates)
        update["candidates"] = Overwrite(changed) if lost else changed
    return Command(goto=node, update=update)


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


def need_brief(state: RunState) -> Brief:
    """The brief, which every node after `intake` may rely on.

    Raises:
        ValueError: If the graph was wired so that it is missing.
    """
    if state.brief is None:
        raise ValueError("this node runs after intake; the state holds no brief")
    return state.brief
