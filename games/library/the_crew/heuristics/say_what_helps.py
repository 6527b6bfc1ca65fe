"""Say what helps the others: how strong the hand is, and which card is sure to win or to lose.

It has no opinion on which card to play, nor on which task to take.
"""

from typing import Any

GOOD = {"good", "yes"}
LITTLE = (5, 33, 41)  # missions in which who is named wins little


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    kind, _, said = action.partition(" ")
    if kind == "reply":
        hand = observation["hand"]
        is_weak = sum(int(one[1]) + 9 * (one[0] == "R") for one in hand) < 5 * len(hand)
        return float((is_weak == (observation["rules"]["mission"] in LITTLE)) == (said in GOOD))
    if kind == "name":
        return float(not GOOD.isdisjoint(observation["replies"][int(said) - 1]))
    return float(said.endswith(("9 highest", "9 only", "1 only")) or said == "none")
