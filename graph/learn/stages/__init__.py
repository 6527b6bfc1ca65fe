"""Stages of learning: one file each, and what the nodes ask of any of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agents.roles.modeller import Proposals
from graph.learn.figures import Judged, StageName
from graph.learn.learning import Learning
from graph.learn.stages.inference import ClosedDeckStage, InferenceStage
from graph.learn.stages.tensors import TensorsStage
from graph.learn.stages.transition import TransitionStage
from graph.learn.stages.value import ValueStage
from graph.learn.state import LearnState
from graph.run.candidates import Candidate


class LearnStage(Protocol):
    """One thing that is learned, on top of what was accepted before."""

    @property
    def name(self) -> StageName:
        """Its name in every result."""

    @property
    def part(self) -> str:
        """The line below which alone a version may change; empty for a whole source."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Functions that a version has to define."""

    def examples(self) -> list[str]:
        """Parts of recorded matches that a first request shows."""

    def prompt(self) -> Proposals:
        """Ask the modeller for first versions; one call.

        Raises:
            MalformedReplyError: If no reply had code in it.
        """

    def placed(self, version: str) -> str:
        """The whole source with a version in its place."""

    def judge(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """The judgement of each candidate, by its number."""

    def accept(self, chosen: Candidate) -> LearnState:
        """The run at its next stage, which stands on a candidate that passes."""


STAGES: Mapping[StageName, Callable[[Learning], LearnStage]] = {
    "transition": TransitionStage,
    "inference": InferenceStage,
    "value": ValueStage,
    "tensors": TensorsStage,
}


def stage_of(learning: Learning) -> LearnStage:
    """The stage that a run is at."""
    if learning.settings.closed_deck and learning.state.base is None:
        return ClosedDeckStage(learning)
    return STAGES[learning.state.at.stage](learning)
