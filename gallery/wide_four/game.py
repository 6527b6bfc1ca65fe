"""Placement games: marks on a grid, and a straight line of them decides (m,n,k-games).

Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

from functools import lru_cache
from typing import Any, NamedTuple

State = dict[str, Any]
Windows = tuple[tuple[int, int], ...]

CHANCE = -1
TERMINAL = -4
EMPTY = "."
MARKS = "xo+*"
SWAP = "swap"

# fmt: off
GAME: dict[str, Any] = {'name': 'Four in a row on 6 rows and 10 columns',
 'summary': '2 players take turns to place marks on a board of 6 rows and 10 columns. Whoever '
            'completes a straight line of 4 own marks wins.',
 'min_players': 2,
 'max_players': 2,
 'open': ['player',
          'legal',
          'marks',
          'free',
          'last',
          'placed',
          'swapped',
          'line_by',
          'rewards'],
 'parameters': {'rows': {'default': 6, 'range': [2, 19], 'meaning': 'Rows of the board.'},
                'columns': {'default': 10,
                            'range': [2, 19],
                            'meaning': 'Columns of the board.'},
                'connect': {'default': 4,
                            'range': [2, 10],
                            'meaning': 'How many marks in a row make a line.'},
                'gravity': {'default': False,
                            'choices': [True, False],
                            'meaning': 'Marks are dropped into a column and fall to its lowest '
                                       'empty cell.'},
                'misere': {'default': False,
                           'choices': [True, False],
                           'meaning': 'Whoever completes a line loses instead of winning.'},
                'wrap': {'default': False,
                         'choices': [True, False],
                         'meaning': 'Lines wrap around the left and right edges, as on a '
                                    'cylinder.'},
                'exact': {'default': False,
                          'choices': [True, False],
                          'meaning': 'Only a line of exactly the required length counts, not a '
                                     'longer one.'},
                'marks_per_turn': {'default': 2,
                                   'range': [1, 3],
                                   'meaning': 'Marks placed in a turn; the very first turn '
                                              'places only one.'},
                'pie': {'default': False,
                        'choices': [True, False],
                        'meaning': 'The pie rule: the second player may take over the first '
                                   'mark.'}}}
# fmt: on

ZONES = {"board": {"component": "mark", "owner": "table", "ordered": True}}


class Tables(NamedTuple):
    """What depends on the board's shape alone; cells count from 0, row by row from the top.

    Attributes:
        places: Action -> cell, for boards without gravity.
        drops: Action -> column, for boards with gravity.
        order: Marks placed so far -> seat to place the next one.
        earliest: Fewest marks on the board with which anybody can have a line.
        windows: Per cell the (window, line) bit pairs of the lines through it: a player with
            `marks` has completed that line exactly if `marks & window == line`.
    """

    places: dict[str, int]
    drops: dict[str, int]
    order: tuple[int, ...]
    earliest: int
    windows: tuple[Windows, ...]


@lru_cache(maxsize=64)
def _tables(shape: str) -> Tables:
    rows, columns, connect, wrap, exact, players, per_turn, swapped = map(int, shape.split(","))
    order = [
        ((placed + per_turn - 1) // per_turn + swapped) % players
        for placed in range(rows * columns + 1)
    ]
    cells = [(row, column) for row in range(rows) for column in range(columns)]

    def cell(row: int, column: int) -> int | None:
        column = column % columns if wrap else column
        inside = 0 <= row < rows and 0 <= column < columns
        return row * columns + column if inside else None

    through: list[dict[tuple[int, int], None]] = [{} for _ in cells]
    for row, column in cells:
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = [
                cell(row + step * down, column + step * right) for step in range(-1, connect + 1)
            ]
            line = {place for place in run[1:-1] if place is not None}
            if len(line) < connect:
                continue
            ends = {place for place in (run[0], run[-1]) if exact and place is not None}
            bits = sum(1 << place for place in line)
            for place in line:
                through[place][sum(1 << spot for spot in line | ends), bits] = None
    return Tables(
        {f"place {row + 1},{column + 1}": row * columns + column for row, column in cells},
        {f"drop {column + 1}": column for column in range(columns)},
        tuple(order),
        next((n for n in range(len(order)) if order[:n].count(order[n - 1]) >= connect), 0),
        tuple(tuple(lines) for lines in through),
    )


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
        ValueError: If a parameter is unknown or out of range, a line cannot fit on the board, or
            the pie rule is asked for with more than two players.

    Rules: R1, R2, R3.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        raise ValueError(
            f"num_players is {num_players}; allowed: {GAME['min_players']} to {GAME['max_players']}"
        )
    rules = _settings(parameters)
    rows, columns, connect = rules["rows"], rules["columns"], rules["connect"]
    if connect > max(rows, columns):
        raise ValueError(
            f"connect is {connect}; on {rows} rows and {columns} columns a line has at most "
            f"{max(rows, columns)} marks"
        )
    if rules["pie"] and num_players != 2:  # noqa: PLR2004
        raise ValueError(f"pie is True with {num_players} players; the pie rule needs exactly 2")
    return _assembled(rules, num_players, EMPTY * (rows * columns), -1, swapped=False)


def _assembled(rules: dict[str, Any], count: int, board: str, last: int, *, swapped: bool) -> State:
    columns = rules["columns"]
    keys = ("rows", "columns", "connect", "wrap", "exact")
    numbers = [*(rules[key] for key in keys), count, rules["marks_per_turn"], swapped]
    shape = ",".join(str(int(number)) for number in numbers)
    marks = [
        sum(1 << cell for cell, mark in enumerate(board) if mark == own) for own in MARKS[:count]
    ]
    tables = _tables(shape)
    free = [board[column::columns].count(EMPTY) - 1 for column in range(columns)]
    falls = rules["gravity"]
    if falls:
        legal = [action for action, column in tables.drops.items() if free[column] >= 0]
    else:
        legal = [action for action, cell in tables.places.items() if board[cell] == EMPTY]
    placed = len(board) - board.count(EMPTY)
    return {
        "rules": rules,
        "shape": shape,
        "player": tables.order[placed],
        "board": board,
        "marks": marks,
        "free": [row * columns + column for column, row in enumerate(free)] if falls else [],
        "legal": [*legal, SWAP] if rules["pie"] and placed == 1 and not swapped else legal,
        "last": last,
        "placed": placed,
        "swapped": swapped,
        "line_by": None,
        "rewards": [0] * count,
    }


def get_current_player(state: State) -> int:
    """The seat to place a mark, or -4 once the game is over.

    Rules: R4, R5, R9, R10.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Every column or cell that can take a mark, and the swap where the pie rule allows it.

    Rules: R6, R7.
    """
    legal: list[str] = state["legal"]
    return legal


def parse_action(action: str) -> dict[str, int | str]:
    """The action in parts: its kind, and the row and column counted from 1.

    Rules: R6.
    """
    kind, _, where = action.partition(" ")
    if kind == "drop":
        return {"kind": kind, "column": int(where)}
    if kind == "place":
        row, column = where.split(",")
        return {"kind": kind, "row": int(row), "column": int(column)}
    return {"kind": kind}


def apply_action(state: State, action: str) -> State:
    """The state after a mark is placed; a mark that completes a line ends the game.

    Raises:
        ValueError: If the action is not legal.

    Rules: R6, R7, R8, R9, R10.
    """
    legal = state["legal"]
    if action not in legal:
        raise ValueError(f"{action!r} is not legal; legal: {', '.join(legal) or 'nothing'}")
    if action == SWAP:
        return _swapped(state)
    tables, free = _tables(state["shape"]), state["free"]
    if free:
        column = tables.drops[action]
        cell = free[column]
        free = free.copy()
        free[column] = cell - len(free)
        if cell < len(free):
            legal = [other for other in legal if other != action]
    else:
        cell = tables.places[action]
        legal = legal.copy()
        legal.remove(action)
    player, board, marks = state["player"], state["board"], state["marks"].copy()
    own = marks[player] | (1 << cell)
    marks[player] = own
    placed = state["placed"] + 1
    after = {
        "rules": state["rules"],
        "shape": state["shape"],
        "player": tables.order[placed],
        "board": board[:cell] + MARKS[player] + board[cell + 1 :],
        "marks": marks,
        "free": free,
        "legal": legal if placed > 2 else _with_swap(state, placed, legal),  # noqa: PLR2004
        "last": cell,
        "placed": placed,
        "swapped": state["swapped"],
        "line_by": None,
        "rewards": state["rewards"],
    }
    if placed >= tables.earliest:
        for window, line in tables.windows[cell]:
            if own & window == line:
                return _over(after, player)
    return after if legal else _over(after, None)


def _with_swap(state: State, placed: int, legal: list[str]) -> list[str]:
    if not state["rules"]["pie"]:
        return legal
    legal = [action for action in legal if action != SWAP]
    return [*legal, SWAP] if placed == 1 else legal


def _swapped(state: State) -> State:
    board = state["board"].replace(MARKS[0], MARKS[1])
    return _assembled(state["rules"], 2, board, state["last"], swapped=True)


def _over(state: State, player: int | None) -> State:
    state["player"] = TERMINAL
    state["legal"] = []
    if player is not None:
        sign = -1 if state["rules"]["misere"] else 1
        state["line_by"] = player
        state["rewards"] = [
            sign if seat == player else -sign for seat in range(len(state["marks"]))
        ]
    return state


def get_rewards(state: State) -> list[float]:
    """One for winning, minus one for losing, nothing for a full board without a line.

    Rules: R11, R12.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[dict[str, Any]]:
    """The whole board, the same for everyone but for the own mark.

    Rules: R13.
    """
    columns = state["rules"]["columns"]
    board = state["board"]
    seen = {
        "board": [board[start : start + columns] for start in range(0, len(board), columns)],
        "to_move": state["player"],
        "last": state["last"],
        "swapped": state["swapped"],
        "line_by": state["line_by"],
        "rules": state["rules"],
        "players": len(state["marks"]),
    }
    return [{**seen, "you": seat, "mark": MARKS[seat]} for seat in range(len(state["marks"]))]


def get_events(state: State, action: str) -> list[list[str]]:
    """What everyone sees of a move, and how the game ended where it did.

    Rules: R6, R9, R10.
    """
    name, after = get_player_name(state["player"]), apply_action(state, action)
    if action == SWAP:
        told = [f"{name} takes over the first mark."]
    else:
        row, column = divmod(after["last"], state["rules"]["columns"])
        mark = MARKS[state["player"]]
        told = [f"{name} places {mark} in row {row + 1}, column {column + 1}."]
    if after["line_by"] is not None:
        verb = "loses" if state["rules"]["misere"] else "wins"
        told.append(f"{name} completes a line of {state['rules']['connect']} and {verb}.")
    elif after["player"] == TERMINAL:
        told.append("The board is full: a draw.")
    return [told for _ in state["marks"]]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Everything lies open.

    Rules: R13.
    """
    del state, player_id
    return {"board": "contents"}


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """The one state that the newest observation allows.

    Rules: R13.
    """
    del player_id
    seen = obs_action_history[-1][0]
    state = _assembled(
        seen["rules"],
        seen["players"],
        "".join(seen["board"]),
        seen["last"],
        swapped=seen["swapped"],
    )
    return _over(state, seen["line_by"]) if seen["to_move"] == TERMINAL else state
