"""Sound: two players name six digits each, the larger sum wins; searched by UCT on the host."""

GAME = {
    "name": "highest",
    "summary": "Two players name six digits each; the larger sum wins.",
    "min_players": 2,
    "max_players": 2,
    "open": ["seat", "named"],
}
ZONES = {"heap": {"component": "counter", "owner": "table", "ordered": False}}


def initial_state(num_players, **parameters):
    """Nothing is named. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"heap": [], "seat": 0, "named": []}


def get_current_player(state):
    """Players take turns; twelve digits end it. Rules: R2."""
    return -4 if len(state["named"]) == 12 else state["seat"]


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Any digit. Rules: R2."""
    return [] if len(state["named"]) == 12 else [f"name {digit}" for digit in range(10)]


def apply_action(state, action):
    """The digit is written down. Rules: R2."""
    if action not in [f"name {digit}" for digit in range(10)] or len(state["named"]) == 12:
        raise ValueError(f"illegal action {action!r}")
    named = [*state["named"], int(action[5:])]
    return state | {"named": named, "seat": 1 - state["seat"]}


def get_rewards(state):
    """One for the larger sum, at the end. Rules: R3."""
    sums = [sum(state["named"][seat::2]) for seat in range(2)]
    ended = len(state["named"]) == 12
    return [int(ended and sums[seat] > sums[1 - seat]) for seat in range(2)]


def get_observations(state):
    """All is open. Rules: R1."""
    return [{"you": seat, **state} for seat in range(2)]


def get_events(state, action):
    """All hear the digit. Rules: R2."""
    return [[f"{get_player_name(state['seat'])} names {action[5:]}."] for _ in range(2)]


def visible(state, player_id):
    """All is open. Rules: R1."""
    return {"heap": "contents"}
