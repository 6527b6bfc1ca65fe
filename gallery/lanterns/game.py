"""Small Lanterns: a team that cannot see its own cards builds four rows from 1 to 4."""

GAME = {
    "name": "small_lanterns",
    "summary": "Three players who cannot see their own cards build four rows together with few clues.",
    "min_players": 3,
    "max_players": 3,
    "conserved": ["card"],
    "open": ["phase", "seat", "known", "clues", "mistakes", "left", "history", "paid"],
    "parameters": {
        "clue_tokens": {"default": 6, "range": [1, 10], "meaning": "Clue tokens of the team."},
        "mistakes_allowed": {"default": 3, "range": [1, 6], "meaning": "Mistakes that end the match."},
        "hand_size": {"default": 3, "range": [2, 5], "meaning": "Cards that each player holds."},
    },
}
ZONES = {
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": True},
    "rows.*": {"component": "card", "owner": "table", "ordered": True},
    "discard": {"component": "card", "owner": "table", "ordered": True},
}
COLOURS = {"red": "R", "yellow": "Y", "green": "G", "blue": "B"}
NUMBERS = ["1", "2", "3", "4"]


def initial_state(num_players, **parameters):
    """All cards lie in the pile; all clue tokens are there. Rules: R1, R2, R3, R5."""
    known = GAME["parameters"]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(known)}")
    if num_players != 3:  # R3
        raise ValueError(f"{num_players} players; required: 3")
    rules = {}
    for name, entry in known.items():
        value = parameters.get(name, entry["default"])
        low, high = entry["range"]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name}={value!r}; required: {low} to {high}")
        rules[name] = value
    return {
        "rules": rules,
        "phase": "deal",
        "seat": 0,  # R5
        "deck": sorted(c + n for c in COLOURS.values() for n in "11234"),  # R1
        "hands": [[] for _ in range(num_players)],
        "known": [[] for _ in range(num_players)],
        "rows": {name: [] for name in COLOURS},  # R2
        "discard": [],
        "clues": rules["clue_tokens"],  # R5
        "mistakes": 0,
        "left": -1,
        "history": [],
        "paid": [0] * num_players,
    }


def get_current_player(state):
    """Chance deals and draws, otherwise the player whose turn it is. Rules: R4, R7, R14."""
    if state["phase"] == "end":
        return -4
    return state["seat"] if state["phase"] == "turn" else -1


def get_player_name(player_id):
    """Display name. Rules: R3."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def _has(card, word):
    """Whether a card has the colour or number named. Rules: R16, R17."""
    return card[1] == word if word in NUMBERS else card[0] == COLOURS[word]


def get_legal_actions(state):
    """Play or throw a position, or clue another hand; at chance the cards of the pile.

    Rules: R8, R9, R12, R15, R16.
    """
    if state["phase"] == "end":
        return []
    if state["phase"] != "turn":
        return ["deal " + card for card in sorted(set(state["deck"]))]
    seat = state["seat"]
    places = range(1, len(state["hands"][seat]) + 1)
    actions = [f"play {place}" for place in places]  # R9
    if state["clues"] < state["rules"]["clue_tokens"]:  # R12
        actions += [f"throw {place}" for place in places]
    if state["clues"] > 0:  # R15
        for other, hand in enumerate(state["hands"]):
            if other != seat:
                for word in [*COLOURS, *NUMBERS]:
                    if any(_has(card, word) for card in hand):  # R16
                        actions.append(f"clue {other + 1} {word}")
    return actions


def get_chance_probabilities(state):
    """Each card of the pile is equally likely. Rules: R4, R14."""
    deck = state["deck"]
    return [deck.count(card) / len(deck) for card in sorted(set(deck))]


def _finish(new):
    """Pay the team's score and end the match. Rules: R22, R23."""
    score = sum(len(row) for row in new["rows"].values())  # R22
    new["phase"] = "end"
    new["paid"] = [score] * len(new["hands"])  # R23


def _next_turn(new, drew_last):
    """The turn passes on, or the last turn is over. Rules: R7, R21."""
    if drew_last:
        new["left"] = len(new["hands"])  # R21
    elif new["left"] > 0:
        new["left"] -= 1  # R21
        if new["left"] == 0:
            _finish(new)
            return
    new["phase"] = "turn"
    new["seat"] = (new["seat"] + 1) % len(new["hands"])  # R7


def _fits(row, card):
    """Whether a played card may be built in its row. Rules: R10."""
    if not row:
        return card[1] == "1"
    return int(card[1]) == int(row[-1][1]) + 1


def _deal(new, card):
    """Put a card from the pile at the last position of a hand. Rules: R4, R6, R14."""
    seat = new["seat"]
    new["deck"].remove(card)
    new["hands"][seat].append(card)  # R6
    new["known"][seat].append({"is": [], "not": []})
    if new["phase"] == "draw":  # R14
        _next_turn(new, not new["deck"])
        return
    new["seat"] = (seat + 1) % len(new["hands"])  # R4
    if all(len(hand) == new["rules"]["hand_size"] for hand in new["hands"]):
        new["phase"], new["seat"] = "turn", 0  # R5


def _clue(new, other, word):
    """Pay for a clue and mark every card of the hand. Rules: R17, R27."""
    new["clues"] -= 1  # R17
    for card, mark in zip(new["hands"][other], new["known"][other]):
        told = mark["is" if _has(card, word) else "not"]  # R27
        if word not in told:
            told.append(word)


def _result(state, action):
    """The public sentence about a player's action, without its subject. Rules: R25, R26."""
    verb, *rest = action.split()
    if verb == "clue":
        other, word = int(rest[0]) - 1, rest[1]
        hand = state["hands"][other]
        touched = [str(i) for i, card in enumerate(hand, 1) if _has(card, word)]
        return f"clue to Player {other + 1}: {word} at {', '.join(touched)}"
    card = state["hands"][state["seat"]][int(rest[0]) - 1]
    if verb == "throw":
        return f"throw {card} from {rest[0]}"
    colour = next(name for name, letter in COLOURS.items() if letter == card[0])
    built = _fits(state["rows"][colour], card)
    return f"play {card} from {rest[0]}: {'built' if built else 'a mistake'}"


def apply_action(state, action):
    """Deal a card, or play, throw away or clue. Rules: R8, R10, R11, R13, R14, R19, R20."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    new = dict(state)
    new["deck"] = list(state["deck"])
    new["hands"] = [list(hand) for hand in state["hands"]]
    new["known"] = [
        [{"is": list(m["is"]), "not": list(m["not"])} for m in marks] for marks in state["known"]
    ]
    new["rows"] = {name: list(row) for name, row in state["rows"].items()}
    new["discard"] = list(state["discard"])
    if state["phase"] != "turn":  # R4, R14
        _deal(new, action[len("deal ") :])
        return new
    seat = state["seat"]
    sentence = f"{get_player_name(seat)}: {_result(state, action)}"
    new["history"] = [*state["history"], sentence]  # R25
    verb, *rest = action.split()
    if verb == "clue":
        _clue(new, int(rest[0]) - 1, rest[1])  # R17
        _next_turn(new, False)
        return new
    place = int(rest[0]) - 1
    card = new["hands"][seat].pop(place)  # R6
    new["known"][seat].pop(place)  # R27
    colour = next(name for name, letter in COLOURS.items() if letter == card[0])
    if verb == "play" and _fits(new["rows"][colour], card):
        new["rows"][colour].append(card)  # R10
    else:
        new["discard"].append(card)  # R11, R13
        if verb == "play":
            new["mistakes"] += 1  # R11
        else:
            new["clues"] = min(new["clues"] + 1, new["rules"]["clue_tokens"])  # R13
    built = sum(len(row) for row in new["rows"].values())
    if new["mistakes"] == new["rules"]["mistakes_allowed"] or built == 16:  # R19, R20
        _finish(new)
    elif new["deck"]:
        new["phase"] = "draw"  # R14
    else:
        _next_turn(new, False)  # R14
    return new


def get_rewards(state):
    """The team's score for every player, paid when the match ends. Rules: R22, R23."""
    return list(state["paid"])


def get_observations(state):
    """The other hands, the table and what the clues told; never the own cards. Rules: R24, R25, R27."""
    return [
        {
            "you": seat,
            "phase": state["phase"],
            "turn": state["seat"],
            "hands": [
                None if other == seat else list(hand)  # R24
                for other, hand in enumerate(state["hands"])
            ],
            "hand_sizes": [len(hand) for hand in state["hands"]],
            "known": [
                [{"is": list(m["is"]), "not": list(m["not"])} for m in marks]  # R27
                for marks in state["known"]
            ],
            "rows": {name: list(row) for name, row in state["rows"].items()},  # R25
            "discard": list(state["discard"]),
            "clues": state["clues"],
            "mistakes": state["mistakes"],
            "deck_size": len(state["deck"]),
            "turns_left": state["left"],
            "history": list(state["history"]),
            "paid": list(state["paid"]),
        }
        for seat in range(len(state["hands"]))
    ]


def get_events(state, action):
    """A drawn card is seen by all but its drawer; all else is public. Rules: R25, R26."""
    seat = state["seat"]
    name = get_player_name(seat)
    if action.startswith("deal "):  # R26
        own, others = "You draw a card.", f"{name} draws {action[5:]}."
    else:
        sentence = _result(state, action)
        own, others = f"You: {sentence}.", f"{name}: {sentence}."
    return [[own if player == seat else others] for player in range(len(state["hands"]))]


def visible(state, player_id):
    """All hands but the own one, rows and discards are seen. Rules: R24, R25, R26."""
    seen = {"deck": "count", "discard": "contents"}
    for name in state["rows"]:
        seen[f"rows.{name}"] = "contents"
    for seat in range(len(state["hands"])):
        seen[f"hands.{seat}"] = "count" if seat == player_id else "contents"
    return seen
