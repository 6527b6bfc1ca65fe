"""Last Stone: take one, two or three stones; whoever takes the last one wins."""

GAME = {
    "name": "last_stone",
    "summary": "Take one, two or three stones; whoever takes the last one wins.",
    "min_players": 2,
    "max_players": 4,
    "parameters": {"stones": {"default": 15, "range": [5, 60], "meaning": "Stones at the start."}},
    "open": ["seat", "winner"],
}
ZONES = {"heap": {"component": "counter", "owner": "table", "ordered": False}}


def initial_state(num_players, **parameters):
    """All stones lie in one heap; Player 1 begins. Rules: R1."""
    stones = parameters.pop("stones", 15)
    if parameters or num_players not in (2, 3, 4) or stones not in range(5, 61):
        raise ValueError("required: 2 to 4 players, stones from 5 to 60, and nothing else")
    return {"heap": ["stone"] * stones, "seat": 0, "players": num_players, "winner": -1}


def get_current_player(state):
    """Whose turn it is; -4 once somebody has won. Rules: R2, R3."""
    return -4 if state["winner"] >= 0 else state["seat"]


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """One, two or three stones, while there are so many. Rules: R2."""
    return [f"take {number}" for number in (1, 2, 3) if number <= len(state["heap"])]


def apply_action(state, action):
    """Take the stones; the last one wins, else the next player is to move. Rules: R2, R3."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    seat, heap = state["seat"], state["heap"][int(action.split()[1]) :]
    turn = (seat + 1) % state["players"]
    return state | {"heap": heap, "seat": turn, "winner": -1 if heap else seat}


def get_rewards(state):
    """The winner gets one point. Rules: R3."""
    return [int(seat == state["winner"]) for seat in range(state["players"])]


def get_observations(state):
    """Everybody sees the heap, and who won. Rules: R1, R3."""
    return [{"you": seat, **state} for seat in range(state["players"])]


def get_events(state, action):
    """Everybody sees what is taken. Rules: R2."""
    told = f"{get_player_name(state['seat'])} takes {action.split()[1]}."
    return [[told] for _ in range(state["players"])]


def visible(state, player_id):
    """The heap lies open. Rules: R1."""
    return {"heap": "contents"}
