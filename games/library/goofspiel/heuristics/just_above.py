"""Bid one above the prize, and throw the lowest card at prizes that cannot be outbid."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """How close the bid comes to one above the stake; the lowest card when none reaches it."""
    bid = int(action.split()[1])
    wanted = sum(int(prize) for prize in observation["stake"]) + 1
    best = max(int(card) for card in observation["hand"])
    if best < wanted:
        return -float(bid)
    return -float(bid - wanted) if bid >= wanted else -100.0 - bid
