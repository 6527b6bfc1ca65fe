"""Ask those who are known to hold the rank, and never those who are known to hold none.

A sure catch is worth the cards it brings, most of all when it completes a book. Without a sure
catch, ask for the rank held most, and the player who has drawn most since last asked for it.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    _, number, rank = action.split(" ")
    target = int(number) - 1
    rules, held = observation["rules"], observation["hand"].count(rank)
    sure = observation["known"][target].get(rank, 0)
    if sure:
        done = held + sure >= rules["book_size"]
        return float(100 + 10 * done + sure)
    drawn = observation["fresh"][target].get(rank)
    chances = observation["counts"][target] if drawn is None else drawn
    return float(held + chances / 10 if chances else held - 10)
