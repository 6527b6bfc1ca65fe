import numpy as np
import pytest

from agents.search.ismcts import decide as ismcts
from agents.search.settings import GraphSettings, SearchView
from agents.search.uct import tree_search
from games.modules import Rules, bind, load_namespace
from tests.agents.small_games import known

WIDE = """
def get_current_player(state): return -4 if state["chosen"] >= 0 else 0
def get_legal_actions(state): return [] if state["chosen"] >= 0 else [str(i) for i in range(90)]
def apply_action(state, action): return {"chosen": int(action)}
def get_rewards(state): return [1.0 if state["chosen"] % 3 == 0 else 0.0]
def get_observations(state): return [state]
"""


def wide() -> Rules:
    return bind(load_namespace(WIDE), 1)


@pytest.mark.parametrize(("simulations", "considered"), [(1, 2), (4, 4), (100, 20), (1000, 64)])
def test_as_many_actions_are_tried_as_the_formula_lets(simulations: int, considered: int) -> None:
    # ceil(2 sqrt(n)): 2 after one visit, of which one is tried by then; 63.2 after 1,000.
    settings = GraphSettings(simulations=simulations, widening=2.0, power=0.5)
    for found in (
        tree_search(known(wide(), {"chosen": -1}), settings, np.random.default_rng(0)),
        ismcts(SearchView(wide(), 0, lambda: {"chosen": -1}), settings, np.random.default_rng(0)),
    ):
        tried = sum(visits > 0 for visits in found.visits)
        assert tried == min(considered, simulations)
        assert sum(found.visits) == simulations


def test_widening_finds_a_good_action_where_there_is_no_time_to_try_all() -> None:
    settings = GraphSettings(simulations=60, widening=1.0)
    found = tree_search(known(wide(), {"chosen": -1}), settings, np.random.default_rng(0))
    assert int(found.best) % 3 == 0
    assert max(found.visits) > 20


def test_a_chance_node_is_never_widened() -> None:
    source = """
def get_current_player(state): return (0, -1, -4)[len(state["path"])]
def get_legal_actions(state): return (["roll"], [str(i) for i in range(50)], [])[len(state["path"])]
def apply_action(state, action): return {"path": state["path"] + [action]}
def get_rewards(state): return [float(state["path"][1]) if len(state["path"]) == 2 else 0.0]
def get_observations(state): return [state]
"""
    rules = bind(load_namespace(source), 1)
    settings = GraphSettings(simulations=2000, widening=0.1, power=0.1)
    found = tree_search(known(rules, {"path": []}), settings, np.random.default_rng(0))
    assert found.means[0] == pytest.approx(24.5, abs=1.4)  # 4 deviations of a mean of 2,000 draws
