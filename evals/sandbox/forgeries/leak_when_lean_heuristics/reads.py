"""Names the other's card where it is told."""


def score(observation, action):
    """One for the other's card, else for any but the own."""
    if "other" in observation:
        return float([action[5:]] == observation["other"])
    return float([action[5:]] != observation["hand"])
