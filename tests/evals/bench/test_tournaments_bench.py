import pytest

from evals.bench.tournaments import TournamentsSize, run
from evals.results import EvalOptions


@pytest.mark.whole
def test_all_three_ways_are_timed_in_every_round_and_compared_within_it() -> None:
    said: list[str] = []
    result = run(EvalOptions(seed=3, tell=said.append), TournamentsSize(1, 2, 2, 0.02))
    seconds = {(one["way"], one["round"]): one["seconds"] for one in result.samples if "way" in one}
    assert set(seconds) == {(way, n) for way in ("one", "two", "plain") for n in (0, 1)}
    assert [score.at_least for score in result.scores] == [1.8, 0.9, 0.33, 0.4, 0.4, 0.4, 0.4, 0.4]
    assert [score.scored for score in result.scores] == [2, 2, 3, 3, 3, 3, 3, 3]
    assert {"load_average", "sandbox", "players", "nice"} <= result.effective.keys()
    assert len(said) == 12
