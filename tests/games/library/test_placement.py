import random

import pyspiel
import pytest

from games import library
from games.values import TERMINAL, Action, IllegalActionError, ModuleFault
from tests.games.library.lockstep import Pairing, by_text, play_in_lockstep
from tests.games.library.table import after, load, mean_against_random, unpassed

FLAT = {"rows": 3, "columns": 3, "connect": 3, "gravity": False}


def _cell_text(action: Action, player: int) -> str:
    row, column = action.removeprefix("place ").split(",")
    return f"{'xo'[player]}({int(row) - 1},{int(column) - 1})"


def test_connect_four_agrees_with_openspiel_in_lockstep() -> None:
    pairing = Pairing(by_text(lambda action, player: f"{'xo'[player]}{int(action[5:]) - 1}"))
    compared = play_in_lockstep(
        library.source("connect_four"),
        parameters={},
        num_players=2,
        spiel=pyspiel.load_game("connect_four"),
        pairing=pairing,
        matches=300,
    )
    assert compared > 300 * 7


def test_six_by_six_with_lines_of_four_agrees_with_openspiel_in_lockstep() -> None:
    compared = play_in_lockstep(
        library.source("placement"),
        parameters={"rows": 6, "columns": 6, "connect": 4, "gravity": False},
        num_players=2,
        spiel=pyspiel.load_game("mnk(m=6,n=6,k=4)"),
        pairing=Pairing(by_text(_cell_text)),
        matches=200,
    )
    assert compared > 200 * 7


def test_a_dropped_mark_falls_onto_the_marks_below() -> None:
    game = load("connect_four")
    state = after(game, game.initial_state(2, {}), ["drop 4", "drop 4", "drop 4"])
    board = game.observations(state, 2)[0]["board"]
    assert board == [".......", ".......", ".......", "...x...", "...o...", "...x..."]


def test_a_full_column_takes_no_more_marks() -> None:
    game = load("connect_four")
    state = after(game, game.initial_state(2, {}), ["drop 1"] * 6)
    assert game.legal_actions(state) == [f"drop {column}" for column in range(2, 8)]
    with pytest.raises(IllegalActionError, match="not legal"):
        game.apply_action(state, "drop 1")


@pytest.mark.parametrize(
    "own",
    [["1,1", "1,2", "1,3"], ["1,2", "2,2", "3,2"], ["1,1", "2,2", "3,3"], ["1,3", "2,2", "3,1"]],
)
def test_a_line_wins_in_every_direction_whichever_mark_comes_last(own: list[str]) -> None:
    game = load("placement")
    cells = [f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
    # Two cells of the rest never make a line of three for the other player.
    other = [cell for cell in cells if cell not in own][:2]
    for rotation in range(3):
        order = own[rotation:] + own[:rotation]
        moves = [order[0], other[0], order[1], other[1], order[2]]
        state = after(game, game.initial_state(2, FLAT), [f"place {cell}" for cell in moves])
        assert game.current_player(state) == TERMINAL
        assert game.rewards(state, 2) == [1, -1]


def test_completing_a_line_loses_in_misere() -> None:
    game = load("placement")
    moves = ["place 1,1", "place 2,1", "place 1,2", "place 2,2", "place 1,3"]
    state = after(game, game.initial_state(2, {**FLAT, "misere": True}), moves)
    assert game.rewards(state, 2) == [-1, 1]


@pytest.mark.parametrize(("wrap", "ended"), [(True, True), (False, False)])
def test_lines_cross_the_side_edges_only_on_a_cylinder(wrap: bool, ended: bool) -> None:
    game = load("placement")
    parameters = {"rows": 4, "columns": 5, "connect": 3, "gravity": False, "wrap": wrap}
    moves = ["place 1,5", "place 4,1", "place 2,1", "place 4,3", "place 3,2"]
    state = after(game, game.initial_state(2, parameters), moves)
    assert (game.current_player(state) == TERMINAL) is ended


@pytest.mark.parametrize(("exact", "ended"), [(True, False), (False, True)])
def test_an_overline_counts_unless_lines_are_exact(exact: bool, ended: bool) -> None:
    game = load("placement")
    parameters = {"rows": 2, "columns": 7, "connect": 3, "gravity": False, "exact": exact}
    moves = ["1,1", "2,1", "1,2", "2,3", "1,4", "2,5", "1,5", "2,7", "1,3"]
    state = after(game, game.initial_state(2, parameters), [f"place {cell}" for cell in moves])
    assert (game.current_player(state) == TERMINAL) is ended


def test_two_marks_a_turn_go_one_then_two_and_two() -> None:
    game = load("placement")
    state = game.initial_state(2, {"rows": 9, "columns": 9, "connect": 6, "marks_per_turn": 2})
    seats = []
    for _ in range(7):
        seats.append(game.current_player(state))
        state = game.apply_action(state, "drop " + str(1 + len(seats)))
    assert seats == [0, 1, 1, 0, 0, 1, 1]


def test_a_swap_hands_the_first_mark_over_and_the_turn_back() -> None:
    game = load("placement")
    state = game.initial_state(2, {**FLAT, "pie": True})
    assert "swap" not in game.legal_actions(state)
    state = game.apply_action(state, "place 2,2")
    assert "swap" in game.legal_actions(state)
    state = game.apply_action(state, "swap")
    assert game.observations(state, 2)[0]["board"] == ["...", ".o.", "..."]
    assert game.current_player(state) == 0
    assert "swap" not in game.legal_actions(state)
    moves = ["place 1,2", "place 1,1", "place 2,1", "place 3,3"]
    assert game.rewards(after(game, state, moves), 2) == [-1, 1]


def test_declining_the_swap_ends_the_offer() -> None:
    game = load("placement")
    state = after(game, game.initial_state(2, {"pie": True}), ["drop 1", "drop 2"])
    assert "swap" not in game.legal_actions(state)
    assert game.current_player(state) == 0


def test_a_full_board_without_a_line_is_a_draw() -> None:
    game = load("placement")
    cells = ["1,1", "1,2", "1,3", "2,2", "2,1", "2,3", "3,2", "3,1", "3,3"]
    state = after(game, game.initial_state(2, FLAT), [f"place {cell}" for cell in cells])
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == [0, 0]


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"rows": 1}, "rows"),
        (2, {"gravity": 1}, "gravity"),
        (2, {"connect": 8}, "at most 7"),
        (2, {"colour": "red"}, "known: rows"),
        (3, {"pie": True}, "exactly 2"),
        (5, {}, "num_players"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, int], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("placement").initial_state(players, parameters)


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (2, {}),
        (4, {"rows": 8, "columns": 8, "gravity": False, "wrap": True, "exact": True}),
        (3, {"misere": True, "marks_per_turn": 2}),
        (2, {"pie": True, "gravity": False, "rows": 3, "columns": 3, "connect": 3}),
        (2, {"pie": True, "rows": 2, "columns": 2, "connect": 2}),
    ],
)
def test_variants_pass_every_check(players: int, parameters: dict[str, int]) -> None:
    assert unpassed("placement", players, parameters) == []


@pytest.mark.parametrize("name", ["open_lines", "centre"])
def test_heuristics_beat_random_play_at_connect_four(name: str) -> None:
    mine, _ = mean_against_random("placement", name)
    assert mine > 0.25  # 3.5 standard errors of 200 returns of +-1


def test_open_lines_beats_random_play_when_lines_lose() -> None:
    mine, _ = mean_against_random("placement", "open_lines", parameters={**FLAT, "misere": True})
    assert mine > 0.25


def test_random_play_reaches_every_ending() -> None:
    game, ends = load("connect_four"), set()
    for match in range(400):
        rng = random.Random(match)
        state = game.initial_state(2, {})
        while legal := game.legal_actions(state):
            state = game.apply_action(state, rng.choice(legal))
        ends.add(tuple(game.rewards(state, 2)))
    assert ends == {(1, -1), (-1, 1), (0, 0)}
