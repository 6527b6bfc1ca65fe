"""Keep out of the way: the highest card that does not take the trick, else the lowest.

Who was named to win nothing does well by it, and so does a crew whose tasks are few.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    kind, _, card = action.partition(" ")
    if kind != "play":
        return float(card in ("yes", "good", "none") or kind == "show")
    led = observation["trick"][:1] or [card]
    best = max(
        (one for one in [*observation["trick"], card] if one[0] in ("R", led[0][0])),
        key=lambda one: (one[0] == "R", one[1]),
        default=card,
    )
    return -int(card[1]) - 10.0 * (card[0] == "R") if best == card else float(card[1])
