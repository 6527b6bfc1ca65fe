"""Hold out for a low count, and throw what the others cannot use.

A knock waits until it would leave no more than half of what is allowed, or until the pile runs
low. Among unmatched cards those go first that do not fit the cards others were seen to take, and
dear ones before cheap ones. The top discard is taken only where two cards in hand fit it.
"""

from typing import Any

ORDER = "A23456789TJQK"
NEAR = 2  # ranks apart in one suit
PAIR = 2


def _fits(one: str, two: str) -> bool:
    near = abs(ORDER.index(one[0]) - ORDER.index(two[0])) <= NEAR
    return one[0] == two[0] or (one[1] == two[1] and near)


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    rules, hand, seat = observation["rules"], observation["hand"], observation["seat"]
    kind, _, card = action.partition(" ")
    if kind == "take":
        top = observation["discards"][-1]
        same = sum(own[0] == top[0] for own in hand) >= PAIR and rules["melds"] != "runs"
        suit = {ORDER.index(own[0]) - ORDER.index(top[0]) for own in hand if own[1] == top[1]}
        run = {-2, -1} <= suit or {-1, 1} <= suit or {1, 2} <= suit
        return 1.0 if same or (run and rules["melds"] != "sets") else -1.0
    if kind == "draw":
        return 0.0
    loose = card[0] != rules["wild_rank"] and not any(card in m for m in observation["melds"])
    points = min(ORDER.index(card[0]) + 1, 10)
    worth = -200.0 if card[0] == rules["wild_rank"] else -100.0
    if loose:
        own = sum(_fits(card, other) for other in hand) - 1
        taken = [c for s, cards in enumerate(observation["known"]) if s != seat for c in cards]
        worth = points - 3.0 * own - 4.0 * any(_fits(card, other) for other in taken)
    if kind == "knock":
        after = observation["unmatched"] - (points if loose else 0)
        late = observation["pile"] <= 4 * len(observation["counts"])
        worth += 1000.0 if late or after <= rules["knock_limit"] / 2 else -500.0
    return worth
