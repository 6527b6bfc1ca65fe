"""Tensors: observations as arrays of numbers and back, on top of all the rest (App. E)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from agents.roles.modeller import Proposals
from games.trajectories import Trajectory
from games.values import canonical_key
from graph.learn.figures import Judged, StageName
from graph.learn.layered import ARRAYS
from graph.learn.learning import Learning
from graph.learn.stages.judging import counted, played_in, side_by_side
from graph.learn.state import LearnState
from graph.run.candidates import Candidate
from tools.predicting.steady import imports
from tools.predicting.tensors import TENSORS, RoundTrips, round_trips

_SHOWN = 17_000  # characters of observations
_OBSERVATIONS = 60


@dataclass(frozen=True)
class TensorsStage:
    """The last stage, on which nothing stands."""

    learning: Learning
    name: ClassVar[StageName] = "tensors"
    part: ClassVar[str] = ARRAYS
    needed: ClassVar[tuple[str, ...]] = TENSORS

    def examples(self) -> list[str]:
        """Observations of seats at their turns, as JSON, evenly taken of those that differ."""
        sights = self.learning.sights(self.learning.training)
        texts = [*dict.fromkeys(canonical_key(s.turns[-1][0]) for s in sights if not s.ended)]
        most = min(_OBSERVATIONS, max(1, _SHOWN * len(texts) // (1 + sum(map(len, texts)))))
        return texts[:: -(-len(texts) // most)]

    def prompt(self) -> Proposals:
        """Ask for both functions."""
        learning, source = self.learning, self.learning.source
        versions = learning.settings.num_targets
        return learning.context.modeller.tensors(learning.brief, source, self.examples(), versions)

    def placed(self, version: str) -> str:
        """A version stands below all that was accepted."""
        return replace(self.learning.layers, tensors=version).text

    def judge(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """Turn observations of recorded matches and of random ones into arrays and back."""
        return side_by_side(candidates, self._judged)

    def _judged(self, candidate: Candidate) -> Judged:
        learning, source = self.learning, candidate.source
        model = learning.source
        fresh = played_in(learning, model, learning.start_of(model)).matches
        found = self._turned(source, [*learning.training, *fresh])
        failures = [*found.failures, *imports(source, ["numpy"])]
        held: RoundTrips | None = None
        if learning.heldout and not failures:
            held = self._turned(source, learning.heldout, found.width)
        return counted(found, held, failures)

    def _turned(self, source: str, matches: Sequence[Trajectory], width: int = 0) -> RoundTrips:
        learning = self.learning
        sights, shown = learning.sights(matches), learning.settings.tests_shown
        return round_trips(learning.context.sandbox, source, sights, width=width, shown=shown)

    def accept(self, chosen: Candidate) -> LearnState:
        """Stay: nothing is learned after them."""
        del chosen
        return self.learning.state
