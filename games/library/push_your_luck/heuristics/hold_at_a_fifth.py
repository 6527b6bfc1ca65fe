"""Stop once the turn has won a fifth of the target, as hold-at-20 does in pig; never idle."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """One for the right side of the threshold, 0 for the other."""
    rules, total = observation["rules"], observation["turn_total"]
    own = observation["scores"][observation["you"]]
    enough = total >= rules["target_score"] / 5 or own + total >= rules["target_score"]
    return float((action == "stop") == enough)
