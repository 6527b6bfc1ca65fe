"""Orchard: draft fruit tiles onto an own board of three by three; rows and columns score."""

GAME = {
    "name": "orchard",
    "summary": "Draft fruit tiles onto your own board; equal or all different lines score.",
    "min_players": 2,
    "max_players": 2,
    "conserved": ["piece"],
    "open": ["phase", "seat", "paid"],
    "parameters": {
        "tiles_per_fruit": {"default": 8, "range": [8, 20], "meaning": "Tiles of each fruit."},
        "display_size": {"default": 3, "range": [1, 6], "meaning": "Tiles that lie open."},
        "points_equal_line": {
            "default": 5,
            "range": [0, 20],
            "meaning": "Points for a line of three equal fruits.",
        },
        "points_different_line": {
            "default": 3,
            "range": [0, 20],
            "meaning": "Points for a line of three different fruits.",
        },
    },
}
ZONES = {
    "bag": {"component": "piece", "owner": "nobody", "ordered": False},
    "display": {"component": "piece", "owner": "table", "ordered": False},
    "boards.*.*": {"component": "piece", "owner": "each", "ordered": False},
}
FRUITS = ["apple", "pear", "plum"]
CELLS = [f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)]
LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8]]


def initial_state(num_players, **parameters):
    """All tiles in the bag, both boards empty, no tile drawn yet. Rules: R1, R2, R3, R4, R7."""
    known = GAME["parameters"]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(known)}")
    if isinstance(num_players, bool) or num_players != 2:  # R1
        raise ValueError(f"{num_players!r} players; required: 2")
    rules = {}
    for name, entry in known.items():
        value = parameters.get(name, entry["default"])
        low, high = entry["range"]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name}={value!r}; required: {low} to {high}")
        rules[name] = value
    return {
        "rules": rules,
        "phase": "draw",
        "seat": 0,  # R7
        "bag": [fruit for fruit in FRUITS for _ in range(rules["tiles_per_fruit"])],  # R2, R4
        "display": [],
        "boards": [[[] for _ in CELLS] for _ in range(2)],  # R3, R4
        "paid": [0, 0],
    }


def get_current_player(state):
    """Chance draws the tiles, the players take turns. Rules: R5, R8, R14, R16."""
    return {"end": -4, "draw": -1}.get(state["phase"], state["seat"])


def get_player_name(player_id):
    """Display name. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Each fruit of the display on each empty own cell; at a draw each fruit in the bag.

    Rules: R5, R9, R10, R11, R14.
    """
    if state["phase"] == "end":
        return []
    if state["phase"] == "draw":  # R5, R14
        return ["draw " + fruit for fruit in FRUITS if fruit in state["bag"]]
    board = state["boards"][state["seat"]]
    # R9, R10, R11
    return [
        f"take {fruit} to {cell}"
        for fruit in FRUITS
        if fruit in state["display"]
        for index, cell in enumerate(CELLS)
        if not board[index]
    ]


def get_chance_probabilities(state):
    """Each tile left in the bag is equally likely. Rules: R6."""
    if state["phase"] != "draw":
        return []
    bag = state["bag"]
    return [bag.count(fruit) / len(bag) for fruit in FRUITS if fruit in bag]  # R6


def _line_points(rules, board, line):
    """Points of one line of a board. Rules: R19, R20, R21."""
    kinds = {fruit for index in line for fruit in board[index]}
    if sum(len(board[index]) for index in line) < 3:
        return 0
    if len(kinds) == 1:  # R19
        return rules["points_equal_line"]
    if len(kinds) == 3:  # R20
        return rules["points_different_line"]
    return 0  # R21


def _points(rules, board):
    """Points of the six lines of a board. Rules: R18, R22."""
    return sum(_line_points(rules, board, line) for line in LINES)  # R18, R22


def apply_action(state, action):
    """Draw a tile to the display, or place one of the display and pass the turn on.

    Rules: R5, R8, R12, R13, R14, R15, R16, R17.
    """
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    new = dict(state)
    words = action.split(" ")
    fruit = words[1]
    if words[0] == "draw":  # R5, R14
        new["bag"] = list(state["bag"])
        new["bag"].remove(fruit)  # R15
        new["display"] = sorted(state["display"] + [fruit])
        if len(new["display"]) == state["rules"]["display_size"]:
            new["phase"] = "turn"
        return new
    new["display"] = list(state["display"])
    new["display"].remove(fruit)  # R12
    new["boards"] = [[list(cell) for cell in board] for board in state["boards"]]
    new["boards"][state["seat"]][CELLS.index(words[3])] = [fruit]  # R12, R13
    if all(cell for board in new["boards"] for cell in board):  # R16
        new["phase"] = "end"
        new["paid"] = [_points(state["rules"], board) for board in new["boards"]]  # R17
        return new
    new["seat"] = 1 - state["seat"]  # R8
    new["phase"] = "draw"  # R14
    return new


def get_rewards(state):
    """The points of the own board, paid once when both boards are full. Rules: R17, R22, R23."""
    return list(state["paid"])


def get_observations(state):
    """Everything but the order of the bag is open to both players. Rules: R24, R25."""
    return [
        {
            "you": seat,
            "turn": state["seat"],
            "phase": state["phase"],
            "display": list(state["display"]),
            "boards": [[cell[0] if cell else "" for cell in board] for board in state["boards"]],
            "bag": {fruit: state["bag"].count(fruit) for fruit in FRUITS},  # R24, R25
            "line_points": [_points(state["rules"], board) for board in state["boards"]],
            "paid": list(state["paid"]),
            "rules": dict(state["rules"]),
        }
        for seat in range(2)
    ]


def get_events(state, action):
    """Both players see every draw and every placement, and the result. Rules: R12, R14, R23, R24."""
    after = apply_action(state, action)
    words = action.split(" ")
    if words[0] == "draw":
        told = [f"A tile is drawn to the display: {words[1]}."]
        return [list(told), list(told)]
    name, place = get_player_name(state["seat"]), f"{words[1]} and places it on {words[3]}"
    ending = []
    if after["phase"] == "end":  # R23
        first, second = after["paid"]
        ending = [f"Player 1 scores {first} points and Player 2 {second}."]
        if first == second:
            ending.append("The match is a draw.")
        else:
            ending.append(f"{get_player_name(0 if first > second else 1)} wins.")
    return [
        [(f"You take {place}" if player == state["seat"] else f"{name} takes {place}") + "."]
        + ending
        for player in range(2)
    ]


def visible(state, player_id):
    """Boards, display and the tiles left in the bag are known to both. Rules: R24, R25."""
    seen = {"bag": "contents", "display": "contents"}
    for seat, board in enumerate(state["boards"]):
        for index in range(len(board)):
            seen[f"boards.{seat}.{index}"] = "contents"
    return seen


def render(observation):
    """Display, bag and both boards side by side. Rules: R24."""
    title = [f"Player {seat + 1}" + (" (you)" if seat == observation["you"] else "") for seat in (0, 1)]
    lines = [
        "Display: " + (", ".join(observation["display"]) or "none"),
        "Bag: " + ", ".join(f"{count} {fruit}" for fruit, count in observation["bag"].items()),
        f"{title[0]:<28}{title[1]}",
        f"{'      1     2     3':<28}      1     2     3",
    ]
    for row in range(3):
        parts = []
        for board in observation["boards"]:
            cells = "".join(f"{fruit or '.':<6}" for fruit in board[3 * row : 3 * row + 3])
            parts.append(f"  {row + 1}   {cells}")
        lines.append(f"{parts[0]:<28}{parts[1]}".rstrip())
    first, second = (f"Lines: {points} points" for points in observation["line_points"])
    lines.append(f"{first:<28}{second}")
    if observation["phase"] == "end":
        lines.append("The match is over.")
    else:
        lines.append(f"Turn: Player {observation['turn'] + 1}")
    return "\n".join(lines)
