import math
import random
from collections import Counter

import numpy as np
import pytest

from tools.playtest.intervals import (
    NoSamplesError,
    ScoreQuestion,
    SequentialTest,
    at_worst,
    design_effect,
    log_likelihood_ratio,
    mean_interval,
    share_interval,
    student_t,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_intervals(
    successes: int, n: int, low: float, high: float
) -> None:
    estimate = wilson(successes, n, "matches")
    assert estimate.low == pytest.approx(low, abs=5e-5)
    assert estimate.high == pytest.approx(high, abs=5e-5)
    assert estimate.value == successes / n


@pytest.mark.parametrize(
    ("degrees", "confidence", "quantile"),
    [  # printed tables of Student's distribution
        (1, 0.95, 12.706),
        (2, 0.99, 9.925),
        (4, 0.95, 2.776),
        (5, 0.9, 2.015),
        (10, 0.99, 3.169),
        (29, 0.95, 2.045),
        (120, 0.95, 1.980),
        (100_000, 0.95, 1.960),
    ],
)
def test_student_quantiles_are_those_of_the_tables(
    degrees: int, confidence: float, quantile: float
) -> None:
    assert student_t(degrees, confidence) == pytest.approx(quantile, abs=5.1e-4)


def test_the_interval_of_a_mean_is_worked_by_hand() -> None:
    # mean 3, s = sqrt(2.5), t(4) = 2.776: 3 ± 2.776 * 1.5811 / 2.2361
    estimate = mean_interval([1, 2, 3, 4, 5], "matches")
    assert (estimate.value, estimate.n) == (3, 5)
    assert estimate.high == pytest.approx(3 + 1.963, abs=1e-3)
    assert estimate.low == pytest.approx(3 - 1.963, abs=1e-3)


def test_equal_shares_still_get_an_interval_with_a_width() -> None:
    assert share_interval([1.0] * 5, "matches") == wilson(5, 5, "matches")
    assert share_interval([1.0] * 5, "matches").low < 0.6


def test_an_interval_of_shares_ends_where_shares_end() -> None:
    # mean 0.75, s = 0.5, t(3) = 3.182: 0.75 ± 0.7955 reaches beyond both ends
    wide = share_interval([1, 1, 1, 0], "matches")
    assert (wide.low, wide.value, wide.high) == (0.0, 0.75, 1.0)
    assert "cut to [0, 1]" in wide.method
    # mean 0.5, s = 0.1, t(2) = 4.303: 0.5 ± 0.2484 lies inside: nothing is cut
    inside = share_interval([0.4, 0.5, 0.6], "matches")
    assert inside == mean_interval([0.4, 0.5, 0.6], "matches")


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1.5 is no share"):
        share_interval([1.5, 0.0], "matches")


def test_too_few_samples_are_no_estimate() -> None:
    with pytest.raises(NoSamplesError):
        wilson(0, 0, "matches")
    with pytest.raises(NoSamplesError):
        mean_interval([1.0], "matches")
    with pytest.raises(NoSamplesError):
        share_interval([], "matches")


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to n"):
        wilson(3, 2, "matches")
    with pytest.raises(ValueError, match="at least 1"):
        student_t(0)


@pytest.mark.parametrize("deals", [2, 3, 5, 20])
def test_of_however_few_normal_deals_the_interval_of_their_mean_holds_its_95_percent(
    deals: int,
) -> None:
    generator = np.random.default_rng(1)
    found = [
        mean_interval(generator.normal(3.0, 2.0, size=deals).tolist(), "matches")
        for _ in range(400)
    ]
    held = sum(one.low <= 3.0 <= one.high for one in found)
    assert abs(held / 400 - 0.95) < 3 * (0.95 * 0.05 / 400) ** 0.5


def test_one_deal_is_no_sample() -> None:
    with pytest.raises(NoSamplesError, match="at least two"):
        mean_interval([1.0], "matches")


# Of wins and losses alone the ratio is Wald's own: w log(p1/p0) + l log((1-p1)/(1-p0)).


@pytest.mark.parametrize(("wins", "losses"), [(1, 1), (60, 40), (3, 97), (500, 500)])
@pytest.mark.parametrize(("low", "high"), [(0.45, 0.55), (0.5, 0.7)])
def test_without_draws_the_ratio_is_that_of_wald(
    wins: int, losses: int, low: float, high: float
) -> None:
    wald = wins * math.log(high / low) + losses * math.log((1 - high) / (1 - low))
    assert log_likelihood_ratio({1.0: wins, 0.0: losses}, low, high) == pytest.approx(wald)


def test_the_bounds_of_a_question_are_those_of_wald() -> None:
    question = ScoreQuestion(low=0.4, high=0.6, alpha=0.05, beta=0.2)
    # log(beta / (1 - alpha)) and log((1 - beta) / alpha) (Wald 1945)
    assert question.bounds == pytest.approx((math.log(4 / 19), math.log(16)))


def test_with_draws_close_hypotheses_give_the_normal_approximation() -> None:
    # n (s1 - s0) (2 m - s0 - s1) / (2 v), with the samples' mean m and variance v.
    wins, draws, losses = 3100, 4000, 2900
    n, mean = 10_000, 0.51
    variance = (wins + draws / 4) / n - mean**2
    normal = n * 0.01 * (2 * mean - 1.01) / (2 * variance)
    exact = log_likelihood_ratio({1.0: wins, 0.5: draws, 0.0: losses}, 0.5, 0.51)
    assert exact == pytest.approx(normal, rel=0.01)


def test_draws_say_more_than_half_a_win_and_half_a_loss() -> None:
    # The same mean with less variance decides sooner: that is why draws are their own score.
    drawn = log_likelihood_ratio({1.0: 30, 0.5: 60, 0.0: 10}, 0.45, 0.55)
    split = log_likelihood_ratio({1.0: 60, 0.0: 40}, 0.45, 0.55)
    assert drawn > 2 * split > 0


def test_the_ratio_is_the_largest_that_any_probabilities_with_those_means_give() -> None:
    counts, low, high = {1.0: 5, 0.5: 7, 0.0: 8}, 0.4, 0.6

    def best(mean: float) -> float:
        draws = (i / 20_000 for i in range(1, 20_000))
        return max(
            5 * math.log(win) + 7 * math.log(draw) + 8 * math.log(1 - win - draw)
            for draw in draws
            if (win := mean - draw / 2) > 0 and win + draw < 1
        )

    ratio = log_likelihood_ratio(counts, low, high)
    assert ratio == pytest.approx(best(high) - best(low), abs=1e-5)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("truth", "wrong"), [(0.4, "high"), (0.6, "low")])
def test_the_error_rates_are_kept(truth: float, wrong: str, paired: bool) -> None:
    # 300 tests; with errors at 5 % more than 27 of them have a probability of 0.2 %.
    question, chance = ScoreQuestion(low=0.4, high=0.6), random.Random(f"{truth}{paired}")
    weights = [truth - 0.15, 0.3, 0.85 - truth]

    def score() -> float:
        games = chance.choices([1.0, 0.5, 0.0], weights, k=2 if paired else 1)
        return sum(games) / len(games)

    decisions: Counter[str] = Counter()
    used = 0
    for _ in range(300):
        test = SequentialTest(question)
        while test.answer.decision == "undecided" and test.answer.samples < 2000:
            test.take(score())
        answer = test.answer
        decisions[answer.decision] += 1
        used += answer.samples * (2 if paired else 1)
    assert decisions["undecided"] == 0
    assert decisions[wrong] <= 27
    # A test of fixed length with these errors takes 4 z^2 v / (s1 - s0)^2 games, z = 1.645, v the
    # variance of a game's score; Wald's takes about half as many on average.
    fixed = 4 * 1.645**2 * (truth * (1 - truth) - 0.3 / 4) / 0.04
    assert used / 300 < 0.75 * fixed


def test_a_decision_is_final_and_takes_no_more_samples() -> None:
    test = SequentialTest(ScoreQuestion(low=0.45, high=0.55))
    while test.take(1.0).decision == "undecided":
        pass
    decided = test.answer
    assert decided.decision == "high"
    # Wins alone cannot be judged faster than by Wald's ratio with no loss at all.
    assert decided.samples >= math.log(19) / math.log(0.55 / 0.45)
    assert test.take(0.0) == decided


def test_no_games_answer_nothing() -> None:
    assert SequentialTest(ScoreQuestion(low=0.4, high=0.6)).answer.decision == "undecided"


@pytest.mark.parametrize(
    "fields", [{"low": 0.6, "high": 0.4}, {"low": 0.0, "high": 0.5}, {"low": 0.4, "high": 1.0}]
)
def test_a_question_needs_two_ordered_scores(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="high|low|less|greater"):
        ScoreQuestion(**fields)


def test_a_score_beyond_a_win_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        SequentialTest(ScoreQuestion(low=0.4, high=0.6)).take(1.5)


@pytest.mark.parametrize(("alike", "naive"), [(True, 0.90), (False, 1.0)])
def test_an_interval_of_paired_shares_holds_the_true_one_as_often_as_it_says(
    alike: bool, naive: float
) -> None:
    generator, held, plain = np.random.default_rng(7), 0, 0
    for _ in range(400):
        first = generator.random(40) < 0.4
        second = first if alike else generator.random(40) < 0.4
        shares = [(deal, float(one)) for half in (first, second) for deal, one in enumerate(half)]
        won = float(first.sum() + second.sum())
        found, simple = (
            at_worst(won, 80, "matches", 80, design_effect(shares)),
            wilson(won, 80, "matches"),
        )
        held += found.low <= 0.4 <= found.high
        plain += simple.low <= 0.4 <= simple.high
    assert held / 400 >= 0.93
    assert plain / 400 <= naive
