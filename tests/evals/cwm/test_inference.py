"""What recorded models draw of the hidden: a draw that fits and is always the same is found out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.model.settings import ModelSettings
from evals.cwm.inference import InferenceSize, run
from evals.cwm.synthesis import Learned, LearningTask, learned
from evals.results import EvalOptions, NothingScoredError

TINY = InferenceSize(3, 2, 8, ("quadranto",))
STUCK = """

_drawn = resample_history


def resample_history(obs_action_history, player_id):
    random.seed(1)
    return _drawn(obs_action_history, player_id)
"""


KEPT: dict[LearningTask, Learned] = {}


def once(task: LearningTask, base: Path, model: ModelSettings) -> Learned:
    """The replay gives the same in every call."""
    if task not in KEPT:
        KEPT[task] = learned(task, base, model)
    return KEPT[task]


def stuck(task: LearningTask, base: Path, model: ModelSettings) -> Learned:
    met = once(task, base, model)
    return replace(met, source=f"import random\n{met.source}{STUCK}")


@pytest.mark.whole
def test_draws_that_fit_are_told_from_draws_that_are_as_likely() -> None:
    (found,) = run(EvalOptions(seed=1, quick=True), TINY, once).samples
    (same,) = run(EvalOptions(seed=1, quick=True), TINY, stuck).samples
    ours: Any = found["calibration"]
    theirs: Any = same["calibration"]
    assert (found["accuracy"], same["accuracy"]) == (1.0, 1.0)  # each of them fits what was seen
    assert (ours["problem"], bool(theirs["problem"])) == ("", True)
    assert ours["distance"] < 0.3 < theirs["distance"]


def test_without_recordings_nothing_is_scored() -> None:
    with pytest.raises(NothingScoredError, match="no recorded model"):
        run(EvalOptions(seed=1, quick=True), replace(TINY, names=("none",)))
