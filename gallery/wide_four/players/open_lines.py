"""Complete your own line, else stop an opponent's, else take the cell with the most open lines.

With gravity, avoid offering the cell above to an opponent who would complete a line there. When
completing a line loses, take the cell that adds least to your own lines.
"""

from typing import Any

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def score(observation: dict[str, Any], action: str) -> float:
    """Worth of the cell that the action marks; larger is better."""
    if action == "swap":
        return 50.0
    rules, board, mark = observation["rules"], observation["board"], observation["mark"]
    row, column = _cell(board, action)
    own = _lines(board, rules, row, column, mark)
    if rules["misere"]:
        return -sum(10.0**count for count, others in own if others == 0)
    value = 0.0
    for count, others in own:
        if count == rules["connect"] - 1:
            return 1e12
        if others == 0:
            value += 10.0**count
    for other in {cell for line in board for cell in line} - {".", mark}:
        for count, blocked in _lines(board, rules, row, column, other):
            if blocked == 0:
                value += 1e10 if count == rules["connect"] - 1 else 8.0 * 10.0 ** (count - 1)
        if rules["gravity"] and row > 0:
            above = _lines(board, rules, row - 1, column, other)
            value -= 1e9 * any(count == rules["connect"] - 1 for count, _ in above)
    return value


def _cell(board: list[str], action: str) -> tuple[int, int]:
    kind, _, where = action.partition(" ")
    if kind == "place":
        row, column = where.split(",")
        return int(row) - 1, int(column) - 1
    column_index = int(where) - 1
    return max(r for r, line in enumerate(board) if line[column_index] == "."), column_index


def _lines(
    board: list[str], rules: dict[str, int], row: int, column: int, mark: str
) -> list[tuple[int, int]]:
    rows, columns, connect = rules["rows"], rules["columns"], rules["connect"]
    found = []
    for down, right in DIRECTIONS:
        for start in range(1 - connect, 1):
            count = others = 0
            for step in range(start, start + connect):
                r, c = row + step * down, column + step * right
                c = c % columns if rules["wrap"] else c
                if not (0 <= r < rows and 0 <= c < columns):
                    break
                count += board[r][c] == mark
                others += board[r][c] not in (".", mark)
            else:
                found.append((count, others))
    return found
