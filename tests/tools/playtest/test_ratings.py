import importlib
import math
import sys
import types
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tools.playtest.ratings import (
    ELO,
    Matrix,
    NoRatingError,
    alpha_rank,
    bradley_terry,
    elo_ratings,
)

# American League East, 1987 (Agresti 2002, table 10.10): wins of row over column, 13 games a pair.
TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WINS = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=np.float64,
)
# Published abilities less Baltimore's (Turner and Firth 2012, fitted to that table by glm).
ABILITIES = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def duel(wins: float, losses: float) -> Matrix:
    return np.array([[0.0, wins], [losses, 0.0]])


def test_a_baseball_season_gets_the_published_abilities() -> None:
    logs = np.log(bradley_terry(WINS))
    assert logs - logs[-1] == pytest.approx(ABILITIES, abs=5e-5)


def test_a_chain_of_pairs_is_solved_pair_by_pair() -> None:
    # By hand: A and C never met, so g_A / g_B = 2 / 1 and g_B / g_C = 3 / 1 exactly.
    wins = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 1.0, 0.0]])
    a, b, c = bradley_terry(wins)
    assert (a / b, b / c, a * b * c) == pytest.approx((2.0, 3.0, 1.0))


def test_a_symmetric_circle_makes_all_equal() -> None:
    wins = np.array([[0.0, 3.0, 1.0], [1.0, 0.0, 3.0], [3.0, 1.0, 0.0]])
    assert bradley_terry(wins) == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(("wins", "losses"), [(3.0, 1.0), (10.0, 30.5), (7.5, 7.5), (99.0, 1.0)])
def test_of_two_players_the_closed_form_holds(wins: float, losses: float) -> None:
    one, other = elo_ratings([duel(wins, losses)])
    assert one.value - other.value == pytest.approx(400 * math.log10(wins / losses), abs=1e-6)
    # The log odds have variance 1 / (n p q); each of two centred ratings has half the deviation.
    deviation = ELO / 2 * math.sqrt((wins + losses) / (wins * losses))
    assert one.high - one.value == pytest.approx(1.959964 * deviation, rel=1e-5)


def test_results_that_agree_within_deals_widen_the_interval() -> None:
    alone = elo_ratings([duel(1, 0), duel(0, 1)] * 50)
    together = elo_ratings([duel(4, 0), duel(0, 4)] * 50)  # four times the games, all in step
    assert together[0].value == pytest.approx(alone[0].value, abs=1e-6)
    width = alone[0].high - alone[0].low
    assert together[0].high - together[0].low == pytest.approx(width, rel=0.02)


def test_the_intervals_cover_the_truth_as_often_as_they_say() -> None:
    chance = np.random.default_rng(3)
    truth = 400 * np.array([1.0, 0.0, -1.0]) / 8
    share = 1 / (1 + 10 ** ((truth[None, :] - truth[:, None]) / 400))
    covered = []
    for _ in range(150):
        deals = []
        for _ in range(60):
            won = np.triu(chance.random((3, 3)) < share, 1).astype(float)
            deals.append(won + np.triu(1 - won, 1).T)
        covered += [e.low <= t <= e.high for e, t in zip(elo_ratings(deals), truth, strict=True)]
    assert 0.92 <= np.mean(covered) <= 0.98


@pytest.mark.parametrize(
    "wins",
    [
        duel(5, 0),
        np.array([[0, 1, 9, 9], [1, 0, 9, 9], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=np.float64),
        np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=np.float64),
    ],
)
def test_players_that_never_lost_to_the_others_have_no_finite_rating(wins: Matrix) -> None:
    with pytest.raises(
        NoRatingError, match="no chain of wins or draws leads from player [1-4] to player [1-4],"
    ):
        bradley_terry(wins)


def test_a_prior_of_draws_makes_a_clean_sweep_finite() -> None:
    # One draw added to 9 wins: 9.5 to 0.5.
    strong, weak = bradley_terry(duel(9, 0), prior=1.0)
    assert strong / weak == pytest.approx(19.0)


def test_no_deals_rate_nobody() -> None:
    with pytest.raises(NoRatingError, match="nothing to rate"):
        elo_ratings([])


ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
CHAIN = np.array([[0.5, 0.8, 0.9], [0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Callable[..., NDArray[np.float64]]:
    """OpenSpiel's alpha-rank; its module also imports plots, which need not be installed."""
    plots = "open_spiel.python.egt.alpharank_visualizer"
    monkeypatch.setitem(sys.modules, plots, types.ModuleType(plots))
    module = importlib.import_module("open_spiel.python.egt.alpharank")

    def shares(payoffs: NDArray[np.float64], *, alpha: float, m: int) -> NDArray[np.float64]:
        _, _, found, _, _ = module.compute(
            [payoffs], m=m, alpha=alpha, use_local_selection_model=True
        )
        return np.asarray(found)

    return shares


def test_rock_paper_scissors_is_uniform() -> None:
    assert alpha_rank(ROCK_PAPER_SCISSORS) == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("alpha", [10.0, 100.0, 1e6])
def test_of_a_chain_of_dominance_the_top_remains(alpha: float) -> None:
    shares = alpha_rank(CHAIN, alpha=alpha)
    assert shares[0] == pytest.approx(1.0, abs=1e-6)
    assert shares[0] > shares[1] > shares[2] >= 0 or alpha > 1e3
    assert shares.sum() == pytest.approx(1.0)


def test_equal_players_share_alike_also_where_selection_is_strong() -> None:
    assert alpha_rank(np.full((4, 4), 0.5), alpha=1e5) == pytest.approx([0.25] * 4)


def test_of_two_the_shares_are_as_the_chain_balances() -> None:
    # By hand, m = 2, u = 1: shares are in the ratio of the two takeovers, e : 1.
    shares = alpha_rank(np.array([[0.0, 1.0], [0.0, 0.0]]), alpha=1.0, population=2)
    assert shares[0] / shares[1] == pytest.approx(np.e)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_random_payoffs_agree_with_open_spiel(
    published: Callable[..., NDArray[np.float64]], count: int, alpha: float
) -> None:
    payoffs = np.random.default_rng(count).random((count, count))
    theirs = published(payoffs, alpha=alpha, m=20)
    assert alpha_rank(payoffs, alpha=alpha, population=20) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("payoffs", [ROCK_PAPER_SCISSORS, CHAIN])
def test_the_classics_agree_with_open_spiel(
    published: Callable[..., NDArray[np.float64]], payoffs: NDArray[np.float64]
) -> None:
    theirs = published(payoffs, alpha=5.0, m=50)
    assert alpha_rank(payoffs, alpha=5.0, population=50) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    "payoffs",
    [np.zeros((1, 1)), np.zeros((2, 3)), np.array([[0.5, np.nan], [0.5, 0.5]])],
)
def test_missing_payoffs_rank_nobody(payoffs: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="required"):
        alpha_rank(payoffs)
