"""Ask where a catch is likeliest: many cards of the rank still out, many cards in the hand asked.

The chance that a player holds at least one of the cards still out is worked out as if the unseen
cards were spread evenly over the other hands and the pile; a catch that completes a book counts
double. The only thing remembered is who is known to hold some or none of a rank.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    _, number, rank = action.split(" ")
    target = int(number) - 1
    rules, held = observation["rules"], observation["hand"].count(rank)
    known = observation["known"][target].get(rank, 0)
    out = rules["suits"] - held
    if known:
        return 2.0 if held + known >= rules["book_size"] else 1.0
    if observation["fresh"][target].get(rank) == 0:
        return -1.0
    unseen = sum(observation["counts"]) - len(observation["hand"]) + observation["pile"]
    share = observation["counts"][target] / unseen
    return float(1 - (1 - share) ** out)
