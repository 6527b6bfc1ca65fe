"""Complete a line, else stop the opponent's, else prefer the centre and lines still open.

When completing a line loses, avoid adding to lines that are nearly full.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Worth of the marked cell over the lines through it; larger is better."""
    rules, board, mark = observation["rules"], observation["board"], action[0]
    size = rules["size"]
    row, column = (int(part) - 1 for part in action[2:].split(","))
    value = 0.0
    for line in _through(board, row, column):
        same = line.count(mark)
        empty = line.count(".")
        others = size - same - empty
        if rules["misere"]:
            value -= 10.0**same if others == 0 else 0.0
        elif same == size - 1:
            value += 1e9
        elif others == size - 1:
            value += -1.0 if rules["wild"] else 1e7
        elif rules["wild"] and same == size - 2 and others == 0:
            value -= 1e6
        elif same == 0 or others == 0:
            value += 10.0 ** max(same, others)
    return value


def _through(board: list[str], row: int, column: int) -> list[str]:
    size = len(board)
    lines = [board[row], "".join(line[column] for line in board)]
    if row == column:
        lines.append("".join(board[step][step] for step in range(size)))
    if row + column == size - 1:
        lines.append("".join(board[step][size - 1 - step] for step in range(size)))
    return lines
