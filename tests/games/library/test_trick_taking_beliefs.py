"""What `resample_state` of the trick-taking family gives a player to believe."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any, cast

import pytest

from games import library
from games.modules import LocalModule
from games.values import Json, State

NAMESPACE = LocalModule(library.source("trick_taking")).namespace
START = cast("Callable[..., State]", NAMESPACE["initial_state"])
APPLY = cast("Callable[..., State]", NAMESPACE["apply_action"])
LEGAL = cast("Callable[..., list[str]]", NAMESPACE["get_legal_actions"])
SEE = cast("Callable[..., list[dict[str, Any]]]", NAMESPACE["get_observations"])
RESAMPLE = cast("Callable[..., State]", NAMESPACE["resample_state"])

HEARTS: dict[str, Json] = {
    "points_per_trick": 0,
    "heart_points": -1,
    "queen_of_spades_points": -13,
    "first_trick_safe": True,
    "hearts_broken": True,
    "queen_breaks_hearts": True,
    "passing": 3,
    "pass_direction": "random",
    "lead": "two_of_clubs",
}
CASES: list[tuple[int, dict[str, Json]]] = [
    (4, HEARTS),
    (3, {"heart_points": -1, "last_trick_multiplier": 2}),
    (4, {"trump": "spades", "trump_led": "never", "bidding": "spades", "partnerships": True}),
    (5, {"trump": "turned", "passing": 2, "pass_direction": "rotate", "must_trump": True}),
    (5, {"trump": "turned", "passing": 4, "pass_direction": "right", "trump_led": "broken"}),
    (6, {"trump": "turned", "hand_size": 5, "bidding": "exact", "last_bidder_bound": True}),
    (2, {**HEARTS, "pass_direction": "rotate", "deals": 2}),
    (3, {**HEARTS, "pass_direction": "across", "deck": "tiny"}),
    (5, {**HEARTS, "hand_size": 6}),
    (8, {"deck": "short", "trump": "hearts", "must_follow": False, "hearts_broken": True}),
    (4, {"trump": "hearts", "hearts_broken": True, "first_trick_safe": True, "heart_points": -1}),
    (4, {"deck": "tiny", "trump": "clubs", "trump_led": "broken", "must_trump": True}),
]


@pytest.mark.parametrize(("players", "parameters"), CASES)
def test_a_resampled_deal_shows_its_player_the_same_and_could_have_led_here(
    players: int, parameters: dict[str, Json]
) -> None:
    rng = random.Random(17)
    random.seed(17)
    for _ in range(3):
        state = START(players, **parameters)
        while state["player"] != -4:
            for seat, seen in enumerate(SEE(state)):
                sample = RESAMPLE([[seen, None]], seat)
                assert SEE(sample)[seat] == seen
                assert sample.keys() == state.keys()
                assert sample["rules"] == state["rules"]
                assert all_cards(sample) == all_cards(state)
                if state["player"] == seat:
                    assert LEGAL(sample) == LEGAL(state)
                if state["phase"] == "play" and rng.random() < 0.2:
                    replay(sample)
            state = APPLY(state, rng.choice(LEGAL(state)))


def all_cards(state: State) -> list[str]:
    piles = [state["deck"], state["turned"], state["trick"]]
    piles += [trick["cards"] for trick in cast("list[dict[str, Any]]", state["tricks"])]
    piles += [*cast("list[Json]", state["hands"]), *cast("list[Json]", state["passing"])]
    return sorted(card for pile in piles for card in cast("list[str]", pile))


def replay(state: State) -> None:
    """Give the played cards back and play the same tricks again: each card must be legal."""
    tricks = cast("list[dict[str, Any]]", state["tricks"])
    tricks = [*tricks, {"leader": state["leader"], "cards": state["trick"]}]
    hands = [list(hand) for hand in cast("list[list[str]]", state["hands"])]
    order = [
        ((trick["leader"] + place) % len(hands), card)
        for trick in tricks
        for place, card in enumerate(trick["cards"])
    ]
    for seat, card in order:
        hands[seat].append(card)
    first = tricks[0]["leader"]
    start = {"tricks": [], "trick": [], "hearts_broken": False, "trump_broken": False}
    again: State = {**state, **cast("State", start), "leader": first, "player": first}
    again |= {"hands": cast("Json", hands), "taken": cast("Json", [0] * len(hands))}
    for seat, card in order:
        assert again["player"] == seat
        again = APPLY(again, f"play {card}")
    assert SEE(again)[0]["trick"] == state["trick"]


def put(players: int, hands: list[str], parameters: dict[str, Json], *actions: str) -> State:
    state = START(players, hand_size=len(hands[0].split()), **parameters)
    for index in range(players * len(hands[0].split())):
        state = APPLY(state, f"deal {hands[index % players].split()[index // players]}")
    for action in actions:
        state = APPLY(state, action)
    return state


def test_passed_cards_stay_known_until_they_are_played() -> None:
    hands = ["AS KS QS 2C", "2S 3S 4S 3C", "5S 6S 7S 4C"]
    state = put(3, hands, {"passing": 2}, *pass_all("AS KS", "2S 3S", "5S 6S"))
    random.seed(3)
    for _ in range(50):
        sample = RESAMPLE([[SEE(state)[0], None]], 0)
        assert {"AS", "KS"} <= set(cast("list[list[str]]", sample["hands"])[1])
        # Player 3 received two of the cards that it holds now.
        passed = cast("list[list[str]]", sample["passed"])
        assert set(passed[1]) <= set(cast("list[list[str]]", sample["hands"])[2])


def pass_all(*cards: str) -> list[str]:
    return [f"pass {card}" for hand in cards for card in hand.split()]


def test_a_leader_of_unbroken_hearts_is_known_to_hold_nothing_else() -> None:
    hands = ["AH KH QH", "2S 3S 4S", "5S 6S 7S"]
    state = put(3, hands, {"hearts_broken": True}, "play AH")
    random.seed(3)
    for _ in range(50):
        sample = RESAMPLE([[SEE(state)[1], None]], 1)
        held = cast("list[list[str]]", sample["hands"])[0]
        assert [card[1] for card in held] == ["H", "H"]


@pytest.mark.parametrize(
    ("hands", "actions", "voids"),
    [
        # Player 2 showed out of spades; then also of hearts, and Player 3 of hearts.
        (["AS KS", "9H TH", "QS JS"], ["AS", "9H", "QS"], ("S", "")),
        (["AS AH KD", "9D TD QC", "QS JS TS"], ["AS", "9D", "QS", "AH", "TD", "JS"], ("SH", "H")),
    ],
)
def test_all_deals_that_fit_are_sampled_alike(
    hands: list[str], actions: list[str], voids: tuple[str, str]
) -> None:
    state = put(3, hands, {"deck": "tiny"}, *(f"play {card}" for card in actions))
    seen = SEE(state)[0]
    pack = {rank + suit for rank in "9TJQKA" for suit in "CDHS"}
    unseen = sorted(pack - {*hands[0].split(), *actions})
    fitting = [
        (a, b) for a, b in permutations(unseen, 2) if a[1] not in voids[0] and b[1] not in voids[1]
    ]
    random.seed(9)
    rounds = 30 * len(fitting)
    found = Counter(
        tuple(hand[0] for hand in cast("list[list[str]]", sample["hands"])[1:])
        for sample in (RESAMPLE([[seen, None]], 0) for _ in range(rounds))
    )
    assert set(found) == set(fitting)
    expected = rounds / len(fitting)
    # Chi-square with k = len(fitting) - 1 degrees of freedom: mean k, standard deviation sqrt(2 k).
    chi_square = sum((found[pair] - expected) ** 2 / expected for pair in fitting)
    freedom = len(fitting) - 1
    assert chi_square < freedom + 6 * (2 * freedom) ** 0.5


def test_an_impossible_sight_raises_instead_of_inventing_a_deal() -> None:
    # The rival showed out of spades with 9C and must yet hold every unseen card, spades among them.
    state = put(2, ["AS 9H", "9D KS"], {"deck": "tiny"}, "play AS", "play KS")
    seen = {**SEE(state)[0]}
    seen["tricks"] = [{"leader": 0, "winner": 0, "cards": ["AS", "9C"]}]
    seen["hand"] = ["9H"]
    seen["hand_counts"] = [1, 19]
    seen["deck_count"] = 0
    with pytest.raises(ValueError, match="no deal of the unseen cards fits"):
        RESAMPLE([[seen, None]], 0)
