"""Inference: draws of what is hidden, on top of a model or, with a closed deck, with it (§4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from agents.roles.modeller import PREDICTING, Proposals
from games.checks import Finding
from games.trajectories import OpenTrajectory, Trajectory
from games.values import ModuleFault, State
from graph.learn.calibration import Calibration, calibrated
from graph.learn.figures import Judged, StageName
from graph.learn.layered import BELOW
from graph.learn.learning import START, Learning
from graph.learn.matches import played_before, some_sights
from graph.learn.stages.judging import counted, played_in, side_by_side
from graph.learn.stages.transition import TransitionStage
from graph.learn.state import LearnState
from graph.run.candidates import Candidate
from tools.predicting import called, failing
from tools.predicting.inference import (
    DrawTest,
    Inference,
    Inferred,
    SeatSight,
    fitting_histories,
    inferred,
)
from tools.predicting.playing import replayed
from tools.predicting.steady import imports
from tools.predicting.transition import LOADING

_HISTORIES, _MANY = 3, 24
_SHOWN = 17_000  # characters of these histories


@dataclass(frozen=True)
class InferenceStage:
    """The function that draws what is hidden, on top of the accepted model."""

    learning: Learning
    name: ClassVar[StageName] = "inference"
    part: ClassVar[str] = BELOW

    @property
    def function(self) -> Inference:
        """The function that is learned."""
        return self.learning.state.inference or "resample_history"

    @property
    def needed(self) -> tuple[str, ...]:
        """That function."""
        return (self.function,)

    def examples(self) -> list[str]:
        """Calls of the function as they will be made, each with what was really played."""
        histories = self._histories(_HISTORIES)
        if sum(map(len, histories)) > _SHOWN:  # of a long game the short ones, which stand in full
            histories = sorted(self._histories(_MANY), key=len)[:_HISTORIES]
        return histories

    def _histories(self, most: int) -> list[str]:
        learning, by_number = self.learning, {match.match: match for match in self.learning.shown}
        return [
            f"{called(self.function, [sight.history, sight.seat])}\n"
            f"played: {played_before(by_number[sight.match], sight)!r}"
            for sight in some_sights(
                learning.sights(learning.training), most, learning.settings.seed
            )
        ]

    def prompt(self) -> Proposals:
        """Ask for the function."""
        return self.learning.context.modeller.infer(
            self.learning.brief,
            self.learning.source,
            self.function,
            self.examples(),
            start=self.learning.material.start,
            versions=self.learning.settings.num_targets,
        )

    def placed(self, version: str) -> str:
        """A version stands below the model."""
        return replace(self.learning.layers, inference=version).text

    def judge(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """Hold draws against what seats saw, then against the exact posterior."""
        return side_by_side(candidates, self._judged)

    def _judged(self, candidate: Candidate) -> Judged:
        learning, start = self.learning, self.learning.material.start
        found = drawn_by(learning, candidate.source, learning.training, start)
        failures = [*found.failures, *imports(candidate.source)]
        held: Inferred | None = None
        told: Calibration | None = None
        if found.accuracy == 1.0 and not failures:
            held = held_out(learning, candidate.source, start)
            told, odd = calibrated_draws(learning, candidate.source, self.function, start)
            failures += odd
        return counted(found, held, failures, told)

    def accept(self, chosen: Candidate) -> LearnState:
        """Go on to value functions."""
        return self.learning.state.at_stage("value", chosen, self.function)


@dataclass(frozen=True)
class ClosedDeckStage(TransitionStage):
    """The only stage of a closed deck: model and draws in one source (§4.4)."""

    name: ClassVar[StageName] = "inference"
    needed: ClassVar[tuple[str, ...]] = (*PREDICTING, "resample_history")

    def _judged(self, candidate: Candidate) -> Judged:
        learning, source = self.learning, candidate.source
        try:
            start = learning.start_of(source)
        except ModuleFault as fault:
            none = failing(LOADING, START, START, "the first state, a dict", fault, "at first")
            count = len(learning.sights(learning.training))
            return Judged(records=count, failures=(none,))
        found = drawn_by(learning, source, learning.training, start)
        played = played_in(learning, source, start)
        failures: list[Finding] = [*found.failures, *imports(source), *played.failures]
        held: Inferred | None = None
        told: Calibration | None = None
        if found.accuracy == 1.0 and not failures:
            held = held_out(learning, source, start)
            told, odd = calibrated_draws(learning, source, "resample_history", start)
            failures += odd
        return counted(found, held, failures, told)

    def accept(self, chosen: Candidate) -> LearnState:
        """Go on to value functions."""
        state = self.learning.state
        return state.at_stage("value", chosen, state.inference)


def calibrated_draws(
    learning: Learning, source: str, function: Inference, start: State
) -> tuple[Calibration | None, tuple[Finding, ...]]:
    """Draws of a source against the exact posterior in it, and what does not hold."""
    settings = learning.settings
    try:
        told = calibrated(
            learning.context.sandbox,
            learning.module(source, start),
            learning.training,
            function,
            start=start,
            seed=settings.seed,
            calls=settings.posterior_calls,
        )
    except ModuleFault as fault:
        return None, (failing("calibration", fault.function, "", "", fault, "drawing"),)
    return told, told.failures


def drawn_matches(learning: Learning, source: str, start: State) -> list[OpenTrajectory]:
    """Of each match of a closed deck one inside the model that shows its seat the same."""
    last = {s.match: s for s in learning.sights([*learning.training, *learning.heldout])}
    sandbox, header = learning.context.sandbox, learning.header
    return replayed(
        sandbox,
        learning.module(source, start),
        fitting_histories(sandbox, source, [*last.values()], test_of(learning, start)),
        num_players=header.num_players,
        parameters=header.parameters,
    )


def held_out(learning: Learning, source: str, start: State) -> Inferred | None:
    """Draws at the places of held-out matches that no training match holds; None without any."""
    known = {sight.key for sight in learning.sights(learning.training)}
    new = [sight for sight in learning.sights(learning.heldout) if sight.key not in known]
    return _at(learning, source, new, start) if new else None


def drawn_by(
    learning: Learning, source: str, matches: Sequence[Trajectory], start: State
) -> Inferred:
    """Draws of a source at some places of matches, held against what was seen there."""
    return _at(learning, source, learning.sights(matches), start)


def test_of(learning: Learning, start: State) -> DrawTest:
    """The test that draws are put to."""
    settings = learning.settings
    return DrawTest(
        function=learning.state.inference or "resample_history",
        initial_state=start,
        draws=settings.draws,
        seed=settings.seed,
        closed=settings.closed_deck,
    )


def _at(learning: Learning, source: str, sights: Sequence[SeatSight], start: State) -> Inferred:
    settings = learning.settings
    return inferred(
        learning.context.sandbox,
        source,
        some_sights(sights, settings.sights, settings.seed),
        test_of(learning, start),
        shown=settings.tests_shown,
        deadline_s=settings.deadline_s,
    )
