import importlib
import sys
import types
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tools.playtest import alpha_rank

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
