"""Knock rummy: melds against OpenSpiel and brute force, rules from hand-made positions."""

import itertools
import random
import re
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
from tests.games.library.table import beats_random

MODULE = LocalModule(library.source("rummy"))
GAME = Game(MODULE)
ORDER = "A23456789TJQK"
State = dict[str, Any]


def rules(**parameters: object) -> dict[str, Any]:
    return cast("dict[str, Any]", GAME.initial_state(2, cast("Any", parameters))["rules"])


def unmatched(hand: str, **parameters: object) -> int:
    arrange: Any = MODULE.namespace["_arrange"]
    return int(arrange(rules(**parameters), sorted(hand.split()))[0])


def table(hands: list[str], top: str, **parameters: object) -> State:
    """Player 1 to choose, with these hands and top discard; all other cards in the pile."""
    state: Any = GAME.initial_state(len(hands), cast("Any", parameters))
    held = [sorted(hand.split()) for hand in hands]
    gone = {top, *(card for hand in held for card in hand)}
    deck = [card for card in state["deck"] if card not in gone]
    state.update(phase="choose", player=0, hands=held, discards=[top], deck=deck)
    return cast("State", state)


def play(state: State, *actions: str) -> State:
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


@pytest.mark.parametrize(
    ("hand", "points", "parameters"),
    [
        ("4C 4D 4H KS", 10, {}),
        ("4C 5C 6C 4D 4H", 8, {}),  # the run takes the 4C: 15 matched beat 12
        ("4C 5C 6C 7C 4D 4H", 0, {}),  # run 5-7, set of fours
        ("AS 2S 3S QS KS", 20, {}),
        ("AS 2S 3S QS KS", 5, {"ace": "high"}),  # queen, king, ace; 2 and 3 are left
        ("AS 2S 3S QS KS", 5, {"ace": "both"}),
        ("2S 3S QS KS AS", 26, {"melds": "sets"}),
        ("4C 4D 4H", 12, {"min_meld": 4}),
        ("4C 4D 4H 5H 6H", 8, {"melds": "runs"}),  # 4-5-6 of hearts; 4C and 4D are left
    ],
)
def test_unmatched_points_are_the_fewest_possible(
    hand: str, points: int, parameters: dict[str, object]
) -> None:
    assert unmatched(hand, **parameters) == points


def test_unmatched_points_and_knocks_agree_with_openspiel() -> None:
    spiel, knocks = pyspiel.load_game("gin_rummy"), MODULE.namespace["_knocks"]
    compared = may_knock = 0
    own = rules()
    for seed in range(200):
        rng, state = random.Random(seed), spiel.new_initial_state()
        while not state.is_terminal():
            if "Phase: Draw" in str(state) and not state.is_chance_node():
                for hand, deadwood in shown(str(state)):
                    assert unmatched(" ".join(hand)) == deadwood
                    compared += 1
            if "Phase: Discard" in str(state):
                hand = shown(str(state))[state.current_player()][0]
                can = bool(cast("Any", knocks)(own, sorted(hand)))
                assert can == (55 in state.legal_actions())
                may_knock += can
            # Never knock, so that hands improve until the stock runs out.
            legal = [number for number in state.legal_actions() if number != 55]
            state.apply_action(rng.choice(legal or state.legal_actions()))
    assert compared > 2000
    assert may_knock > 0


def shown(text: str) -> list[tuple[list[str], int]]:
    """Both hands and their deadwood, read from OpenSpiel's picture of a gin rummy state."""
    blocks = re.split(r"Player[01]: Deadwood=", text)[1:]
    rows = [block.split("+--")[1] for block in blocks]
    hands = [[c[0] + c[1].upper() for c in re.findall(r"[A2-9TJQK][cdhs]", r)] for r in rows]
    deadwood = [int(re.match(r"\d+", block)[0]) for block in blocks]  # type: ignore[index]
    return list(zip(hands, deadwood, strict=True))


def is_meld(cards: Sequence[str]) -> bool:
    places = sorted(ORDER.index(card[0]) for card in cards)
    run = len({c[1] for c in cards}) == 1 and places == list(range(places[0], places[-1] + 1))
    return len(cards) >= 3 and (run or len(set(places)) == 1)


def brute_force_with_wild(hand: list[str], stand_ins: list[str]) -> int:
    """Fewest unmatched points of `hand` and one wild card worth 15, by trying every split.

    The wild card is in turn each of `stand_ins`; it is matched as soon as there is any meld.
    """
    points = [min(ORDER.index(card[0]) + 1, 10) for card in hand]
    fewest = sum(points) + 15
    for stand_in in stand_ins:
        cards = [*hand, stand_in]
        melds = [
            set(some)
            for size in range(3, len(cards) + 1)
            for some in itertools.combinations(range(len(cards)), size)
            if is_meld([cards[i] for i in some])
        ]
        pairs = [a | b for a, b in itertools.combinations(melds, 2) if not a & b]
        for cover in [*melds, *pairs]:
            fewest = min(fewest, sum(p for i, p in enumerate(points) if i not in cover))
    return fewest


def test_a_wild_card_does_what_the_best_card_in_its_place_would_do() -> None:
    pack = [rank + suit for rank in ORDER for suit in "CDHS"]
    rng = random.Random(4)
    for _ in range(60):
        hand = rng.sample([card for card in pack if card[0] != "2"], 6)
        expected = brute_force_with_wild(hand, pack)
        assert unmatched(" ".join([*hand, "2C"]), wild_rank="2") == expected


def test_a_turn_draws_or_takes_and_then_discards_another_card() -> None:
    state = table(["4C 4D 9S KS", "5C 5D 8S QS"], "4H", hand_size=4)
    assert GAME.legal_actions(state) == ["draw", "take"]
    taken = play(state, "take")
    # With 4C 4D 4H melded, dropping 9S leaves 10 and dropping KS leaves 9.
    assert GAME.legal_actions(taken) == [
        "discard 4C",
        "discard 4D",
        "discard 9S",
        "discard KS",
        "knock 9S",
        "knock KS",
    ]
    drawn = play(state, "draw")
    assert GAME.current_player(drawn) == CHANCE
    assert play(drawn, "draw 2S", "discard 2S")["player"] == 1


def test_discards_cannot_be_taken_where_the_rule_forbids_it() -> None:
    state = GAME.initial_state(2, {"draw_from_discard": False, "hand_size": 3})
    rng = random.Random(1)
    while state["phase"] != "discard":
        state = play(state, rng.choice(GAME.legal_actions(state)))
    assert GAME.current_player(play(state, GAME.legal_actions(state)[0])) == CHANCE


def test_going_gin_is_required_where_the_limit_is_zero() -> None:
    state = play(table(["4C 4D 3S KS", "5C 5D 8S QS"], "4H", hand_size=4, knock_limit=0), "take")
    assert not [action for action in GAME.legal_actions(state) if action.startswith("knock")]
    state = play(table(["4C 4D 4S KS", "5C 5D 8S QS"], "4H", hand_size=4, knock_limit=0), "take")
    assert [a for a in GAME.legal_actions(state) if a.startswith("knock")] == ["knock KS"]


@pytest.mark.parametrize(
    ("own", "other", "paid"),
    [
        ("4C 4D 9S KS", "5C 5D 8S QS", [19, -19]),  # 9 against 28
        ("4C 4D 4S KS", "5C 5D 8S QS", [53, -53]),  # gin: 28 and the bonus of 25
        ("4C 4D 9S KS", "5C 5D 5H 8S", [-26, 26]),  # undercut: 9 against 8, and 25
        ("4C 4D 9S KS", "5C 5D 5H 9D", [-25, 25]),  # equal counts as an undercut
    ],
)
def test_a_knock_is_settled_with_bonuses(own: str, other: str, paid: list[float]) -> None:
    state = play(table([own, other], "4H", hand_size=4), "take", "knock KS")
    assert (GAME.current_player(state), GAME.rewards(state, 2)) == (TERMINAL, paid)


def test_more_than_two_players_each_settle_with_the_one_who_knocked() -> None:
    hands = ["4C 4D 9S KS", "5C 5D 8S QS", "5H 6H 7H 8D"]
    state = play(table(hands, "4H", hand_size=4), "take", "knock KS")
    # 9 against 28 gains 19; 9 against 8 loses 1 and the bonus of 25.
    assert GAME.rewards(state, 3) == [19 - 26, -19, 26]


@pytest.mark.parametrize(("who", "paid"), [("lowest", [5, -5]), ("nobody", [0, 0])])
def test_a_deal_without_a_knock_ends_when_the_pile_is_low(who: str, paid: list[float]) -> None:
    state = table(["4C 6D 9S KS", "5C 7D JS QS"], "4H", hand_size=4, no_knock=who)
    state["deck"] = ["2C", "2D", "8H"]
    # Left: 4 + 6 + 9 + 8 = 27 against 5 + 7 + 10 + 10 = 32.
    state = play(state, "draw", "draw 8H", "discard KS")
    assert (GAME.current_player(state), GAME.rewards(state, 2)) == (TERMINAL, paid)


def test_a_target_score_keeps_dealing_until_it_is_reached() -> None:
    state = table(["4C 4D 9S KS", "5C 5D 8S QS"], "4H", hand_size=4, target_score=30)
    first = play(state, "take", "knock KS")
    assert (GAME.current_player(first), first["scores"], first["dealer"]) == (CHANCE, [19, -19], 0)
    again = {**state, "scores": first["scores"], "deals_done": 1}
    assert play(again, "take", "knock KS")["scores"] == [38, -38]
    assert GAME.current_player(play(again, "take", "knock KS")) == TERMINAL


@pytest.mark.parametrize(
    ("players", "parameters", "words"),
    [
        (2, {"knock": 5}, "known: hand_size"),
        (2, {"knock_limit": -1}, "knock_limit is -1"),
        (6, {"hand_size": 8}, "3 to 7 each"),
        (2, {"min_meld": 4, "hand_size": 3}, "4 to 23"),
        (2, {"deck": "short", "wild_rank": "2"}, "short deck"),
        (2, {"ace": "middle"}, "both"),
        (7, {}, "allowed: 2 to 6"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(
    players: int, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModuleFault, match=words):
        GAME.initial_state(players, parameters)


def test_an_illegal_action_is_refused_and_the_state_left_alone() -> None:
    state = play(table(["4C 4D 9S KS", "5C 5D 8S QS"], "4H", hand_size=4), "take")
    before = repr(state)
    for action in ("discard 4H", "knock 4C", "discard 5C", "draw", "take", "draw 2C", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, action)
    GAME.apply_action(state, "knock KS")
    assert repr(state) == before


class RandomPlayer:
    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[int(generator.integers(len(legal)))])


VARIED: list[tuple[int, dict[str, Any]]] = [
    (2, {}),
    (4, {"wild_rank": "2", "ace": "both", "knock_limit": 20}),
    (3, {"draw_from_discard": False, "deck": "short", "target_score": 40}),
]


@pytest.mark.parametrize(("players", "parameters"), VARIED)
def test_a_resampled_state_looks_the_same_to_its_player(
    players: int, parameters: dict[str, Any]
) -> None:
    resample: Any = MODULE.namespace["resample_state"]
    for number in range(2):
        seats = [RandomPlayer() for _ in range(players)]
        match = play_match(
            GameTable(GAME), seats, parameters=parameters, seed=5, match=number, max_plies=4000
        )
        assert match.ending == "finished"
        assert sum(match.returns or (1,)) == pytest.approx(0)
        for ply in match.plies[::5]:
            for seat in range(players):
                seen: Any = GAME.observations(ply.state, players)[seat]
                random.seed(number)
                state = resample([[seen, None]], seat)
                assert GAME.observations(state, players)[seat] == seen
                for other, held in enumerate(seen["known"]):
                    assert set(held) <= set(state["hands"][other])
                if ply.player == seat:
                    assert GAME.legal_actions(state) == list(ply.legal)


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("name", sorted(library.heuristic_sources("rummy")))
def test_each_heuristic_beats_random_play(name: str, players: int) -> None:
    assert beats_random("rummy", name, players, 200 if players == 2 else 60)
