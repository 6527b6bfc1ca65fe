"""Value functions and models that compete inside a model."""

from pathlib import Path

import pytest

from agents.players.registry import PlayerRoster
from agents.strategy.models import ModelContest, choose_value, reject_models
from games.values import ModuleFault
from tests.learned import model_file

# Who is to move at a heap of 4, 8, 12... stones loses against one who knows it (Bouton 1901).
KNOWS = """
def value_function(state, player_id):
    if state["winner"] >= 0:
        return get_rewards(state)[player_id]
    winner = state["seat"] if len(state["heap"]) % 4 else 1 - state["seat"]
    return 1 if winner == player_id else 0
"""
CONFUSED = """
def value_function(state, player_id):
    if get_current_player(state) == -4:
        return get_rewards(state)[player_id]
    return -5.0 if state["board"][4] == "xo"[player_id] else 5.0
"""
ENDLESS = "def value_function(state, player_id):\n    return 0.5\n"
WORDY = "def value_function(state, player_id):\n    return 'good'\n"
FAILING = "def value_function(state, player_id):\n    return state['score']\n"


SKELETON = Path(__file__).parents[3] / "games" / "skeleton" / "game.py"


def contest(folder: Path, *, simulations: int = 12, deals: int = 4) -> ModelContest:
    return ModelContest(folder, PlayerRoster(), simulations=simulations, rollouts=1, deals=deals)


def test_a_value_function_is_used_only_where_it_wins(tmp_path: Path) -> None:
    model = model_file(tmp_path, "tic_tac_toe").read_text()
    found = choose_value("tic tac toe", model, [CONFUSED], contest(tmp_path / "a", deals=2))
    assert found.chosen is None
    assert found.scores.keys() == {0}
    stones = SKELETON.read_text(encoding="utf-8")
    better = contest(tmp_path / "b", simulations=4, deals=5)
    found = choose_value("last stone", stones, [ENDLESS, KNOWS], better)
    assert (found.chosen, {*found.faults}) == (1, {0})
    again = choose_value("last stone", stones, [ENDLESS, KNOWS], better)
    assert again == found, "from its journal"


@pytest.mark.parametrize(
    ("proposal", "told"),
    [
        (ENDLESS, "at an end that pays"),
        (WORDY, "required: a number"),
        (FAILING, "score"),
        ("def other(): ...", "value_function"),
        ("def value_function(", "unreadable"),
    ],
)
def test_what_is_no_value_function_does_not_enter(tmp_path: Path, proposal: str, told: str) -> None:
    model = model_file(tmp_path, "tic_tac_toe").read_text()
    found = choose_value("tic tac toe", model, [proposal], contest(tmp_path / "a"))
    assert (found.chosen, found.tournament, {*found.faults}) == (None, None, {0})
    assert told in found.faults[0]


def test_a_failure_is_lost_by_both_and_rejects_the_model_that_fails_most(tmp_path: Path) -> None:
    # The third has other names for its actions: its matches with the others end at once.
    renamed = ('{i // 3},{i % 3})"', '{i // 3};{i % 3})"')
    models = {
        "one": model_file(tmp_path, "tic_tac_toe", stem="one"),
        "two": model_file(tmp_path, "tic_tac_toe", stem="two"),
        "renamed": model_file(tmp_path, "tic_tac_toe", renamed, stem="renamed"),
    }
    found = reject_models("tic tac toe", models, contest(tmp_path / "d", deals=3))
    # Three pairs with two hosts each, and three alone; three deals in both seats.
    assert found.matches == 9 * 6
    assert found.failures == {"one": 12, "two": 12, "renamed": 24}
    # A third of what one and two played is lost, and two thirds of the other's: wins and losses
    # among equals cancel, or nearly.
    assert found.means["renamed"] < found.means["one"] - 0.1
    assert found.kept == ("one", "two")


def test_models_none_of_whose_matches_finish_are_not_judged(tmp_path: Path) -> None:
    broken = model_file(tmp_path, "tic_tac_toe", ("won = winner(state", "won = loser(state"))
    found = reject_models("tic tac toe", {"broken": broken}, contest(tmp_path / "e", deals=1))
    assert (found.kept, found.matches) == ((), 2)


def test_a_model_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModuleFault):
        choose_value("nothing", "x = 1", [], contest(tmp_path))
