"""Generalized chess army5x5a: generals, infantry and cavalry on a board of five by five.

The game is that of the Code World Models paper (App. I.5), whose setup is not published. It is
ruled thus: row A holds `VIXIV` for player 0, row E `vixiv` for player 1; moves are (rows, columns)
as player 0 sees them, and player 1's rows count the other way; the moves are those listed and no
others; pieces jump; passing is always legal; there is no check; after 100 plies it is a draw. So
it is another game than the paper's, and results are not to be compared.
"""

from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
SIZE = 5
MOST_PLIES = 100
ROWS = "ABCDE"
EMPTY = "."
MOVES = {
    "X": [(1, 0), (-1, 0), (0, 1), (0, -1), (0, -2), (0, 2)],
    "I": [(1, 0), (2, 0), (1, -1), (1, 1), (-1, 0)],
    "V": [(0, 3), (1, 2), (2, 1), (3, 0)],
}

GAME: dict[str, Any] = {
    "name": "army5x5a",
    "summary": "A small chess of generals, infantry and cavalry: take the other's general.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "open": ["player", "plies", "winner"],
}
ZONES = {"board.*": {"component": "piece", "owner": "table", "ordered": True}}


def initial_state(num_players: int, **parameters: object) -> State:
    """Both armies on their first rows. Rules: R1, R2."""
    if num_players != 2 or parameters:  # noqa: PLR2004 - a game for two
        raise ValueError("required: 2 players and no parameters")
    empty = [[EMPTY] * SIZE for _ in range(SIZE - 2)]
    return {
        "board": [list("VIXIV"), *empty, list("vixiv")],
        "player": 0,
        "plies": 0,
        "winner": -1,
    }


def get_current_player(state: State) -> int:
    """Whose move it is; -4 at the end. Rules: R2, R6, R7."""
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Player 1 for seat 0. Rules: R2."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def _is_own(piece: str, seat: int) -> bool:
    return piece != EMPTY and piece.isupper() == (seat == 0)


def get_legal_actions(state: State) -> list[str]:
    """All moves that stay on the board and off own pieces, and passing. Rules: R3, R4, R5."""
    seat, board = state["player"], state["board"]
    if seat == TERMINAL:
        return []
    forward = 1 if seat == 0 else -1
    found = []
    for row, pieces in enumerate(board):
        for column, piece in enumerate(pieces):
            if not _is_own(piece, seat):
                continue
            for down, right in MOVES[piece.upper()]:
                to_row, to_column = row + forward * down, column + right
                on_board = 0 <= to_row < SIZE and 0 <= to_column < SIZE
                if on_board and not _is_own(board[to_row][to_column], seat):
                    start, end = f"{ROWS[row]}{column + 1}", f"{ROWS[to_row]}{to_column + 1}"
                    found.append(f"{start}_to_{end}")
    return [*found, "PASS"]


def apply_action(state: State, action: str) -> State:
    """The board after a move or a pass. Rules: R3, R5, R6, R7."""
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    seat, plies = state["player"], state["plies"] + 1
    board, taken = state["board"], EMPTY
    if action != "PASS":
        board = [list(row) for row in board]
        row, column, to_row, to_column = _squares(action)
        taken = board[to_row][to_column]
        board[to_row][to_column] = board[row][column]
        board[row][column] = EMPTY
    winner = seat if taken in ("X", "x") else -1  # R6
    over = winner >= 0 or plies == MOST_PLIES  # R7
    player = TERMINAL if over else 1 - seat
    return {"board": board, "player": player, "plies": plies, "winner": winner}


def _squares(action: str) -> tuple[int, int, int, int]:
    start, _, end = action.partition("_to_")
    return ROWS.index(start[0]), int(start[1]) - 1, ROWS.index(end[0]), int(end[1]) - 1


def get_rewards(state: State) -> list[int]:
    """One for who took the general, minus one for the other. Rules: R6, R7."""
    winner = state["winner"]
    return [0, 0] if winner < 0 else [1 if seat == winner else -1 for seat in (0, 1)]


def get_observations(state: State) -> list[State]:
    """Nothing is hidden. Rules: R1, R8."""
    return [{"you": seat, **state} for seat in (0, 1)]


def get_events(state: State, action: str) -> list[list[str]]:
    """Both see every move. Rules: R8."""
    told = f"{get_player_name(state['player'])}: {action}."
    return [[told], [told]]


def visible(state: State, player_id: int) -> dict[str, str]:
    """The board lies open. Rules: R8."""
    del state, player_id
    return {f"board.{row}": "contents" for row in range(SIZE)}
