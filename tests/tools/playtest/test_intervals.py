import numpy as np
import pytest

from tools.playtest.intervals import (
    RESAMPLES,
    NoSamplesError,
    bootstrap_mean,
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
    estimate = wilson(successes, n)
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
    estimate = mean_interval([1, 2, 3, 4, 5])
    assert (estimate.value, estimate.n) == (3, 5)
    assert estimate.high == pytest.approx(3 + 1.963, abs=1e-3)
    assert estimate.low == pytest.approx(3 - 1.963, abs=1e-3)


def test_equal_shares_still_get_an_interval_with_a_width() -> None:
    assert share_interval([1.0] * 5) == wilson(5, 5)
    assert share_interval([1.0] * 5).low < 0.6


def test_an_interval_of_shares_ends_where_shares_end() -> None:
    # mean 0.75, s = 0.5, t(3) = 3.182: 0.75 ± 0.7955 reaches beyond both ends
    wide = share_interval([1, 1, 1, 0])
    assert (wide.low, wide.value, wide.high) == (0.0, 0.75, 1.0)
    assert "cut to [0, 1]" in wide.method
    # mean 0.5, s = 0.1, t(2) = 4.303: 0.5 ± 0.2484 lies inside: nothing is cut
    inside = share_interval([0.4, 0.5, 0.6])
    assert inside == mean_interval([0.4, 0.5, 0.6])


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1.5 is no share"):
        share_interval([1.5, 0.0])


def test_too_few_samples_are_no_estimate() -> None:
    with pytest.raises(NoSamplesError):
        wilson(0, 0)
    with pytest.raises(NoSamplesError):
        mean_interval([1.0])
    with pytest.raises(NoSamplesError):
        share_interval([])


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to n"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="at least 1"):
        student_t(0)


def test_of_many_normal_deals_the_interval_is_the_normal_one() -> None:
    deals = np.random.default_rng(1).normal(3.0, 2.0, size=400).tolist()
    estimate = bootstrap_mean(deals, np.random.default_rng(2))
    half = 1.96 * float(np.std(deals)) / 20
    assert estimate.value == pytest.approx(np.mean(deals))
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.1)
    assert str(RESAMPLES) in estimate.method


def test_two_deals_give_the_three_means_that_can_be_drawn() -> None:
    # 0 and 1 are each drawn twice with probability 1/4, far more than the 2.5 % cut off.
    estimate = bootstrap_mean([0.0, 1.0], np.random.default_rng(0))
    assert (estimate.low, estimate.value, estimate.high) == (0.0, 0.5, 1.0)


def test_one_deal_is_no_sample() -> None:
    with pytest.raises(NoSamplesError, match="at least two"):
        bootstrap_mean([1.0], np.random.default_rng(0))
