import random
from collections import Counter
from typing import cast

import pyspiel
import pytest

from games import library
from games.contract import Game
from games.values import CHANCE, TERMINAL, Action, IllegalActionError, Json, ModuleFault
from games.values import State as GameState
from tests.games.library.lockstep import Pairing, by_text, play_in_lockstep
from tests.games.library.table import after, load, mean_against_random, unpassed


def _text(action: Action, _player: int) -> str:
    return action.replace("face", "Roll")


@pytest.mark.parametrize(("players", "target"), [(2, 100), (2, 20), (3, 30)])
def test_pig_agrees_with_openspiel_in_lockstep(players: int, target: int) -> None:
    spiel = pyspiel.load_game("pig", {"players": players, "winscore": target, "horizon": 1_000_000})
    play_in_lockstep(
        library.source("push_your_luck"),
        parameters={"target_score": target, "max_turns": 5000},
        num_players=players,
        spiel=spiel,
        pairing=Pairing(by_text(_text)),
        matches=200,
    )


def _after(moves: list[str], players: int = 2, **parameters: Json) -> tuple[Game, GameState]:
    game = load("push_your_luck")
    return game, after(game, game.initial_state(players, parameters), moves)


def test_stopping_keeps_the_points_of_the_turn() -> None:
    _, state = _after(["roll", "face 4", "roll", "face 6", "stop"])
    assert state["scores"] == [10, 0]
    assert state["player"] == 1


def test_the_bust_face_loses_the_turn_but_not_the_score() -> None:
    moves = ["roll", "face 4", "stop", "stop", "roll", "face 6", "roll", "face 1"]
    _, state = _after(moves)
    assert state["scores"] == [4, 0]
    assert state["player"] == 1


@pytest.mark.parametrize(("double_bust", "score"), [(True, 0), (False, 7)])
def test_two_bust_faces_lose_the_score_only_with_the_double_bust(
    double_bust: bool, score: int
) -> None:
    moves = ["roll", "face 3", "face 4", "stop", "stop", "roll", "face 1", "face 1"]
    _, state = _after(moves, dice=2, double_bust=double_bust)
    assert state["scores"] == [score, 0]


def test_the_bonus_face_counts_double() -> None:
    _, state = _after(["roll", "face 6", "roll", "face 5", "stop"], bonus_face=6)
    assert state["scores"] == [17, 0]


def test_the_rolls_of_a_turn_are_limited() -> None:
    game, state = _after(["roll", "face 2", "roll", "face 2"], max_rolls=2)
    assert game.legal_actions(state) == ["stop"]
    with pytest.raises(IllegalActionError, match="legal: stop"):
        game.apply_action(state, "roll")


@pytest.mark.parametrize(("final_round", "legal"), [(False, ["stop"]), (True, ["roll", "stop"])])
def test_whoever_reaches_the_target_must_stop_unless_the_round_goes_on(
    final_round: bool, legal: list[str]
) -> None:
    game, state = _after(["roll", "face 5"], target_score=5, final_round=final_round)
    assert game.legal_actions(state) == legal


def test_a_turn_must_begin_with_a_roll_where_the_rule_says_so() -> None:
    game, state = _after([], must_roll=True)
    assert game.legal_actions(state) == ["roll"]
    assert game.legal_actions(after(game, state, ["roll", "face 3"])) == ["roll", "stop"]


@pytest.mark.parametrize(("final_round", "returns"), [(False, [1, -1]), (True, [-1, 1])])
def test_the_final_round_gives_the_last_player_a_last_turn(
    final_round: bool, returns: list[int]
) -> None:
    game, state = _after(
        ["roll", "face 5", "stop"], target_score=5, final_round=final_round, sides=6
    )
    if final_round:
        assert game.current_player(state) == 1
        state = after(game, state, ["roll", "face 6", "stop"])
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == returns


def test_the_turn_limit_ends_the_match_with_shared_wins() -> None:
    three = ["roll", "face 3", "stop"]
    game, state = _after([*three, *three, *["stop"] * 8], players=3, max_turns=10)
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 3) == [0.5, 0.5, -1]


def test_a_repeated_card_busts() -> None:
    game, state = _after(["draw", "card 3", "draw", "card 2", "draw"], kind="cards")
    busted = game.apply_action(state, "card 3")
    assert busted["scores"] == [0, 0]
    assert busted["player"] == 1
    kept = after(game, state, ["card 8", "stop"])
    assert kept["scores"] == [13, 0]


def test_cards_are_drawn_in_proportion_to_the_copies_left() -> None:
    game, state = _after(["draw", "card 3", "draw"], kind="cards", highest_card=3)
    assert game.current_player(state) == CHANCE
    legal = game.legal_actions(state)
    chances = dict(zip(legal, game.chance_probabilities(state, legal), strict=True))
    # The deck was 1, 2, 2, 3, 3, 3 before the first 3 was drawn.
    assert chances == pytest.approx({"card 1": 1 / 5, "card 2": 2 / 5, "card 3": 2 / 5})


def test_cards_are_neither_made_nor_lost() -> None:
    game, rng = load("push_your_luck"), random.Random(5)
    state = game.initial_state(3, {"kind": "cards", "highest_card": 4, "copies": 2})
    start = Counter(cast("list[str]", state["deck"]))
    while legal := game.legal_actions(state):
        state = game.apply_action(state, rng.choice(legal))
        zones = [cast("list[str]", state[zone]) for zone in ("deck", "table", "discards")]
        assert sum((Counter(zone) for zone in zones), Counter()) == start


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"bust_face": 7}, "allowed: 0 to 6"),
        (2, {"bust_face": 0}, "ever end a turn"),
        (2, {"double_bust": True}, "two dice"),
        (2, {"kind": "coins"}, "dice"),
        (2, {"coins": 2}, "known: kind"),
        (9, {}, "num_players"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, Json], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("push_your_luck").initial_state(players, parameters)


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (2, {}),
        (4, {"dice": 2, "double_bust": True, "bonus_face": 6, "sides": 8}),
        (3, {"kind": "cards", "target_score": 50, "final_round": True}),
        (2, {"kind": "cards", "copies": 2, "highest_card": 3, "must_roll": True}),
        (8, {"bust_face": 0, "max_rolls": 3}),
    ],
)
def test_variants_pass_every_check(players: int, parameters: dict[str, Json]) -> None:
    assert unpassed("push_your_luck", players, parameters) == []


@pytest.mark.parametrize("name", ["expected_gain", "hold_at_a_fifth"])
@pytest.mark.parametrize("parameters", [{}, {"kind": "cards"}, {"dice": 2, "double_bust": True}])
def test_heuristics_beat_random_play(name: str, parameters: dict[str, Json]) -> None:
    mine, _ = mean_against_random("push_your_luck", name, parameters=parameters)
    assert mine > 0.25
