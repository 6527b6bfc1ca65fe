"""Transition: the model itself, which predicts every recorded ply (Code World Models §4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from agents.roles.modeller import PREDICTING, Proposals
from graph.learn.figures import Judged, StageName, TypeRow
from graph.learn.layered import LayeredSource, defined_again
from graph.learn.learning import Learning
from graph.learn.matches import Material, open_matches
from graph.learn.stages.judging import played_in, side_by_side
from graph.learn.state import LearnState
from graph.run.candidates import Candidate
from tools.predicting.steady import arguments_kept, asked_again, imports, names_told
from tools.predicting.transition import (
    Predicted,
    RecordQuestions,
    Row,
    predicted,
    record_examples,
)

_AGAIN_MATCHES = 6


@dataclass(frozen=True)
class TransitionStage:
    """The first stage of an open deck, whose versions are whole sources."""

    learning: Learning
    name: ClassVar[StageName] = "transition"
    part: ClassVar[str] = ""
    needed: ClassVar[tuple[str, ...]] = PREDICTING

    def examples(self) -> list[str]:
        """Records of an open deck as assertions."""
        settings = self.learning.settings
        return record_examples(open_matches(self.learning.brief.matches), settings.tests_first)

    def prompt(self) -> Proposals:
        """Ask for whole sources."""
        modeller, settings = self.learning.context.modeller, self.learning.settings
        return modeller.draft(self.learning.brief, self.examples(), settings.num_targets)

    def placed(self, version: str) -> str:
        """A version is the whole source."""
        return version

    def judge(self, candidates: Sequence[Candidate]) -> dict[int, Judged]:
        """Hold candidates against training matches, against themselves, then held-out matches."""
        return side_by_side(candidates, self._judged)

    def _judged(self, candidate: Candidate) -> Judged:
        learning, source = self.learning, candidate.source
        asked, kept = _questions(learning.material, learning.state.promoted)
        met = self._predicted(source, asked)
        failures = [*met.failures, *imports(source)]
        held: Predicted | None = None
        heldout = learning.heldout
        if met.accuracy == 1.0 and not failures:
            sandbox, again = learning.context.sandbox, learning.shown[:_AGAIN_MATCHES]
            failures += played_in(learning, source, learning.material.start).failures
            failures += asked_again(sandbox, source, again)
            failures += arguments_kept(sandbox, source, again)
            failures += names_told(sandbox, source, learning.header.num_players)
            held = self._predicted(source, kept) if kept.records else None
        return Judged(
            right=met.right,
            records=met.records,
            distinct_right=met.distinct_right,
            distinct=met.distinct,
            held_right=held.right if held else 0,
            held=held.records if held else 0,
            rows=joined_rows(met.rows, held.rows if held else ()),
            failures=tuple(failures),
            broken=tuple(sorted(heldout[n].match for n in held.matches)) if held else (),
        )

    def _predicted(self, source: str, questions: RecordQuestions) -> Predicted:
        settings = self.learning.settings
        return predicted(
            self.learning.context.sandbox,
            source,
            questions,
            shown=settings.tests_shown,
            deadline_s=settings.deadline_s,
        )

    def accept(self, chosen: Candidate) -> LearnState:
        """Learn next what is hidden, where something is; what drew it before is tried again."""
        state, function = self.learning.state, self.learning.inference
        if not function:
            return state.at_stage("value", chosen, function)
        after = state.at_stage("inference", chosen, function)
        if state.at.redrawn is not None:
            before = LayeredSource.parsed(state.candidate(state.at.redrawn).source).inference
            if not defined_again(chosen.source, before):
                source = LayeredSource(chosen.source, before).text
                number = len(state.candidates)
                again = Candidate(number=number, parent=chosen.number, source=source)
                return after.with_versions([again])
        return after


@lru_cache(maxsize=2)
def _questions(
    material: Material, promoted: tuple[int, ...]
) -> tuple[RecordQuestions, RecordQuestions]:
    """The questions of the training and of the held-out matches, made once for all candidates.

    A held-out record that a training match holds too is left out: it was used to train on.
    """
    training = RecordQuestions.of(open_matches(material.training(promoted)))
    heldout = RecordQuestions.of(open_matches(material.heldout(promoted)))
    known = {keys for *_, keys in training.records}
    heldout.records = [one for one in heldout.records if one[-1] not in known]
    return training, heldout


def joined_rows(training: Sequence[Row], held: Sequence[Row]) -> tuple[TypeRow, ...]:
    """The rows of both, by phase and type of action."""
    both: dict[tuple[str, str], list[int]] = {}
    for rows, at in ((training, 0), (held, 2)):
        for row in rows:
            counts = both.setdefault((row.phase, row.action), [0, 0, 0, 0])
            counts[at] += row.right
            counts[at + 1] += row.records
    return tuple(
        TypeRow(phase=p, action=a, right=n[0], records=n[1], held_right=n[2], held=n[3])
        for (p, a), n in sorted(both.items())
    )
