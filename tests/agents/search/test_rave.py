import numpy as np
import pytest

from agents.search.settings import GraphSettings
from agents.search.uct import RaveSearch, amaf_weight, tree_search
from games.modules import Rules, bind, load_namespace
from games.values import State
from tests.agents.small_games import THREE, TIC_TAC_TOE, game, known

# Seats take turns, 0 first, and play each of the letters that are left: abc in some order. Seat 0
# is paid 1 for the order "bac" and nothing for others, seat 1 what is left of 1.
ORDER = """
def get_current_player(state): return -4 if len(state["path"]) == 3 else len(state["path"]) % 2
def get_legal_actions(state): return [c for c in "abc" if c not in state["path"]]
def apply_action(state, action): return {"path": state["path"] + action}
def get_rewards(state):
    if len(state["path"]) < 3: return [0.0, 0.0]
    return [1.0, 0.0] if state["path"] == "bac" else [0.0, 1.0]
def get_observations(state): return [state, state]
"""


def order() -> Rules:
    return bind(load_namespace(ORDER), 2)


def test_the_statistics_of_the_root_are_those_of_a_hand_count() -> None:
    settings = GraphSettings(rave="rave")
    search = RaveSearch(order(), {"path": ""}, settings, np.random.default_rng(0))
    wins = plays = 0
    for _ in range(200):
        before = dict(search.seen.get(search.root, {}))
        search.simulate()
        now = search.seen[search.root]
        counted = {key for key, (m, _) in now.items() if m != before.get(key, (0, 0.0))[0]}
        # Seat 0 plays the first and the third letter: two of its actions a simulation, no others.
        assert len(counted) == 2
        assert all(seat == 0 for seat, _ in counted)
        if counted == {(0, "b"), (0, "c")}:  # bac, or cab: a in the middle
            plays += 1
            wins += now[0, "b"][1] > 0
    assert wins
    total = sum(m for m, _ in search.seen[search.root].values())
    assert total == 400
    # Every win is worth 1 to both letters seat 0 played, b and c; "a" never was in a win.
    sums = {key[1]: round(m * mean) for key, (m, mean) in search.seen[search.root].items()}
    assert sums["a"] == 0
    assert sums["b"] == sums["c"] > 0


def test_a_node_counts_what_was_played_below_it_from_itself_on() -> None:
    settings = GraphSettings(rave="rave")
    search = RaveSearch(order(), {"path": ""}, settings, np.random.default_rng(0))
    for _ in range(300):
        search.simulate()
    for child in search.root.children:
        assert child is not None
        # Seat 1 plays once, the second letter: as many all-moves-as-first counts as descents.
        seen = search.seen[child]
        assert sum(m for m, _ in seen.values()) == child.visits
        for grandchild in child.children:
            if grandchild is not None:
                m, mean = seen[1, grandchild.action]
                assert m == grandchild.edge_visits
                assert mean == pytest.approx(grandchild.mean)


def test_grave_takes_the_statistics_of_an_ancestor_with_enough_descents() -> None:
    settings = GraphSettings(rave="grave", reference=100)
    search = RaveSearch(order(), {"path": ""}, settings, np.random.default_rng(0))
    for _ in range(99):
        search.simulate()
    child = next(node for node in search.root.children if node is not None)
    search.nodes = [search.root, child]
    assert search._reference() is search.seen[search.root]
    child.visits = 100
    assert search._reference() is search.seen[child]
    # An ancestor of another seat serves too: it holds the actions of both.
    assert {seat for seat, _ in search.seen[search.root]} == {0, 1}


def test_the_weight_is_that_of_the_minimum_error_schedule() -> None:
    # Gelly & Silver (2011): beta = m / (n + m + 4 b^2 n m) with b = 0.1, n = 10, m = 40.
    assert amaf_weight(10, 40, 4 * 0.1**2) == pytest.approx(40 / (10 + 40 + 0.04 * 400))
    assert amaf_weight(0, 0, 0.1) == 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rave", ["rave", "grave"])
def test_the_forced_win_and_the_forced_block_are_found(rave: str, seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=800, rave="grave" if rave == "grave" else "rave")
    for board, turn in (("xx.oo....", 0), ("xx..o....", 1)):
        root: State = {"board": board, "turn": turn, "won": -1}
        assert tree_search(known(rules, root), settings, np.random.default_rng(seed)).best == "2"


def test_every_seat_maximises_its_own_return() -> None:
    rules, _, root = game(THREE, 3)
    settings = GraphSettings(simulations=2000, rave="rave", bias=1.0)
    assert tree_search(known(rules, root), settings, np.random.default_rng(0)).best == "A"


@pytest.mark.parametrize(
    "wrong",
    [
        {"rollouts": 2},
        {"leaf": "value"},
        {"widening": 1.0},
        {"transpositions": "yes"},
        {"solver": "yes"},
    ],
)
def test_what_does_not_go_with_it_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="rave is 'rave'"):
        GraphSettings.model_validate({"rave": "rave", **wrong})
