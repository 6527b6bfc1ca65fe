"""The crazy-eights family: rules from hand-made positions, resampling and heuristics."""

import random
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from games import library
from games.contract import Game
from games.engine import Decision, play_match
from games.information import SeatLog
from games.modules import LocalModule
from games.table import GameTable
from games.values import CHANCE, TERMINAL, IllegalActionError, ModuleFault
from tests.games.library.table import beats_random

SOURCE = library.source("shedding")
GAME = Game(LocalModule(SOURCE))
State = dict[str, Any]


def table(hands: list[list[str]], top: str, deck: list[str], **parameters: object) -> State:
    """A position with these hands and pile, Player 1 to move on `top`."""
    state = GAME.initial_state(len(hands), cast("Any", parameters))
    state.update(
        cast(
            "Any",
            {
                "phase": "play",
                "hands": [sorted(hand) for hand in hands],
                "deck": sorted(deck),
                "discards": [top],
                "rank": top[0],
                "suit": top[1],
            },
        )
    )
    return state


def play(state: State, *actions: str) -> State:
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def test_a_card_must_match_suit_or_rank_or_be_wild() -> None:
    state = table([["2C", "9H", "8D", "KS"], ["3C"]], "9C", ["4D"])
    assert GAME.legal_actions(state) == ["play 2C", "play 8D", "play 9H"]


@pytest.mark.parametrize(("match", "legal"), [("suit", "play 2C"), ("rank", "play 9H")])
def test_matching_may_be_limited_to_suit_or_to_rank(match: str, legal: str) -> None:
    state = table([["2C", "9H", "KS"], ["3C"]], "9C", ["4D"], match=match)
    assert GAME.legal_actions(state) == [legal]


def test_a_player_without_a_match_draws_and_may_play_the_card_drawn() -> None:
    state = table([["KS", "QS"], ["3C", "3D"]], "9C", ["4C", "4D"])
    assert GAME.legal_actions(state) == ["draw"]
    assert GAME.legal_actions(play(state, "draw", "draw 4C")) == ["play 4C"]
    assert GAME.legal_actions(play(state, "draw", "draw 4D")) == ["pass"]
    assert GAME.current_player(play(state, "draw", "draw 4D", "pass")) == 1


def test_drawing_goes_on_until_a_card_can_be_played_where_the_rule_says_so() -> None:
    state = table([["KS"], ["3C"]], "9C", ["4D", "5D", "6C"], draw_until_playable=True)
    state = play(state, "draw", "draw 4D", "draw", "draw 5D")
    assert GAME.legal_actions(state) == ["draw"]
    assert GAME.legal_actions(play(state, "draw", "draw 6C")) == ["play 6C"]


def test_a_wild_card_names_the_suit_that_follows() -> None:
    state = table([["8D", "KS"], ["3C", "3H", "KD"]], "9C", ["4D"])
    state = play(state, "play 8D")
    assert GAME.legal_actions(state) == ["name C", "name D", "name H", "name S"]
    state = play(state, "name H")
    assert (GAME.current_player(state), GAME.legal_actions(state)) == (1, ["play 3H"])


def test_special_ranks_skip_turn_around_and_make_the_next_player_draw() -> None:
    special: dict[str, Any] = {"skip_rank": "Q", "reverse_rank": "A", "draw_two_rank": "2"}
    hands = [["QC", "AC", "2C"], ["5H", "5S"], ["6H", "2D"]]
    state = table(hands, "9C", ["4D", "7D", "9D"], **special)
    assert GAME.current_player(play(state, "play QC")) == 2
    assert GAME.current_player(play(state, "play AC")) == 2
    drew = play(state, "play 2C", "draw", "draw 4D", "draw 7D")
    assert (drew["hands"][1], drew["player"]) == (["4D", "5H", "5S", "7D"], 2)
    stacked = play({**state, "hands": [hands[0], ["2H", "5S"], hands[2]]}, "play 2C", "play 2H")
    assert (stacked["owed"], GAME.legal_actions(stacked)) == (4, ["play 2D", "draw"])


def test_without_stacking_penalty_cards_must_be_drawn() -> None:
    state = table([["2C", "3C"], ["2H", "5S"]], "9C", ["4D", "7D"], draw_two_rank="2")
    assert GAME.legal_actions(play(state, "play 2C")) == ["play 2H", "draw"]
    state["rules"] = {**state["rules"], "stacking": False}
    assert GAME.legal_actions(play(state, "play 2C")) == ["draw"]


def test_discards_become_the_new_pile_when_it_runs_out() -> None:
    state = table([["KS", "7C"], ["3H"]], "9C", ["4D"])
    state = play(state, "play 7C")
    state = play(state, "draw", "draw 4D")
    assert (state["deck"], state["discards"]) == (["9C"], ["7C"])


def test_cards_left_cost_their_points() -> None:
    # 8 costs 50, a king 10, an ace 1 and a five 5: the usual crazy-eights values.
    state = play(table([["2C"], ["8D", "KS", "AH", "5C"]], "9C", ["4D"]), "play 2C")
    assert GAME.current_player(state) == TERMINAL
    assert GAME.rewards(state, 2) == [0, -66]
    collected = table([["2C"], ["KS"], ["3D"]], "9C", ["4D"], winner_collects=True)
    assert GAME.rewards(play(collected, "play 2C"), 3) == [13, -10, -3]
    single = table([["2C"], ["KS"], ["3D"]], "9C", ["4D"], penalty_points=False)
    assert GAME.rewards(play(single, "play 2C"), 3) == [1, 0, 0]


def test_passes_that_outnumber_the_players_block_the_deal() -> None:
    state = table([["KS"], ["3H"]], "9C", [], penalty_points=False)
    state = play(state, "pass", "pass")
    assert GAME.current_player(state) == 0
    state = play(state, "pass")
    assert (GAME.current_player(state), GAME.rewards(state, 2)) == (TERMINAL, [0, 1])


def test_a_target_score_ends_the_match_and_the_deal_moves_on_before() -> None:
    state = table([["2C"], ["KS"], ["3D"]], "9C", ["4D"], target_score=20)
    state = play(state, "play 2C")
    assert (GAME.current_player(state), state["scores"]) == (CHANCE, [0, -10, -3])
    assert (state["dealer"], state["player"]) == (0, 1)
    state.update(
        phase="play", player=0, hands=[["2C"], ["KS"], ["3D"]], discards=["9C"], suit="C", rank="9"
    )
    state = play(state, "play 2C")
    assert (GAME.current_player(state), state["scores"]) == (TERMINAL, [0, -20, -6])


@pytest.mark.parametrize(
    ("players", "parameters", "words"),
    [
        (2, {"hand": 5}, "known: hand_size"),
        (2, {"hand_size": 99}, "allowed"),
        (2, {"match": "colour"}, "suit_or_rank"),
        (2, {"must_play": 1}, "must_play is 1"),
        (8, {"hand_size": 7, "decks": 1}, "at most 5"),
        (2, {"skip_rank": "8"}, "each must be different"),
        (2, {"deck": "short", "draw_two_rank": "2"}, "short deck"),
        (9, {}, "allowed: 2 to 8"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(
    players: int, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModuleFault, match=words):
        GAME.initial_state(players, parameters)


def test_an_illegal_action_is_refused_and_the_state_left_alone() -> None:
    state = table([["2C", "9H", "KS"], ["3C"]], "9C", ["4D"])
    before = repr(state)
    for action in ("play KS", "play 3C", "pass", "draw 4D", "name H", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, action)
    GAME.apply_action(state, "play 2C")
    assert repr(state) == before


VARIED: list[tuple[int, dict[str, Any]]] = [
    (2, {}),
    (4, {"skip_rank": "Q", "reverse_rank": "A", "draw_two_rank": "2", "hand_size": 5}),
    (3, {"must_play": False, "draws_per_turn": 3, "reshuffle": False}),
    (6, {"draw_until_playable": True, "match": "suit", "direction": "counterclockwise"}),
    (3, {"target_score": 60, "deck": "short", "draw_two_rank": "7", "penalty_cards": 3}),
]


class RandomPlayer:
    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[int(generator.integers(len(legal)))])


@pytest.mark.parametrize(("players", "parameters"), VARIED)
def test_a_resampled_state_looks_the_same_to_its_player(
    players: int, parameters: dict[str, Any]
) -> None:
    resample = cast("Any", GAME.module).namespace["resample_state"]
    for number in range(3):
        match = play_match(
            GameTable(GAME),
            [RandomPlayer() for _ in range(players)],
            parameters=parameters,
            seed=5,
            match=number,
            max_plies=4000,
        )
        assert match.ending == "finished"
        for ply in match.plies[::5]:
            for seat in range(players):
                seen = GAME.observations(ply.state, players)[seat]
                random.seed(number)
                state = resample([[seen, None]], seat)
                assert GAME.observations(state, players)[seat] == seen
                assert cards(state) == cards(ply.state)
                if ply.player == seat:
                    assert GAME.legal_actions(state) == list(ply.legal)


def cards(state: State) -> list[str]:
    return sorted([*state["deck"], *state["discards"], *(c for h in state["hands"] for c in h)])


def test_resampling_respects_what_a_player_could_not_match() -> None:
    hands = [["KS", "7C"], ["3H", "4H", "KD"]]
    rest = set(cast("list[str]", GAME.initial_state(2, {})["deck"])) - {
        "KS",
        "7C",
        "3H",
        "4H",
        "KD",
        "9C",
    }
    state = table(hands, "9C", sorted(rest))
    state = play(state, "play 7C", "draw", "draw 4D", "pass")
    resample = cast("Any", GAME.module).namespace["resample_state"]
    seen = GAME.observations(state, 2)[0]
    for seed in range(50):
        random.seed(seed)
        hand = resample([[seen, None]], 0)["hands"][1]
        assert not [card for card in hand if card[1] == "C" or card[0] in "78"]


@pytest.mark.parametrize("name", sorted(library.heuristic_sources("shedding")))
def test_each_heuristic_beats_random_play(name: str) -> None:
    assert beats_random("shedding", name, 2, 400)


def test_no_new_deal_begins_after_three_hundred_turns() -> None:
    state = table([["2C"], ["KS"]], "9C", ["4D"], deals=5)
    state["past_turns"] = 298
    assert GAME.current_player(play(state, "play 2C")) == CHANCE
    state["past_turns"] = 299
    assert GAME.current_player(play(state, "play 2C")) == TERMINAL
