"""Capture games: two armies of equal pieces cross a grid (the breakthrough family).

Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

from functools import lru_cache
from typing import Any, NamedTuple

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
EMPTY = "."
PIECES = "bw"
FILES = "abcdefghijkl"

# fmt: off
GAME: dict[str, Any] = {
    "name": "capture",
    "summary": "Two armies advance on a grid and take each other's pieces; breaking through wins.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "open": ["player", "legal", "moves", "last", "rewards"],
    "parameters": {
        "rows": {"default": 8, "range": [3, 12], "meaning": "Rows of the board."},
        "columns": {"default": 8, "range": [2, 12], "meaning": "Columns of the board."},
        "ranks": {"default": 2, "range": [1, 4],
            "meaning": "Home rows that each player fills with pieces."},
        "straight_capture": {"default": False, "choices": [True, False],
            "meaning": "Pieces may take straight ahead too, not only diagonally."},
        "backward": {"default": False, "choices": [True, False],
            "meaning": "Pieces may move and take backwards as well as forwards."},
        "win_by": {"default": "breakthrough",
            "choices": ["breakthrough", "capture_all", "both"],
            "meaning": "What wins: reaching the far row, taking every opposing piece, or both."},
        "forced_capture": {"default": False, "choices": [True, False],
            "meaning": "A player who can take a piece must take one."},
        "max_moves": {"default": 300, "range": [10, 1000],
            "meaning": "Moves of both players together after which the pieces are counted."},
    },
}
# fmt: on

ZONES = {"board": {"component": "piece", "owner": "table", "ordered": True}}


class Tables(NamedTuple):
    """What depends on the board's shape and the way pieces move.

    Attributes:
        steps: Action -> (from, to), cells counted from 0, row by row from the top.
        reach: Per player and cell the targets (to, text of a move, text of a capture or "").
    """

    steps: dict[str, tuple[int, int]]
    reach: tuple[tuple[tuple[tuple[int, str, str], ...], ...], ...]


@lru_cache(maxsize=32)
def _tables(shape: str) -> Tables:
    rows, columns, straight, backward = map(int, shape.split(","))
    steps: dict[str, tuple[int, int]] = {}
    reach = []
    for forward in (1, -1):
        targets = []
        for cell in range(rows * columns):
            row, column = divmod(cell, columns)
            found = []
            for down in (forward, -forward)[: 1 + backward]:
                for right in (-1, 0, 1):
                    if not (0 <= row + down < rows and 0 <= column + right < columns):
                        continue
                    to = cell + down * columns + right
                    here, there = (
                        f"{FILES[spot % columns]}{rows - spot // columns}" for spot in (cell, to)
                    )
                    takes = f"{here}x{there}" if right or straight else ""
                    found.append((to, f"{here}-{there}", takes))
                    steps[f"{here}-{there}"] = steps[f"{here}x{there}"] = (cell, to)
            targets.append(tuple(found))
        reach.append(tuple(targets))
    return Tables(steps, tuple(reach))


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
    """Both armies on their home rows, with Player 1 at the top to move.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the armies leave no empty row
            between them.

    Rules: R1, R2, R3.
    """
    if num_players != 2:  # noqa: PLR2004
        raise ValueError(f"num_players is {num_players}; capture is for exactly 2")
    rules = _settings(parameters)
    rows, columns, ranks = rules["rows"], rules["columns"], rules["ranks"]
    if 2 * ranks >= rows:
        raise ValueError(
            f"ranks is {ranks} on {rows} rows; at most {(rows - 1) // 2} leave an empty row between"
        )
    army = ranks * columns
    middle = EMPTY * ((rows - 2 * ranks) * columns)
    return _assembled(rules, 0, PIECES[0] * army + middle + PIECES[1] * army, 0, "")


def _assembled(rules: dict[str, Any], player: int, board: str, moves: int, last: str) -> State:
    keys = ("rows", "columns", "straight_capture", "backward")
    shape = ",".join(str(int(rules[key])) for key in keys)
    return {
        "rules": rules,
        "shape": shape,
        "player": player,
        "board": board,
        "legal": [] if player == TERMINAL else _moves(rules, shape, board, player),
        "moves": moves,
        "last": last,
        "rewards": [0, 0],
    }


def _moves(rules: dict[str, Any], shape: str, board: str, player: int) -> list[str]:
    reach, own, other = _tables(shape).reach[player], PIECES[player], PIECES[1 - player]
    moves, captures = [], []
    cell = board.find(own)
    while cell >= 0:
        for to, move, takes in reach[cell]:
            target = board[to]
            if target == EMPTY:
                moves.append(move)
            elif target == other and takes:
                captures.append(takes)
        cell = board.find(own, cell + 1)
    return captures if captures and rules["forced_capture"] else captures + moves


def get_current_player(state: State) -> int:
    """The seat to move, or -4 once the game is over.

    Rules: R4, R9, R10, R11, R12.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Captures ("a7xb6"), then moves ("a7-a6"), of the player's pieces.

    Rules: R5, R6, R7, R8.
    """
    legal: list[str] = state["legal"]
    return legal


def parse_action(action: str) -> dict[str, str | bool]:
    """The action in parts: where from, where to, and whether a piece is taken.

    Rules: R5, R6.
    """
    takes = "x" in action
    here, there = action.split("x" if takes else "-")
    return {"from": here, "to": there, "takes": takes}


def apply_action(state: State, action: str) -> State:
    """The state after a move or a capture, with the end of the game where it comes.

    Raises:
        ValueError: If the action is not legal.

    Rules: R5, R6, R9, R10, R11, R12.
    """
    if action not in state["legal"]:
        legal = ", ".join(state["legal"]) or "nothing"
        raise ValueError(f"{action!r} is not legal; legal: {legal}")
    rules, shape, board, player = state["rules"], state["shape"], state["board"], state["player"]
    here, there = _tables(shape).steps[action]
    first, second = (here, there) if here < there else (there, here)
    own = PIECES[player]
    marks = (EMPTY, own) if here < there else (own, EMPTY)
    board = board[:first] + marks[0] + board[first + 1 : second] + marks[1] + board[second + 1 :]
    after = {
        "rules": rules,
        "shape": shape,
        "player": 1 - player,
        "board": board,
        "legal": [],
        "moves": state["moves"] + 1,
        "last": action,
        "rewards": state["rewards"],
    }
    row = there // rules["columns"]
    if rules["win_by"] != "capture_all" and row == (0 if player else rules["rows"] - 1):
        return _over(after, 1 if player == 0 else -1)
    if PIECES[1 - player] not in board:
        return _over(after, 1 if player == 0 else -1)
    if after["moves"] >= rules["max_moves"]:
        return _over(after, _majority(board))
    after["legal"] = _moves(rules, shape, board, 1 - player)
    if not after["legal"]:
        stuck = _majority(board) if rules["win_by"] == "capture_all" else (-1 if player else 1)
        return _over(after, stuck)
    return after


def _majority(board: str) -> int:
    gap = board.count(PIECES[0]) - board.count(PIECES[1])
    return (gap > 0) - (gap < 0)


def _over(state: State, first: int) -> State:
    state["player"] = TERMINAL
    state["rewards"] = [first, -first]
    return state


def get_rewards(state: State) -> list[float]:
    """One for winning, minus one for losing, nothing for a draw.

    Rules: R13.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[dict[str, Any]]:
    """The whole board, the same for both players but for the own seat.

    Rules: R14.
    """
    columns, board = state["rules"]["columns"], state["board"]
    seen = {
        "board": [board[start : start + columns] for start in range(0, len(board), columns)],
        "to_move": state["player"],
        "moves": state["moves"],
        "last": state["last"],
        "result": state["rewards"],
        "rules": state["rules"],
    }
    return [{**seen, "you": seat, "piece": PIECES[seat]} for seat in (0, 1)]


def get_events(state: State, action: str) -> list[list[str]]:
    """What both players see of a move, and how the game ended where it did.

    Rules: R5, R6, R9, R10, R11, R12.
    """
    name, after, move = (
        get_player_name(state["player"]),
        apply_action(state, action),
        parse_action(action),
    )
    verb = "takes on" if move["takes"] else "moves to"
    told = [f"{name} {verb} {move['to']} from {move['from']}."]
    if after["player"] == TERMINAL:
        best = max(after["rewards"])
        winner = get_player_name(after["rewards"].index(best))
        told.append(f"{winner} wins." if best else "The game is a draw.")
    return [told, told]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Everything lies open.

    Rules: R14.
    """
    del state, player_id
    return {"board": "contents"}


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """The one state that the newest observation allows.

    Rules: R14.
    """
    del player_id
    seen = obs_action_history[-1][0]
    board = "".join(seen["board"])
    state = _assembled(seen["rules"], seen["to_move"], board, seen["moves"], seen["last"])
    return {**state, "rewards": seen["result"]}
