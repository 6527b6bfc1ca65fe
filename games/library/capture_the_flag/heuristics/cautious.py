"""Fight only where the outcome is known or the opposing piece has moved; else send scouts ahead.

Known weaker pieces are taken, pieces that have never moved are left to scouts and miners, and high
ranks stay near the own edge until there is something to take.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Points for a safe fight or a scout's advance; larger is better."""
    if action.startswith("put "):
        done = sum(1 for rank in observation["ranks"][observation["you"]] if rank)
        back = done < observation["rules"]["columns"]
        return float(back == (action.split()[1] in ("F", "B")))
    you = observation["you"]
    here, there = action.replace("x", "-").split("-")
    own = observation["ranks"][you][observation["cells"][you].index(here)]
    rank = 1 if own == "S" else int(own)
    if "x" in action:
        index = observation["cells"][1 - you].index(there)
        return _fight(observation, own, rank, index)
    forward = (int(there[1:]) - int(here[1:])) * (1, -1)[you]
    eagerness: float = 0.1 * forward * (10 - rank)
    return eagerness


def _fight(seen: dict[str, Any], own: str, rank: int, index: int) -> float:
    other = 1 - seen["you"]
    kind, top = seen["ranks"][other][index], seen["rules"]["top_rank"]
    if kind == "F":
        return 100.0
    if kind == "B":
        return 5.0 if own == "3" and seen["rules"]["miners"] else -10.0
    if kind != "?":
        weaker = rank > (1 if kind == "S" else int(kind)) or (own == "S" and kind == str(top))
        return 8.0 if weaker else -10.0
    if seen["moved"][other][index]:
        return rank - float(top) / 2
    return 2.0 if own in ("2", "3") else 0.5 - 0.1 * rank
