"""Figures of a run of `learn`: how candidates fared, what calls gave, what play showed."""

from typing import Literal, TypeAlias

from pydantic import (
    BaseModel,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from games.checks import Finding
from games.engine import Ending
from games.text import number_of
from games.trajectories import MOST_OUTCOMES
from graph.learn.calibration import Calibration
from graph.run.events import Called
from tools.predicting.arena import SPACED, Paid, Unpaid

StageName: TypeAlias = Literal["transition", "inference", "value", "tensors"]


class TypeRow(BaseModel, frozen=True, extra="forbid"):
    """Records of one phase and one type of action, and how many were predicted in full."""

    phase: str
    action: str
    right: int
    records: int
    held_right: int = 0
    held: int = 0

    @property
    def share(self) -> float:
        """Share of all its records that hold."""
        return (self.right + self.held_right) / max(1, self.records + self.held)


class Judged(BaseModel, frozen=True, extra="forbid"):
    """The judgement of a candidate.

    Attributes:
        right: Training records all of whose predictions hold; sights, where it infers.
        records: Training records, or sights.
        distinct_right: The same, of records that differ.
        distinct: Records that differ.
        held_right: Held-out ones that hold; asked only of a candidate that holds all training.
        held: Held-out ones that were asked.
        rows: By phase and type of action.
        failures: Findings on what failed, of records and also random play, imports and steadiness.
        broken: Indices of held-out matches that it fails.
        calibration: Its draws against the exact posterior, where they were compared.
        width: Length of its arrays of observations, where it makes them.
        late: Places for which it drew nothing in time.
    """

    right: int = 0
    records: int = 0
    distinct_right: int = 0
    distinct: int = 0
    held_right: int = 0
    held: int = 0
    rows: tuple[TypeRow, ...] = ()
    failures: tuple[Finding, ...] = ()
    broken: tuple[int, ...] = ()
    calibration: Calibration | None = None
    width: int = 0
    late: int = 0

    @property
    def accuracy(self) -> float:
        """Share of the training records that hold; 0 where none was asked."""
        return self.right / self.records if self.records else 0.0

    @property
    def held_accuracy(self) -> float | None:
        """Share of the held-out records that hold; None where none was asked."""
        return self.held_right / self.held if self.held else None

    def share(self, play_matches: int) -> float:
        """The share of a candidate's tests that hold, its heuristic value in the tree.

        Imports and steadiness count as one record each, random play as its matches.

        >>> Judged(right=3, records=4).share(2)
        0.75
        """
        further = [f for f in self.failures if f.check in ("play", "steady", "calibration")]
        lost = sum(play_matches if f.check == "play" else 1 for f in further)
        return self.right / (self.records + lost) if self.records else 0.0


class CallNote(BaseModel, frozen=True, extra="forbid"):
    """One call of the modeller, and what it gave.

    Attributes:
        call: Its number, from 1.
        function: What was asked for.
        parent: The candidate that was to be mended; None for a first source.
        candidates: What came of it.
        refused: Why further versions, or the reply as a whole, could not be used.
        accuracy: The best training accuracy of these candidates; None without any.
        best: The best of the stage so far.
        held_out: Held-out accuracy of the best one of the call, where it was asked.
    """

    call: int
    function: StageName
    parent: int | None = None
    candidates: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    accuracy: float | None = None
    best: float = 0.0
    held_out: float | None = None

    def event(self, late: int = 0) -> Called:
        """The call as a person hears of it; `late` counts places where draws time out."""
        return Called(
            node=self.function,
            call=self.call,
            accuracy="none" if self.accuracy is None else f"{self.accuracy:.4f}",
            best=f"{self.best:.4f}",
            held_out=None if self.held_out is None else f"{self.held_out:.4f}",
            places_where_draws_time_out=late or None,
            refused=len(self.refused) or None,
        )

    def reached(self, top: Judged, best: float) -> "CallNote":
        """The note once its candidates are judged: of the best one, and of the stage."""
        return CallNote(
            call=self.call,
            function=self.function,
            parent=self.parent,
            candidates=self.candidates,
            refused=self.refused,
            accuracy=top.accuracy,
            best=best,
            held_out=top.held_accuracy,
        )


class Gaps(BaseModel, frozen=True, extra="forbid"):
    """Parts of the model that no recorded match has put to the test.

    Attributes:
        phases: Phases that the model has and no match met.
        actions: Types of action that are legal in a phase and were never played in it.
        branches: Branches of the model that no match went through, with line and text.
        heldout: Whether no match was left to hold out.
        repeated: Whether training matches hold every held-out record too.
        few: Records that speak for it, where they are few; else 0.
        ends: Whether every match was left before its end.
        counted: Whether chance has outcomes of which the number alone was compared.
        play: What the arena showed to be wrong; empty where nothing was.
    """

    phases: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    heldout: bool = False
    repeated: bool = False
    few: int = 0
    ends: bool = False
    counted: bool = False
    play: str = ""

    @property
    def named(self) -> tuple[str, ...]:
        """All of it, a sentence each, first what says most."""
        told = [self.play] if self.play else []
        if self.heldout:
            told.append("no recorded match is left that the model was not made to fit")
        if self.ends:
            told.append("every recorded match was left before its end")
        if self.counted:
            told.append(
                f"of more than {MOST_OUTCOMES} outcomes of chance the number alone was compared"
            )
        if self.repeated and not self.heldout:
            told.append("every held-out record stands in a training match too")
        if self.few:
            share = min(100, 300 // self.few)
            told.append(
                f"{number_of(self.few, 'record')} spoke for it: up to {share} % of others may be "
                "wrong (rule of three)"
            )
        told += [f"the phase “{name}” was never met" for name in self.phases]
        told += [f"the action “{name}” was never played" for name in self.actions]
        told += [f"no match went through {name}" for name in self.branches]
        return tuple(told)


class Problem(BaseModel, frozen=True, extra="forbid"):
    """Something that could not be measured, and why."""

    problem: str

    @property
    def wrong(self) -> str:
        """The arena's problem, as a reason.

        >>> Problem(problem="it hung").wrong
        'the arena could not be played: it hung'
        """
        return f"the arena could not be played: {self.problem}"


class BranchFidelity(BaseModel, frozen=True, extra="forbid"):
    """Branches of several plies on which the model says what the environment says.

    Attributes:
        depth: Plies of a branch.
        positions: Positions that branches begin at.
        branches: Number of branches.
        right: Number of those on which both agree.
        share: The share of these; None without any.
    """

    depth: int
    positions: int
    branches: int
    right: int
    share: float | None


class ArenaRow(BaseModel, frozen=True, extra="forbid"):
    """Matches of the model's player against one opponent.

    Attributes:
        opponent: Its name.
        matches: Matches that were played.
        endings: Number of matches by their ending.
        forfeits: Matches that the model's player gave away.
        faults: Why the environment failed, a line a match.
        first_forfeit: Why the first of them was given away; left out without any.
        paid_to_every_seat: What each seat was paid, where all are paid alike.
        paid_over_the_others: The player's pay over the others' mean, where they are not.
        decisions: See `Decided`, as for the next four.
        transitions: Share of the records of these matches that it predicts; None without any.
        distinct_right: Distinct records that it predicts.
        distinct: Distinct records.
        first_wrong: The first test that fails; left out where none does.
    """

    model_config = SPACED

    opponent: str
    matches: int
    endings: dict[Ending, int]
    forfeits: int
    faults: tuple[str, ...]
    first_forfeit: str | None = None
    paid_to_every_seat: Paid | Unpaid | None
    paid_over_the_others: Paid | Unpaid | None
    decisions: int
    surprises: int
    failed_searches: int
    fallbacks: dict[str, int]
    inference_online: float | None
    transitions: float | None
    distinct_right: int
    distinct: int
    first_wrong: str | None = None

    @model_serializer(mode="wrap")
    def _without_none(self, serialize: SerializerFunctionWrapHandler) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = serialize(self)
        return {
            name: value
            for name, value in fields.items()
            if value is not None or not name.startswith("first")
        }


class ArenaRound(BaseModel, frozen=True, extra="forbid"):
    """One round of the arena: a row an opponent."""

    rows: tuple[ArenaRow, ...]

    @property
    def wrong(self) -> str:
        """Faults of the model that the round showed; empty without any.

        >>> row = ArenaRow.model_construct(
        ...     distinct=1, distinct_right=1, faults=(), forfeits=1, first_forfeit="no state fits"
        ... )
        >>> ArenaRound.model_construct(rows=(row,)).wrong
        'lost by an action that was illegal or none: 1 match: no state fits'
        """
        told = []
        if wrong := self.distinct - self.right:
            first = next(row.first_wrong for row in self.rows if row.first_wrong is not None)
            told.append(
                f"{wrong} of {self.distinct} transitions of play were predicted wrong; the first "
                f"is {first.splitlines()[0]}, shown with the arena"
            )
        if faults := [why for row in self.rows for why in row.faults]:
            told.append(f"the environment failed in {number_of(len(faults), 'match')}: {faults[0]}")
        if self.forfeits:
            why = next(row.first_forfeit for row in self.rows if row.first_forfeit is not None)
            told.append(
                "lost by an action that was illegal or none: "
                f"{number_of(self.forfeits, 'match')}: {why}"
            )
        return "; ".join(told)

    @property
    def distinct(self) -> int:
        """Distinct records of its matches."""
        return sum(row.distinct for row in self.rows)

    @property
    def right(self) -> int:
        """Distinct records that the model predicts."""
        return sum(row.distinct_right for row in self.rows)

    @property
    def forfeits(self) -> int:
        """Matches that the model's player gave away."""
        return sum(row.forfeits for row in self.rows)
