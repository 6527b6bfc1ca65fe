from collections.abc import Callable

import numpy as np
import pytest

from agents.search.ismcts import IsmctsSearch, IsmctsSettings, MoismctsSettings
from agents.search.ismcts import decide as ismcts
from agents.search.settings import SearchView
from games.modules import bind, load_namespace
from games.values import State
from tests.agents.search.test_ismcts import dealt
from tests.agents.small_games import KUHN, PENNIES, THREE, TIC_TAC_TOE, game


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("seat", "bets"), [(0, "pb"), (1, "b")])
def test_never_folds_the_king_nor_calls_with_the_jack(seat: int, bets: str, seed: int) -> None:
    # Kuhn (1950): both are dominated at every decision.
    rules, _, _ = game(KUHN)
    settings = MoismctsSettings(exploration=1.0, simulations=600)
    for own, expected in (("K", "b"), ("J", "p")):
        generator = np.random.default_rng(seed)
        assert (
            ismcts(SearchView(rules, seat, dealt(own, seat, bets)), settings, generator).best
            == expected
        )


def hands() -> Callable[[], State]:
    generator = np.random.default_rng(1)
    return lambda: {"hand": "AB"[generator.integers(2)], "path": ""}


# Seat 0 goes or stays (0.7 each); if it goes, seat 1, who alone sees its hand A or B, names it for
# a point or misses it, which gives the point to seat 0. Seat 1 names it always, so going pays 0.
NAMING = """
def get_current_player(state): return (0 if not state["path"] else
    1 if state["path"] == "g" else -4)
def get_legal_actions(state): return [["go", "stay"], ["A", "B"], []][
    {0: 0, 1: 1, -4: 2}[get_current_player(state)]]
def apply_action(state, action): return {"hand": state["hand"], "path": state["path"] + action[0]}
def get_rewards(state):
    if state["path"] == "s": return [0.3, 0.7]
    if len(state["path"]) < 2: return [0.0, 0.0]
    return [0.0, 1.0] if state["path"][1] == state["hand"] else [1.0, 0.0]
def get_observations(state): return [{"path": state["path"][:1]}, state]
"""


def test_an_opponent_decides_by_what_it_sees_itself() -> None:
    rules = bind(load_namespace(NAMING), 2)
    settings = MoismctsSettings(exploration=1.0, simulations=3000)
    several = ismcts(SearchView(rules, 0, hands()), settings, np.random.default_rng(0))
    own = IsmctsSettings(exploration=1.0, simulations=3000)
    seen = ismcts(SearchView(rules, 0, hands()), own, np.random.default_rng(0))
    alone = own.model_copy(update={"opponents": "observer"})
    single = ismcts(SearchView(rules, 0, hands()), alone, np.random.default_rng(0))
    # One observer gives seat 1 one choice for both hands, which is wrong half of the time.
    assert single.best == "go"
    assert single.means[0] == pytest.approx(0.5, abs=0.1)
    assert (several.best, seen.best) == ("stay", "stay")
    assert seen.means[0] is not None
    assert seen.means[0] < 0.2
    assert several.means[0] is not None
    assert several.means[0] < 0.2


def test_availability_is_counted_in_the_tree_of_the_seat_that_moves() -> None:
    rules = bind(load_namespace(NAMING), 2)
    search = IsmctsSearch(rules, 0, MoismctsSettings(exploration=1.0), np.random.default_rng(0))
    for number in range(400):
        search.simulate({"hand": "AB"[number % 2], "path": ""})
    own = [node for node in search.nodes if node[1] == 1]
    assert len(own) == 2  # one for each hand that seat 1 may see
    for node in own:
        rows = list(search.nodes[node].values())
        visits = sum(search.edges.visits[row] for row in rows)
        assert {search.edges.availability[row] for row in rows} == {visits}


def test_hidden_commits_of_an_opponent_stay_hidden() -> None:
    rules, _, start = game(PENNIES)
    found = ismcts(
        SearchView(rules, 0, lambda: start),
        MoismctsSettings(exploration=1.0),
        np.random.default_rng(0),
    )
    assert found.nodes == 3  # as with one observer: seat 0 guesses at one node


def test_every_seat_maximises_its_own_return() -> None:
    rules, _, root = game(THREE, 3)
    settings = MoismctsSettings(exploration=1.0, simulations=2000)
    assert (
        ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0)).best == "A"
    )


def test_without_hidden_information_it_finds_the_forced_win() -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    settings = MoismctsSettings(exploration=1.0, simulations=500)
    assert (
        ismcts(SearchView(rules, 0, lambda: root), settings, np.random.default_rng(0)).best == "2"
    )
