from dataclasses import replace
from functools import reduce
from operator import xor

import numpy as np
import pytest

from agents.search.alphabeta import AlphaBetaSettings, UnsuitableGameError
from agents.search.alphabeta import decide as alphabeta
from games.modules import bind, load_namespace
from games.values import State
from tests.agents.search.test_tree import position
from tests.agents.small_games import DIE, KUHN, SOON, THREE, TIC_TAC_TOE, game, known

SEED = np.random.default_rng(0)  # asked for by every search; this one draws nothing

# Take any number of counters from one heap; who takes the last one wins (normal play).
NIM = """
def initial_state(num_players): return {"heaps": [1, 2, 3], "turn": 0, "last": -1}
def get_current_player(state): return state["turn"] if any(state["heaps"]) else -4
def get_legal_actions(state):
    return [f"{i} {n}" for i, heap in enumerate(state["heaps"]) for n in range(1, heap + 1)]
def apply_action(state, action):
    heap, taken = map(int, action.split())
    heaps = [h - taken if i == heap else h for i, h in enumerate(state["heaps"])]
    return {"heaps": heaps, "turn": 1 - state["turn"], "last": state["turn"]}
def get_rewards(state):
    if any(state["heaps"]): return [0.0, 0.0]
    return [1.0, -1.0] if state["last"] == 0 else [-1.0, 1.0]
def get_observations(state): return [state, state]
"""


def test_tic_tac_toe_is_a_draw() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    found = alphabeta(known(rules, root), AlphaBetaSettings(), SEED)
    assert max(mean for mean in found.means if mean is not None) == 0.0
    assert found.calls < 30_000  # of 549,945 paths of the whole tree


@pytest.mark.parametrize(
    ("picture", "best", "value"),
    [
        ("xx. oo. ...", {"2"}, 1.0),  # x completes its row
        ("xx. o.. ...", {"2"}, None),  # o must block
        ("x.. .o. ..x", {"1", "3", "5", "7"}, 0.0),  # a corner loses to a fork
        ("x.. ... ...", {"4"}, 0.0),  # only the centre holds
        ("xo. .x. ..o", {"3", "6"}, 1.0),  # both fork
    ],
)
def test_known_positions_of_tic_tac_toe(picture: str, best: set[str], value: float | None) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    found = alphabeta(known(rules, position(picture)), AlphaBetaSettings(), SEED)
    assert found.best in best
    if value is not None:
        assert found.means[found.actions.index(found.best)] == value


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "heaps", [[1], [2, 2], [1, 2, 3], [3, 4], [1, 1, 1], [2, 3, 4], [1, 3, 5], [4, 4, 1], [1, 4, 5]]
)
def test_nim_is_won_unless_the_exclusive_or_of_the_heaps_is_zero(
    heaps: list[int], seat: int
) -> None:
    # Bouton (1901), Nim, a Game with a Complete Mathematical Theory.
    rules = bind(load_namespace(NIM), 2)
    root: State = {"heaps": [*heaps], "turn": seat, "last": 1 - seat}
    found = alphabeta(known(rules, root), AlphaBetaSettings(), SEED)
    value = found.means[found.actions.index(found.best)]
    assert value == (1.0 if reduce(xor, heaps) else -1.0)
    if value == 1.0:
        after = rules.apply_action(root, found.best)["heaps"]
        assert isinstance(after, list)
        assert reduce(xor, map(int, map(str, after))) == 0  # the winning move restores the zero


def test_seats_need_not_alternate_and_payments_on_the_way_count() -> None:
    source = """
PAYS = {"a": 1, "b": 0, "ax": -5, "ay": -2, "bx": 3, "by": 1, "axm": 9, "axn": 4}
def get_current_player(state): return {"": 0, "a": 1, "b": 0, "ax": 1}.get(state["path"], -4)
def get_legal_actions(state):
    return {"": ["a", "b"], "a": ["x", "y"], "b": ["x", "y"], "ax": ["m", "n"]}.get(
        state["path"], [])
def apply_action(state, action): return {"path": state["path"] + action}
def get_rewards(state): pays = PAYS.get(state["path"], 0); return [float(pays), -float(pays)]
def get_observations(state): return [state, state]
"""
    rules = bind(load_namespace(source), 2)
    # a: 1 + min(-5 + min(9, 4), -2) = -1; b: seat 0 again, max(3, 1) = 3.
    found = alphabeta(known(rules, {"path": ""}), AlphaBetaSettings(), SEED)
    assert (found.best, found.means[1]) == ("b", 3.0)
    found = alphabeta(known(rules, {"path": "a"}), AlphaBetaSettings(), SEED)
    assert (found.best, found.means[1]) == ("y", 2.0)  # seat 1's own unit


@pytest.mark.parametrize(
    ("source", "players", "why"),
    [
        (KUHN, 2, "no seat is to move"),
        (DIE, 1, "1 seats; required: two"),
        (THREE, 3, "3 seats; required: two"),
        (SOON, 1, "1 seats"),
    ],
)
def test_other_games_are_refused(source: str, players: int, why: str) -> None:
    rules, _, root = game(source, players)
    with pytest.raises((UnsuitableGameError, ValueError), match=why):
        alphabeta(known(rules, root), AlphaBetaSettings(), SEED)


def test_chance_general_sums_and_large_games_are_refused() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    general = replace(rules, rewards=lambda state: [abs(r) for r in rules.rewards(state)])
    with pytest.raises(UnsuitableGameError, match="required: a zero sum"):
        alphabeta(known(general, root), AlphaBetaSettings(), SEED)
    chance = replace(rules, current_player=lambda s: rules.current_player(s) if s == root else -1)
    with pytest.raises(UnsuitableGameError, match="chance"):
        alphabeta(known(chance, root), AlphaBetaSettings(), SEED)
    with pytest.raises(UnsuitableGameError, match="more than 100 positions"):
        alphabeta(known(rules, root), AlphaBetaSettings(calls=100), SEED)
    with pytest.raises(UnsuitableGameError, match="value_function"):
        alphabeta(known(rules, root), AlphaBetaSettings(depth=2), SEED)


def test_at_the_depth_the_value_function_decides() -> None:
    rules, _, root = game(TIC_TAC_TOE)

    def corners(state: State, seat: int) -> float:
        board = str(state["board"])
        own = sum(board[i] == "xo"[seat] for i in (0, 2, 6, 8))
        return own - sum(board[i] == "ox"[seat] for i in (0, 2, 6, 8))

    valued = replace(rules, value=corners)
    found = alphabeta(known(valued, root), AlphaBetaSettings(depth=1), SEED)
    assert (found.best, found.calls, found.means[0]) == ("0", 9, 1.0)
    found = alphabeta(known(valued, root), AlphaBetaSettings(depth=2), SEED)
    assert found.means[0] == 0.0  # the reply takes a corner as well


@pytest.mark.parametrize("wrong", [{"depth": -1}, {"calls": 0}])
def test_settings_that_cannot_be_followed_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="greater than or equal to"):
        AlphaBetaSettings(**wrong)
