"""Bid the card nearest to what the prizes at stake are worth."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Minus the distance between the bid and the stake; larger is better."""
    stake = sum(int(prize) for prize in observation["stake"])
    return -float(abs(int(action.split()[1]) - stake))
