"""Go fish: rules from hand-made positions, and lockstep with OpenSpiel."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyspiel
import pytest

from games import library
from games.contract import Game
from games.engine import Decision, play_match
from games.information import SeatLog
from games.modules import LocalModule
from games.table import GameTable
from games.values import CHANCE, TERMINAL, IllegalActionError, ModuleFault
from tests.games.library.lockstep import Pairing, SpielState, play_in_lockstep
from tests.games.library.table import beats_random

SOURCE = library.source("go_fish")
MODULE = LocalModule(SOURCE)
GAME = Game(MODULE)
RANKS = "23456789TJQKA"
State = dict[str, Any]


def table(*hands: str, deck: str = "", **parameters: object) -> State:
    """Player 1 to ask, with these hands and pile; whatever is missing is in Player 1's books."""
    state: Any = GAME.initial_state(len(hands), cast("Any", parameters))
    rest = Counter(state["deck"])
    rest -= Counter("".join(hands) + deck)
    state.update(
        phase="ask",
        hands=[sorted(hand) for hand in hands],
        deck=sorted(deck),
        books=[sorted(rest.elements()), *([] for _ in hands[1:])],
    )
    return cast("State", state)


def play(state: State, *actions: str) -> State:
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def test_one_asks_players_with_cards_for_ranks_held() -> None:
    state = table("77K", "Q", "", deck="QQ")
    assert GAME.legal_actions(state) == ["ask 2 7", "ask 2 K"]


def test_all_cards_of_the_rank_are_given_and_the_asker_goes_on() -> None:
    state = play(table("7K", "77Q", deck="QQ"), "ask 2 7")
    assert (state["hands"], state["player"]) == ([["7", "7", "7", "K"], ["Q"]], 0)
    passed = play(table("7K", "77Q", deck="QQ", extra_turn_on_catch=False), "ask 2 7")
    assert passed["player"] == 1


def test_without_the_rank_the_asker_draws_and_goes_on_only_with_that_rank() -> None:
    state = play(table("7K", "Q", deck="J7"), "ask 2 7")
    assert GAME.current_player(state) == CHANCE
    assert GAME.legal_actions(state) == ["draw 7", "draw J"]
    assert play(state, "draw J")["player"] == 1
    assert play(state, "draw 7")["player"] == 0
    told = GAME.events(state, "draw J", 2)
    assert told == [["You draw J.", "Player 1 draws a card."], ["Player 1 draws a card."]]


def test_a_book_is_laid_down_at_once() -> None:
    state = play(table("777K", "7K", deck="Q"), "ask 2 7")
    assert state["hands"] == [["K"], ["K"]]
    assert state["books"][0][-4:] == ["7", "7", "7", "7"]
    pairs = play(table("7K", "7Q", deck="Q", book_size=2), "ask 2 7")
    assert pairs["hands"] == [["K"], ["Q"]]


def test_an_empty_hand_draws_and_with_the_pile_empty_is_passed_over() -> None:
    state = play(table("777", "7K", deck="KQ"), "ask 2 7")
    assert (state["phase"], state["player"]) == ("draw", 0)
    assert GAME.legal_actions(play(state, "draw Q")) == ["ask 2 Q"]
    state = play(table("777", "7KK", "KK"), "ask 2 7")
    assert (state["phase"], state["player"]) == ("ask", 1)


def test_the_most_books_win_and_ties_share() -> None:
    state = table("777", "7")
    state["books"] = [["2"] * 4, ["3"] * 4 + ["4"] * 4]
    ended = play(state, "ask 2 7")
    assert (GAME.current_player(ended), GAME.rewards(ended, 2)) == (TERMINAL, [0, 0])
    state = {**state, "books": [["2"] * 4, ["3"] * 4]}
    assert GAME.rewards(play(state, "ask 2 7"), 2) == [1, -1]
    state = table("777", "7", "", scoring="books")
    state["books"] = [["2"] * 4, ["3"] * 4, []]
    assert GAME.rewards(play(state, "ask 2 7"), 3) == [2, 1, 0]


def test_failed_asks_with_the_pile_empty_end_the_game_at_last() -> None:
    state = table("77K", "KK", "77K", stall_asks=10)
    for _ in range(5):
        # Each asks the one player who has none of the rank.
        state = play({**state, "player": 0}, "ask 2 7")
        state = play({**state, "player": 2}, "ask 2 7") if state["phase"] == "ask" else state
    assert GAME.current_player(state) == TERMINAL


@pytest.mark.parametrize(
    ("players", "parameters", "words"),
    [
        (2, {"cards": 5}, "known: hand_size"),
        (2, {"hand_size": 13}, "hand_size is 13"),
        (6, {"hand_size": 9}, "fewer than 52"),
        (2, {"suits": 4, "book_size": 3}, "must divide"),
        (2, {"end_when_out": "yes"}, "end_when_out is 'yes'"),
        (7, {}, "allowed: 2 to 6"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(
    players: int, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModuleFault, match=words):
        GAME.initial_state(players, parameters)


def test_an_illegal_action_is_refused_and_the_state_left_alone() -> None:
    state = table("77K", "Q7", "", deck="QQ")
    before = repr(state)
    for action in ("ask 2 Q", "ask 1 7", "ask 3 7", "draw Q", "ask 4 7", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, action)
    GAME.apply_action(state, "ask 2 7")
    assert repr(state) == before


class RandomPlayer:
    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[int(generator.integers(len(legal)))])


VARIED: list[tuple[int, dict[str, Any]]] = [
    (2, {}),
    (4, {"book_size": 2, "ranks": 8}),
    (3, {"suits": 3, "book_size": 3, "extra_turn_on_catch": False, "extra_turn_on_fish": False}),
    (6, {"end_when_out": True}),
]


@pytest.mark.parametrize(("players", "parameters"), VARIED)
def test_a_resampled_state_looks_the_same_and_keeps_to_what_the_asks_showed(
    players: int, parameters: dict[str, Any]
) -> None:
    resample: Any = MODULE.namespace["resample_state"]
    for number in range(3):
        seats = [RandomPlayer() for _ in range(players)]
        match = play_match(
            GameTable(GAME), seats, parameters=parameters, seed=5, match=number, max_plies=4000
        )
        assert match.ending == "finished"
        for ply in match.plies[::4]:
            for seat in range(players):
                seen: Any = GAME.observations(ply.state, players)[seat]
                random.seed(number)
                state = resample([[seen, None]], seat)
                assert GAME.observations(state, players)[seat] == seen
                assert cards(state) == cards(ply.state)
                # The true hands satisfy the public bounds, and so do the sampled ones.
                for hands in (ply.state["hands"], state["hands"]):
                    assert within_bounds(seen, cast("Any", hands))


def cards(state: State) -> list[str]:
    return sorted(
        [*state["deck"], *(c for pile in (*state["hands"], *state["books"]) for c in pile)]
    )


def within_bounds(seen: dict[str, Any], hands: list[list[str]]) -> bool:
    for hand, known, fresh in zip(hands, seen["known"], seen["fresh"], strict=True):
        held = Counter(hand)
        low = all(held[rank] >= count for rank, count in known.items())
        high = all(held[rank] <= known.get(rank, 0) + drawn for rank, drawn in fresh.items())
        if not (low and high):
            return False
    return True


@pytest.mark.parametrize(("name", "players"), [("remember", 2), ("remember", 4), ("widest_net", 4)])
def test_each_heuristic_beats_random_play(name: str, players: int) -> None:
    assert beats_random("go_fish", name, players, 120)


def their_action(action: str, state: SpielState) -> int:
    *front, rank = action.split(" ")
    # OpenSpiel numbers an ask as seat * ranks + rank; a chance outcome is the rank alone.
    return RANKS.index(rank) + (13 * (int(front[1]) - 1) if front[0] == "ask" else 0)


class NoBookInTheDeal:
    """Chooses uniformly, but never deals a player the fourth card of a rank.

    Such a book is not replaced here; OpenSpiel deals that player cards until the hand is full.
    """

    def __init__(self, hand_size: int) -> None:
        self.hand_size = hand_size
        self.dealt: list[str] = []

    def __call__(self, rng: random.Random, legal: Sequence[str]) -> str:
        if not legal[0].startswith("deal"):
            self.dealt = []
            return rng.choice(legal)
        hand = self.dealt[len(self.dealt) // self.hand_size * self.hand_size :]
        self.dealt.append(rng.choice([action for action in legal if hand.count(action) < 3]))
        return self.dealt[-1]


@pytest.mark.parametrize(("players", "out"), [(2, False), (3, False), (5, False), (4, True)])
def test_lockstep_with_openspiel(players: int, out: bool) -> None:
    choose = NoBookInTheDeal(7 if players == 2 else 5)
    compared = play_in_lockstep(
        SOURCE,
        parameters={"end_when_out": out},
        num_players=players,
        spiel=pyspiel.load_game("go_fish", {"players": players, "end_on_first_out": out}),
        pairing=Pairing(their_action, choose=choose),
    )
    assert compared > 200 * 40
