"""Board games of OpenSpiel as JSON."""

import re

from games.environments.openspiel import (
    Encoding,
    Native,
    View,
    open_to_all,
    plies,
    spoken,
    struct,
    turn,
)
from games.values import CHANCE, Action, Json, Observation, State

_MARKS = "xo"
_POINTS = 24
_BAR = 100  # OpenSpiel's position of the bar
_NO_MOVE = -1  # its position of a move that is not made
_CHECKERS = 15
_SHIPS = (5, 4, 3, 3, 2)  # lengths, in the order they are placed
_FLEET = (
    "battleship(board_width=10,board_height=10,ship_sizes=[5;4;3;3;2],ship_values=[1;1;1;1;1],"
    "num_shots=100,allow_repeated_shots=False)"
)


def _mark(native: Native, end: str) -> str:
    return end if native.is_terminal() else _MARKS[native.current_player()]


def _struct(native: Native) -> View:
    return open_to_all(native, struct(native))


def _mnk(native: Native) -> View:
    board: list[Json] = [list(row) for row in str(native).splitlines()]
    return open_to_all(native, {"board": board, "current_player": _mark(native, "Terminal")})


def _phantom(native: Native) -> View:
    attempts: list[list[Json]] = [[], []]
    for player, cell in plies(native):
        attempts[player].append(f"({cell // 3},{cell % 3})")
    views: list[list[Json]] = [
        list(native.observation_string(seat).replace("\n", "")[:9]) for seat in (0, 1)
    ]
    now = _mark(native, "terminal")
    board: list[Json] = list(str(native).replace("\n", ""))
    seen: list[Observation] = [
        {
            "current_player": now,
            "my_attempts": attempts[seat],
            "my_mark": _MARKS[seat],
            "view": views[seat],
        }
        for seat in (0, 1)
    ]
    state: State = {"attempts": [*attempts], "board": board, "current_player": now}
    return state | {"views": [*views]}, seen


def _backgammon(native: Native) -> View:
    text = str(native)
    shown = dict(line.split(": ") for line in text.splitlines() if line.count(": ") == 1)
    board = [[native.board(seat, point) for point in range(_POINTS)] for seat in (0, 1)]
    bar = [shown.get("Bar", "").count(mark) for mark in _MARKS]
    dice: list[Json] = [int(die) for die in shown.get("Dice", "").strip()]
    extra = shown["Extra turn"] == "1"
    rolls = sum(player == CHANCE for player, _ in plies(native))
    is_first_half = native.current_player() >= 0 and not extra
    now = turn(native)
    return open_to_all(
        native,
        {
            "bar": [*bar],
            "board": [*board],
            "current_player": _MARKS[int(now)] if now.isdigit() else now,
            "dice": dice,
            "extra_turn": extra,
            "num_turns": rolls - is_first_half,
            "previous_player": int(shown["Previous player"]),
            "scores": [_CHECKERS - sum(board[seat]) - bar[seat] for seat in (0, 1)],
        },
    )


def _backgammon_action(native: Native, action: int) -> Action:
    """A roll, or one or two moves; a point's number is the mover's own, 24 the farthest."""
    player = native.current_player()
    if player == CHANCE:
        said = spoken(native, action)
        starts = re.search(r"[XO] starts", said)
        roll = re.sub(r".*roll: (\d)(\d).*", r"roll \1,\2", said)
        return f"{starts[0].lower()}, {roll}" if starts else roll
    high = max(int(die) for die in str(native).split("Dice: ")[1][:2])
    said_moves = []
    for move in native.spiel_move_to_checker_moves(player, action):
        if move.pos != _NO_MOVE:
            point = move.pos + 1 if player else _POINTS - move.pos
            place = "Bar" if move.pos == _BAR else point
            roll = "higher" if move.num == high else "lower"
            said_moves.append(f"Move checker at {place} using {roll} roll")
    return ", ".join(said_moves) or "Pass"


def _battleship(native: Native) -> View:
    ships: list[list[Json]] = [[], []]
    afloat: list[list[set[tuple[int, int]]]] = [[], []]  # cells of each ship that are not hit
    shots: list[list[Json]] = [[], []]
    seen_shots: list[list[Json]] = [[], []]
    for player, action in plies(native):
        said = native.action_to_string(player, action)
        row, column = map(int, re.findall(r"\d+", said)[-2:])
        if "place ship" in said:
            way = "h" if "horizontally" in said else "v"
            afloat[player].append(_cells(way, row, column, _SHIPS[len(ships[player])]))
            ships[player].append([way, row, column])
            continue
        met = next((cells for cells in afloat[1 - player] if (row, column) in cells), None)
        if met is not None:
            met.remove((row, column))
        # W: water; H: a ship; S: the last cell of one.
        shots[player].append([row, column, "W" if met is None else "H" if met else "S"])
        seen_shots[player].append([row, column])
    now = turn(native)
    seen: list[Observation] = [
        {
            "current_player": now,
            "my_player_id": seat,
            "my_ships": ships[seat],
            "my_shots": shots[seat],
            "opponent_shots": seen_shots[1 - seat],
        }
        for seat in (0, 1)
    ]
    return {"current_player": now, "ships": [*ships], "shots": [*shots]}, seen


def _cells(way: str, row: int, column: int, length: int) -> set[tuple[int, int]]:
    down, right = (1, 0) if way == "v" else (0, 1)
    return {(row + down * step, column + right * step) for step in range(length)}


BOARDS = {
    "tic_tac_toe": Encoding("tic_tac_toe", _struct),
    "connect_four": Encoding(
        "connect_four",
        _struct,
        free={"rows": "rows", "columns": "columns", "x_in_row": "in line to win"},
    ),
    "mnk": Encoding(
        "mnk(m=6,n=6,k=4)", _mnk, free={"m": "columns", "n": "rows", "k": "in line to win"}
    ),
    "backgammon": Encoding("backgammon", _backgammon, _backgammon_action),
    "battleship": Encoding(_FLEET, _battleship),
    "phantom_ttt": Encoding("phantom_ttt", _phantom),
}
