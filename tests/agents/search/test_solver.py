from dataclasses import replace

import numpy as np
import pytest

from agents.search.alphabeta import UnsuitableGameError, solved
from agents.search.settings import GraphSettings
from agents.search.solver import SolverSearch
from agents.search.uct import tree_search
from games.modules import bind, load_namespace
from games.values import State
from tests.agents.search.test_alphabeta import NIM
from tests.agents.small_games import DIE, SOON, THREE, TIC_TAC_TOE, game, known

SETTINGS = GraphSettings(simulations=3000, solver="yes")


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
        found = solved(rules, node.state, calls=100_000)
        value = found.means[found.actions.index(found.best)]
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
    settings = GraphSettings(simulations=30, solver="yes")
    found = tree_search(known(rules, root), settings, np.random.default_rng(0))
    assert found.best == "2"
    assert found.figures["proven"]


@pytest.mark.parametrize("seed", range(3))
def test_a_proven_loss_is_avoided(seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx..o....", "turn": 1, "won": -1}
    settings = GraphSettings(simulations=300, solver="yes")
    assert tree_search(known(rules, root), settings, np.random.default_rng(seed)).best == "2"


def test_every_seat_proves_what_is_best_for_itself() -> None:
    rules, _, root = game(THREE, 3)
    search = SolverSearch(
        rules, root, SETTINGS.model_copy(update={"win": 3.0}), np.random.default_rng(0)
    )
    for _ in range(50):
        search.simulate()
    assert search.proven[search.root].returns == [3.0, 1.0, 0.0]
    assert search.result().best == "A"


def test_chance_is_never_proven() -> None:
    rules, _, root = game(DIE, 1)
    search = SolverSearch(
        rules, root, SETTINGS.model_copy(update={"win": 8.0}), np.random.default_rng(0)
    )
    for _ in range(500):
        search.simulate()
    assert not search.proven
    assert search.result().best == "safe"


def test_a_return_above_the_largest_that_was_said_is_refused() -> None:
    rules, _, root = game(THREE, 3)
    with pytest.raises(UnsuitableGameError, match=r"paid .*, with win=1.0; required: the largest"):
        tree_search(known(rules, root), SETTINGS, np.random.default_rng(0))


AUTO = GraphSettings(simulations=1000, solver="auto")

# Seat 0 takes 1 at once, or goes on, where one of three doors pays it 2 and the others nothing.
DOORS = """
def get_current_player(state): return -4 if state["done"] else 0
def get_legal_actions(state):
    if state["done"]: return []
    return [str(door) for door in range(3)] if state["on"] else ["take", "on"]
def apply_action(state, action):
    if action == "on": return {"on": True, "done": False, "paid": 0}
    return {"on": True, "done": True, "paid": {"take": 1, "2": 2}.get(action, 0)}
def get_rewards(state): return [float(state["paid"]), -float(state["paid"])]
def get_observations(state): return [state, state]
"""


@pytest.mark.parametrize("seed", range(5))
def test_a_larger_payment_takes_back_what_a_smaller_one_had_proven(seed: int) -> None:
    rules = bind(load_namespace(DOORS), 2)
    root: State = {"on": False, "done": False, "paid": 0}
    search = SolverSearch(rules, root, AUTO, np.random.default_rng(seed))
    for _ in range(200):
        search.simulate()
    assert search.is_mixed
    assert search.result().best == "on"
    assert search.proven[search.root].returns == [2.0, -2.0]


# Three choices of seat 0. Every line pays it 1, but for one that pays 2.
ALIKE = """
def get_current_player(state): return -4 if len(state["line"]) == 3 else 0
def get_legal_actions(state):
    return [] if len(state["line"]) == 3 else list("ab" if not state["line"] else "abcdefgh")
def apply_action(state, action): return {"line": state["line"] + action}
def get_rewards(state):
    return [{"bhh": 2.0}.get(state["line"], float(len(state["line"]) == 3))]
def get_observations(state): return [state]
"""


@pytest.mark.parametrize("seed", range(5))
def test_where_all_matches_paid_alike_none_is_taken_for_the_largest_win(seed: int) -> None:
    rules = bind(load_namespace(ALIKE), 1)
    search = SolverSearch(rules, {"line": ""}, AUTO, np.random.default_rng(seed))
    for _ in range(500):
        search.simulate()
    assert search.result().best == "b"


def test_what_a_win_pays_is_found_out() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    large = replace(rules, rewards=lambda state: [7.0 * paid for paid in rules.rewards(state)])
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    search = SolverSearch(large, root, AUTO, np.random.default_rng(0))
    for _ in range(200):
        search.simulate()
    assert (search.win, search.is_mixed) == (7.0, False)
    assert search.proven[search.root].returns == [7.0, -7.0]


def test_payments_on_the_way_leave_only_full_proofs() -> None:
    rules, _, root = game(SOON, 1)
    search = SolverSearch(rules, root, AUTO, np.random.default_rng(0))
    for _ in range(30):
        search.simulate()
    assert search.is_mixed
    assert search.proven[search.root].returns == [4.0]
    assert search.result().best == "slow"


# A corner loses to anything but the centre, the centre to anything but a corner.
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("opening", "replies"), [("x.......", "4"), ("....x...", "0268")])
def test_a_short_match_is_settled(opening: str, replies: str, seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": f"{opening}.", "turn": 1, "won": -1}
    found = tree_search(known(rules, root), AUTO, np.random.default_rng(seed))
    assert found.best in replies
    assert found.figures["settled"] == 1
    assert found.calls > found.simulations


def test_a_long_match_is_left_to_the_tree() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    found = tree_search(
        known(rules, root), AUTO.model_copy(update={"simulations": 100}), np.random.default_rng(0)
    )
    assert "settled" not in found.figures


def test_a_proven_node_may_become_the_root_again() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "x...o....", "turn": 0, "won": -1}
    search = SolverSearch(rules, root, AUTO, np.random.default_rng(0))
    for _ in range(8000):
        search.simulate()
    node = next(child for child in search.root.children if child and child.player < 0)
    proven = search.proven[node].returns
    search.go_on(node, np.random.default_rng(1))
    assert node.player == 1
    search.simulate()
    assert search.proven[search.root].returns == proven
