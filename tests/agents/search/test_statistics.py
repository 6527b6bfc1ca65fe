from math import sqrt

import numpy as np
import pytest

from agents.search.statistics import best_available, exploration_bonus, ismcts_scores


def test_information_set_scores_match_a_hand_calculation() -> None:
    # Bonus 0.7 * sqrt(ln 9 / 4) = 0.7 * 0.741152 = 0.518806.
    scores = ismcts_scores(np.array([0.75]), np.array([4]), np.array([9]), exploration=0.7)
    np.testing.assert_allclose(scores, [1.268806], atol=1e-6)


def test_ucb1_matches_a_hand_calculation() -> None:
    # Auer et al. 2002: mean + sqrt(2 ln n / n_j), n = 10, n_j = 5: 0.4 + sqrt(2 * 2.302585 / 5).
    bound = 0.4 + exploration_bonus(sqrt(2), 10) / sqrt(5)
    assert bound == pytest.approx(0.4 + 0.959705, abs=1e-6)


def test_untried_actions_go_first() -> None:
    scores = ismcts_scores(np.array([0.75, 0.0]), np.array([4, 0]), np.array([9, 1]), exploration=1)
    assert np.isposinf(scores[1])
    assert np.isfinite(scores[0])


def test_rarely_available_actions_are_not_over_explored() -> None:
    often, rarely = ismcts_scores(
        np.array([0.5, 0.5]), np.array([4, 4]), np.array([100, 5]), exploration=0.7
    )
    assert often > rarely


def test_visits_beyond_availability_name_the_actions() -> None:
    with pytest.raises(ValueError, match=r"actions \[1\] were visited more often"):
        ismcts_scores(np.zeros(2), np.array([1, 5]), np.array([1, 4]), exploration=0.7)


@pytest.mark.parametrize("case", range(50))
def test_plain_numbers_and_arrays_choose_the_same_action(case: int) -> None:
    generator = np.random.default_rng(case)
    visits = generator.integers(1, 40, size=7)
    mean, inverse_root = generator.normal(size=7), 1 / np.sqrt(visits)
    available = visits + generator.integers(0, 60, size=7)
    scores = ismcts_scores(mean, visits, available, exploration=0.9)
    rows = list(range(7))
    assert scores.argmax() == best_available(
        mean.tolist(), inverse_root.tolist(), available.tolist(), rows, exploration=0.9
    )
