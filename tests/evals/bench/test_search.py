from dataclasses import replace

import numpy as np
import pytest

from evals.bench.search import QUICK, SearchSize, cost_scores, engines, ratio_scores, run
from evals.bench.search_overhead import CONTESTS, Overhead, overhead, searched, start
from evals.results import EvalOptions, EvalResult

SMALL = {contest.name: replace(contest, simulations=8) for contest in CONTESTS}
PYTHON = "OpenSpiel MCTS (Python)"


def cost(whole: list[list[float]], game: list[list[float]]) -> Overhead:
    walked = np.array(game) + 2.0
    return Overhead(1000, 57_000, np.array(whole), walked, np.full_like(walked, 2.0))


def test_the_share_is_that_of_the_least_times_of_every_block() -> None:
    # By hand: least whole 10 + 20 = 30, least game 9 + 16 = 25, so 5 of 30 lie outside.
    found = cost([[10.0, 25.0], [14.0, 20.0]], [[9.0, 20.0], [11.0, 16.0]])
    assert found.share == pytest.approx(5 / 30)
    assert found.outside_us == pytest.approx(5 / 1000 * 1e6)


def test_a_disturbed_walk_without_calls_takes_nothing_off_the_game() -> None:
    # Whole 10; the calls took 11 with the walk, and the walk 2: so 1 of 10 lies outside. Once the
    # walk alone took 6, and once the walk with calls 15; neither says anything.
    found = Overhead(
        1,
        1,
        np.array([[10.0]] * 3),
        np.array([[11.0], [11.0], [15.0]]),
        np.array([[2.0], [6.0], [2.0]]),
    )
    assert found.share == pytest.approx(0.1)


def test_a_search_that_is_slower_outside_the_game_fails_its_threshold() -> None:
    good = {("connect_four", "uct"): cost([[10.0, 10.0]] * 2, [[8.6, 8.6]] * 2)}
    slow = {("connect_four", "uct"): cost([[11.0, 11.0]] * 2, [[8.6, 8.6]] * 2)}
    assert [score.passed for score in cost_scores(good)] == [True, True]
    assert [score.passed for score in cost_scores(slow)] == [False, True]
    # Few repeats show the share without a bound.
    assert cost_scores(slow, QUICK)[0].at_most is None
    assert cost_scores({("tic_tac_toe", "uct"): good["connect_four", "uct"]}) == ()


def test_a_ratio_that_only_one_lucky_round_reached_is_flagged() -> None:
    def passed(ours: list[float]) -> bool:
        rates = {"tic_tac_toe": {"uct": ours, PYTHON: [10.0, 10.0, 10.0]}}
        (score,) = ratio_scores(rates)
        return EvalResult(name="search", scores=(score,), samples=(), effective={}).passed

    assert passed([21.0, 20.0, 25.0])
    assert not passed([90.0, 19.0, 19.0])


def test_a_game_without_a_threshold_or_without_openspiel_fails_nothing() -> None:
    assert ratio_scores({"tic_tac_toe": {"uct": [1.0]}}) == ()
    (shown,) = ratio_scores({"hearts": {"uct": [1.0], PYTHON: [100.0]}})
    assert shown.passed
    assert shown.at_least is None


@pytest.mark.parametrize("name", SMALL)
def test_every_search_decides_at_the_same_place(name: str) -> None:
    contest = SMALL[name]
    known = {"uct", PYTHON, "OpenSpiel MCTSBot (C++)"}
    known |= {"ismcts"} if contest.hidden else set()
    both = {"OpenSpiel ISMCTS (Python)", "OpenSpiel ISMCTSBot (C++)"}
    found = engines(contest, seed=5)
    assert set(found) == known | (both if contest.resampled else set())
    for decide in found.values():
        decide()


@pytest.mark.parametrize("kind", ["uct", "ismcts"])
def test_blocks_are_the_same_search_in_parts(kind: str) -> None:
    contest = SMALL["leduc_poker"]
    here = start(contest, 2)

    def calls(block: int | None) -> tuple[list[int], int]:
        found = overhead(kind, contest, 2, repeats=2, block=block)  # type: ignore[arg-type]
        done = [*searched(kind, contest, here, here.namespace, 2, block=block)]  # type: ignore[arg-type]
        assert found.whole.shape == found.walked.shape == (2, len(done) + 1)
        return done, found.calls

    assert calls(3) == ([0, 3, 6, 8], calls(None)[1])
    assert calls(None)[0] == [0, 8]


def test_a_result_names_every_search_with_its_spread_and_what_could_not_run() -> None:
    chosen = [SMALL["connect_four"], SMALL["goofspiel"]]
    size = SearchSize(rounds=2, least_s=0.0, repeats=2, shown=2, block=4, contests=chosen)
    said = list[str]()
    result = run(EvalOptions(seed=3, tell=said.append), size)
    rows = [row for row in result.samples if "simulations_a_second" in row]
    assert {(row["game"], row["search"]) for row in rows} == {
        (game, search)
        for game in ("connect_four", "goofspiel")
        for search in ("uct", PYTHON, "OpenSpiel MCTSBot (C++)")
    } | {("goofspiel", "ismcts")}
    assert all(row["rounds"] == 2 for row in rows)
    assert [row["search"] for row in rows if "ours_over_it" in row] == [
        PYTHON,
        "OpenSpiel MCTSBot (C++)",
    ] * 2
    assert [row["game"] for row in result.samples if "not_run" in row] == ["goofspiel"]
    assert sum("share_outside" in row for row in result.samples) == 3
    assert {"load_average", "openspiel", "process", "solver"} <= result.effective.keys()
    assert not result.unscored
    assert said
