import numpy as np
import pytest

from tools.playtest import NoSamplesError, bootstrap_mean
from tools.playtest.bootstrap import RESAMPLES


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
