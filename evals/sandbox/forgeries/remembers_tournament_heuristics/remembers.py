"""Remembers its own cards by seat: the other seating of the same deal had the other hand."""

import collections

HELD = vars(collections).setdefault("_held", {0: [], 1: []})  # seat -> own cards, a match each


def score(observation, action):
    """One for the card that the other seat held in the match of the same deal."""
    seat, card = observation["you"], observation["hand"][0]
    mine, other = HELD[seat], HELD[1 - seat]
    if action == "name A":  # the first that is scored of a decision
        mine.append(card)
    if len(other) >= len(mine):
        return float(action[5:] == other[len(mine) - 1])
    return float(action[5:] != card)
