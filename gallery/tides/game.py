"""Tides: three secret bids for each of five treasures; the highest card nobody else chose wins."""

GAME = {
    "name": "tides",
    "summary": "Secret bids for five treasures; the highest card that nobody else chose takes each.",
    "min_players": 3,
    "max_players": 3,
    "conserved": ["card", "counter"],
    "open": ["phase", "round", "seat", "history", "paid"],
    "total": 1,
    "parameters": {
        "num_treasures": {
            "default": 5,
            "range": [3, 5],
            "meaning": "Treasures, worth 1 up to this number; one round each.",
        },
        "highest_card": {
            "default": 5,
            "range": [5, 9],
            "meaning": "Each hand holds the cards 1 up to this number.",
        },
    },
}
ZONES = {
    "pile": {"component": "counter", "owner": "nobody", "ordered": False},
    "current": {"component": "counter", "owner": "table", "ordered": False},
    "taken.*": {"component": "counter", "owner": "each", "ordered": True},
    "sunk": {"component": "counter", "owner": "table", "ordered": True},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "chosen.*": {"component": "card", "owner": "each", "ordered": False},
    "played.*": {"component": "card", "owner": "each", "ordered": True},
}
CHANCE, TERMINAL = -1, -4


def initial_state(num_players, **parameters):
    """All treasures face down, full hands, nothing taken. Rules: R1, R2, R3, R4."""
    unknown = sorted(set(parameters) - set(GAME["parameters"]))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(GAME['parameters'])}")
    if num_players != 3:  # R1
        raise ValueError(f"{num_players} players; required: 3")
    values = {}
    for name, about in GAME["parameters"].items():
        value = parameters.get(name, about["default"])
        low, high = about["range"]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name}={value!r}; required: {low} to {high}")
        values[name] = value
    cards = [str(number) for number in range(1, values["highest_card"] + 1)]  # R3
    treasures = [str(number) for number in range(1, values["num_treasures"] + 1)]  # R2
    return {
        "rounds": values["num_treasures"],  # R5
        "phase": "turn up",
        "round": 1,
        "seat": 0,
        "pile": treasures,  # R4
        "current": [],
        "taken": [[] for _ in range(num_players)],
        "sunk": [],
        "hands": [list(cards) for _ in range(num_players)],  # R4
        "chosen": [[] for _ in range(num_players)],
        "played": [[] for _ in range(num_players)],
        "history": [],
        "paid": [0] * num_players,
    }


def get_current_player(state):
    """Chance turns up a treasure, then the seats choose in order. Rules: R6, R7, R15."""
    if state["phase"] == "end":  # R15
        return TERMINAL
    return state["seat"] if state["phase"] == "choose" else CHANCE  # R6, R7


def get_player_name(player_id):
    """Display name. Rules: R1."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Any treasure face down at a chance event, any card of the own hand. Rules: R6, R8, R9."""
    if state["phase"] == "end":
        return []
    if state["phase"] == "turn up":  # R6
        return ["turn up " + treasure for treasure in state["pile"]]
    return ["choose " + card for card in state["hands"][state["seat"]]]  # R8, R9


def _copy(state):
    """A state whose zones may be changed freely. Rules: R4."""
    new = dict(state)
    for key in ("pile", "current", "sunk", "history", "paid"):
        new[key] = list(state[key])
    for key in ("taken", "hands", "chosen", "played"):
        new[key] = [list(zone) for zone in state[key]]
    return new


def _winner(cards):
    """Seat of the highest card that nobody else chose, or None. Rules: R11, R12, R13."""
    single = [seat for seat, card in enumerate(cards) if cards.count(card) == 1]  # R11, R12
    if not single:  # R13
        return None
    return max(single, key=lambda seat: int(cards[seat]))  # R11


def _totals(state):
    """Sum of the treasures of each player. Rules: R16."""
    return [sum(int(treasure) for treasure in own) for own in state["taken"]]  # R16


def _settle(new):
    """Reveal the cards, give or sink the treasure, start the next round or end.

    Rules: R5, R10, R11, R12, R13, R14, R15, R17, R18.
    """
    cards = [own[0] for own in new["chosen"]]  # R10
    winner = _winner(cards)
    treasure = new["current"][0]
    if winner is None:  # R13
        new["sunk"].append(treasure)
    else:  # R11, R12
        new["taken"][winner].append(treasure)
    new["current"] = []
    for seat, card in enumerate(cards):  # R14
        new["played"][seat].append(card)
        new["chosen"][seat] = []
    new["history"].append(
        {"round": new["round"], "treasure": treasure, "cards": cards, "winner": winner}
    )
    new["seat"] = 0
    if new["round"] < new["rounds"]:  # R5
        new["round"] += 1
        new["phase"] = "turn up"
        return
    new["phase"] = "end"  # R15
    totals = _totals(new)
    best = max(totals)
    share = 1 / totals.count(best)  # R18
    new["paid"] = [share if total == best else 0 for total in totals]  # R17, R18


def apply_action(state, action):
    """Turn up a treasure, or choose a card; the last choice settles. Rules: R6, R7, R8, R10."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    new = _copy(state)
    component = action.split(" ")[-1]
    if state["phase"] == "turn up":  # R6
        new["pile"].remove(component)
        new["current"] = [component]
        new["phase"], new["seat"] = "choose", 0  # R7
        return new
    seat = state["seat"]
    new["hands"][seat].remove(component)  # R8
    new["chosen"][seat] = [component]
    if seat < len(state["hands"]) - 1:  # R7
        new["seat"] = seat + 1
    else:  # R10
        _settle(new)
    return new


def get_rewards(state):
    """The shared point of the winners, paid when the match ends. Rules: R17, R18."""
    return list(state["paid"])


def get_observations(state):
    """Public history, treasures and totals; the own hand and choice.

    Rules: R19, R20, R21, R22, R23.
    """
    choosing = state["phase"] == "choose"
    return [
        {
            "you": seat,
            "phase": state["phase"],
            "turn": state["seat"] if choosing else None,
            "round": state["round"],  # R19
            "rounds": state["rounds"],
            "current": list(state["current"]),  # R19
            "pile_size": len(state["pile"]),  # R20
            "taken": [list(own) for own in state["taken"]],  # R19
            "sunk": list(state["sunk"]),
            "totals": _totals(state),  # R19
            "history": [{**past, "cards": list(past["cards"])} for past in state["history"]],
            "played": [list(own) for own in state["played"]],  # R23
            "hand": list(hand),  # R21
            "chosen": list(state["chosen"][seat]),  # R21
            "has_chosen": [bool(own) for own in state["chosen"]],  # R22
            "hand_sizes": [len(own) for own in state["hands"]],
        }
        for seat, hand in enumerate(state["hands"])
    ]


def get_events(state, action):
    """A choice is told to its maker alone until all are revealed.

    Rules: R6, R10, R11, R13, R17, R18, R21, R22.
    """
    after = apply_action(state, action)
    count = len(state["hands"])
    component = action.split(" ")[-1]
    if state["phase"] == "turn up":  # R6
        line = f"Round {state['round']}: the treasure worth {component} is turned up."
        return [[line] for _ in range(count)]
    seat = state["seat"]
    told = []
    if after["phase"] != "choose":  # R10
        past = after["history"][-1]
        shown = ", ".join(
            f"{get_player_name(player)} {card}" for player, card in enumerate(past["cards"])
        )
        told.append(f"The cards are revealed: {shown}.")
        if past["winner"] is None:  # R13
            told.append(f"The treasure worth {past['treasure']} sinks.")
        else:  # R11
            name = get_player_name(past["winner"])
            told.append(f"{name} takes the treasure worth {past['treasure']}.")
    if after["phase"] == "end":  # R17, R18
        best = [get_player_name(p) for p, paid in enumerate(after["paid"]) if paid]
        verb = "has" if len(best) == 1 else "share"
        told.append(f"The match ends: {' and '.join(best)} {verb} the most treasure.")
    own = f"You choose {component}."  # R21
    others = f"{get_player_name(seat)} has chosen a card."  # R22
    return [[own if player == seat else others, *told] for player in range(count)]


def visible(state, player_id):
    """Own hand and choice, all treasures turned up, all played cards.

    Rules: R19, R20, R21, R22, R23.
    """
    seen = {"pile": "count", "current": "contents", "sunk": "contents"}  # R19, R20
    for seat in range(len(state["hands"])):
        mine = "contents" if seat == player_id else "count"  # R21, R22
        seen[f"hands.{seat}"] = mine
        seen[f"chosen.{seat}"] = mine
        seen[f"taken.{seat}"] = "contents"  # R19
        seen[f"played.{seat}"] = "contents"  # R23
    return seen
