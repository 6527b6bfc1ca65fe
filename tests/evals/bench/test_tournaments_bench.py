import pytest

from evals.bench.tournaments import run
from evals.results import EvalOptions


@pytest.mark.whole
def test_all_three_ways_are_timed_in_every_round_and_compared_within_it() -> None:
    said: list[str] = []
    result = run(EvalOptions(seed=3, tell=said.append), deals=1, rounds=2, simulations=2)
    seconds = {(one["way"], one["round"]): one["seconds"] for one in result.samples}
    assert set(seconds) == {(way, n) for way in ("one", "two", "plain") for n in (0, 1)}
    assert [score.at_least for score in result.scores] == [1.5, 0.95]
    assert all(score.scored == 2 for score in result.scores)
    assert {"load_average", "sandbox", "players", "nice"} <= result.effective.keys()
    assert len(said) == 6
