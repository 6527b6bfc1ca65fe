"""Go on while the points that one more roll or card adds outweigh what a bust would lose.

Stop at once when the points of the turn reach the target.
"""

from itertools import product
from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Expected change of the score by going on; 0 for stopping."""
    if action == "stop":
        return 0.0
    rules, total = observation["rules"], observation["turn_total"]
    own = observation["scores"][observation["you"]]
    if own + total >= rules["target_score"]:
        return -1.0
    if rules["kind"] == "cards":
        return _draw(observation, total)
    gain, faces = 0.0, range(1, rules["sides"] + 1)
    for roll in product(faces, repeat=rules["dice"]):
        busts = roll.count(rules["bust_face"])
        if busts:
            gain -= total + (own if rules["double_bust"] and busts > 1 else 0)
        else:
            gain += sum(face * (1 + (face == rules["bonus_face"])) for face in roll)
    return gain / float(rules["sides"] ** rules["dice"])


def _draw(observation: dict[str, Any], total: int) -> float:
    cards = observation["deck"] or observation["discards"]
    bonus, gain = str(observation["rules"]["bonus_face"]), 0.0
    for card in cards:
        gain += -total if card in observation["table"] else int(card) * (1 + (card == bonus))
    return gain / len(cards)
