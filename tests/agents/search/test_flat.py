"""Searches without a tree of their own: flat Monte Carlo, one-step look-ahead, PIMC."""

from collections.abc import Callable
from itertools import cycle

import numpy as np
import pytest

from agents.search.algorithms import SEARCHES
from agents.search.flat import FlatmcSettings, OslaSettings
from agents.search.flat import decide_flatmc as flatmc
from agents.search.flat import decide_osla as osla
from agents.search.ismcts import IsmctsSettings
from agents.search.ismcts import decide as ismcts
from agents.search.settings import PlayerSettings, SearchView
from agents.search.uct import PimcSettings
from agents.search.uct import decide_pimc as pimc
from games.modules import Rules, bind, load_namespace
from games.values import Action, State
from tests.agents.small_games import DIE, SOON, THREE, TIC_TAC_TOE, game

# Strategy fusion (Frank & Basin 1998; Long et al. 2010): "sure" pays 0.8. After "guess" the same
# seat names the hidden world for 1, or loses 1: without seeing it, it gains 0 on average.
FUSION = """
def get_current_player(state): return 0 if state["path"] in ("", "guess ") else -4
def get_legal_actions(state):
    return {"": ["sure ", "guess "], "guess ": ["left", "right"]}.get(state["path"], [])
def apply_action(state, action): return {"world": state["world"], "path": state["path"] + action}
def get_rewards(state):
    if state["path"] == "sure ": return [0.8]
    if state["path"] in ("", "guess "): return [0.0]
    return [1.0 if state["path"] == "guess " + state["world"] else -1.0]
def get_observations(state): return [{"path": state["path"]}]
def get_events(state, action): return [[]]
"""


def fusion() -> tuple[Rules, Callable[[], State]]:
    worlds = cycle(["left", "right"])
    return bind(load_namespace(FUSION), 1), lambda: {"world": next(worlds), "path": ""}


def test_pimc_fuses_strategies_and_information_set_search_does_not() -> None:
    rules, determinize = fusion()
    settings = PimcSettings(simulations=2000, worlds=20)
    fused = pimc(SearchView(rules, 0, determinize), settings, np.random.default_rng(0))
    assert fused.best == "guess "
    assert fused.means[1] is not None
    assert fused.means[1] > 0.8  # it "knows" each world: nearly 1, less what exploring cost
    alone = IsmctsSettings(simulations=2000, exploration=1.0)
    found = ismcts(SearchView(rules, 0, determinize), alone, np.random.default_rng(0))
    assert found.best == "sure "
    assert found.means[1] == pytest.approx(0.0, abs=0.2)


def test_pimc_spends_its_budget_over_the_worlds() -> None:
    rules, determinize = fusion()
    settings = PimcSettings(simulations=103, worlds=10)
    found = pimc(SearchView(rules, 0, determinize), settings, np.random.default_rng(0))
    assert found.simulations == sum(found.visits) == 103
    assert found.figures["worlds"] == 10
    settings = PimcSettings(budget="calls", calls=31, worlds=7)
    found = pimc(SearchView(rules, 0, determinize), settings, np.random.default_rng(0))
    assert found.calls <= 31


def test_pimc_finds_the_forced_win() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    settings = PimcSettings(simulations=400, worlds=4)
    found = pimc(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.best == "2"


def test_flat_monte_carlo_believes_its_rollouts_alone() -> None:
    rules, _, root = game(THREE, 3)
    settings = FlatmcSettings(simulations=4000, exploration=4.0)
    found = flatmc(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    # After "A" seat 1 plays X or Y at random: 3 and 0; "B" pays 2. (A tree would find A: 3.)
    assert found.best == "B"
    assert found.means[0] == pytest.approx(1.5, abs=0.25)
    assert found.means[1] == 2.0


def test_flat_monte_carlo_prefers_what_pays_more_than_a_risky_die() -> None:
    rules, _, root = game(DIE, 1)
    settings = FlatmcSettings(simulations=4000, exploration=4.0)
    found = flatmc(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.best == "safe"
    assert found.means[1] == pytest.approx(0.5, abs=0.2)


def test_every_simulation_of_flat_monte_carlo_draws_a_determinization() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    drawn: list[int] = []

    def determinize() -> State:
        drawn.append(1)
        return root

    settings = FlatmcSettings(simulations=50)
    found = flatmc(SearchView(rules, 0, determinize), settings, np.random.default_rng(0))
    assert len(drawn) == found.simulations == sum(found.visits) == 50


def test_one_step_look_ahead_values_the_states_after_each_action() -> None:
    rules, _, root = game(SOON, 1)
    settings = OslaSettings(leaf="value")
    found = osla(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.means == (3.0, 4.0)
    assert (found.best, found.calls, found.simulations) == ("slow", 2, 2)


@pytest.mark.parametrize("passes", [1, 3])
def test_one_step_look_ahead_tries_every_action_as_often_as_it_has_passes(passes: int) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = OslaSettings(rollouts=1, passes=passes)
    found = osla(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.visits == (passes,) * 9
    assert found.simulations == 9 * passes


def test_one_step_look_ahead_values_all_actions_in_the_same_worlds() -> None:
    rules, determinize = fusion()
    drawn: list[State] = []

    def noted() -> State:
        drawn.append(determinize())
        return drawn[-1]

    settings = OslaSettings(rollouts=1, passes=4)
    osla(SearchView(rules, 0, noted), settings, np.random.default_rng(0))
    assert len(drawn) == 4


def test_one_step_look_ahead_picks_among_equals_at_random() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = OslaSettings(leaf="truncated", depth=1, rollouts=1)  # nothing is ever paid so early
    chosen = {
        osla(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(seed)).best
        for seed in range(60)
    }
    assert len(chosen) > 5


FLAT: dict[str, type[PlayerSettings]] = {
    "flatmc": FlatmcSettings,
    "osla": OslaSettings,
    "pimc": PimcSettings,
}


@pytest.mark.parametrize("name", FLAT)
def test_a_determinization_with_another_seat_to_move_is_refused(name: str) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    with pytest.raises(ValueError, match="player 0 to move; required: seat 1"):
        SEARCHES[name].decide(
            SearchView(rules, 1, lambda: root), FLAT[name](), np.random.default_rng(0)
        )


@pytest.mark.parametrize(("name", "setting"), [("osla", "passes"), ("pimc", "worlds")])
def test_at_least_one_pass_or_world_is_required(name: str, setting: str) -> None:
    with pytest.raises(ValueError, match=setting):
        FLAT[name].model_validate({setting: 0})


@pytest.mark.parametrize("name", ["flatmc", "osla"])
def test_a_budget_of_calls_is_never_exceeded(name: str) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    made: list[Action] = []

    def apply_action(state: State, action: Action) -> State:
        made.append(action)
        return rules.apply_action(state, action)

    noting = bind({**load_namespace(TIC_TAC_TOE), "apply_action": apply_action}, 2)
    settings = FLAT[name].model_validate({"budget": "calls", "calls": 123})
    view = SearchView(noting, 0, lambda: root)
    SEARCHES[name].decide(view, settings, np.random.default_rng(0))
    assert len(made) == 123
