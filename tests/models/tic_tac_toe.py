"""Tic-tac-toe as OpenSpiel plays it, in the form of a learned source; written by hand."""

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
NAMES = {"x": 0, "o": 1, "Terminal": -4}


def get_current_player(state):
    return NAMES[state["current_player"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))


def get_legal_actions(state):
    mark = state["current_player"]
    if mark == "Terminal":
        return []
    return [f"{mark}({i // 3},{i % 3})" for i, held in enumerate(state["board"]) if held == "."]


def apply_action(state, action):
    mark, board = action[0], list(state["board"])
    board[3 * int(action[2]) + int(action[4])] = mark
    over = winner(board) or "." not in board
    return {"board": board, "current_player": "Terminal" if over else "xo"[mark == "x"]}


def get_rewards(state):
    won = winner(state["board"])
    return {"x": [1.0, -1.0], "o": [-1.0, 1.0]}.get(won, [0.0, 0.0])


def get_observations(state):
    return [state, state]


def winner(board):
    for a, b, c in LINES:
        if board[a] == board[b] == board[c] != ".":
            return board[a]
    return ""
