from typing import cast

import pyspiel
import pytest

from games import library
from games.contract import Game
from games.values import TERMINAL, Action, IllegalActionError, Json, ModuleFault, State
from tests.games.library.lockstep import Pairing, SpielState, play_in_lockstep
from tests.games.library.table import after, load, mean_against_random, unpassed


def _same_move(action: Action, state: SpielState) -> int:
    player = state.current_player()
    ids = {state.action_to_string(player, a).rstrip("*"): a for a in state.legal_actions()}
    return ids[action.replace("-", "").replace("x", "")]


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (6, 5)])
def test_breakthrough_agrees_with_openspiel_in_lockstep(rows: int, columns: int) -> None:
    compared = play_in_lockstep(
        library.source("capture"),
        parameters={"rows": rows, "columns": columns},
        num_players=2,
        spiel=pyspiel.load_game(f"breakthrough(rows={rows},columns={columns})"),
        pairing=Pairing(_same_move),
        matches=200,
    )
    assert compared > 200 * 10


def _start(game: Game, board: list[str], **parameters: Json) -> State:
    """A position with Player 1 (b, moving down) to move."""
    rules: dict[str, Json] = {"rows": len(board), "columns": len(board[0]), "ranks": 1}
    seen = game.observations(game.initial_state(2, {**rules, **parameters}), 2)[0]
    history: list[Json] = [[{**seen, "board": list(board)}, None]]
    return cast("State", game.module.call("resample_state", history, 0))


def test_pieces_move_forward_and_take_only_diagonally() -> None:
    game = load("capture")
    state = _start(game, ["...", ".b.", "ww.", "..."])
    assert sorted(game.legal_actions(state)) == ["b3-c2", "b3xa2"]


def test_straight_capture_takes_straight_ahead_too() -> None:
    game = load("capture")
    state = _start(game, ["...", ".b.", "ww.", "..."], straight_capture=True)
    assert sorted(game.legal_actions(state)) == ["b3-c2", "b3xa2", "b3xb2"]


def test_backward_pieces_move_and_take_both_ways() -> None:
    game = load("capture")
    state = _start(game, ["w.w", ".b.", "...", "..."], backward=True)
    wanted = ["b3-a2", "b3-b2", "b3-b4", "b3-c2", "b3xa4", "b3xc4"]
    assert sorted(game.legal_actions(state)) == wanted


def test_a_forced_capture_leaves_no_other_choice() -> None:
    game = load("capture")
    state = _start(game, ["b..", ".b.", "w..", "..."], forced_capture=True)
    assert game.legal_actions(state) == ["b3xa2"]
    with pytest.raises(IllegalActionError, match="not legal"):
        game.apply_action(state, "a4-a3")


@pytest.mark.parametrize(
    ("win_by", "ended"), [("breakthrough", True), ("both", True), ("capture_all", False)]
)
def test_the_far_row_wins_unless_only_captures_count(win_by: str, ended: bool) -> None:
    game = load("capture")
    state = _start(game, ["...", "..w", "b..", "..."], win_by=win_by)
    state = game.apply_action(state, "a2-a1")
    assert (game.current_player(state) == TERMINAL) is ended
    assert game.rewards(state, 2) == ([1, -1] if ended else [0, 0])


@pytest.mark.parametrize("win_by", ["breakthrough", "both", "capture_all"])
def test_taking_the_last_piece_wins(win_by: str) -> None:
    game = load("capture")
    state = _start(game, ["...", ".b.", "w..", "..."], win_by=win_by)
    assert game.rewards(game.apply_action(state, "b3xa2"), 2) == [1, -1]


@pytest.mark.parametrize(
    ("win_by", "returns"), [("breakthrough", [1, -1]), ("capture_all", [-1, 1])]
)
def test_a_player_without_a_move_loses_or_the_pieces_are_counted(
    win_by: str, returns: list[int]
) -> None:
    game = load("capture")
    # Both white pieces stand on their far row and have no way forward.
    state = _start(game, ["ww", "b.", "..", ".."], win_by=win_by)
    assert game.rewards(game.apply_action(state, "a3-a2"), 2) == returns


def test_the_move_limit_counts_the_pieces() -> None:
    game = load("capture")
    parameters = {"rows": 8, "columns": 4, "backward": True, "max_moves": 10}
    state = game.initial_state(2, parameters)
    back_and_forth = ["a7-a6", "a2-a3", "a6-a7", "a3-a2"] * 3
    state = after(game, state, back_and_forth[:10])
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == [0, 0]


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"rows": 4}, "at most 1"),
        (2, {"win_by": "luck"}, "breakthrough"),
        (2, {"dice": 2}, "known: rows"),
        (3, {}, "exactly 2"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, int], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("capture").initial_state(players, parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"win_by": "capture_all", "forced_capture": True},
        {"backward": True, "straight_capture": True, "win_by": "capture_all", "columns": 5},
        {"rows": 3, "columns": 2, "ranks": 1, "win_by": "both"},
    ],
)
def test_variants_pass_every_check(parameters: dict[str, int]) -> None:
    assert unpassed("capture", 2, parameters) == []


@pytest.mark.parametrize("name", ["advance_safely", "take_first"])
def test_heuristics_beat_random_play(name: str) -> None:
    mine, _ = mean_against_random("capture", name)
    assert mine > 0.25


def test_advancing_safely_beats_random_play_when_captures_decide() -> None:
    parameters: dict[str, Json] = {"rows": 4, "columns": 6, "ranks": 1, "win_by": "capture_all"}
    mine, _ = mean_against_random("capture", "advance_safely", parameters=parameters)
    assert mine > 0.25
