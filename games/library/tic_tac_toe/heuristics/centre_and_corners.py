"""Prefer the cells that lie on most lines: centre, then diagonals; the reverse when lines lose."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """How many lines run through the cell, negated when completing a line loses."""
    size = observation["rules"]["size"]
    row, column = (int(part) for part in action[2:].split(","))
    lines = 2 + (row == column) + (row + column == size + 1)
    return float(-lines if observation["rules"]["misere"] else lines)
