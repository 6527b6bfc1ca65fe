"""The Crew's evaluation: the same deals for all, and thresholds as they were set."""

from pathlib import Path
from typing import Any

import pytest

from agents.observing.model import ObservationSettings
from evals.gomcts import crew
from evals.gomcts.crew import PUBLISHED, CrewSize, run
from evals.results import EvalError, EvalOptions, NothingScoredError, Row

SMALL = CrewSize(("4",), 2, 3, 2, 2_000, ObservationSettings(iterations=1, epochs=1, bootstrap=0.5))


def row(mission: int, random: float, greedy: float, search: float, gains: list[float]) -> Row:
    rates = {"random": random, "argmaxval": greedy, "gomcts": search}
    return {
        "mission": mission, "by deal": gains, **{who: {"value": v} for who, v in rates.items()}
    }  # fmt: skip


def scored(samples: list[Row], *, full: bool = True) -> dict[str, tuple[Any, bool]]:
    return {one.name: (one.value, one.passed) for one in crew._scores(samples, full=full)}


def test_failures_are_at_most_half_and_rare_successes_four_times_as_many() -> None:
    """Of the numbers that were set: missions 1, 5 and 33, and floors of 0.5 to 7 %."""
    found = scored(
        [
            row(1, 0.2, 0.6, 0.7, [0, 1, 0, 0]),
            row(5, 0.02, 0.07, 0.09, [0, 0, 1, 0]),
            row(40, 0.001, 0.0, 0.0, [0, 0, 0, 1]),
        ]
    )
    failures = "failures over those of random play, missions 1, 5 and 33, {}, the most"
    assert found[failures.format("argmaxval")] == (pytest.approx(0.93 / 0.98), False)
    rare = "successes over those of random play where they are rare, {}, the least"
    assert found[rare.format("argmaxval")] == (pytest.approx(3.5), False)
    assert found[rare.format("gomcts")] == (pytest.approx(4.5), True)
    assert found["gomcts less argmaxval, mean of the missions"][0] == pytest.approx(0.25)


def test_a_search_that_gains_no_more_than_chance_misses_its_bound() -> None:
    low = "gomcts less argmaxval, mean of the missions: low end of its interval"
    assert not scored([row(1, 0.2, 0.6, 0.6, [1, -1, 1, -1])])[low][1]
    assert scored([row(1, 0.2, 0.6, 0.6, [1, -1, 1, -1])], full=False)[low][1]  # shown alone


def test_an_unknown_mission_is_refused() -> None:
    with pytest.raises(EvalError, match="no game 51 is measured"):
        run(EvalOptions(games=("51",)), SMALL)


def test_one_deal_leaves_no_interval_and_is_refused() -> None:
    with pytest.raises(EvalError, match="1 deal of each mission; required: at least 2"):
        run(EvalOptions(matches=1), SMALL)


@pytest.mark.whole
def test_a_mission_in_which_random_play_never_succeeds_is_no_failure_of_a_player() -> None:
    """Mission 42 has nine tasks: what was never seen cannot be learned."""
    with pytest.raises(
        NothingScoredError, match="'mission 42': 'all 400 of the first matches paid"
    ):
        run(EvalOptions(games=("42",)), SMALL)


@pytest.mark.whole
def test_a_mission_is_trained_played_and_gone_on_with(tmp_path: Path) -> None:
    options = EvalOptions(seed=1, quick=True, folder=tmp_path)
    found = run(options, SMALL)
    sample: Any = found.samples[0]
    assert (sample["random"]["n"], sample["argmaxval"]["n"], sample["gomcts"]["n"]) == (3, 2, 2)
    assert len(sample["by deal"]) == 2
    assert found.effective["published"] == PUBLISHED
    (tmp_path / "mission-4" / "crew.model").unlink()
    for file in (tmp_path / "mission-4" / "training").glob("*.logs"):
        assert file.stat().st_size
    assert run(options, SMALL) == found
