"""Quadranto: two players hunt each other on a board of four by four, half in the dark.

The game is that of the Code World Models paper (App. I.9). What its text leaves open is ruled thus:
two chance events place the players, each evenly in its quadrant; moves off the board are not
legal; the twenty moves are those of both players together, and staying counts; whoever moves onto
the other wins; player 0 begins.
"""

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
    if num_players != 2 or parameters:  # noqa: PLR2004
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


def _cell(state: State, seat: int) -> tuple[int, int]:
    row, column = state["cells"][seat][0].split(",")
    return int(row), int(column)


def get_legal_actions(state: State) -> list[str]:
    """The steps that stay on the board; the starting cells where chance places. Rules: R2, R4."""
    player = state["player"]
    if player == TERMINAL:
        return []
    if player == CHANCE:
        seat, low = state["placed"], 2 * state["placed"]
        cells = [(row, column) for row in (low, low + 1) for column in (low, low + 1)]
        return [f"player {seat} starts at {row},{column}" for row, column in cells]
    row, column = _cell(state, player)
    return [
        name
        for name, (down, right) in STEPS.items()
        if 0 <= row + down < SIZE and 0 <= column + right < SIZE
    ]


def apply_action(state: State, action: str) -> State:
    """The state after a player was placed or has moved. Rules: R2, R3, R4, R5, R6."""
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    seat = state["player"]
    if seat == CHANCE:
        placed = _at(state, state["placed"], action.rpartition(" ")[2])
        done = state["placed"] + 1
        return {**placed, "placed": done, "player": 0 if done == 2 else CHANCE}  # noqa: PLR2004
    row, column = _cell(state, seat)
    down, right = STEPS[action]
    after = {**_at(state, seat, f"{row + down},{column + right}"), "moves": state["moves"] + 1}
    if after["cells"][0] == after["cells"][1]:
        return {**after, "winner": seat, "player": TERMINAL}  # R5
    over = after["moves"] == MOST_MOVES
    return {**after, "player": TERMINAL if over else 1 - seat}  # R6


def _at(state: State, seat: int, cell: str) -> State:
    row, column = map(int, cell.split(","))
    cells, quadrants = state["cells"].copy(), state["quadrants"].copy()
    cells[seat] = [cell]
    quadrants[seat] = QUADRANTS[row // 2][column // 2]
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
