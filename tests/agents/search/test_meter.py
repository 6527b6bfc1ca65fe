from dataclasses import replace

import numpy as np
import pytest

from agents.search.ismcts import decide as ismcts
from agents.search.meter import Meter
from agents.search.settings import GraphSettings, SearchView
from agents.search.uct import tree_search
from games.values import Action, State
from tests.agents.small_games import SOON, TIC_TAC_TOE, game, known


@pytest.mark.parametrize("calls", [1, 7, 500, 4000])
def test_a_budget_of_calls_is_never_exceeded(calls: int) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    made: list[Action] = []

    def apply_action(state: State, action: Action) -> State:
        made.append(action)
        return rules.apply_action(state, action)

    settings = GraphSettings(budget="calls", calls=calls, simulations=1)
    found = tree_search(
        known(replace(rules, apply_action=apply_action), root), settings, np.random.default_rng(0)
    )
    assert found.calls == len(made) == calls
    assert sum(found.visits) == found.simulations < calls


def test_a_budget_of_calls_ends_in_a_tree_that_needs_none() -> None:
    rules, _, root = game(SOON, 1)  # four plies in all, which the tree then holds
    settings = GraphSettings(budget="calls", calls=50)
    found = tree_search(known(rules, root), settings, np.random.default_rng(0))
    assert (found.simulations, found.best) == (50, "slow")
    assert found.calls < 50


def test_the_calls_counted_apart_are_the_calls_made() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    made: list[Action] = []

    def apply_action(state: State, action: Action) -> State:
        made.append(action)
        return rules.apply_action(state, action)

    noting = replace(rules, apply_action=apply_action)
    settings = GraphSettings(simulations=3000)
    assert tree_search(known(noting, root), settings, np.random.default_rng(0)).calls == len(made)
    made.clear()
    found = ismcts(SearchView(noting, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.calls == len(made)


def test_a_budget_of_time_ends_at_the_first_simulation_past_it() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    ticks = iter(range(1000))
    settings = GraphSettings(budget="time", seconds=12.0)
    # A second a look at the clock: a look before and one after each simulation.
    view = replace(known(rules, root), clock=lambda: float(next(ticks)))
    found = tree_search(view, settings, np.random.default_rng(0))
    assert (found.simulations, found.seconds) == (12, 12.0)


def test_seconds_are_reported_under_a_budget_of_time_alone() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    found = tree_search(known(rules, root), GraphSettings(simulations=5), np.random.default_rng(0))
    assert found.effort().keys() == {
        "simulations_done",
        "calls",
        "nodes",
        "cut_rollouts",
    }


def test_a_budget_of_time_needs_a_clock() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    with pytest.raises(ValueError, match="required: a clock"):
        tree_search(known(rules, root), GraphSettings(budget="time"), np.random.default_rng(0))


def test_a_meter_stops_at_most_where_it_is_told() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    done: list[int] = []
    meter = Meter(rules, GraphSettings(simulations=10))
    for _ in range(4):
        meter.run(lambda: done.append(1), at_most=3)
    assert len(done) == meter.done == 10
