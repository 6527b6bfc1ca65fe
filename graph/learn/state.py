"""State of a run of `learn`, between nodes, and the resources that its nodes are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field

from games.checks import Finding
from games.trajectories import MOST_OUTCOMES, OpenTrajectory
from graph.learn.matches import Material, material
from graph.learn.settings import LearnRequest, LearnSettings
from graph.run.candidates import Candidate, best, pooled
from graph.run.folder import RunFolder
from tools.coverage import BranchCoverage, branch_coverage
from tools.predicting.playing import Played, random_play

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from agents.roles.modeller import ModelModeller
    from tools.sandbox import Sandbox

Stage: TypeAlias = Literal["transition", "inference", "value", "tensors"]
LearnEnd: TypeAlias = Literal["passed", "incomplete", "gave_up"]
_KEPT = 4  # candidates whose random matches are held in memory


class TypeRow(BaseModel, frozen=True, extra="forbid"):
    """Records of one phase and one type of action: how many were predicted in full."""

    phase: str
    action: str
    right: int
    records: int
    held_right: int = 0
    held: int = 0


class Judged(BaseModel, frozen=True, extra="forbid"):
    """How a candidate fared.

    Attributes:
        number: The candidate's.
        right: Training records all of whose predictions hold; sights, where it infers.
        records: Training records, or sights.
        distinct_right: The same, of records that differ.
        distinct: Records that differ.
        held_right: Held-out ones that hold; asked only of a candidate that holds all training.
        held: Held-out ones that were asked.
        rows: By phase and type of action.
        failures: What failed, as findings; also random play, imports and steadiness.
        broken: Indices of held-out matches that it fails.
        calibration: Its draws against the exact posterior, where they were compared.
        width: Length of its arrays of observations, where it makes them.
        late: Places for which it drew nothing in time.
    """

    number: int
    right: int = 0
    records: int = 0
    distinct_right: int = 0
    distinct: int = 0
    held_right: int = 0
    held: int = 0
    rows: tuple[TypeRow, ...] = ()
    failures: tuple[Finding, ...] = ()
    broken: tuple[int, ...] = ()
    calibration: dict[str, Any] = Field(default_factory=dict)
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


class CallNote(BaseModel, frozen=True, extra="forbid"):
    """What one call of the modeller gave.

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
    function: Stage
    parent: int | None = None
    candidates: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    accuracy: float | None = None
    best: float = 0.0
    held_out: float | None = None


class Gaps(BaseModel, frozen=True, extra="forbid"):
    """What no recorded match has put to the test.

    Attributes:
        phases: Phases that the model has and no match met.
        actions: Types of action that are legal in a phase and were never played in it.
        branches: Branches of the model that no match went through, with line and text.
        heldout: Whether no match was left to hold out.
        ends: Whether every match was left before its end.
        counted: Whether chance has outcomes of which the number alone was compared.
        play: What the arena showed to be wrong; empty where nothing was.
    """

    phases: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    heldout: bool = False
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
        told += [f"the phase “{name}” was never met" for name in self.phases]
        told += [f"the action “{name}” was never played" for name in self.actions]
        told += [f"no match went through {name}" for name in self.branches]
        return tuple(told)


class LearnState(BaseModel):
    """What passes between the nodes.

    Attributes:
        folder: The run's folder.
        candidates: The pool of all stages.
        stage: What is being learned.
        first: Number of the stage's first candidate.
        base: The accepted candidate of the stage before; None in the first.
        judged: Of each candidate that was tested.
        calls: One note a call.
        promoted: Held-out matches that joined the training ones.
        asked: Matches of the environment that joined the recorded ones.
        asking: Whether it may be asked for more: not after it failed.
        questions: Why each of them was asked for.
        inference: The inference function that was accepted, or is being learned; empty for none.
        values: The value function that is used, if any.
        value_notes: What became of them.
        arena: Its rounds.
        tensors: Why no functions that turn observations into arrays are used; empty where they are,
            or were not asked for.
        carried: The inference function before play surprised the model, to be tried again.
        gaps: What was never put to the test.
        fidelity: Branch fidelity; None where it was not measured.
        end: How the run ended; None while it works.
        reason: Why, in a sentence.
    """

    folder: str = ""
    candidates: Annotated[list[Candidate], pooled] = Field(default_factory=list)
    stage: Stage = "transition"
    first: int = 0
    base: int | None = None
    judged: dict[int, Judged] = Field(default_factory=dict)
    calls: list[CallNote] = Field(default_factory=list)
    promoted: list[int] = Field(default_factory=list)
    asked: int = 0
    asking: bool = True
    questions: list[str] = Field(default_factory=list)
    inference: str = ""
    values: list[str] = Field(default_factory=list)
    value_notes: list[str] = Field(default_factory=list)
    arena: list[dict[str, Any]] = Field(default_factory=list)
    tensors: str = ""
    carried: str = ""
    gaps: Gaps | None = None
    fidelity: dict[str, Any] | None = None
    end: LearnEnd | None = None
    reason: str = ""

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)

    @property
    def pool(self) -> list[Candidate]:
        """The candidates of the stage."""
        return [c for c in self.candidates if c.number >= self.first]

    @property
    def chosen(self) -> Candidate | None:
        """The candidate to report: the accepted one of the newest stage, else the best one."""
        if self.pool:
            found = best([c for c in self.pool if c.outcome == "passed"] or self.pool)
            if self.base is None or found.share_passed:
                return found
        return None if self.base is None else self.candidate(self.base)


@dataclass
class LearnContext:
    """Run-scoped resources, passed as `context=` when the machine is invoked.

    Attributes:
        modeller: The role.
        sandbox: Where learned sources run.
        folder: The run's folder.
        request: What the run was asked.
        identity: Who answers for the modeller.
        budget: What the modeller may still spend.
        versions: Versions of what took part, by name.
        played: The newest by module, number and seed: a candidate is judged more than once.
    """

    modeller: "ModelModeller"
    sandbox: "Sandbox"
    folder: RunFolder
    request: LearnRequest
    identity: str
    budget: "Budget"
    versions: Mapping[str, str]
    played: dict[tuple[str, int, int], Played] = field(default_factory=dict)

    @property
    def settings(self) -> LearnSettings:
        """The run's settings."""
        return self.request.settings

    @property
    def material(self) -> Material:
        """What the run learns from."""
        return material(self.folder)

    def play(self, module: str, matches: int, seed: int) -> Played:
        """Random matches inside a model, with the seats and parameters of the recorded ones."""
        key, header = (module, matches, seed), self.material.header
        if (known := self.played.get(key)) is not None:
            return known
        found = random_play(
            self.sandbox,
            module,
            num_players=header.num_players,
            parameters=header.parameters,
            matches=matches,
            seed=seed,
        )
        if not found.failures:  # what failed may do so for want of time, and is tried again
            self.played = dict([*self.played.items(), (key, found)][-_KEPT:])
        return found

    def covered(
        self, module: str, names: Sequence[str], matches: Sequence[OpenTrajectory]
    ) -> BranchCoverage:
        """Branches of functions of a model that matches take."""
        header = self.material.header
        return branch_coverage(
            self.sandbox,
            module,
            names,
            [match.actions for match in matches],
            num_players=header.num_players,
            parameters=header.parameters,
        )
