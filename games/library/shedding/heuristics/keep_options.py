"""Play the card that leaves the most follow-ups, and hinder a neighbour who is nearly out.

A card is worth more the more of the remaining hand can be played on it. Cards that make the
next player miss a turn or draw are worth more the fewer cards that player holds. Wild cards
count as a follow-up to everything, so they are kept while another card fits and
nobody is nearly out. Court cards and
aces go a little before numbers, because they usually cost more when left in hand.
"""

from typing import Any

NEARLY_OUT = 2  # cards in a hand, the player's own included


def _follows(rules: dict[str, Any], card: str, suit: str, rank: str) -> bool:
    if card[0] == rules["wild_rank"]:
        return True
    by_suit = rules["match"] != "rank" and card[1] == suit
    return bool(by_suit or (rules["match"] != "suit" and card[0] == rank))


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    hand, rules = observation["hand"], observation["rules"]
    kind, what = action[:4], action[5:]
    if kind == "name":
        place = 0 if rules["match"] == "rank" else 1
        return float(sum(card[place] == what for card in hand))
    if kind != "play":
        return -10.0 if kind == "draw" else -20.0
    rest = list(hand)
    rest.remove(what)
    if not rest:
        return 1000.0
    if what[0] == rules["wild_rank"]:
        nearly_out = min(observation["counts"]) <= NEARLY_OUT
        return 20.0 if nearly_out else -5.0
    value = 0.0 if what[0] in "23456789T" else 1.5
    value += float(sum(_follows(rules, card, what[1], what[0]) for card in rest))
    counts = observation["counts"]
    following = (observation["seat"] + observation["direction"]) % len(counts)
    if what[0] in (rules["skip_rank"], rules["draw_two_rank"], rules["reverse_rank"]):
        value += 8.0 / counts[following]
    return value
