"""Take whenever possible; otherwise push the piece that is furthest ahead."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Ten for a capture, plus the share of the board crossed by the moving piece."""
    takes = "x" in action
    there = action.split("x" if takes else "-")[1]
    rows: int = observation["rules"]["rows"]
    crossed = int(there[1:]) if observation["piece"] == "w" else rows + 1 - int(there[1:])
    return 10.0 * takes + crossed / rows
