from dataclasses import replace

import numpy as np
import pytest

from agents.search.settings import GraphSettings
from agents.search.tree import UctSearch
from agents.search.uct import tree_search
from games.modules import Rules, bind, load_namespace
from games.values import ModuleFault, State
from tests.agents.small_games import DIE, SOON, THREE, TIC_TAC_TOE, game, known


def position(picture: str) -> State:
    """A tic-tac-toe state from its picture; whoever has fewer marks moves, x first."""
    board = "".join(picture.split())
    turn = 0 if board.count("x") == board.count("o") else 1
    return {"board": board, "turn": turn, "won": -1}


def search(rules: Rules, root: State, simulations: int = 1000, seed: int = 1) -> str:
    settings = GraphSettings(simulations=simulations)
    return tree_search(known(rules, root), settings, np.random.default_rng(seed)).best


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("xx. oo. ...", {"2"}),  # x completes its row
        ("xx. o.. ...", {"2"}),  # o must block the row
        ("x.. .o. ..x", {"1", "3", "5", "7"}),  # a corner loses to a fork
        ("x.. ... ...", {"4"}),  # the only reply to a corner that does not lose
        ("... .x. ...", {"0", "2", "6", "8"}),  # an edge loses against the centre
        ("xo. .x. ..o", {"3", "6"}),  # both fork: two open lines each
    ],
)
def test_finds_the_known_move_at_tic_tac_toe(picture: str, expected: set[str], seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    assert search(rules, position(picture), seed=seed) in expected


def test_tic_tac_toe_between_two_searches_is_a_draw() -> None:
    rules, _, state = game(TIC_TAC_TOE)
    ply = 0
    while rules.current_player(state) >= 0:
        state = rules.apply_action(state, search(rules, state, simulations=2000, seed=ply))
        ply += 1
    assert rules.rewards(state) == [0.0, 0.0]


def test_every_seat_maximises_its_own_return() -> None:
    rules, _, root = game(THREE, 3)
    found = tree_search(
        known(rules, root), GraphSettings(simulations=2000), np.random.default_rng(0)
    )
    assert found.best == "A"
    assert found.means[0] == pytest.approx(3.0, abs=0.2)  # worked out by hand beside the game
    assert found.means[1] == 2.0


def test_chance_is_weighted_by_its_probabilities() -> None:
    rules, _, root = game(DIE, 1)
    settings = GraphSettings(simulations=4000, exploration=4.0)
    found = tree_search(known(rules, root), settings, np.random.default_rng(0))
    assert found.best == "safe"
    assert found.means[0] == 1.0
    assert found.means[1] == pytest.approx(0.5, abs=0.2)


@pytest.mark.parametrize("leaf", ["rollout", "value"])
def test_rewards_on_the_way_count(leaf: str) -> None:
    rules, _, root = game(SOON, 1)
    settings = GraphSettings(simulations=50, leaf="value" if leaf == "value" else "rollout")
    found = tree_search(known(rules, root), settings, np.random.default_rng(0))
    assert found.means == (3.0, 4.0)
    assert found.best == "slow"


def test_the_unit_of_the_returns_does_not_matter() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    large = replace(rules, rewards=lambda state: [1024.0 * r for r in rules.rewards(state)])
    settings = GraphSettings(simulations=300)
    small_found = tree_search(known(rules, root), settings, np.random.default_rng(5))
    large_found = tree_search(known(large, root), settings, np.random.default_rng(5))
    assert small_found.visits == large_found.visits


def test_every_simulation_goes_through_the_root_once() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    found = tree_search(
        known(rules, root), GraphSettings(simulations=137), np.random.default_rng(0)
    )
    assert sum(found.visits) == found.simulations == 137
    assert found.actions == tuple("012345678")
    assert found.nodes <= 138


def test_statistics_survive_growing() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=1)
    searched = UctSearch(rules, root, settings, np.random.default_rng(3))
    for _ in range(500):
        searched.simulate()
    ample = tree_search(
        known(rules, root), GraphSettings(simulations=500), np.random.default_rng(3)
    )
    assert searched.result() == ample


def test_wide_nodes_are_searched() -> None:
    source = """
def get_current_player(state): return -4 if state["chosen"] >= 0 else 0
def get_legal_actions(state): return [] if state["chosen"] >= 0 else [str(i) for i in range(90)]
def apply_action(state, action): return {"chosen": int(action)}
def get_rewards(state): return [1.0 if state["chosen"] == 71 else 0.0]
def get_observations(state): return [state]
"""
    rules = bind(load_namespace(source), 1)
    assert search(rules, {"chosen": -1}, simulations=400) == "71"


def test_the_same_generator_gives_the_same_search() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=200, rollouts=3)
    first, second = (
        tree_search(known(rules, root), settings, np.random.default_rng(9)) for _ in range(2)
    )
    assert first == second


def test_rollouts_that_are_cut_are_counted() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = GraphSettings(simulations=20, rollout_limit=1)
    assert tree_search(known(rules, root), settings, np.random.default_rng(0)).cut_rollouts == 20
    settings = GraphSettings(simulations=20, rollout_limit=8)
    assert tree_search(known(rules, root), settings, np.random.default_rng(0)).cut_rollouts == 0


def test_the_module_is_never_handed_a_changed_list() -> None:
    rules, namespace, root = game(TIC_TAC_TOE)
    shared = [str(i) for i in range(9)]
    fixed = replace(rules, legal_actions=lambda s: shared if s == root else rules.legal_actions(s))
    tree_search(known(fixed, root), GraphSettings(simulations=100), np.random.default_rng(0))
    assert shared == [str(i) for i in range(9)]
    assert namespace["LINES"]


def test_a_state_without_actions_before_the_end_is_the_modules_fault() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    broken = replace(rules, current_player=lambda _: 0)
    with pytest.raises(ModuleFault, match="gave 0 actions"):
        tree_search(known(broken, root), GraphSettings(simulations=2000), np.random.default_rng(0))


def test_a_finished_match_cannot_be_searched() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    over: State = {"board": "xxxoo....", "turn": 1, "won": 0}
    with pytest.raises(ValueError, match="no seat is to move"):
        tree_search(known(rules, over), GraphSettings(), np.random.default_rng(0))


def test_asking_for_a_value_function_that_is_missing_names_it() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    with pytest.raises(ModuleFault, match="value_function"):
        tree_search(known(rules, root), GraphSettings(leaf="value"), np.random.default_rng(0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"simulations": 0},
        {"rollouts": 0},
        {"rollout_limit": 0},
        {"exploration": -1.0},
        {"exploration": float("nan")},
    ],
)
def test_settings_that_cannot_be_followed_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        GraphSettings.model_validate(wrong)


def test_a_module_without_the_rules_is_refused_by_name() -> None:
    with pytest.raises(ModuleFault, match="get_current_player"):
        bind({}, 2)


def test_a_seat_that_is_not_at_the_table_is_the_modules_fault() -> None:
    absent = TIC_TAC_TOE.replace('"turn": 1 - state["turn"]', '"turn": 2')
    assert absent != TIC_TAC_TOE
    rules, _, root = game(absent)
    with pytest.raises(ModuleFault, match="required: a seat below 2"):
        search(rules, root)
