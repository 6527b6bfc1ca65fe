import pyspiel
import pytest

from games import library
from games.contract import Game
from games.values import TERMINAL, Action, IllegalActionError, ModuleFault, State
from tests.games.library.lockstep import Pairing, by_text, play_in_lockstep
from tests.games.library.table import after, load, mean_against_random, unpassed


def _cell_text(action: Action, player: int) -> str:
    row, column = action[2:].split(",")
    return f"{'xo'[player]}({int(row) - 1},{int(column) - 1})"


def test_random_matches_agree_with_openspiel_in_lockstep() -> None:
    compared = play_in_lockstep(
        library.source("tic_tac_toe"),
        parameters={},
        num_players=2,
        spiel=pyspiel.load_game("tic_tac_toe"),
        pairing=Pairing(by_text(_cell_text)),
        matches=300,
    )
    assert compared >= 300 * 5


def _value(game: Game, state: State, known: dict[str, float]) -> float:
    """Minimax value for seat 0."""
    key = str(state)
    if key not in known:
        player = game.current_player(state)
        if player == TERMINAL:
            known[key] = game.rewards(state, 2)[0]
        else:
            values = [
                _value(game, game.apply_action(state, action), known)
                for action in game.legal_actions(state)
            ]
            known[key] = max(values) if player == 0 else min(values)
    return known[key]


@pytest.mark.parametrize(("misere", "value"), [(False, 0), (True, 0)])
def test_perfect_play_draws_with_and_without_misere(misere: bool, value: int) -> None:
    game = load("tic_tac_toe")
    assert _value(game, game.initial_state(2, {"misere": misere}), {}) == value


def test_the_first_player_wins_wild_tic_tac_toe() -> None:
    game = load("tic_tac_toe")
    assert _value(game, game.initial_state(2, {"wild": True}), {}) == 1


@pytest.mark.parametrize("size", [3, 4, 5])
def test_every_full_line_ends_the_game(size: int) -> None:
    game = load("tic_tac_toe")
    span = range(1, size + 1)
    lines = [[(row, column) for column in span] for row in span]
    lines += [[(row, column) for row in span] for column in span]
    lines += [[(step, step) for step in span], [(step, size + 1 - step) for step in span]]
    for line in lines:
        others = [(r, c) for r in span for c in span if (r, c) not in line]
        state = game.initial_state(2, {"size": size, "wild": True})
        for cell, other in zip(line[:-1], others, strict=False):
            # Alternate marks elsewhere, so that only the line itself is ever full.
            filler = "o" if sum(other) % 2 else "x"
            moves = [f"x {cell[0]},{cell[1]}", f"{filler} {other[0]},{other[1]}"]
            state = after(game, state, moves)
            if game.current_player(state) == TERMINAL:
                break
        else:
            state = game.apply_action(state, f"x {line[-1][0]},{line[-1][1]}")
            assert game.rewards(state, 2) == [1, -1]


def test_each_player_has_one_mark_unless_the_game_is_wild() -> None:
    game = load("tic_tac_toe")
    state = game.initial_state(2, {})
    assert {action[0] for action in game.legal_actions(state)} == {"x"}
    with pytest.raises(IllegalActionError, match="not legal"):
        game.apply_action(state, "o 1,1")
    wild = game.initial_state(2, {"wild": True})
    assert len(game.legal_actions(wild)) == 18


@pytest.mark.parametrize("action", ["", "x", "x 4,1", "x1,1", "xx 1,1", "x 1,1 "])
def test_malformed_actions_are_refused(action: str) -> None:
    game = load("tic_tac_toe")
    with pytest.raises(IllegalActionError):
        game.apply_action(game.initial_state(2, {}), action)


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"size": 6}, "size"),
        (2, {"size": 3.0}, "size"),
        (2, {"toroidal": True}, "known: size"),
        (3, {}, "exactly 2"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, int], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("tic_tac_toe").initial_state(players, parameters)


@pytest.mark.parametrize(
    "parameters", [{}, {"size": 4, "misere": True}, {"size": 5}, {"wild": True, "misere": True}]
)
def test_variants_pass_every_check(parameters: dict[str, int]) -> None:
    assert unpassed("tic_tac_toe", 2, parameters) == []


@pytest.mark.parametrize("name", ["complete_or_block", "centre_and_corners"])
def test_heuristics_beat_random_play(name: str) -> None:
    mine, _ = mean_against_random("tic_tac_toe", name)
    assert mine > 0.25


@pytest.mark.parametrize("parameters", [{"misere": True}, {"wild": True}])
def test_completing_or_blocking_beats_random_play_in_variants(parameters: dict[str, bool]) -> None:
    mine, _ = mean_against_random("tic_tac_toe", "complete_or_block", parameters=parameters)
    assert mine > 0.25
