import numpy as np
import pytest

from agents.belief.population import effective_size, systematic, thinned


def test_equal_weights_are_worth_their_number_and_one_weight_one() -> None:
    assert effective_size(np.full(7, 3.0)) == pytest.approx(7.0)
    assert effective_size(np.array([0.0, 5.0])) == 1.0
    assert effective_size(np.array([])) == 0.0


def test_systematic_draws_come_within_one_of_their_expectation() -> None:
    generator = np.random.default_rng(0)
    for _ in range(50):
        weights = generator.random(9) ** 3
        counts = np.bincount(systematic(weights, 40, generator.random()), minlength=9)
        assert np.all(np.abs(counts - 40 * weights / weights.sum()) < 1.0)


def test_a_weight_of_nothing_is_never_drawn() -> None:
    weights = np.array([0.0, 1.0, 0.0])
    assert set(systematic(weights, 10, 0.999999999)) == {1}


def test_thinning_keeps_the_heavy_and_the_expectation_of_all() -> None:
    weights = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02, 0.0])
    generator = np.random.default_rng(0)
    total = np.zeros(8)
    for _ in range(4000):
        kept, new = thinned(weights, 4, generator)
        assert len(kept) <= 4
        assert set(kept) >= {0, 1}
        total[kept] += new
    # A light one weighs 0.15 where it is kept: its mean's deviation is below 0.075 / sqrt(4000).
    assert total / 4000 == pytest.approx(weights, abs=5 * 0.0012)


def test_few_weights_are_left_as_they_are() -> None:
    kept, new = thinned(np.array([0.7, 0.0, 0.3]), 2, np.random.default_rng(0))
    assert (kept.tolist(), new.tolist()) == ([0, 2], [0.7, 0.3])


def test_thinning_does_not_fall_into_step_with_what_comes_in_equal_numbers() -> None:
    # Of 4 children of each of 64 parents a quarter is kept: not the same child of every parent.
    kept, _ = thinned(np.full(256, 1 / 256), 64, np.random.default_rng(0))
    assert set(np.bincount(kept % 4, minlength=4) > 4) == {True}


def test_families_of_equal_weight_all_live_on() -> None:
    # 64 families of 30 children: in a random order of all, about 24 of the 64 would die out.
    families = np.repeat(np.arange(64), 30)
    weights = np.full(64 * 30, 1.0)
    kept, new = thinned(weights, 64, np.random.default_rng(1), families=families)
    assert sorted(families[kept]) == list(range(64))
    assert new == pytest.approx(np.full(64, 30.0))
    assert len(set((kept % 30).tolist())) > 10  # and not all with the same child
