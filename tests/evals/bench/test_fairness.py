"""The simulation of play-tests calls games fair, or not, as its thresholds ask."""

import pytest

from evals.bench.fairness import GAMES, GOOD, run, simulated
from evals.results import EvalOptions
from tools.playtest.of_run.fairness import alpha_of, looked_at, looks_of, margin_of

EVEN, UNEVEN = GAMES[0], GAMES[4]


def test_a_few_simulated_play_tests_are_scored_each_against_its_threshold() -> None:
    result = run(EvalOptions(seed=2), [EVEN, UNEVEN], runs=100)
    assert [score.at_least for score in result.scores] == [0.90, None, 0.95, None]
    assert [score.at_most for score in result.scores] == [None, 0.02, None, 0.02]
    # Four standard errors of 0.95 over 100 runs: 0.09.
    assert all(score.value >= 0.95 - 0.09 for score in result.scores[::2])
    assert all(score.value <= 0.05 for score in result.scores[1::2])


def test_the_same_seed_simulates_the_same() -> None:
    assert simulated(EVEN, GOOD["quick"], 20, 1) == simulated(EVEN, GOOD["quick"], 20, 1)


def test_all_looks_together_err_at_most_five_percent() -> None:
    for planned in (600, 3300):
        looks = len(looks_of(planned))
        assert sum(alpha_of(look, looks) for look in range(looks + 20)) <= 0.05


def test_a_series_that_a_look_decides_is_shorter_and_no_rule_calls_for_more() -> None:
    asked: list[int] = []

    def count(matches: int) -> tuple[list[float], int]:
        asked.append(matches)
        return [0.9 * matches, 0.1 * matches], matches

    found = looked_at("random", ((0,), (1,)), 3300, count)
    assert (asked, found.looks, found.answer, found.needed) == ([600], (600,), "no", 0)
    assert found.share.name == "first seat wins"


def test_who_plays_on_looks_once_more_at_the_matches_asked_for() -> None:
    def count(matches: int) -> tuple[list[float], int]:
        return [0.55 * matches, 0.45 * matches], matches

    first = looked_at("random", ((0,), (1,)), 400, count)
    assert first.answer == "could not tell"
    more = looked_at("random", ((0,), (1,)), 400, count, (first.needed,))
    assert more.looks == (400, first.needed)
    assert more.answer != "could not tell"


def test_the_seat_that_is_furthest_from_an_even_share_is_told_of_any_number_of_seats() -> None:
    def count(matches: int) -> tuple[list[float], int]:
        return [share * matches for share in (0.21, 0.21, 0.08, 0.25, 0.25)], matches

    found = looked_at("random", tuple((seat,) for seat in range(5)), 1000, count)
    assert (found.share.name, found.even, found.answer) == ("third seat wins", 0.2, "no")
    assert found.margin == pytest.approx(margin_of(5))


def test_the_margin_is_as_many_standard_deviations_for_any_number_of_seats() -> None:
    for seats in range(2, 9):
        share = 1 / seats
        deviation = (share * (1 - share)) ** 0.5
        assert margin_of(seats) / deviation == pytest.approx(0.09 / 0.5)
