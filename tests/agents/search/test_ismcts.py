from collections.abc import Callable
from itertools import cycle

import numpy as np
import pytest

from agents.search.ismcts import IsmctsSearch, IsmctsSettings, MoismctsSettings
from agents.search.ismcts import decide as ismcts
from agents.search.settings import SearchView, TreeSettings
from games.modules import Rules, bind, load_namespace
from games.values import Json, ModuleFault, State
from tests.agents.small_games import DIE, KUHN, PENNIES, SOON, THREE, TIC_TAC_TOE, game

SETTINGS = IsmctsSettings(exploration=1.0, simulations=400)


def dealt(own: str, seat: int, bets: str) -> Callable[[], State]:
    """The deals that a Kuhn player who holds `own` cannot tell apart, equally likely."""
    others = [card for card in "JQK" if card != own]
    hands = [[own, other] if seat == 0 else [other, own] for other in others]
    generator = np.random.default_rng(11)
    return lambda: {"deck": [], "hands": [*hands[generator.integers(2)]], "bets": bets}


def decide(own: str, seat: int, bets: str, seed: int = 0) -> str:
    rules, _, _ = game(KUHN)
    settings = IsmctsSettings(exploration=1.0, simulations=600)
    deal = dealt(own, seat, bets)
    return ismcts(SearchView(rules, seat, deal), settings, np.random.default_rng(seed)).best


# Kuhn (1950): folding the King and calling with the Jack are dominated at every decision.
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("seat", "bets"), [(0, "pb"), (1, "b")])
def test_never_folds_the_king_nor_calls_with_the_jack(seat: int, bets: str, seed: int) -> None:
    assert decide("K", seat, bets, seed) == "b"
    assert decide("J", seat, bets, seed) == "p"


def test_bets_the_king_after_a_pass() -> None:
    # Passing back wins the antes for sure; betting wins them too, and more where it is called.
    assert decide("K", 1, "p") == "b"


def test_means_are_the_expected_payoffs() -> None:
    # The Queen that faces a bet with J and K equally likely: a call wins 2 or loses 2, a fold -1.
    rules, _, _ = game(KUHN)
    settings = IsmctsSettings(simulations=2000, exploration=20.0)
    found = ismcts(SearchView(rules, 1, dealt("Q", 1, "b")), settings, np.random.default_rng(0))
    assert found.means[0] == -1.0
    assert found.means[1] == pytest.approx(0.0, abs=0.25)  # 4 deviations of 1,000 calls


@pytest.mark.parametrize(("revealed", "nodes"), [(False, 3), (True, 4)])
def test_hidden_commits_lead_to_one_node(revealed: bool, nodes: int) -> None:
    # Nodes: before "go", before the commit, before the guess; the last one twice if revealed.
    rules, _, start = game(PENNIES)
    root = {**start, "open": revealed}
    settings = IsmctsSettings(exploration=1.0, simulations=300, opponents="observer")
    found = ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.nodes == nodes


def test_availability_counts_the_simulations_in_which_an_action_was_legal() -> None:
    source = """
def get_current_player(state): return -4 if state["done"] else state["turn"]
def get_legal_actions(state):
    if state["done"]: return []
    return ["on"] if state["turn"] == 0 else state["hand"]
def apply_action(state, action):
    return {"turn": 1, "hand": state["hand"], "done": action != "on"}
def get_rewards(state): return [0.0, 0.0]
def get_observations(state): return [{"turn": state["turn"]}, state]
"""
    rules = _rules(source)
    one: list[Json] = ["a"]
    two: list[Json] = ["a", "b"]
    hands = cycle([two, one, one, one])
    search = IsmctsSearch(
        rules, 0, IsmctsSettings(exploration=1.0, simulations=401), np.random.default_rng(0)
    )
    for _ in range(401):
        search.simulate({"turn": 0, "hand": next(hands), "done": False})
    rows = search.nodes[next(node for node in search.nodes if node[1] == 1)]
    available = {action: search.edges.availability[row] for action, row in rows.items()}
    assert available == {"a": 400, "b": 100}  # the first simulation ended at "on"
    assert all(search.edges.visits[row] <= search.edges.availability[row] for row in rows.values())


# Seat 0 goes; seat 1, whose secret is another in every determinization, names a colour.
SECRETS = """
def get_legal_actions(state):
    return [["l", "r"], ["red", "blue"], ["up", "down"], []][len(state["path"])]
def apply_action(state, action):
    return {"secret": state["secret"], "path": state["path"] + [action]}
def get_current_player(state): return (0, 1, 0, -4)[len(state["path"])]
def get_rewards(state):
    won = len(state["path"]) == 3 and (state["path"][1] == "red") == (state["path"][2] == "up")
    return [float(won), float(len(state["path"]) == 3 and not won)]
def get_observations(state): return [{"path": state["path"]}, state]
"""


def test_hidden_states_that_never_repeat_are_searched_as_by_one_observer() -> None:
    rules, found = _rules(SECRETS), []
    for settings in (SETTINGS, SETTINGS.model_copy(update={"opponents": "observer"})):
        search = IsmctsSearch(rules, 0, settings, np.random.default_rng(0))
        for secret in range(400):
            search.simulate({"secret": secret, "path": []})
        found.append((search.result().visits, search.result().means))
    assert found[0] == found[1]


def _rules(source: str, num_players: int = 2) -> Rules:
    return bind(load_namespace(source), num_players)


def test_chance_is_sampled_by_its_probabilities() -> None:
    rules, _, root = game(DIE, 1)
    settings = IsmctsSettings(simulations=4000, exploration=4.0)
    found = ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.best == "safe"
    assert found.means[1] == pytest.approx(0.5, abs=0.2)


def test_every_seat_maximises_its_own_return() -> None:
    rules, _, root = game(THREE, 3)
    settings = IsmctsSettings(exploration=1.0, simulations=2000)
    assert (
        ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0)).best == "A"
    )


@pytest.mark.parametrize("leaf", ["rollout", "value"])
def test_rewards_on_the_way_count(leaf: str) -> None:
    rules, _, root = game(SOON, 1)
    settings = IsmctsSettings(
        exploration=1.0, simulations=50, leaf="value" if leaf == "value" else "rollout"
    )
    found = ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0))
    assert found.means == (3.0, 4.0)


def test_without_hidden_information_it_finds_the_forced_win() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    settings = IsmctsSettings(exploration=1.0, simulations=500)
    assert (
        ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0)).best == "2"
    )


def test_wide_information_sets_are_searched_with_arrays() -> None:
    source = """
def get_current_player(state): return -4 if state["chosen"] >= 0 else 0
def get_legal_actions(state): return [] if state["chosen"] >= 0 else [str(i) for i in range(90)]
def apply_action(state, action): return {"chosen": int(action)}
def get_rewards(state): return [1.0 if state["chosen"] == 71 else 0.0]
def get_observations(state): return [state]
"""
    settings = IsmctsSettings(exploration=1.0, simulations=400)
    chosen = ismcts(
        SearchView(_rules(source, 1), 0, lambda: {"chosen": -1}), settings, np.random.default_rng(0)
    )
    assert chosen.best == "71"


def test_the_same_generator_gives_the_same_search() -> None:
    rules, _, _ = game(KUHN)
    settings = IsmctsSettings(exploration=1.0, simulations=200)
    first, second = (
        ismcts(SearchView(rules, 1, dealt("Q", 1, "b")), settings, np.random.default_rng(4))
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    "settings", [SETTINGS, MoismctsSettings(simulations=400)], ids=["one", "all"]
)
def test_what_known_states_spare_changes_nothing(settings: TreeSettings) -> None:
    rules, _, _ = game(KUHN)
    found = []
    for interns in (True, False):
        search = IsmctsSearch(rules, 1, settings, np.random.default_rng(4))
        search.room *= interns
        deal = dealt("Q", 1, "b")
        for _ in range(400):
            search.simulate(deal())
        found.append((search.result().visits, search.result().means, len(search.nodes)))
        applied = search.applied
        # Two deals, and the two actions of one bet: a module is asked for each once, else always.
        assert applied == (4 if interns else 400)
    assert found[0] == found[1]


def test_large_states_that_never_repeat_are_not_kept_for_ever() -> None:
    """A worker may have 64 MiB; each of these states takes 64 KiB, a simulation."""
    source = """
def get_current_player(state): return -4 if state["chosen"] >= 0 else 0
def get_legal_actions(state): return [] if state["chosen"] >= 0 else ["0", "1"]
def apply_action(state, action): return {**state, "chosen": int(action)}
def get_rewards(state): return [float(state["chosen"] == 1)]
def get_observations(state): return [{"chosen": state["chosen"]}]
"""
    search = IsmctsSearch(_rules(source, 1), 0, SETTINGS, np.random.default_rng(0))
    for number in range(300):
        search.simulate({"chosen": -1, "hidden": f"{number}" + "x" * 2**16})
    kept = [*search.states.values()]
    assert sum(len(key) for key in search.states) <= 4 * 2**20
    assert len(kept) + sum(len(met.next) for met in kept) <= 64
    assert search.result().best == "1"


def test_a_determinization_with_another_seat_to_move_is_refused() -> None:
    rules, _, _ = game(KUHN)
    with pytest.raises(ValueError, match="required: seat 1"):
        ismcts(
            SearchView(rules, 1, dealt("Q", 1, "")),
            IsmctsSettings(exploration=1.0),
            np.random.default_rng(0),
        )


def test_a_missing_value_function_is_named() -> None:
    rules, _, _ = game(KUHN)
    with pytest.raises(ModuleFault, match="value_function"):
        ismcts(
            SearchView(rules, 1, dealt("Q", 1, "b")),
            IsmctsSettings(exploration=1.0, leaf="value"),
            np.random.default_rng(0),
        )
