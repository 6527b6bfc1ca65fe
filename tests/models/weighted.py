"""A game whose figures are known exactly: chance alone says who wins, a setting how long it is."""

GAME = {
    "name": "weighted",
    "summary": "A weighted coin says who wins; then players nod for a while.",
    "min_players": 2,
    "max_players": 2,
    "parameters": {
        "bias": {"default": 80, "range": [5, 95], "meaning": "Percent of the first seat's wins."},
        "nods": {"default": 4, "range": [1, 30], "meaning": "Decisions of both players."},
        "endless": {"default": False, "choices": [False, True], "meaning": "It never ends."},
        "colour": {"default": "red", "choices": ["red", "blue"], "meaning": "Of the coin."},
        "label": {"default": "x", "meaning": "A word."},
    },
}


def initial_state(num_players, bias=80, nods=4, endless=False, colour="red", label="x"):
    if bias == 50 and colour == "blue":
        raise ValueError("a blue coin is never even")
    return {"bias": bias, "left": nods, "endless": endless, "winner": -1, "player": 0, "paid": []}


def get_current_player(state):
    if state["winner"] < 0:
        return -1
    return state["player"] if state["left"] else -4


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"player {player_id}")


def get_legal_actions(state):
    if state["winner"] < 0:
        return ["first", "second"]
    return ["nod"] if state["left"] else []


def get_chance_probabilities(state):
    return [state["bias"] / 100, 1 - state["bias"] / 100]


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(action)
    if state["winner"] < 0:
        return {**state, "winner": ["first", "second"].index(action)}
    left = state["left"] - (not state["endless"])
    paid = [1.0, 0.0] if state["winner"] == 0 else [0.0, 1.0]
    return {**state, "left": left, "player": 1 - state["player"], "paid": [] if left else paid}


def get_rewards(state):
    return state["paid"] or [0.0, 0.0]


def get_observations(state):
    return [{"left": state["left"]}] * 2


def get_events(state, action):
    return [[], []]


ZONES = {}


def visible(state, player_id):
    return {}
