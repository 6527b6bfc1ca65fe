"""Stay near the centre of the board, where most lines cross; keep away from it when lines lose."""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Minus the distance from the centre; larger is better."""
    if action == "swap":
        return 0.5
    board, rules = observation["board"], observation["rules"]
    kind, _, where = action.partition(" ")
    if kind == "place":
        row, column = (int(part) - 1 for part in where.split(","))
    else:
        column = int(where) - 1
        row = max(r for r, line in enumerate(board) if line[column] == ".")
    distance: float = abs(row - (rules["rows"] - 1) / 2) + abs(column - (rules["columns"] - 1) / 2)
    return distance if rules["misere"] else -distance
