from random import Random
from typing import Any, cast

import pytest

from evals.lechat2026.board import (
    SEA,
    Contestant,
    FieldResult,
    UniformShooter,
    View,
    cells_of,
    play_duel,
    play_solo,
    random_contestant,
)
from evals.lechat2026.tables import (
    WinRate,
    averages,
    beside,
    duel_rate,
    exact_pair,
    matrix,
    pair_rates,
)
from tools.playtest.intervals import NoSamplesError


class Hunter(UniformShooter):
    """Fires beside a hit where it can, otherwise anywhere."""

    def shoot(self, view: View) -> int:
        free = SEA & ~(view.hits | view.misses)
        beside_hits = (view.hits << 10 | view.hits >> 10) & free
        return self._rng.choice(cells_of(beside_hits or free))


HUNTER = Contestant("hunter", Hunter, {})


def games(number: int, *who: Contestant) -> list[dict[str, Any]]:
    play = play_solo if len(who) == 1 else play_duel
    return [cast("dict[str, Any]", play(*who, 11, n)) for n in range(number)]  # type: ignore[arg-type,call-arg]


def test_solo_shots_give_the_win_rate_that_duels_give() -> None:
    shots = [[game["shots"] for game in games(800, who)] for who in (HUNTER, random_contestant())]
    exact = exact_pair(*shots)
    direct = duel_rate(games(1600, HUNTER, random_contestant()))
    assert direct.value > 0.6  # or the two would hardly differ
    assert abs(exact.value - direct.value) < 3 * (exact.error**2 + direct.error**2) ** 0.5


def test_the_pair_formula_is_the_count_over_all_pairs_of_samples() -> None:
    rng = Random(9)
    one = [rng.randint(17, 100) for _ in range(40)]
    other = [rng.randint(17, 100) for _ in range(25)]
    counted = [1.0 if a < b else 0.5 if a == b else 0.0 for a in one for b in other]
    rate = exact_pair(one, other)
    assert rate.value == pytest.approx(sum(counted) / 1000)
    assert exact_pair(other, one).value == pytest.approx(1 - rate.value)
    assert exact_pair(other, one).error == pytest.approx(rate.error)


def test_the_interval_of_solo_shots_covers_the_true_rate_as_often_as_it_says() -> None:
    # Both random_contestant over 1 to 60 and 1 to 70: P(a < b) + P(a = b) / 2, by summing.
    true = sum(max(0, 70 - a) + 0.5 for a in range(1, 61)) / 60 / 70
    rng = Random(1)
    covered = 0
    for _ in range(1000):
        one = [rng.randint(1, 60) for _ in range(60)]
        other = [rng.randint(1, 70) for _ in range(80)]
        rate = exact_pair(one, other)
        covered += rate.low <= true <= rate.high
    assert 0.93 <= covered / 1000 <= 0.97


def test_a_rate_of_every_game_won_still_has_an_error() -> None:
    rate = exact_pair([20, 21, 22], [90, 91, 92])
    assert rate.value == 1
    assert rate.low < 0.6
    assert rate.error > 0.1
    assert "Wilson" in rate.method


def test_duels_are_counted_by_deal() -> None:
    # Two deals one game each, one deal won, one lost: half, with the spread of four deals.
    won = [{"won": who} for who in (0, 1, 1, 0, 0, 0, 1, 1)]
    rate = duel_rate(won)
    assert rate.value == 0.5
    assert rate.error == pytest.approx((0.5 / 3) ** 0.5 / 2)
    assert rate.n == 8


def test_too_few_games_are_no_estimate() -> None:
    with pytest.raises(NoSamplesError, match="required"):
        exact_pair([20], [20, 30])
    with pytest.raises(NoSamplesError, match="required"):
        duel_rate([{"won": 0}, {"won": 1}])


def rate(value: float, error: float = 0.01) -> WinRate:
    return WinRate(value, error, value - 0.02, value + 0.02, 100, "test", firm=True)


def test_averages_and_the_pairs_they_are_of_stand_together() -> None:
    pairs = {("a", "b"): rate(0.9), ("a", "c"): rate(0.6), ("b", "c"): rate(0.5)}
    rates = {**pairs, **{(y, x): one.turned() for (x, y), one in pairs.items()}}
    means = averages("abc", rates)
    # By hand: (0.9 + 0.6) / 2, (0.1 + 0.5) / 2, (0.4 + 0.5) / 2.
    assert [round(means[name].value, 4) for name in "abc"] == [0.75, 0.3, 0.45]
    assert matrix("abc", rates)["b"] == {"a": 10.0, "c": 50.0, "average": 30.0}


def test_a_published_value_outside_the_tolerance_is_flagged() -> None:
    # 1,000 games at 50 %: standard error 1.58 points; with our 1 point, twice that is 3.74 points.
    near, far = beside("a - b", rate(0.5), 0.465, 1000), beside("a - b", rate(0.5), 0.46, 1000)
    assert near["tolerance"] == 3.7
    assert (near["within"], far["within"]) == (True, False)
    assert far["difference"] == 4.0
    # Near the edge three points are the more.
    assert beside("a - b", rate(0.99, 0.001), 0.97, 1000)["tolerance"] == 3.0


def test_a_pair_takes_its_duels_where_there_are_any() -> None:
    played = FieldResult(
        {"a": [{"shots": 20}, {"shots": 30}], "b": [{"shots": 40}, {"shots": 50}]},
        {("a", "c"): [{"won": 1}] * 4, ("b", "c"): [{"won": 0}] * 4},
    )
    rates = pair_rates(("a", "b", "c"), played)
    assert [rates[pair].value for pair in (("a", "b"), ("a", "c"), ("c", "b"))] == [1, 0, 0]


def test_duels_that_went_alike_have_no_smaller_error_than_the_published_rate_gives() -> None:
    # Six deals, each one game for each: no spread at all. 12 games at 50 % have 14.4 points, and
    # with 1.6 of the published thousand twice the error of the difference is 29.0.
    games = [{"won": index % 2} for index in range(12)]
    assert beside("a - b", duel_rate(games), 0.5, 1000)["tolerance"] == 29.0
    assert beside("a - b", duel_rate(games), 0.5, 1000, errors=3)["tolerance"] == 43.6
