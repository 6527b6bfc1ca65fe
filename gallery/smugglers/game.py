"""Smugglers: lay a card face down, claim a number for it, be believed or doubted."""

GAME = {
    "name": "smugglers",
    "summary": "Lay cards face down and claim a number; the next player lets it pass or doubts.",
    "min_players": 3,
    "max_players": 3,
    "conserved": ["card"],
    "open": ["phase", "seat", "claim", "claims", "scores", "paid"],
    "parameters": {
        "max_number": {"default": 4, "range": [4, 9], "meaning": "Highest number of a card."},
        "copies": {"default": 5, "range": [5, 8], "meaning": "Cards of each number."},
        "hand_size": {"default": 4, "range": [1, 6], "meaning": "Cards dealt to each player."},
        "true_multiplier": {"default": 2, "range": [1, 5], "meaning": "Factor of a true claim."},
    },
}
ZONES = {
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "down.*": {"component": "card", "owner": "each", "ordered": True},
    "up.*": {"component": "card", "owner": "table", "ordered": True},
}


def initial_state(num_players, **parameters):
    """The whole deck lies face down and everybody has 0 points. Rules: R1, R2, R5."""
    known = GAME["parameters"]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(known)}")
    if num_players != 3:  # R1
        raise ValueError(f"{num_players} players; required: 3")
    rules = {}
    for name, about in known.items():
        value = parameters.get(name, about["default"])
        low, high = about["range"]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name}={value!r}; required: {low} to {high}")
        rules[name] = value
    numbers = range(1, rules["max_number"] + 1)
    return {
        "rules": rules,
        "phase": "deal",
        "seat": 0,  # R5
        "deck": [str(number) for number in numbers for _ in range(rules["copies"])],  # R2
        "hands": [[] for _ in range(num_players)],
        "down": [[] for _ in range(num_players)],
        "up": [[] for _ in range(num_players)],
        "claim": 0,
        "claims": [],
        "scores": [0] * num_players,  # R5
        "paid": [0] * num_players,
    }


def get_current_player(state):
    """Chance deals; a player lays and claims, the next one answers. Rules: R3, R6, R7, R8."""
    if state["phase"] == "end":
        return -4
    if state["phase"] == "deal":
        return -1  # R3
    if state["phase"] == "answer":
        return _after(state, state["seat"])  # R8
    return state["seat"]


def get_player_name(player_id):
    """Display name. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Numbers to deal, to lay or to claim, or the two answers. Rules: R3, R6, R7, R8."""
    if state["phase"] == "end":
        return []
    if state["phase"] == "deal":
        return ["deal " + card for card in sorted(set(state["deck"]))]  # R3
    if state["phase"] == "lay":
        return ["lay " + card for card in sorted(set(state["hands"][state["seat"]]))]  # R6
    if state["phase"] == "claim":
        return [f"claim {n}" for n in range(1, state["rules"]["max_number"] + 1)]  # R7
    return ["pass", "doubt"]  # R8


def get_chance_probabilities(state):
    """Each card left in the deck is equally likely. Rules: R3."""
    deck = state["deck"]
    return [deck.count(card) / len(deck) for card in sorted(set(deck))]  # R3


def apply_action(state, action):
    """Deal, lay, claim or answer. Rules: R3, R4, R6, R7, R8, R13."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    new = dict(state)
    for zone in ("hands", "down", "up"):
        new[zone] = [list(cards) for cards in state[zone]]
    new["paid"] = [0] * len(state["hands"])
    seat = state["seat"]
    word, _, value = action.partition(" ")
    if word == "deal":  # R3
        new["deck"] = _without(state["deck"], value)
        new["hands"][seat] = sorted(new["hands"][seat] + [value])
        if len(new["hands"][seat]) == state["rules"]["hand_size"]:
            last = seat == len(state["hands"]) - 1
            new["seat"] = 0 if last else seat + 1  # R5
            new["phase"] = "lay" if last else "deal"
    elif word == "lay":  # R6
        new["hands"][seat] = _without(new["hands"][seat], value)  # R13
        new["down"][seat].append(value)
        new["phase"] = "claim"
    elif word == "claim":  # R7
        new["claim"] = int(value)
        new["phase"] = "answer"
    else:  # R8
        _answer(new, word)
    return new


def _answer(new, word):
    """Score the claim and pass the turn on, in the copied state. Rules: R9, R10, R11, R12, R14."""
    seat, claim = new["seat"], new["claim"]
    doubter = _after(new, seat)
    entry = {"player": get_player_name(seat), "claim": claim, "answer": word, "card": ""}
    following = doubter  # R14
    if word == "pass":
        new["paid"][seat] = claim  # R9
    else:
        card = new["down"][seat].pop()
        new["up"][seat].append(card)  # R10
        entry["card"] = card
        if int(card) == claim:
            new["paid"][seat] = new["rules"]["true_multiplier"] * claim  # R11
        else:
            new["paid"][doubter] = claim  # R12
    new["claims"] = new["claims"] + [entry]
    new["scores"] = [old + more for old, more in zip(new["scores"], new["paid"])]  # R17
    new["claim"] = 0
    if not any(new["hands"]):  # R16
        new["phase"] = "end"
        return
    while not new["hands"][following]:  # R15
        following = _after(new, following)
    new["seat"] = following
    new["phase"] = "lay"


def _after(state, seat):
    """The next player in seat order. Rules: R8."""
    return (seat + 1) % len(state["hands"])  # R8


def _without(cards, card):
    """The cards less one of that number. Rules: R13."""
    left = list(cards)
    left.remove(card)
    return left


def get_rewards(state):
    """What the last answer scored. Rules: R9, R11, R12, R17."""
    return list(state["paid"])  # R17


def get_observations(state):
    """Own hand and own cards laid, and all that is open. Rules: R4, R18, R19, R20."""
    seats = range(len(state["hands"]))
    return [
        {
            "you": get_player_name(seat),
            "turn": get_player_name(get_current_player(state)),  # R20
            "phase": state["phase"],
            "hand": list(state["hands"][seat]),  # R18
            "hand_sizes": [len(hand) for hand in state["hands"]],  # R18
            "face_down": [
                list(state["down"][other])
                if other == seat
                else ["?"] * len(state["down"][other])
                for other in seats
            ],  # R19
            "face_up": [list(cards) for cards in state["up"]],  # R10
            "laying": get_player_name(state["seat"]),
            "claim": state["claim"],  # R20
            "claims": [dict(entry) for entry in state["claims"]],  # R20
            "scores": list(state["scores"]),  # R20
            "deck_size": len(state["deck"]),  # R4
        }
        for seat in seats
    ]


def get_events(state, action):
    """A card dealt or laid is seen by its owner, all else by everybody. Rules: R10, R18, R19, R20."""
    seat = state["seat"]
    name = get_player_name(seat)
    word, _, value = action.partition(" ")
    own = others = ""
    if word == "deal":
        own, others = f"You are dealt a {value}.", f"{name} is dealt a card."  # R18
    elif word == "lay":
        own, others = f"You lay a {value} face down.", f"{name} lays a card face down."  # R19
    elif word == "claim":
        own = others = f"{name} claims {value}."  # R20
    else:
        after = apply_action(state, action)
        doubter = get_player_name(_after(state, seat))
        told = f"{doubter} lets the claim of {name} pass."  # R20
        if word == "doubt":
            told = f"{doubter} doubts: the card of {name} is a {after['up'][seat][-1]}."  # R10
        points = max(after["paid"])
        own = others = f"{told} {get_player_name(after['paid'].index(points))} scores {points}."
    return [[own if player == seat else others] for player in range(len(state["hands"]))]


def visible(state, player_id):
    """Own cards and cards turned up are seen, others are counted. Rules: R4, R18, R19, R20."""
    seen = {"deck": "count"}  # R4
    for seat in range(len(state["hands"])):
        seen[f"hands.{seat}"] = "contents" if seat == player_id else "count"  # R18
        seen[f"down.{seat}"] = "contents" if seat == player_id else "count"  # R19
        seen[f"up.{seat}"] = "contents"  # R10
    return seen
