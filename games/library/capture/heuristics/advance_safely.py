"""Break through or take when possible, advance the foremost pieces, and keep off attacked cells.

A move is worth what it takes and how far it gets; standing where the opponent can take it costs
more the fewer own pieces stand behind to take back.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Worth of the move for the one who makes it; larger is better."""
    rules, board, piece = observation["rules"], observation["board"], observation["piece"]
    rows = rules["rows"]
    takes = "x" in action
    here, there = action.split("x" if takes else "-")
    (old_row, old_column), (row, column) = (_cell(rows, name) for name in (here, there))
    forward = 1 if piece == "b" else -1
    far = rows - 1 if forward == 1 else 0
    value = 3.0 * takes
    if rules["win_by"] != "capture_all":
        if row == far:
            return 1e6
        left, home = abs(far - row), far + forward - rows * forward
        value += 1.0 / left + (2.0 if takes and abs(row - home) <= 1 else 0.0)
    other = "w" if piece == "b" else "b"
    after = [list(line) for line in board]
    after[old_row][old_column] = "."
    after[row][column] = piece
    attackers = _near(after, row + forward, column, other, rules["straight_capture"])
    guards = _near(after, row - forward, column, piece, rules["straight_capture"])
    if attackers:
        value -= 3.0 if attackers > guards else 0.5
    return value + 0.01 * (row - old_row) * forward


def _cell(rows: int, name: str) -> tuple[int, int]:
    return rows - int(name[1:]), ord(name[0]) - ord("a")


def _near(board: list[list[str]], row: int, column: int, piece: str, straight: bool) -> int:
    if not 0 <= row < len(board):
        return 0
    columns = (column - 1, column, column + 1) if straight else (column - 1, column + 1)
    return sum(0 <= c < len(board[row]) and board[row][c] == piece for c in columns)
