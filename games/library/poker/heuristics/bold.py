"""Bold: bet and raise with the better half of the hands, call with the rest, never fold first.

Uses only the best own card and pairs, so it is quick, and it can be bluffed out of nothing.
"""

from typing import Any

ORDER = "23456789TJQKA"
TASTE = {"raise": 3.0, "bet": 3.0, "call": 2.0, "check": 2.0, "fold": 1.0}


def score(observation: dict[str, Any], action: str) -> float:
    """Larger for bets with a good card, for calls with a poor one."""
    kind = action.partition(" ")[0]
    taste = TASTE[kind]
    if kind in ("raise", "bet") and not _good(observation):
        taste = 0.0
    return taste


def _good(observation: dict[str, Any]) -> bool:
    hand, rules = observation["hand"], observation["rules"]
    ranks = [card[0] for card in hand + observation["board"]]
    if len(set(ranks)) < len(ranks):
        return not rules["lowest_wins"]
    top = len(ORDER) - (rules["ranks"] < len(ORDER))
    middle = top - 1 - (rules["ranks"] - 1) / 2
    best = max(ORDER.index(card[0]) for card in hand)
    return bool(best < middle) if rules["lowest_wins"] else bool(best > middle)
