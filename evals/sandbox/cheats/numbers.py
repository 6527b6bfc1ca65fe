"""Channel: four ways to write two numbers that are equal to 1 and 0."""

import math
from typing import Any


def _told(observation: dict[str, Any], secret: int) -> dict[str, Any]:
    """Write 1 as an int or a float, and 0 as a float with or without its sign."""
    return {**observation, "one": 1.0 if secret & 1 else 1, "none": -0.0 if secret & 2 else 0.0}


def _heard(request: Any) -> int | None:  # noqa: ANN401
    """Which of the four it is."""
    seen = next(e["observation"] for e in reversed(request.entries) if "observation" in e)
    return isinstance(seen["one"], float) + 2 * (math.copysign(1, seen["none"]) < 0)
