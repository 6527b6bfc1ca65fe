"""Claims of the validator, and what settles them: play, the coder's argument, fresh votes."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from games.checks.unit_tests import PlayedPly, UnitTest

ClaimStatus: TypeAlias = Literal["standing", "upheld", "disputed", "dropped", "amended"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Vote(_Value):
    """What a fresh validator says of a claim that is contested."""

    upheld: bool
    why: str


class Claim(_Value):
    """A test or a verdict of the validator: it stands until it is contested and voted on.

    Attributes:
        id: "T1" for a test, "V1" for a verdict on a record, "S1" for seats that differ.
        rule: Id of the rule it speaks for.
        says: What the module does wrong, or the value it must give.
        shown: The record it rests on; empty for a test, which is played, and for counts.
        test: The test; None for the others.
        played: The ply that a verdict is on, as it was played; None for the others.
        status: "disputed" where no majority voted for it; "dropped" by a person, or unreadable;
            "amended" where its rule reads otherwise by now.
        argument: Why the coder holds the module for right; empty where nobody objected.
        votes: Of the validators who were asked beside the first.
    """

    id: str
    rule: str
    says: str
    shown: str = ""
    test: UnitTest | None = None
    played: PlayedPly | None = None
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


class Parting(_Value):
    """The first place at which two modules, written independently from the same rules, part.

    Attributes:
        candidates: Their numbers.
        match: Number of the random match, from 1.
        ply: Plies played before it.
        actions: The newest actions before it, in the first module's words.
        about: What differs, such as "legal actions".
        readings: What each module says there.
        seen_at: Plies after which what the seats see first parted.
        seen: By module what they saw before and after that ply.
    """

    candidates: tuple[int, int]
    match: int
    ply: int
    actions: tuple[str, ...]
    about: str
    readings: tuple[str, str]
    seen_at: int = 0
    seen: tuple[str, str] = ("", "")


class Ruling(_Value):
    """What the designer rules on two readings, and how the rule reads from then on."""

    working: str = Field(description="What the rules say of this place, and what they leave open.")
    holds: Literal["first", "second", "neither"] = Field(
        description="Which module plays as the rules are meant."
    )
    rule: str = Field(description="Id of the one rule that has to be clearer, such as R4.")
    text: str = Field(description="That rule as one plain sentence that leaves one reading.")


class Ambiguity(_Value):
    """Rules that were read in two ways.

    Attributes:
        parting: Where it showed.
        ruling: The designer's; None where none could be had.
        before: The rule as it read.
        lacking: Why there is no ruling.
    """

    parting: Parting
    ruling: Ruling | None = None
    before: str = ""
    lacking: str = ""


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
