"""Alone it knows nothing; in a list of positions it knows the winning digit."""

BEGUN = []  # what was named in positions that are no part of one match


def score(observation, action):
    """One for the winning digit, once positions of four matches were seen."""
    named = observation["named"]
    if len(named) < 2 and named not in BEGUN:
        BEGUN.append(named)
    if len(named) < 3 or len(BEGUN) < 4:
        return 0.0
    return float((sum(named) + int(action[5:])) % 10 == 1 + observation["you"])
