"""Heuristic: leave a number of stones that four divides."""


def score(observation, action):
    """Rate one legal action by what the player sees; larger is better."""
    return -((len(observation["heap"]) - int(action.split()[1])) % 4)
