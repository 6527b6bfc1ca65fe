"""State of a run of `learn`, between nodes, and the resources that its nodes are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass as resources
from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel
from pydantic.dataclasses import dataclass

from graph.learn.figures import ArenaRound, CallNote, Judged, Problem, StageName
from graph.learn.matches import MatchFiles
from graph.learn.settings import Drawn, LearnRequest, LearnSettings
from graph.run.candidates import Candidate, best, keep_newest
from graph.run.folder import RunFolder
from tools.predicting.playing import Played, random_play

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from agents.roles.modeller import ModelModeller
    from tools.sandbox import Sandbox

LearnEnd: TypeAlias = Literal["passed", "incomplete", "gave_up"]
_KEPT = 4  # candidates whose random matches are held in memory


class StagePlace(BaseModel, frozen=True, extra="forbid"):
    """The stage that a run is at.

    Attributes:
        stage: What is being learned.
        first: Number of the stage's first candidate.
        base: The accepted candidate of the stage before; None in the first.
        redrawn: The candidate whose inference function is tried again once the model is mended;
            None for none.
    """

    stage: StageName = "transition"
    first: int = 0
    base: int | None = None
    redrawn: int | None = None


@dataclass(frozen=True)
class LearnState:
    """All that passes between the nodes; matches lie in files, see `MatchFiles`.

    Attributes:
        folder: The run's folder.
        held: Recorded matches that were held out at first.
        recorded: Matches of the file that was given.
        candidates: The pool of all stages.
        at: The stage.
        judged: Of each candidate that was tested.
        calls: One note a call.
        promoted: Held-out matches that joined the training ones.
        asked: Matches of the environment that joined the recorded ones.
        asking: Whether it may be asked for more: not after it failed.
        questions: Why each of them was asked for.
        inference: The inference function that was accepted, or is being learned; empty for none.
        value_notes: What became of value functions.
        arena: Its rounds.
        tensors: Why no functions that turn observations into arrays are used; empty where they are,
            or were not asked for.
        end: How the run ended; None while it works.
        reason: Why, in a sentence.
    """

    folder: str = ""
    held: int = 0
    recorded: int = 0
    candidates: tuple[Candidate, ...] = ()
    at: StagePlace = StagePlace()
    judged: dict[int, Judged] = field(default_factory=dict)
    calls: tuple[CallNote, ...] = ()
    promoted: tuple[int, ...] = ()
    asked: int = 0
    asking: bool = True
    questions: tuple[str, ...] = ()
    inference: Drawn = ""
    value_notes: tuple[str, ...] = ()
    arena: tuple[ArenaRound | Problem, ...] = ()
    tensors: str = ""
    end: LearnEnd | None = None
    reason: str = ""

    def candidate(self, number: int) -> Candidate:
        """The candidate with this number."""
        return next(c for c in self.candidates if c.number == number)

    @property
    def base(self) -> Candidate | None:
        """The accepted candidate that the stage stands on; None in the first."""
        return None if self.at.base is None else self.candidate(self.at.base)

    @property
    def pool(self) -> list[Candidate]:
        """The candidates of the stage."""
        return [c for c in self.candidates if c.number >= self.at.first]

    @property
    def passing(self) -> list[Candidate]:
        """Those of them that pass."""
        return [c for c in self.pool if c.outcome == "passed"]

    @property
    def chosen(self) -> Candidate | None:
        """The candidate to report: the accepted one of the newest stage, else the best one."""
        if self.pool:
            found = best(self.passing or self.pool)
            if self.at.base is None or found.share_passed:
                return found
        return self.base

    @property
    def best_so_far(self) -> float:
        """The best accuracy of a candidate of the stage, as its newest call knew it."""
        return [0.0, *(note.best for note in self.calls if note.function == self.at.stage)][-1]

    def taking_in(self, folder: RunFolder, held: int, recorded: int) -> "LearnState":
        """With the run's matches."""
        return replace(self, folder=str(folder.path), held=held, recorded=recorded)

    def at_stage(self, stage: StageName, base: Candidate | None, inference: Drawn) -> "LearnState":
        """At another stage, which stands on an accepted candidate and has none of its own."""
        number = None if base is None else base.number
        there = StagePlace(stage=stage, first=len(self.candidates), base=number)
        return replace(self, at=there, inference=inference)

    def with_versions(self, versions: Sequence[Candidate]) -> "LearnState":
        """With candidates, each in the place of the one of its number."""
        return replace(self, candidates=keep_newest(self.candidates, versions))

    def with_call(self, note: CallNote, versions: Sequence[Candidate] = ()) -> "LearnState":
        """With one call more, and the candidates that came of it."""
        return replace(self.with_versions(versions), calls=(*self.calls, note))

    def with_newest_call(self, note: CallNote) -> "LearnState":
        """With another note in the place of the newest."""
        return replace(self, calls=(*self.calls[:-1], note))

    def with_judged(self, judged: Mapping[int, Judged]) -> "LearnState":
        """With further judgements."""
        return replace(self, judged={**self.judged, **judged})

    def with_promoted(self, matches: Sequence[int]) -> "LearnState":
        """With held-out matches that join the training ones."""
        return replace(self, promoted=(*self.promoted, *matches))

    def with_question(self, why: str) -> "LearnState":
        """With one match more that the environment was asked for."""
        return replace(self, asked=self.asked + 1, questions=(*self.questions, why))

    def asking_no_more(self, why: str) -> "LearnState":
        """With an environment that failed."""
        return replace(self, asking=False, questions=(*self.questions, why))

    def with_value_notes(self, notes: Sequence[str]) -> "LearnState":
        """With what became of value functions."""
        return replace(self, value_notes=tuple(notes))

    def with_round(self, found: ArenaRound | Problem) -> "LearnState":
        """With one round of the arena more."""
        return replace(self, arena=(*self.arena, found))

    def mending(self, again: Candidate, redrawn: Candidate) -> "LearnState":
        """With a model that play surprised as the first candidate; its draws are tried later."""
        there = StagePlace(first=again.number, redrawn=redrawn.number if self.inference else None)
        return replace(self.with_versions([again]), at=there)

    def without_tensors(self, why: str) -> "LearnState":
        """With the accepted model as it stands."""
        at = StagePlace(stage=self.at.stage, first=len(self.candidates), base=self.at.base)
        return replace(self, tensors=why, at=at)

    def given_up(self, why: str) -> "LearnState":
        """At its end; without tensors what was accepted before them stands."""
        if self.at.stage == "tensors":
            return self.without_tensors(why)
        return self.ended("gave_up", why)

    def ended(self, end: LearnEnd | None, reason: str) -> "LearnState":
        """At an end; None goes on."""
        return replace(self, end=end, reason=reason)


@resources
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
        files: The run's matches.
        played: The newest by module, number and seed: a candidate is judged more than once.
    """

    modeller: "ModelModeller"
    sandbox: "Sandbox"
    folder: RunFolder
    request: LearnRequest
    identity: str
    budget: "Budget"
    versions: Mapping[str, str]
    files: MatchFiles = field(init=False)
    played: dict[tuple[str, int, int], Played] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the matches in the run's folder."""
        self.files = MatchFiles(self.folder)

    @property
    def settings(self) -> LearnSettings:
        """The run's settings."""
        return self.request.settings

    def play(self, module: str, matches: int, seed: int) -> Played:
        """Random matches inside a model, with the seats and parameters of the recorded ones."""
        key, header = (module, matches, seed), self.files.header
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
