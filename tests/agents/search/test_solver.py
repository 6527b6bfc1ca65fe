from dataclasses import replace

import numpy as np
import pytest

from agents.search.alphabeta import AlphaBetaSettings, alphabeta
from agents.search.rules import bind
from agents.search.settings import SearchSettings
from agents.search.solver import SolverSearch
from agents.search.trees import tree_search
from games.contract import State, load_namespace
from tests.agents.search.test_alphabeta import NIM
from tests.agents.small_games import DIE, THREE, TIC_TAC_TOE, game

SETTINGS = SearchSettings(simulations=3000, solver=True)


@pytest.mark.parametrize("heaps", [[1, 2, 3], [1, 3], [2, 2], [1, 1, 2], [1, 2, 2]])
def test_what_it_proves_of_nim_is_true(heaps: list[int]) -> None:
    rules = bind(load_namespace(NIM), 2)
    root: State = {"heaps": [*heaps], "turn": 0, "last": 1}
    search = SolverSearch(rules, root, SETTINGS, np.random.default_rng(0))
    for _ in range(3000):
        search.simulate()
    assert search.root in search.proven
    assert len(search.proven) > 1
    for node, proof in search.proven.items():
        solved = alphabeta(rules, node.state, AlphaBetaSettings())
        value = solved.means[solved.actions.index(solved.best)]
        assert proof.returns[proof.player] == value


def test_it_proves_tic_tac_toe_drawn_after_the_first_moves() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "x...o....", "turn": 0, "won": -1}
    search = SolverSearch(rules, root, SETTINGS, np.random.default_rng(0))
    for _ in range(8000):
        search.simulate()
    assert search.proven[search.root].returns == [0.0, 0.0]


def test_a_proven_win_is_played_although_it_was_visited_less() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    found = tree_search(rules, root, SearchSettings(simulations=30, solver=True),
                        np.random.default_rng(0))  # fmt: skip
    assert found.best == "2"
    assert found.figures["proven"]


@pytest.mark.parametrize("seed", range(3))
def test_a_proven_loss_is_avoided(seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx..o....", "turn": 1, "won": -1}
    settings = SearchSettings(simulations=300, solver=True)
    assert tree_search(rules, root, settings, np.random.default_rng(seed)).best == "2"


def test_every_seat_proves_what_is_best_for_itself() -> None:
    rules, _, root = game(THREE, 3)
    search = SolverSearch(rules, root, replace(SETTINGS, win=3.0), np.random.default_rng(0))
    for _ in range(50):
        search.simulate()
    assert search.proven[search.root].returns == [3.0, 1.0, 0.0]
    assert search.result().best == "A"


def test_chance_is_never_proven() -> None:
    rules, _, root = game(DIE, 1)
    search = SolverSearch(rules, root, replace(SETTINGS, win=8.0), np.random.default_rng(0))
    for _ in range(500):
        search.simulate()
    assert not search.proven
    assert search.result().best == "safe"


def test_a_return_above_the_largest_that_was_said_is_refused() -> None:
    rules, _, root = game(THREE, 3)
    with pytest.raises(ValueError, match=r"paid .*, with win=1.0; required: the largest return"):
        tree_search(rules, root, SETTINGS, np.random.default_rng(0))
