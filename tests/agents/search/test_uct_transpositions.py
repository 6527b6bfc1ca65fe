import numpy as np
import pytest

from agents.search.settings import GraphSettings
from agents.search.uct import TranspositionSearch, tree_search
from games.modules import bind
from games.values import State
from tests.agents.small_games import TIC_TAC_TOE, game, known

# Positions of tic-tac-toe after n marks, without symmetries (a published count: 1, 9, 72, 252,
# 756, 1260, 1520, 1140, 390, 78; in all 5,478).
POSITIONS = (1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78)


def test_equal_states_share_a_node() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=20_000, transpositions="yes", exploration=5.0)
    search = TranspositionSearch(rules, root, settings, np.random.default_rng(0))
    for _ in range(20_000):
        search.simulate()
    marks = np.bincount([9 - str(node.state["board"]).count(".") for node in search.depths])
    assert (marks <= POSITIONS).all()
    assert tuple(marks[:5]) == POSITIONS[:5]  # all of the first levels, each once
    assert search.hits > len(search.depths) / 2


@pytest.mark.parametrize("seed", range(3))
def test_the_forced_win_and_the_forced_block_are_found(seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=800, transpositions="yes")
    for board, turn in (("xx.oo....", 0), ("xx..o....", 1)):
        root: State = {"board": board, "turn": turn, "won": -1}
        found = tree_search(known(rules, root), settings, np.random.default_rng(seed))
        assert found.best == "2"
        assert found.simulations == 800
        assert "transpositions" in found.figures


def test_a_game_whose_states_come_back_ends_all_the_same() -> None:
    # One seat walks between two rooms until it leaves; each step costs 1.
    walking = bind(
        {
            "get_current_player": lambda s: -4 if s["room"] == "out" else 0,
            "get_legal_actions": lambda s: [] if s["room"] == "out" else ["walk", "leave"],
            "apply_action": lambda s, a: {"room": "out" if a == "leave" else 1 - s["room"]},
            "get_rewards": lambda s: [0.0 if s["room"] == "out" else -1.0],
            "get_observations": lambda s: [s],
        },
        1,
    )
    settings = GraphSettings(simulations=500, transpositions="yes", rollout_limit=50)
    found = tree_search(known(walking, {"room": 0}), settings, np.random.default_rng(0))
    assert found.best == "leave"


def test_learning_policies_are_refused_beside_it() -> None:
    with pytest.raises(ValueError, match="required: policy='uniform'"):
        GraphSettings(transpositions="yes", policy="mast")
