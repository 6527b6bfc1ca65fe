"""Channel: the order of the legal actions."""

from typing import Any


def _offered(legal: list[str], secret: int) -> list[str]:
    """Begin with the other's card."""
    return legal[secret:] + legal[:secret]


def _heard(request: Any) -> int | None:  # noqa: ANN401
    """The first one that is offered."""
    return "ABCD".index(request.legal[0][-1])
