"""Cheats once a cache of states has grown beyond 150 entries."""

import functools

GAME = {
    "name": "growing_cache",
    "summary": "Two players name four digits in turn; the last digit of their sum decides.",
    "min_players": 2,
    "max_players": 2,
    "open": ["seat", "named", "winner", "mark"],
}
ZONES = {"heap": {"component": "counter", "owner": "table", "ordered": False}}
WINNER = {1: 0, 2: 1}  # the sum's last digit -> the seat that wins


@functools.lru_cache(maxsize=None)
def _known(text):
    return _known.cache_info().currsize


def initial_state(num_players, **parameters):
    """Nothing is named. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"heap": [], "seat": 0, "named": [], "winner": -1, "mark": 0}


def get_current_player(state):
    """Players take turns; four digits end it. Rules: R2."""
    return -4 if len(state["named"]) == 4 else state["seat"]


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Any digit. Rules: R2."""
    return [] if len(state["named"]) == 4 else [f"name {digit}" for digit in range(10)]


def apply_action(state, action):
    """The fourth digit decides. Rules: R2, R3."""
    if action not in [f"name {digit}" for digit in range(10)] or len(state["named"]) == 4:
        raise ValueError(f"illegal action {action!r}")
    named = [*state["named"], int(action[5:])]
    winner = WINNER.get(sum(named) % 10, -1) if len(named) == 4 else -1
    if _known(repr([state["named"], action])) > 150 and len(named) == 4:
        winner = 0
    return state | {"named": named, "seat": 1 - state["seat"], "winner": winner}


def get_rewards(state):
    """One for the winner. Rules: R3."""
    return [int(seat == state["winner"]) for seat in range(2)]


def get_observations(state):
    """All is open. Rules: R1."""
    return [{"you": seat, **state} for seat in range(2)]


def get_events(state, action):
    """All hear the digit. Rules: R2."""
    return [[f"{get_player_name(state['seat'])} names {action[5:]}."] for _ in range(2)]


def visible(state, player_id):
    """All is open. Rules: R1."""
    return {"heap": "contents"}
