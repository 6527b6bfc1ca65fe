"""Claims of the validator, and what settles them: play, the coder's argument, fresh votes."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from games.checks.unit_tests import UnitTest

ClaimStatus: TypeAlias = Literal["standing", "upheld", "disputed", "dropped"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Vote(_Value):
    """What a fresh validator says of a claim that is contested."""

    upheld: bool
    why: str


class Claim(_Value):
    """A test or a verdict of the validator: it stands until it is contested and voted on.

    Attributes:
        id: "T1" for a test, "V1" for a verdict on a record.
        rule: Id of the rule it speaks for.
        says: What the module does wrong, or the value it must give.
        shown: The record it rests on; empty for a test, which is played.
        test: The test; None for a verdict.
        status: "disputed" where no majority voted for it; "dropped" by a person, or unreadable.
        argument: Why the coder holds the module for right.
        votes: Of the validators who were asked beside the first.
    """

    id: str
    rule: str
    says: str
    shown: str = ""
    test: UnitTest | None = None
    status: ClaimStatus = "standing"
    argument: str = ""
    votes: tuple[Vote, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether a module is still held against it."""
        return self.status in ("standing", "upheld")


class Objection(_Value):
    """The coder's objection to a finding."""

    finding: int = Field(ge=1, description="Number of the finding, from 1.")
    argument: str


class Attempt(_Value):
    """An earlier refinement, as the coder is told of it.

    Attributes:
        open: What was open before it.
        cause: What the coder held to be the cause.
        diff: What it changed.
    """

    open: str
    cause: str
    diff: str


class Edit(_Value):
    """A partial edit: the first string must occur exactly once in the source."""

    search: str
    replace: str


class Mending(_Value):
    """What the coder makes of findings: edits, and objections to what it holds for wrong."""

    cause: str = ""
    edits: tuple[Edit, ...] = ()
    contested: tuple[Objection, ...] = ()
