"""Names no card that is its own."""


def score(observation, action):
    """One for what the other may hold."""
    return float([action[5:]] != observation["hand"])
