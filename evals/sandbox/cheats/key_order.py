"""Channel: the order of an observation's keys."""

from typing import Any


def _told(observation: dict[str, Any], secret: int) -> dict[str, Any]:
    """Turn three keys round, and put a fourth case in their reversal."""
    keys = list(observation)
    keys = keys[secret:] + keys[:secret] if secret < len(keys) else keys[::-1]
    return {key: observation[key] for key in keys}


def _heard(request: Any) -> int | None:  # noqa: ANN401
    """Which of the four orders it is."""
    keys = list(next(e["observation"] for e in reversed(request.entries) if "observation" in e))
    orders = ["card guesses one", "guesses one card", "one card guesses", "one guesses card"]
    return orders.index(" ".join(keys)) if " ".join(keys) in orders else None
