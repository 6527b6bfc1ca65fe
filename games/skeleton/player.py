"""Player: takes as many stones as it may, but never leaves one, two or three."""


def decide(observation, legal, history):
    """Choose one of `legal`, by what this seat sees now and has seen before."""
    for action in reversed(legal):
        if len(observation["heap"]) - int(action.split()[1]) not in (1, 2, 3):
            return action
    return legal[0]
