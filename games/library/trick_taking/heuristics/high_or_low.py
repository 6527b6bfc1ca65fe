"""High or low: play the highest legal card where taking tricks pays, the lowest where it costs.

It looks at nothing but the rules and the own cards: no counting, no look at the trick, except
that it follows the bid once it has been made. Penalty cards go whenever they may.
"""

from typing import Any

ORDERS = {
    "ace_high": "23456789TJQKA",
    "ace_low": "A23456789TJQK",
    "ten_second": "23456789JQKTA",
}


def score(observation: dict[str, Any], action: str) -> float:
    """Larger for higher cards where tricks pay, for lower cards where they cost."""
    kind, _, word = action.partition(" ")
    twists = observation["twists"]
    if kind == "bid":
        tricks = twists["hand_size"] / observation["num_players"]
        return float(-abs(int(word) - tricks))
    order = ORDERS[twists.get("ranking", "ace_high")]
    height = order.index(word[0]) / (len(order) - 1)
    if twists.get("lowest_wins"):
        height = 1 - height
    sign = 1.0 if _tricks_pay(observation) else -1.0
    if kind == "pass":
        return float(-sign * height)
    followed = bool(observation["trick"]) and word[1] != observation["trick"][0][1]
    free = followed and word[1] != observation["trump"]
    return float(-sign * height if free else sign * height)


def _tricks_pay(observation: dict[str, Any]) -> bool:
    twists, seat = observation["twists"], observation["seat"]
    bids, sides = observation["bids"], observation["sides"]
    if bids[seat] is not None:
        mates = range(seat % sides, observation["num_players"], sides)
        return bool(sum(bids[s] or 0 for s in mates) > sum(observation["taken"][s] for s in mates))
    worth = twists.get("points_per_trick", 0) * (-1 if twists.get("misere") else 1)
    suits = sum(twists.get(f"{suit}_points", 0) for suit in ("club", "diamond", "heart", "spade"))
    worth += observation["num_players"] / 4 * suits
    worth += twists.get("queen_of_spades_points", 0) / 13
    worth += twists.get("jack_of_diamonds_points", 0) / 13
    worth += 3 if twists.get("card_points") == "ace_ten" else 0
    return bool(worth > 0)
