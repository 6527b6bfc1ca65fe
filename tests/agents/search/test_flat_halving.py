"""Sequential halving: how often each action is valued, and which is played."""

import numpy as np

from agents.search.flat import HalvingSettings
from agents.search.flat import decide_halving as halving
from agents.search.settings import SearchView
from games.modules import Rules, bind, load_namespace
from games.values import State
from tests.agents.search.test_flat import fusion

# Eight slot machines: "k" pays 1 with probability (k + 1) / 10, by chance after it was chosen.
SLOTS = """
def get_current_player(state): return {0: 0, 1: -1}.get(len(state["path"]), -4)
def get_legal_actions(state):
    return {0: list("01234567"), 1: ["win", "lose"]}.get(len(state["path"]), [])
def get_chance_probabilities(state):
    chance = (int(state["path"][0]) + 1) / 10
    return [chance, 1 - chance]
def apply_action(state, action): return {"path": [*state["path"], action]}
def get_rewards(state): return [1.0 if state["path"][-1:] == ["win"] else 0.0]
def get_observations(state): return [{"path": state["path"]}]
def get_events(state, action): return [[]]
"""


def slots() -> tuple[Rules, State]:
    return bind(load_namespace(SLOTS), 1), {"path": []}


def test_each_round_values_the_actions_that_are_left_equally_often() -> None:
    # Karnin, Koren & Somekh (2013): floor(240 / (8 * 3)) = 10 each, then 20 of 4 and 40 of 2.
    rules, root = slots()
    settings = HalvingSettings(simulations=240)
    found = halving(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert sorted(found.visits) == [10] * 4 + [30] * 2 + [70] * 2
    assert found.simulations == 240


def test_the_best_machine_is_found_far_more_often_than_by_equal_shares() -> None:
    rules, root = slots()
    settings = HalvingSettings(simulations=2400)
    best = [
        halving(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(seed)).best
        for seed in range(40)
    ]
    # 0.8 against 0.7 over 700 draws each: the worse looks better in fewer than 1 of 10,000.
    assert best.count("7") >= 38


def test_a_budget_is_never_exceeded_and_spent_where_it_can_be() -> None:
    rules, root = slots()
    for simulations in (1, 5, 8, 9, 31):
        settings = HalvingSettings(simulations=simulations)
        found = halving(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(1))
        assert found.simulations == sum(found.visits) <= simulations
        assert found.visits[found.actions.index(found.best)] > 0


def test_what_differs_between_hidden_worlds_is_not_taken_for_known() -> None:
    rules, determinize = fusion()
    settings = HalvingSettings(simulations=2000)
    assert (
        halving(SearchView(rules, 0, determinize), settings, np.random.default_rng(0)).best
        == "sure "
    )


def test_a_budget_of_calls_is_shared_among_the_rounds_as_well() -> None:
    rules, root = slots()
    settings = HalvingSettings(budget="calls", calls=480)  # a simulation makes two: choice, chance
    found = halving(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert sorted(found.visits) == [10] * 4 + [30] * 2 + [70] * 2
    assert found.calls == 480
