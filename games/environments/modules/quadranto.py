"""Quadranto: two players hunt each other on a board of four by four, half in the dark.

The game is that of the Code World Models paper (App. I.9). What its text leaves open is ruled thus:
two chance events place the players, each evenly in its quadrant; moves off the board are not
legal; the twenty moves are those of both players together, and staying counts; whoever moves onto
the other wins; player 0 begins.
"""

import random
from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
SIZE = 4
MOST_MOVES = 20
STEPS = {"Left": (0, -1), "Right": (0, 1), "Up": (-1, 0), "Down": (1, 0), "Stay": (0, 0)}
QUADRANTS = (("top left", "top right"), ("bottom left", "bottom right"))

GAME: dict[str, Any] = {
    "name": "quadranto",
    "summary": "Catch the other player on a small board, of whom only the quadrant is known.",
    "min_players": 2,
    "max_players": 2,
    "total": 0,
    "open": ["player", "moves", "quadrants.*", "winner"],
}
ZONES = {"cells.*": {"component": "piece", "owner": "each", "ordered": False}}


def initial_state(num_players: int, **parameters: object) -> State:
    """Nobody is on the board yet. Rules: R1, R2."""
    if num_players != 2 or parameters:  # noqa: PLR2004 - a game for two
        raise ValueError("required: 2 players and no parameters")
    return {
        "cells": [[], []],
        "moves": 0,
        "placed": 0,
        "player": CHANCE,
        "quadrants": ["", ""],
        "winner": -1,
    }


def get_current_player(state: State) -> int:
    """Whose move it is; -1 while players are placed, -4 at the end. Rules: R2, R3."""
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Player 1 for seat 0. Rules: R1."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """The steps that stay on the board; the starting cells where chance places. Rules: R2, R4."""
    player = state["player"]
    if player == TERMINAL:
        return []
    if player == CHANCE:
        seat, low = state["placed"], 2 * state["placed"]
        cells = [(row, column) for row in (low, low + 1) for column in (low, low + 1)]
        return [f"player {seat} starts at {row},{column}" for row, column in cells]
    return [*_reached(state["cells"][player][0])]


def apply_action(state: State, action: str) -> State:
    """The state after a player was placed or has moved. Rules: R2, R3, R4, R5, R6."""
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    seat = state["player"]
    if seat == CHANCE:
        placed = _at(state, state["placed"], action.rpartition(" ")[2])
        done = state["placed"] + 1
        return {**placed, "placed": done, "player": 0 if done == 2 else CHANCE}  # noqa: PLR2004 - both have
    reached = _reached(state["cells"][seat][0])[action]
    after = {**_at(state, seat, reached), "moves": state["moves"] + 1}
    if after["cells"][0] == after["cells"][1]:
        return {**after, "winner": seat, "player": TERMINAL}  # R5
    over = after["moves"] == MOST_MOVES
    return {**after, "player": TERMINAL if over else 1 - seat}  # R6


def _at(state: State, seat: int, cell: str) -> State:
    cells, quadrants = state["cells"].copy(), state["quadrants"].copy()
    cells[seat], quadrants[seat] = [cell], _quadrant(cell)
    return {**state, "cells": cells, "quadrants": quadrants}


def get_rewards(state: State) -> list[int]:
    """One for who caught the other, minus one for who was caught. Rules: R5, R6."""
    winner = state["winner"]
    return [0, 0] if winner < 0 else [1 if seat == winner else -1 for seat in (0, 1)]


def get_observations(state: State) -> list[State]:
    """The own cell, the other's quadrant, and what is counted. Rules: R3, R5, R7."""
    return [
        {
            "you": seat,
            "cell": state["cells"][seat],
            "opponent_quadrant": state["quadrants"][1 - seat],
            "moves": state["moves"],
            "to_move": state["player"],
            "winner": state["winner"],
        }
        for seat in (0, 1)
    ]


def get_events(state: State, action: str) -> list[list[str]]:
    """A player knows its own steps; of the other it hears that there was one. Rules: R2, R4, R7."""
    if state["player"] == CHANCE:
        seat, own, other = state["placed"], f"You start at {action.rpartition(' ')[2]}.", "starts"
    else:
        seat, own, other = state["player"], f"You choose {action}.", "has moved"
    told = [[f"{get_player_name(seat)} {other}."], [f"{get_player_name(seat)} {other}."]]
    told[seat] = [own]
    return told


def visible(state: State, player_id: int) -> dict[str, str]:
    """Only the own cell is known. Rules: R7."""
    del state
    return {f"cells.{seat}": "contents" if seat == player_id else "count" for seat in (0, 1)}


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A state that fits, the other's cell drawn by how likely even moves led there. Rules: R2, R7.

    The cells are followed from the other's start: at each of its moves a cell's share goes evenly
    to where it could step; what the quadrant then denies, or would have ended the game, is dropped.
    """
    seen = obs_action_history[-1][0]
    own, quadrant = {}, {}  # after so many moves
    for one, action in obs_action_history:
        own[one["moves"]], quadrant[one["moves"]] = one["cell"][0], one["opponent_quadrant"]
        if action is not None:
            own[one["moves"] + 1] = _reached(one["cell"][0])[action]
    low = 2 - 2 * player_id
    shares = {f"{low + row},{low + column}": 1.0 for row in (0, 1) for column in (0, 1)}
    for moves in range(seen["moves"] + 1):
        if moves and (moves - 1) % 2 != player_id:
            shares = _stepped(shares)
        caught = moves == seen["moves"] and seen["winner"] >= 0
        shares = {
            cell: share
            for cell, share in shares.items()
            if quadrant.get(moves) in (None, _quadrant(cell))
            if moves not in own or (cell == own[moves]) == caught
        }
    drawn = random.choices([*shares], [*shares.values()])[0]
    cells, quadrants = [[drawn], [drawn]], [_quadrant(drawn)] * 2
    cells[player_id], quadrants[player_id] = seen["cell"], _quadrant(seen["cell"][0])
    kept = {name: seen[name] for name in ("moves", "winner")}
    return {"cells": cells, "placed": 2, "player": seen["to_move"], "quadrants": quadrants, **kept}


def _quadrant(cell: str) -> str:
    row, column = map(int, cell.split(","))
    return QUADRANTS[row // 2][column // 2]


def _reached(cell: str) -> dict[str, str]:
    """Step -> the cell that it leads to, on the board."""
    row, column = map(int, cell.split(","))
    ends = {name: (row + down, column + right) for name, (down, right) in STEPS.items()}
    return {name: f"{r},{c}" for name, (r, c) in ends.items() if {r, c} <= {*range(SIZE)}}


def _stepped(shares: dict[str, float]) -> dict[str, float]:
    """Each cell's share, spread evenly over the cells that one move leads to."""
    after: dict[str, float] = {}
    for cell, share in shares.items():
        ends = _reached(cell).values()
        for end in ends:
            after[end] = after.get(end, 0.0) + share / len(ends)
    return after
