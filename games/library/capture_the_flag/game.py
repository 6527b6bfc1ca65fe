"""Capture the flag with hidden ranks: armies whose pieces the opponent sees only from behind.

A small relative of Stratego. What a piece is becomes known when it fights, or when it moves as
only a scout can.
Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

import random
from collections import Counter
from functools import lru_cache
from typing import Any, NamedTuple

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
FILES = "abcdefghij"
FLAG, BOMB, SPY, SCOUT, MINER = "F", "B", "S", "2", "3"
FIXED = (FLAG, BOMB)
WORDS = {FLAG: "the flag", BOMB: "a bomb", SPY: "a spy", SCOUT: "a scout", MINER: "a miner"}
SEARCHES = 200

# fmt: off
GAME: dict[str, Any] = {
    "name": "capture_the_flag",
    "summary": "Two armies with hidden ranks, as in Stratego: fight to find and take the flag.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "conserved": ["piece"],
    "open": ["player", "board", "open", "moved", "quiet", "last", "rewards"],
    "parameters": {
        "rows": {"default": 6, "range": [3, 10], "meaning": "Rows of the board."},
        "columns": {"default": 5, "range": [2, 10], "meaning": "Columns of the board."},
        "home_rows": {"default": 2, "range": [1, 4],
            "meaning": "Rows at each player's edge that are filled with pieces."},
        "setup": {"default": "random", "choices": ["random", "chosen"],
            "meaning": "Who says where the pieces stand at the start: chance, or the players."},
        "bombs": {"default": 2, "range": [0, 8],
            "meaning": "Bombs of each army; they never move and destroy what attacks them."},
        "scouts": {"default": 2, "range": [0, 8],
            "meaning": "Scouts of each army; they move any distance in a straight line."},
        "spies": {"default": 1, "range": [0, 2],
            "meaning": "Spies of each army; a spy that attacks the highest rank wins."},
        "top_rank": {"default": 6, "range": [3, 9],
            "meaning": "The highest rank; soldiers have the ranks from here down to 3."},
        "miners": {"default": True, "choices": [True, False],
            "meaning": "Pieces of rank 3 are miners, who clear away bombs."},
        "bomb_stays": {"default": True, "choices": [True, False],
            "meaning": "A bomb stays on the board after it has destroyed an attacker."},
        "equal_ranks": {"default": "both", "choices": ["both", "attacker", "defender"],
            "meaning": "Who is lost when two pieces of the same rank fight."},
        "no_progress": {"default": 40, "range": [4, 200],
            "meaning": "Moves in a row without a fight after which the game is a draw."},
    },
}
# fmt: on

ZONES = {
    "army.*.*": {"component": "piece", "owner": "each", "ordered": True},
    "reserve.*": {"component": "piece", "owner": "each", "ordered": False},
}


class Tables(NamedTuple):
    """What depends on the size of the board; cells are counted from a1, row by row.

    Attributes:
        names: Cell -> its name.
        cells: Name -> cell.
        rays: Cell -> the cells beyond it in each of four directions, the nearest first.
    """

    names: tuple[str, ...]
    cells: dict[str, int]
    rays: tuple[tuple[tuple[int, ...], ...], ...]


@lru_cache(maxsize=32)
def _tables(rows: int, columns: int) -> Tables:
    names = tuple(f"{FILES[cell % columns]}{cell // columns + 1}" for cell in range(rows * columns))
    rays = []
    for cell in range(rows * columns):
        row, column = divmod(cell, columns)
        up = tuple(range(cell + columns, rows * columns, columns))
        down = tuple(range(cell - columns, -1, -columns))
        right = tuple(range(cell + 1, (row + 1) * columns))
        left = tuple(range(cell - 1, cell - column - 1, -1))
        rays.append(tuple(ray for ray in (up, right, down, left) if ray))
    return Tables(names, {name: cell for cell, name in enumerate(names)}, tuple(rays))


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


def _full_army(rules: dict[str, Any]) -> list[str]:
    """Flag, bombs, spies and scouts, and soldiers from the highest rank down, again and again."""
    size = rules["home_rows"] * rules["columns"]
    special = [FLAG] + [BOMB] * rules["bombs"] + [SPY] * rules["spies"] + [SCOUT] * rules["scouts"]
    ranks = range(rules["top_rank"], int(SCOUT), -1)
    soldiers = [str(ranks[i % len(ranks)]) for i in range(size - len(special))]
    if not soldiers:
        raise ValueError(
            f"a flag, {rules['bombs']} bombs, {rules['spies']} spies and {rules['scouts']} scouts "
            f"are {len(special)} pieces; the home rows have {size} cells, and at least one of "
            "them is for a soldier: take fewer of them, or more home_rows or columns"
        )
    return special + soldiers


def initial_state(num_players: int, **parameters: object) -> State:
    """An empty board, before the armies are set up.

    Raises:
        ValueError: If a parameter is unknown or out of range, the home rows leave no empty row
            between them, or the special pieces leave no room for a soldier.

    Rules: R1, R2, R3, R4.
    """
    if num_players != 2:  # noqa: PLR2004
        raise ValueError(f"num_players is {num_players}; capture_the_flag is for exactly 2")
    rules = _settings(parameters)
    if 2 * rules["home_rows"] >= rules["rows"]:
        raise ValueError(
            f"home_rows is {rules['home_rows']} on {rules['rows']} rows; at most "
            f"{(rules['rows'] - 1) // 2} leave an empty row between the armies"
        )
    army = _full_army(rules)
    size = len(army)
    return {
        "rules": rules,
        "player": CHANCE if rules["setup"] == "random" else 0,
        "army": [[[] for _ in army], [[] for _ in army]],
        "reserve": [army, army],
        "board": [0] * (rules["rows"] * rules["columns"]),
        "open": [[False] * size, [False] * size],
        "moved": [[False] * size, [False] * size],
        "quiet": 0,
        "last": "",
        "legal": _puts(army, rules, 0),
        "rewards": [0, 0],
    }


def _home(rules: dict[str, Any], seat: int, index: int) -> int:
    """The cell where piece `index` starts; each player counts from the own left back corner."""
    return index if seat == 0 else rules["rows"] * rules["columns"] - 1 - index


def _puts(reserve: list[str], rules: dict[str, Any], seat: int) -> list[str]:
    index = rules["home_rows"] * rules["columns"] - len(reserve)
    cell = _tables(rules["rows"], rules["columns"]).names[_home(rules, seat, index)]
    return [f"put {kind} on {cell}" for kind in dict.fromkeys(reserve)]


def get_current_player(state: State) -> int:
    """The seat to set up or to move, -1 while chance sets up, -4 once the game is over.

    Rules: R4, R5, R15, R16, R17.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Moves ("a2-a3") and attacks ("a3xa4"); in the set-up, the kinds for the next home cell.

    Rules: R4, R6, R7, R8.
    """
    legal: list[str] = state["legal"]
    return legal


def get_chance_probabilities(state: State) -> list[float]:
    """Every piece left to set up is the next one with the same probability.

    Rules: R4.
    """
    if state["player"] != CHANCE:
        return []
    reserve = state["reserve"][0] or state["reserve"][1]
    counts = Counter(reserve)
    return [counts[kind] / len(reserve) for kind in dict.fromkeys(reserve)]


def parse_action(action: str) -> dict[str, Any]:
    """The action in parts: a kind put on a cell, or from, to, and whether it attacks.

    Rules: R4, R6, R7.
    """
    if action.startswith("put "):
        _, kind, _, cell = action.split()
        return {"put": kind, "on": cell}
    attacks = "x" in action
    here, there = action.split("x" if attacks else "-")
    return {"from": here, "to": there, "attacks": attacks}


def _moves(state: State, player: int) -> list[str]:
    """Of every piece, by cell: attacks first where they come first on its way."""
    rules, board, army = state["rules"], state["board"], state["army"][player]
    names, _, rays = _tables(rules["rows"], rules["columns"])
    sign, found = (1, -1)[player], []
    for cell, mark in enumerate(board):
        if mark * sign <= 0:
            continue
        kind = army[mark * sign - 1][0]
        if kind in FIXED:
            continue
        for ray in rays[cell]:
            for to in ray if kind == SCOUT else ray[:1]:
                if board[to]:
                    if board[to] * sign < 0:
                        found.append(f"{names[cell]}x{names[to]}")
                    break
                found.append(f"{names[cell]}-{names[to]}")
    return found


def apply_action(state: State, action: str) -> State:
    """The state after a piece was set up, moved or sent to attack.

    Raises:
        ValueError: If the action is not legal.

    Rules: R4, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15, R16, R17.
    """
    if action not in state["legal"]:
        legal = ", ".join(state["legal"]) or "nothing"
        raise ValueError(f"{action!r} is not legal; legal: {legal}")
    if action.startswith("put "):
        return _set_up(state, action.split()[1])
    player, sign = state["player"], (1, -1)[state["player"]]
    rules, board, move = state["rules"], state["board"].copy(), parse_action(action)
    cells = _tables(rules["rows"], rules["columns"]).cells
    here, there = cells[move["from"]], cells[move["to"]]
    mark, target = board[here], board[there]
    own, other = mark * sign - 1, -target * sign - 1
    after = {**state, "board": board, "last": action, "moved": _marked(state["moved"], player, own)}
    board[here] = 0
    if abs(there - here) not in (1, rules["columns"]) or target:
        after["open"] = _marked(state["open"], player, own)
    if not target:
        board[there] = mark
        after["quiet"] = state["quiet"] + 1
        return _turned(after, 1 - player)
    after["open"] = _marked(after["open"], 1 - player, other)
    after["quiet"] = 0
    defender = state["army"][1 - player][other][0]
    attacker_lives, defender_lives = _fight(rules, state["army"][player][own][0], defender)
    board[there] = target if defender_lives else mark if attacker_lives else 0
    return _over(after, player) if defender == FLAG else _turned(after, 1 - player)


def _set_up(state: State, kind: str) -> State:
    rules, seat = state["rules"], 0 if state["reserve"][0] else 1
    reserve, army, board = state["reserve"].copy(), state["army"].copy(), state["board"].copy()
    index = len(army[seat]) - len(reserve[seat])
    reserve[seat] = reserve[seat].copy()
    reserve[seat].remove(kind)
    army[seat] = [*army[seat][:index], [kind], *army[seat][index + 1 :]]
    board[_home(rules, seat, index)] = (index + 1) * (1, -1)[seat]
    after = {**state, "army": army, "reserve": reserve, "board": board}
    if not reserve[1]:
        return _turned(after, 0)
    following = 0 if reserve[0] else 1
    after["legal"] = _puts(reserve[following], rules, following)
    if rules["setup"] == "chosen":
        after["player"] = following
    return after


def _marked(table: list[list[bool]], seat: int, index: int) -> list[list[bool]]:
    if table[seat][index]:
        return table
    table = table.copy()
    table[seat] = table[seat].copy()
    table[seat][index] = True
    return table


def _fight(rules: dict[str, Any], attacker: str, defender: str) -> tuple[bool, bool]:
    """Whether the attacker and the defender stay on the board."""
    if defender == FLAG:
        return True, False
    if defender == BOMB:
        cleared = rules["miners"] and attacker == MINER
        return cleared, not cleared and rules["bomb_stays"]
    if attacker == defender:
        equal = rules["equal_ranks"]
        return equal == "defender", equal == "attacker"
    spied = attacker == SPY and defender == str(rules["top_rank"])
    wins = spied or _strength(attacker) > _strength(defender)
    return wins, not wins


def _strength(kind: str) -> int:
    return 1 if kind == SPY else int(kind)


def _turned(state: State, player: int) -> State:
    """The turn passes, unless that ends the game; `state` is a copy that may be changed."""
    state["player"] = player
    state["legal"] = _moves(state, player)
    if not state["legal"]:
        return _over(state, 1 - player)
    return _over(state, None) if state["quiet"] >= state["rules"]["no_progress"] else state


def _over(state: State, winner: int | None) -> State:
    state["player"], state["legal"] = TERMINAL, []
    state["rewards"] = [0, 0] if winner is None else [1 - 2 * winner, 2 * winner - 1]
    return state


def get_rewards(state: State) -> list[float]:
    """One for winning, minus one for losing, nothing for a draw.

    Rules: R18.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[dict[str, Any]]:
    """Where all pieces stand, the own ranks, and those opposing ones that are known.

    Lists over pieces are in the order of their home cells, so no place in them tells a rank.

    Rules: R19, R20, R21, R22.
    """
    rules, army, shown = state["rules"], state["army"], state["open"]
    names = _tables(rules["rows"], rules["columns"]).names
    cells = [[""] * len(army[0]), [""] * len(army[0])]
    for cell, mark in enumerate(state["board"]):
        if mark:
            cells[mark < 0][abs(mark) - 1] = names[cell]
    own = [[piece[0] if piece else "" for piece in pieces] for pieces in army]
    behind = [
        [(kind if known else "?") if kind else "" for kind, known in zip(kinds, marks, strict=True)]
        for kinds, marks in zip(own, shown, strict=True)
    ]
    seen = {
        "to_move": state["player"],
        "cells": cells,
        "known": shown,
        "moved": state["moved"],
        "to_set_up": [len(pieces) for pieces in state["reserve"]],
        "quiet": state["quiet"],
        "last": state["last"],
        "result": state["rewards"],
        "rules": rules,
    }
    return [
        {**seen, "you": 0, "ranks": [own[0], behind[1]], "reserve": state["reserve"][0]},
        {**seen, "you": 1, "ranks": [behind[0], own[1]], "reserve": state["reserve"][1]},
    ]


def get_events(state: State, action: str) -> list[list[str]]:
    """Moves, fights and endings for both; which piece is set up where for its owner alone.

    Rules: R4, R11, R14, R15, R16, R17, R20, R21.
    """
    after, parts = apply_action(state, action), parse_action(action)
    if "put" in parts:
        seat = 0 if state["reserve"][0] else 1
        told = [[f"{get_player_name(seat)} has a piece on {parts['on']}."] for _ in (0, 1)]
        told[seat] = [f"You have {_word(parts['put'])} on {parts['on']}."]
        return [events + _ending(after) for events in told]
    player, (here, there) = state["player"], (parts["from"], parts["to"])
    name = get_player_name(player)
    if not parts["attacks"]:
        words = f"{name} moves from {here} to {there}"
        if after["open"] is not state["open"]:
            words += ", as only a scout can"
    else:
        attacker, defender = (_kind_on(state, cell) for cell in (here, there))
        words = f"{name} attacks {there} from {here}: {_word(attacker)} against {_word(defender)}"
        words += "; " + _outcome(*_fight(state["rules"], attacker, defender))
    both = [words + ".", *_ending(after)]
    return [both, both]


def _word(kind: str) -> str:
    return WORDS.get(kind, f"rank {kind}")


def _kind_on(state: State, name: str) -> str:
    rules = state["rules"]
    mark = state["board"][_tables(rules["rows"], rules["columns"]).cells[name]]
    kind: str = state["army"][mark < 0][abs(mark) - 1][0]
    return kind


def _outcome(attacker_lives: bool, defender_lives: bool) -> str:
    if attacker_lives:
        return "the defender is taken"
    return "the attacker is lost" if defender_lives else "both are lost"


def _ending(after: State) -> list[str]:
    if after["player"] != TERMINAL:
        return []
    best = max(after["rewards"])
    winner = get_player_name(after["rewards"].index(best))
    return [f"{winner} wins." if best else "The game is a draw."]


def value_function(state: State, player_id: int) -> float:
    """At the end the reward; before it, nine tenths of the share by which the armies differ.

    A piece that moves counts its rank and one more, a bomb two, the flag nothing.

    Rules: R13, R18.
    """
    if state["player"] == TERMINAL:
        reward: float = state["rewards"][player_id]
        return reward
    worth = [0.0, 0.0]
    for mark in state["board"]:
        if mark:
            kind = state["army"][mark < 0][abs(mark) - 1][0]
            worth[mark < 0] += {FLAG: 0, BOMB: 2, SPY: 2}.get(kind) or _rank_worth(kind)
    gap = (worth[0] - worth[1]) / max(sum(worth), 1.0)
    return 0.9 * gap if player_id == 0 else -0.9 * gap


def _rank_worth(kind: str) -> int:
    return 0 if kind == FLAG else int(kind) + 1


def visible(state: State, player_id: int) -> dict[str, str]:
    """The own army, and those opposing pieces that are known; of the others only that they are.

    Rules: R19, R20, R21, R22.
    """
    seen = {"legal": "contents" if player_id == state["player"] else "nothing"}
    for seat in (0, 1):
        mine = seat == player_id
        seen[f"reserve.{seat}"] = "contents" if mine else "count"
        for index, known in enumerate(state["open"][seat]):
            seen[f"army.{seat}.{index}"] = "contents" if mine or known else "count"
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random state in which the unknown ranks are dealt out anew among the unknown pieces.

    All ways are equally likely in which no piece that has moved is a bomb or the flag and each
    kind occurs as often as the army has it; the flag, if the game goes on, still stands.

    Rules: R3, R8, R19, R20, R21, R22.
    """
    seen = obs_action_history[-1][0]
    rules, other = seen["rules"], 1 - player_id
    ranks: list[list[str]] = seen["ranks"].copy()
    reserves: list[list[str]] = [seen["reserve"]] * 2
    for _ in range(SEARCHES):
        ranks[other], reserves[other] = _dealt(seen, other)
        state = _assembled(seen, ranks, reserves)
        if seen["to_move"] != other or state["legal"]:
            return state
    raise RuntimeError(
        f"no army lets {get_player_name(other)} move after {SEARCHES} deals; the history must "
        f"hold an observation made by this module with rules {rules}"
    )


def _dealt(seen: dict[str, Any], other: int) -> tuple[list[str], list[str]]:
    """The other army's ranks with the unknown ones dealt, and its pieces still to set up."""
    ranks = seen["ranks"][other].copy()
    left = Counter(_full_army(seen["rules"]))
    left.subtract(kind for kind in ranks if kind not in ("", "?"))
    unknown = [index for index, kind in enumerate(ranks) if kind == "?"]
    if seen["to_set_up"][other]:
        pieces = [*left.elements()]
        random.shuffle(pieces)
        for index in unknown:
            ranks[index] = pieces.pop()
        order = _full_army(seen["rules"])
        return ranks, sorted(pieces, key=order.index)
    fixed = [kind for kind in FIXED for _ in range(left.pop(kind, 0))]
    resting = [index for index in unknown if not seen["moved"][other][index]]
    random.shuffle(fixed)
    for index, kind in zip(random.sample(resting, len(fixed)), fixed, strict=True):
        ranks[index] = kind
    movers = [*left.elements()]
    random.shuffle(movers)
    for index in unknown:
        if ranks[index] == "?":
            ranks[index] = movers.pop()
    return ranks, []


def _assembled(seen: dict[str, Any], ranks: list[list[str]], reserves: list[list[str]]) -> State:
    rules, player = seen["rules"], seen["to_move"]
    cells = _tables(rules["rows"], rules["columns"]).cells
    board = [0] * len(cells)
    for seat, sign in ((0, 1), (1, -1)):
        for index, name in enumerate(seen["cells"][seat]):
            if name:
                board[cells[name]] = sign * (index + 1)
    state = {
        "rules": rules,
        "player": player,
        "army": [[[kind] if kind else [] for kind in kinds] for kinds in ranks],
        "reserve": list(reserves),
        "board": board,
        "open": seen["known"],
        "moved": seen["moved"],
        "quiet": seen["quiet"],
        "last": seen["last"],
        "legal": [],
        "rewards": seen["result"],
    }
    following = next((seat for seat in (0, 1) if reserves[seat]), None)
    if player != TERMINAL and following is not None:
        state["legal"] = _puts(reserves[following], rules, following)
    elif player != TERMINAL:
        state["legal"] = _moves(state, player)
    return state
