"""Judging that several stages share: candidates side by side, counts, random play in a model."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from games.checks import Finding
from games.values import ModuleFault, State
from graph.learn.calibration import Calibration
from graph.learn.figures import Judged
from graph.learn.learning import Learning
from graph.run.candidates import Candidate
from tools.playtest.runner import Workers, play_all
from tools.predicting import failing
from tools.predicting.inference import Inferred
from tools.predicting.playing import Played
from tools.predicting.steady import late_answers
from tools.predicting.tensors import RoundTrips
from tools.predicting.transition import LOADING

_AT_ONCE = 2


def side_by_side(
    candidates: Sequence[Candidate], judge: Callable[[Candidate], Judged]
) -> dict[int, Judged]:
    """The judgement of each candidate, by its number; several are made at a time."""
    found: dict[int, Judged] = {}

    def one(candidate: Candidate) -> bool:
        found[candidate.number] = judge(candidate)
        return True

    workers = Workers(jobs=min(_AT_ONCE, max(1, len(candidates))), kind="threads")
    jobs = [(candidate.number, candidate) for candidate in candidates]
    return {
        number: found[number] for number, _ in play_all(jobs, one, journal=None, workers=workers)
    }


def counted(
    found: Inferred | RoundTrips,
    held: Inferred | RoundTrips | None,
    failures: Sequence[Finding],
    calibration: Calibration | None = None,
) -> Judged:
    """A candidate by how many tests it holds of how many; of held-out matches also which broke."""
    return Judged(
        right=found.right,
        records=found.sights,
        distinct_right=found.right,
        distinct=found.sights,
        held_right=held.right if held else 0,
        held=held.sights if held else 0,
        failures=tuple(failures),
        broken=tuple(sorted(held.matches)) if held else (),
        calibration=calibration,
        width=found.width if isinstance(found, RoundTrips) else 0,
        late=found.late if isinstance(found, Inferred) else 0,
    )


def played_in(learning: Learning, source: str, start: State) -> Played:
    """Random matches in a source; they fail too where a fresh worker answers otherwise."""
    settings = learning.settings
    try:
        module = learning.module(source, start)
    except ModuleFault as fault:
        said = failing(LOADING, fault.function, "completing the source", "a module", fault, "")
        return Played((), (said,))
    played = learning.context.play(module, settings.play_matches, settings.seed)
    late = late_answers(learning.context.sandbox, source, played.matches, settings.seed)
    return replace(played, failures=(*played.failures, *late))
