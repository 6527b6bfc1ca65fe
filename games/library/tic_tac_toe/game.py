"""Tic-tac-toe: fill a row, a column or a diagonal of a small square board."""

from functools import lru_cache
from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
EMPTY = "."
MARKS = "xo"

GAME: dict[str, Any] = {
    "name": "tic_tac_toe",
    "summary": "Two players mark the cells of a small square; a full line of one mark decides.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "open": ["player", "line_by"],
    "parameters": {
        "size": {
            "default": 3,
            "range": [3, 5],
            "meaning": "Rows and columns of the board, and the length of a line.",
        },
        "misere": {
            "default": False,
            "choices": [True, False],
            "meaning": "Whoever completes a line loses instead of winning.",
        },
        "wild": {
            "default": False,
            "choices": [True, False],
            "meaning": "Both players may place either mark, x or o, in every turn.",
        },
    },
}

ZONES = {"board": {"component": "mark", "owner": "table", "ordered": True}}


@lru_cache(maxsize=8)
def _lines(size: int) -> tuple[tuple[slice, ...], ...]:
    cells = size * size
    through = []
    for cell in range(cells):
        row, column = divmod(cell, size)
        lines = [slice(row * size, (row + 1) * size), slice(column, cells, size)]
        if row == column:
            lines.append(slice(0, cells, size + 1))
        if row + column == size - 1:
            lines.append(slice(size - 1, cells - 1, size - 1))
        through.append(tuple(lines))
    return tuple(through)


@lru_cache(maxsize=8)
def _cells(size: int) -> dict[str, int]:
    return {
        f"{row + 1},{column + 1}": row * size + column
        for row in range(size)
        for column in range(size)
    }


def _settings(parameters: dict[str, Any]) -> dict[str, Any]:
    known = GAME["parameters"]
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; known: {', '.join(known)}")
    rules = {name: parameters.get(name, entry["default"]) for name, entry in known.items()}
    for name, entry in known.items():
        allowed = entry.get("choices") or range(entry["range"][0], entry["range"][1] + 1)
        if type(rules[name]) is not type(entry["default"]) or rules[name] not in allowed:
            raise ValueError(f"{name} is {rules[name]!r}; allowed: {allowed}")
    return rules


def initial_state(num_players: int, **parameters: object) -> State:
    """The empty board with Player 1 to place the first mark.

    Raises:
        ValueError: If a parameter is unknown or out of range, or there are not two players.

    Rules: R1, R2, R3.
    """
    if num_players != 2:  # noqa: PLR2004
        raise ValueError(f"num_players is {num_players}; tic-tac-toe is for exactly 2")
    rules = _settings(parameters)
    return {
        "rules": rules,
        "player": 0,
        "board": EMPTY * (rules["size"] * rules["size"]),
        "line_by": None,
    }


def get_current_player(state: State) -> int:
    """The seat to place a mark, or -4 once the game is over.

    Rules: R4, R8, R9.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Every empty cell, with each mark that the player may place there.

    Rules: R5, R6.
    """
    player = state["player"]
    if player == TERMINAL:
        return []
    board, rules = state["board"], state["rules"]
    empty = [where for where, cell in _cells(rules["size"]).items() if board[cell] == EMPTY]
    marks = MARKS if rules["wild"] else MARKS[player]
    return [f"{mark} {where}" for mark in marks for where in empty]


def parse_action(action: str) -> dict[str, int | str]:
    """The action in parts: its mark, and the row and column counted from 1.

    Rules: R5.
    """
    row, column = action[2:].split(",")
    return {"mark": action[0], "row": int(row), "column": int(column)}


def apply_action(state: State, action: str) -> State:
    """The state after a mark is placed; a mark that completes a line ends the game.

    Raises:
        ValueError: If the action is not legal.

    Rules: R5, R6, R7, R8, R9.
    """
    rules, player, board = state["rules"], state["player"], state["board"]
    mark, space, where = action[:1], action[1:2], action[2:]
    cell = _cells(rules["size"]).get(where)
    own = mark and mark in (MARKS if rules["wild"] else MARKS[max(player, 0)])
    if player == TERMINAL or cell is None or board[cell] != EMPTY or space != " " or not own:
        legal = ", ".join(get_legal_actions(state))
        raise ValueError(f"{action!r} is not legal; legal: {legal or 'nothing'}")
    board = board[:cell] + mark + board[cell + 1 :]
    full = mark * rules["size"]
    for line in _lines(rules["size"])[cell]:
        if board[line] == full:
            return {"rules": rules, "player": TERMINAL, "board": board, "line_by": player}
    following = 1 - player if EMPTY in board else TERMINAL
    return {"rules": rules, "player": following, "board": board, "line_by": None}


def get_rewards(state: State) -> list[float]:
    """One for winning, minus one for losing, nothing for a full board without a line.

    Rules: R10, R11.
    """
    player = state["line_by"]
    if player is None:
        return [0, 0]
    return [1, -1] if (player == 0) != state["rules"]["misere"] else [-1, 1]


def get_observations(state: State) -> list[dict[str, Any]]:
    """The whole board, the same for both players but for the own seat.

    Rules: R12.
    """
    size, board = state["rules"]["size"], state["board"]
    seen = {
        "board": [board[start : start + size] for start in range(0, len(board), size)],
        "to_move": state["player"],
        "line_by": state["line_by"],
        "rules": state["rules"],
    }
    return [{**seen, "you": seat, "mark": MARKS[seat]} for seat in (0, 1)]


def get_events(state: State, action: str) -> list[list[str]]:
    """What both players see of a move, and how the game ended where it did.

    Rules: R5, R8, R9.
    """
    name, after, move = (
        get_player_name(state["player"]),
        apply_action(state, action),
        parse_action(action),
    )
    told = [f"{name} places {move['mark']} in row {move['row']}, column {move['column']}."]
    if after["line_by"] is not None:
        told.append(
            f"{name} completes a line and {'loses' if state['rules']['misere'] else 'wins'}."
        )
    elif after["player"] == TERMINAL:
        told.append("The board is full: a draw.")
    return [told, told]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Everything lies open.

    Rules: R12.
    """
    del state, player_id
    return {"board": "contents"}


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """The one state that the newest observation allows.

    Rules: R12.
    """
    del player_id
    seen = obs_action_history[-1][0]
    return {
        "rules": seen["rules"],
        "player": seen["to_move"],
        "board": "".join(seen["board"]),
        "line_by": seen["line_by"],
    }
