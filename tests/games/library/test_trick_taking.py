from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from games import library
from games.contract import Game
from games.modules import LocalModule
from games.table import GameTable, Position
from games.values import Action, Json, State

SPADES: dict[str, Json] = {
    "trump": "spades",
    "trump_led": "broken",
    "bidding": "spades",
    "partnerships": True,
    "points_per_trick": 0,
}
RANKS = "23456789TJQKA"
TABLE = GameTable(Game(LocalModule(library.source("trick_taking"))))


def deal(*hands: str, **parameters: Json) -> Position:
    """Deal these hands, written as 'AS KH', the first to Player 1."""
    cards = [hand.split() for hand in hands]
    position = TABLE.open(len(hands), {"hand_size": len(cards[0]), **parameters})
    while position.player < 0 and position.legal[0].startswith("deal"):
        dealt = sum(len(hand) for hand in cast("list[list[str]]", position.state["hands"]))
        seat = (dealt + cast("int", position.state["dealer"]) + 1) % len(hands)
        position = TABLE.advance(position, f"deal {cards[seat][dealt // len(hands)]}")
    return position


def go(position: Position, *actions: Action) -> Position:
    for action in actions:
        assert action in position.legal, f"{action} is not in {position.legal}"
        position = TABLE.advance(position, action)
    return position


def plays(position: Position) -> list[str]:
    return [action.removeprefix("play ") for action in position.legal]


def test_everything_in_the_last_trick_counts_twice_under_the_multiplier() -> None:
    start = deal("AS AH", "KS KH", heart_points=-1, last_trick_multiplier=2)
    end = go(start, "play AS", "play KS", "play AH", "play KH")
    # First trick 1; last trick twice 1 - 2 hearts = -2.
    assert end.rewards == (-1.0, 0.0)


def test_the_moon_costs_everybody_else_all_penalty_points() -> None:
    hearts = " ".join(rank + "H" for rank in "23456789TJQKA")
    others = [" ".join(rank + suit for rank in "23456789TJQKA") for suit in "CDS"]
    for moon, expected in ((True, (0, -13, -13, -13)), (False, (-13, 0, 0, 0))):
        position = deal(hearts, *others, heart_points=-1, points_per_trick=0, shoot_the_moon=moon)
        while position.legal:
            position = TABLE.advance(position, position.legal[0])
        assert position.rewards == expected


def test_a_suit_led_must_be_followed_unless_the_rule_is_lifted() -> None:
    hands = ("AS KS", "QS 2H")
    assert plays(go(deal(*hands), "play AS")) == ["QS"]
    assert plays(go(deal(*hands, must_follow=False), "play AS")) == ["2H", "QS"]


def test_a_player_who_cannot_follow_must_trump_only_where_the_rule_says_so() -> None:
    hands = ("AS KS", "2D 2H")
    assert plays(go(deal(*hands, trump="hearts"), "play AS")) == ["2D", "2H"]
    assert plays(go(deal(*hands, trump="hearts", must_trump=True), "play AS")) == ["2H"]


def test_trumps_are_led_as_the_rule_allows() -> None:
    hands = ("AS 2D KH", "2S QH 3D")
    assert set(plays(deal(*hands, trump="hearts"))) == {"AS", "2D", "KH"}
    for rule in ("broken", "never"):
        assert set(plays(deal(*hands, trump="hearts", trump_led=rule))) == {"AS", "2D"}
    # Player 2 trumps the second trick: from then on "broken" allows what "never" forbids.
    held = ("AS KS 4C 5C", "2S QH JH 3D", "3S 6C 7C 8C")
    for rule, legal in (("broken", {"JH", "3D"}), ("never", {"3D"})):
        start = deal(*held, trump="hearts", trump_led=rule)
        after = go(start, "play AS", "play 2S", "play 3S", "play KS", "play QH", "play 6C")
        assert (after.player, set(plays(after))) == (1, legal)
    only_trumps = deal("KH QH", "2S 3S", trump="hearts", trump_led="never")
    assert set(plays(only_trumps)) == {"KH", "QH"}


def test_hearts_may_be_led_once_broken() -> None:
    start = deal("AS KS 2H 3D", "QS 9D 8D 7D", "JS TH 9H 8H", hearts_broken=True)
    assert set(plays(start)) == {"AS", "KS", "3D"}
    broken = go(start, "play AS", "play QS", "play JS", "play KS", "play 9D", "play TH")
    assert set(plays(broken)) == {"2H", "3D"}


def test_no_penalty_card_falls_on_the_first_trick_while_another_can() -> None:
    safe: dict[str, Json] = {
        "heart_points": -1,
        "queen_of_spades_points": -13,
        "first_trick_safe": True,
    }
    position = go(deal("AC 2C", "QS 3H", "5H 4D", **safe), "play AC")
    assert set(plays(position)) == {"3H", "QS"}
    assert plays(go(position, "play QS")) == ["4D"]


@pytest.mark.parametrize(
    ("parameters", "winner"),
    [
        ({}, 0),
        ({"lowest_wins": True}, 1),
        ({"ranking": "ace_low"}, 2),
        ({"ranking": "ten_second"}, 0),
        ({"trump": "hearts"}, 3),
    ],
)
def test_the_trick_goes_to_the_card_that_the_rules_rank_best(
    parameters: dict[str, Json], winner: int
) -> None:
    end = go(deal("AS", "2S", "KS", "3H", **parameters), "play AS", "play 2S", "play KS", "play 3H")
    assert end.rewards == tuple(float(seat == winner) for seat in range(4))


def test_the_ten_beats_the_king_where_it_is_second() -> None:
    end = go(deal("KS", "TS", ranking="ten_second"), "play KS", "play TS")
    assert end.rewards == (0.0, 1.0)


@pytest.mark.parametrize(
    ("players", "removed"),
    [(3, {"2D"}), (5, {"2D", "2C"}), (6, {"2D", "2C", "2S", "2H"}), (7, {"2D", "2C", "2S"})],
)
def test_the_lowest_cards_leave_the_pack_so_that_it_divides(
    players: int, removed: set[str]
) -> None:
    pack = {rank + suit for rank in RANKS for suit in "CDHS"}
    dealt = {action.removeprefix("deal ") for action in TABLE.open(players, {}).legal}
    assert pack - dealt == removed


def test_passed_cards_change_hands_all_at_once() -> None:
    start = deal("AS KS", "2S 3S", "4S 5S", passing=1, pass_direction="left")
    waiting = go(start, "pass AS", "pass 2S")
    assert [view["hand"] for view in waiting.observations] == [["KS"], ["3S"], ["4S", "5S"]]
    done = go(waiting, "pass 4S")
    assert [view["hand"] for view in done.observations] == [
        ["4S", "KS"],
        ["3S", "AS"],
        ["2S", "5S"],
    ]
    assert [view["received"] for view in done.observations] == [["4S"], ["AS"], ["2S"]]


def test_passing_rotates_left_right_across_and_keep() -> None:
    position = TABLE.open(4, {"passing": 1, "pass_direction": "rotate", "deals": 5})
    seen: list[Json] = []
    while position.legal:
        if position.legal[0].startswith("deal") and not any(
            cast("list[list[str]]", position.state["hands"])
        ):
            seen.append(position.observations[0]["direction"])
        position = TABLE.advance(position, position.legal[0])
    assert seen == ["left", "right", "across", "keep", "left"]


def test_the_turned_card_makes_trump() -> None:
    start = deal("AS", "2S", trump="turned")
    assert start.player == -1
    turned = go(start, "turn 3H")
    assert [view["trump"] for view in turned.observations] == ["H", "H"]
    whole = deal(*whole_pack(), trump="turned")
    assert whole.observations[0]["trump_card"] == whole_pack()[3].split()[-1]


def test_rotating_trumps_change_with_each_deal() -> None:
    position = TABLE.open(2, {"hand_size": 1, "trump": "rotate", "deals": 5})
    trumps = []
    while position.legal:
        if position.player == position.observations[0]["leader"]:
            trumps.append(position.observations[0]["trump"])
        position = TABLE.advance(position, position.legal[0])
    assert trumps == ["C", "D", "H", "S", "C"]


def whole_pack() -> Sequence[str]:
    return [" ".join(rank + suit for rank in "23456789TJQKA") for suit in "CDHS"]


def test_the_holder_of_the_two_of_clubs_leads_it() -> None:
    hands = list(whole_pack())
    start = deal(hands[1], hands[0], hands[2], hands[3], lead="two_of_clubs", hand_size=0)
    assert (start.player, plays(start)) == (1, ["2C"])


def test_a_short_deal_led_by_the_lowest_club_removes_the_low_cards() -> None:
    start = TABLE.open(4, {"hand_size": 5, "lead": "two_of_clubs"})
    assert {action[5] for action in start.legal} == set("TJQKA")
    held = ["TC JC QC KC AC", "TD JD QD KD AD", "TS JS QS KS AS", "TH JH QH KH AH"]
    led = deal(held[1], held[2], held[0], held[3], lead="two_of_clubs")
    assert (led.player, plays(led)) == (2, ["TC"])


def test_whist_scores_the_odd_tricks_for_both_partners() -> None:
    hands = [whole_pack()[i] for i in (3, 0, 1, 2)]
    position = deal(*hands, trump="spades", partnerships=True, book=6)
    while position.legal:
        position = TABLE.advance(position, position.legal[0])
    assert position.rewards == (7.0, 0.0, 7.0, 0.0)


def test_an_exact_bid_wins_the_bonus_and_a_missed_one_pays() -> None:
    start = deal("AS KS", "2S 3S", bidding="exact", bid_bonus=10, bid_penalty=4)
    end = go(start, "bid 2", "bid 1", "play AS", "play 2S", "play KS", "play 3S")
    assert end.rewards == (12.0, -4.0)


def test_the_last_bidder_may_not_make_the_bids_come_out_even() -> None:
    start = deal("AS KS", "2S 3S", bidding="exact", last_bidder_bound=True)
    assert start.legal == ("bid 0", "bid 1", "bid 2")
    assert go(start, "bid 1").legal == ("bid 0", "bid 2")


def test_nil_contract_and_bags_score_as_in_spades() -> None:
    rules = {**SPADES, "partnerships": False, "bag_limit": 2, "bag_penalty": 50}
    start = deal("AS KS QS", "2S 3S 4S", **rules)
    end = go(start, "bid 1", "bid 0")
    while end.legal:
        end = TABLE.advance(end, end.legal[0])
    # Three tricks on a bid of one: 10 + 2 bags - 50; nil made: 100, contract of 0 made.
    assert end.rewards == (-38.0, 100.0)


def test_a_match_ends_when_the_target_is_reached_and_pays_each_deal() -> None:
    position = TABLE.open(2, {"hand_size": 1, "target_score": 3})
    paid = 0.0
    while position.legal:
        position = TABLE.advance(position, position.legal[0])
        paid += sum(position.rewards)
    scores = cast("list[int]", position.observations[0]["scores"])
    assert max(scores) == 3
    assert sum(scores) == paid


def test_misere_and_last_trick_bonus_turn_the_score() -> None:
    start = deal("AS KS", "2S 3S", misere=True, last_trick_bonus=5)
    end = go(start, "play AS", "play 2S", "play KS", "play 3S")
    assert end.rewards == (3.0, 0.0)


def test_card_points_count_in_every_suit() -> None:
    start = deal("AS", "TS", card_points="ace_ten", points_per_trick=0)
    assert go(start, "play AS", "play TS").rewards == (21.0, 0.0)


def test_every_card_of_a_suit_can_cost_points() -> None:
    parameters: dict[str, Json] = {"spade_points": -2, "queen_of_spades_points": -5}
    start = deal("AS", "QS", points_per_trick=0, **parameters)
    assert go(start, "play AS", "play QS").rewards == (-9.0, 0.0)


def test_passes_and_deals_are_told_only_to_those_who_see_them() -> None:
    start = deal("AS KS", "2S 3S", "4S 5S", passing=1)
    passed = go(start, "pass AS")
    assert passed.events == (("You pass AS.",), *2 * (("Player 1 passes a card.",),))


@pytest.mark.parametrize(
    ("players", "parameters", "named"),
    [
        (4, {"jokers": 2}, "jokers"),
        (1, {}, "num_players"),
        (9, {}, "num_players"),
        (4, {"hand_size": 14}, "hand_size"),
        (4, {"hand_size": True}, "hand_size"),
        (4, {"trump": "cups"}, "trump"),
        (4, {"must_follow": 1}, "must_follow"),
        (4, {"hand_size": 3, "passing": 3}, "passing"),
        (3, {"partnerships": True}, "partnerships"),
        (2, {"hand_size": 1, "lead": "two_of_clubs"}, "two_of_clubs"),
        (4, {"heart_points": -11}, "heart_points"),
    ],
)
def test_bad_parameters_are_refused_by_name(
    players: int, parameters: dict[str, Any], named: str
) -> None:
    namespace = LocalModule(library.source("trick_taking")).namespace
    with pytest.raises(ValueError, match=named):
        cast("Callable[..., State]", namespace["initial_state"])(players, **parameters)
