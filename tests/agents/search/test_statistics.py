from math import log, sqrt

import numpy as np
import pytest

from agents.search.statistics import EdgeStatistics, exploration_bonus


def edges_of(*rows: tuple[float, int, int]) -> EdgeStatistics:
    """Edges by mean, visits and availability."""
    edges = EdgeStatistics()
    for mean, visits, available in rows:
        edge = edges.take()
        edges.mean[edge], edges.visits[edge], edges.availability[edge] = mean, visits, available
        edges.inverse_root[edge] = 1 / sqrt(visits)
    return edges


@pytest.mark.parametrize(("rival", "chosen"), [(1.26880, 0), (1.26881, 1)])
def test_information_set_bounds_match_a_hand_calculation(rival: float, chosen: int) -> None:
    # Bonus 0.7 * sqrt(ln 9 / 4) = 0.7 * 0.741152 = 0.518806; the rival, available once, has none.
    assert edges_of((0.75, 4, 9), (rival, 1, 1)).best([0, 1], 0.7) == chosen


def test_ucb1_matches_a_hand_calculation() -> None:
    # Auer et al. 2002: mean + sqrt(2 ln n / n_j), n = 10, n_j = 5: 0.4 + sqrt(2 * 2.302585 / 5).
    bound = 0.4 + exploration_bonus(sqrt(2), 10) / sqrt(5)
    assert bound == pytest.approx(0.4 + 0.959705, abs=1e-6)


def test_rarely_available_actions_are_not_over_explored() -> None:
    assert edges_of((0.5, 4, 5), (0.5, 4, 100)).best([0, 1], 0.7) == 1


@pytest.mark.parametrize("count", [7, 100])
@pytest.mark.parametrize("case", range(25))
def test_few_and_many_actions_are_chosen_by_the_same_formula(case: int, count: int) -> None:
    generator = np.random.default_rng(case)
    rows = [
        (float(generator.normal()), visits, visits + int(generator.integers(60)))
        for visits in generator.integers(1, 40, size=count).tolist()
    ]
    bounds = [mean + 0.9 * sqrt(log(available) / visits) for mean, visits, available in rows]
    assert edges_of(*rows).best(range(count), 0.9) == bounds.index(max(bounds))


def test_bounds_beyond_the_table_of_roots_are_the_formulas() -> None:
    """More descents than are tabled: the subset-armed bandit's bound, written out."""
    rows = ((0.50, 4000, 4095), (0.49, 300, 4097), (0.40, 9, 70_000))
    edges = edges_of(*rows)
    for weight in (0.0, 0.05, 0.2, 1.0):
        bounds = [m + weight * sqrt(log(available) / n) for m, n, available in rows]
        assert edges.best([0, 1, 2], weight) == bounds.index(max(bounds))
