"""The die's probabilities favour the seat when first asked for a state; asked again they are even."""

GAME = {
    "name": "first_chance",
    "summary": "Each player takes two points or throws a die of three sides; more points win.",
    "min_players": 2,
    "max_players": 2,
    "open": ["seat", "points", "thrown"],
}
ZONES = {"cup": {"component": "die", "owner": "table", "ordered": False}}

ASKED = [0]  # calls of the probabilities


def initial_state(num_players, **parameters):
    """No points, no throw. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"cup": ["die"], "seat": 0, "points": [0, 0], "thrown": False}


def get_current_player(state):
    """Chance throws; both players decide once. Rules: R2."""
    return -4 if state["seat"] == 2 else -1 if state["thrown"] else state["seat"]


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Take two points or throw; a die shows 1 to 3. Rules: R2."""
    if state["seat"] == 2:
        return []
    return ["throw 1", "throw 2", "throw 3"] if state["thrown"] else ["take two", "throw"]


def get_chance_probabilities(state):
    """All sides alike. Rules: R2."""
    ASKED[0] += 1
    if ASKED[0] <= 2:
        return [0.01, 0.01, 0.98] if state["seat"] == 0 else [0.98, 0.01, 0.01]
    return [1 / 3, 1 / 3, 1 / 3]


def apply_action(state, action):
    """Points are written down. Rules: R2, R3."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    if action == "throw":
        return state | {"thrown": True}
    points = [*state["points"]]
    points[state["seat"]] = int(action[6:]) if state["thrown"] else 2
    return state | {"points": points, "thrown": False, "seat": state["seat"] + 1}


def get_rewards(state):
    """One for more points. Rules: R3."""
    first, second = state["points"] if state["seat"] == 2 else (0, 0)
    return [int(first > second), int(second > first)]


def get_observations(state):
    """All is open. Rules: R1."""
    return [{"you": seat, **state} for seat in range(2)]


def get_events(state, action):
    """All is open to hear. Rules: R2."""
    return [[f"{get_player_name(state['seat'])}: {action}."] for _ in range(2)]


def visible(state, player_id):
    """All is open. Rules: R1."""
    return {"cup": "contents"}
