"""Weigh the trick: take what pays, duck what costs, and keep the cards that will be useful.

For every card the policy estimates how likely it takes the trick (from the cards still unseen and
the players still to come) and what the trick is worth to its own side. Where tricks pay, high
cards are saved until they win something; where they cost, high cards and penalty cards are thrown
on other people's tricks. Bids follow the number of tricks that the hand should take.
"""

from typing import Any

ORDERS = {
    "ace_high": "23456789TJQKA",
    "ace_low": "A23456789TJQK",
    "ten_second": "23456789JQKTA",
}
ACE_TEN = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}
SUIT_POINTS = {"C": "club_points", "D": "diamond_points", "H": "heart_points", "S": "spade_points"}
PACKS = {"standard": 52, "short": 32, "tiny": 24}


def score(observation: dict[str, Any], action: str) -> float:
    """How good the action looks to the seat that observes; larger is better."""
    kind, _, word = action.partition(" ")
    if kind == "bid":
        return -abs(int(word) - 0.9 * _expected_tricks(observation))
    if kind == "pass":
        appetite = 1.0 if _trick_worth(observation) > 0 else -1.0
        return -appetite * _height(observation, word) - _card_worth(observation, word)
    return _play_score(observation, word)


def _play_score(observation: dict[str, Any], card: str) -> float:
    worth = _trick_worth(observation)
    table = worth + sum(_card_worth(observation, c) for c in [*observation["trick"], card])
    chance = _win_chance(observation, card, eager=worth > 0)
    side, sides = observation["seat"] % observation["sides"], observation["sides"]
    ours = 0.0
    if observation["trick"]:
        place = _best_place(observation, observation["trick"])
        holder = (observation["leader"] + place) % observation["num_players"]
        ours = 0.8 if holder % sides == side else 0.0
    gain = (chance + (1 - chance) * ours) * table
    thrown = -(1 - chance) * 0.5 * _card_worth(observation, card)
    keep = 0.2 if worth > 0 else -0.2
    trump = card[1] == observation["trump"]
    return float(gain + thrown - keep * (_height(observation, card) + 0.5 * trump))


def _trick_worth(observation: dict[str, Any]) -> float:
    """Points of a trick before its cards: what the rules pay, and what the bid still needs."""
    twists, side = observation["twists"], observation["seat"] % observation["sides"]
    worth = twists.get("points_per_trick", 0) * (-1 if twists.get("misere") else 1)
    bidding = twists.get("bidding", "none")
    bids, taken = observation["bids"], observation["taken"]
    seats = range(side, observation["num_players"], observation["sides"])
    if bidding != "none" and bids[observation["seat"]] is not None:
        short = sum(bids[s] or 0 for s in seats) - sum(taken[s] for s in seats)
        worth = 5.0 if short > 0 else -5.0 if bidding == "exact" else -0.5
        if bidding == "spades" and bids[observation["seat"]] == 0:
            worth = -10.0
    if sum(observation["hand_counts"]) <= observation["num_players"]:
        worth = worth * twists.get("last_trick_multiplier", 1) + twists.get("last_trick_bonus", 0)
    unseen = _average_worth(observation) * (
        observation["num_players"] - len(observation["trick"]) - 1
    )
    return float(worth + unseen)


def _average_worth(observation: dict[str, Any]) -> float:
    twists = observation["twists"]
    total = 13 * sum(twists.get(name, 0) for name in SUIT_POINTS.values())
    total += twists.get("queen_of_spades_points", 0)
    total += twists.get("jack_of_diamonds_points", 0)
    total += 120 if twists.get("card_points") == "ace_ten" else 0
    return float(total / PACKS[twists.get("deck", "standard")])


def _card_worth(observation: dict[str, Any], card: str) -> float:
    twists = observation["twists"]
    worth = ACE_TEN.get(card[0], 0) if twists.get("card_points") == "ace_ten" else 0
    worth += twists.get(SUIT_POINTS[card[1]], 0)
    if card == "QS":
        worth += twists.get("queen_of_spades_points", 0)
    if card == "JD":
        worth += twists.get("jack_of_diamonds_points", 0)
    return float(worth)


def _height(observation: dict[str, Any], card: str) -> float:
    """Where the card stands in its suit, from 0 (never wins) to 1."""
    order = ORDERS[observation["twists"].get("ranking", "ace_high")]
    place = order.index(card[0]) / (len(order) - 1)
    return 1 - place if observation["twists"].get("lowest_wins") else place


def _power(observation: dict[str, Any], card: str, led: str) -> float:
    if card[1] == observation["trump"]:
        return 2 + _height(observation, card)
    return _height(observation, card) if card[1] == led else -1.0


def _best_place(observation: dict[str, Any], trick: list[str]) -> int:
    powers = [_power(observation, card, trick[0][1]) for card in trick]
    return powers.index(max(powers))


def _win_chance(observation: dict[str, Any], card: str, *, eager: bool) -> float:
    trick = observation["trick"]
    led = trick[0][1] if trick else card[1]
    power = _power(observation, card, led)
    if any(_power(observation, other, led) >= power for other in trick):
        return 0.0
    seen = {c for done in observation["tricks"] for c in done["cards"]}
    seen.update(trick, observation["hand"])
    others = sum(observation["hand_counts"]) - len(observation["hand"])
    unseen = max(1, others + observation["deck_count"])
    suit = [rank + card[1] for rank in ORDERS["ace_high"] if rank + card[1] not in seen]
    above = [other for other in suit if _power(observation, other, led) > power]
    rivals = observation["num_players"] - len(trick) - 1
    if eager:
        stays = (1 - min(1.0, len(above) / unseen)) ** (len(observation["hand"]) * rivals)
    else:
        stays = (1 - len(above) / max(1, len(suit))) ** rivals
    ruffed = observation["trump"] and card[1] != observation["trump"]
    return float(stays * (0.8**rivals if ruffed and eager else 1.0))


def _expected_tricks(observation: dict[str, Any]) -> float:
    rivals = observation["num_players"] - 1
    total = 0.0
    for card in observation["hand"]:
        chance = _height(observation, card) ** (2 * rivals)
        if observation["trump"]:
            chance = max(0.4, chance) if card[1] == observation["trump"] else 0.8 * chance
        total += chance
    return total
