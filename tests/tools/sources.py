"""Small game modules as source text, for tests of whatever runs modules."""

# One pile; chance sets it to 3 or 4 (odds 1 to 3); take 1 or 2; who takes the last one wins.
NIM = """
GAME = {"name": "nim", "summary": "Take one or two.", "min_players": 2, "max_players": 2,
        "parameters": {"most": {"default": 2, "range": [1, 3], "meaning": "Most to take."}}}
ZONES = {"pile": {"component": "counter", "owner": "table", "ordered": False}}


def initial_state(num_players, most=2):
    if num_players != 2:
        raise ValueError("nim is for two")
    return {"pile": 0, "turn": -1, "most": most, "won": -1}


def get_current_player(state):
    return -4 if state["won"] >= 0 else state["turn"]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    if state["won"] >= 0:
        return []
    if state["turn"] == -1:
        return ["pile 3", "pile 4"]
    return [f"take {n}" for n in range(1, min(state["most"], state["pile"]) + 1)]


def get_chance_probabilities(state):
    return [0.25, 0.75]


def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(f"{action} is not legal")
    number = int(action.split()[1])
    if state["turn"] == -1:
        return {**state, "pile": number, "turn": 0}
    left = state["pile"] - number
    won = state["turn"] if left == 0 else -1
    return {**state, "pile": left, "turn": 1 - state["turn"], "won": won}


def get_rewards(state):
    if state["won"] < 0:
        return [0, 0]
    return [1, -1] if state["won"] == 0 else [-1, 1]


def get_observations(state):
    return [{"pile": state["pile"], "turn": state["turn"]} for _ in range(2)]


def get_events(state, action):
    return [[f"{action}."], [f"{action}."]]


def visible(state, player_id):
    return {"pile": "contents"}
"""


def nim_with(function: str, body: str) -> str:
    """Nim with one more definition of `function` at its end, which then holds."""
    return NIM + f"\n\ndef {function}(*arguments, **keywords):\n" + _indented(body)


def nim_line(text: str, source: str) -> int:
    """The 1-based number of the one line that holds `text`."""
    (number,) = [n for n, line in enumerate(source.splitlines(), 1) if text in line]
    return number


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in body.splitlines())
