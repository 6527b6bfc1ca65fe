"""Push-your-luck games: go on and risk the turn's points, or stop and keep them (pig).

Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4

# fmt: off
GAME: dict[str, Any] = {'name': 'Push your luck with a die',
 'summary': '2 players gather points turn by turn. In a turn a player may roll again and '
            'again, but a bust loses all that the turn has won so far.',
 'min_players': 2,
 'max_players': 2,
 'total': 0,
 'open': ['phase', 'player', 'scores', 'turn_total', 'rolls', 'turns', 'rewards'],
 'parameters': {'kind': {'default': 'dice',
                         'choices': ['dice', 'cards'],
                         'meaning': 'Whether luck is pushed by rolling dice or by drawing '
                                    'cards.'},
                'sides': {'default': 6, 'range': [2, 20], 'meaning': 'Faces of a die (dice).'},
                'dice': {'default': 1,
                         'range': [1, 2],
                         'meaning': 'Dice rolled at a time (dice).'},
                'target_score': {'default': 20,
                                 'range': [5, 1000],
                                 'meaning': 'The score that ends the match.'},
                'bust_face': {'default': 1,
                              'range': [0, 20],
                              'meaning': "The face that busts and loses the turn's points; 0: "
                                         'none (dice).'},
                'double_bust': {'default': False,
                                'choices': [True, False],
                                'meaning': 'Two bust faces in one roll lose the whole score '
                                           '(two dice).'},
                'bonus_face': {'default': 0,
                               'range': [0, 20],
                               'meaning': 'The face or card number that counts double; 0: '
                                          'none.'},
                'max_rolls': {'default': 0,
                              'range': [0, 20],
                              'meaning': 'Rolls or draws allowed in one turn; 0: as many as '
                                         'one likes.'},
                'must_roll': {'default': False,
                              'choices': [True, False],
                              'meaning': 'A turn must begin with a roll or a draw.'},
                'highest_card': {'default': 8,
                                 'range': [3, 13],
                                 'meaning': 'Cards are numbered from 1 to this (cards).'},
                'copies': {'default': 0,
                           'choices': [0, 2, 3, 4, 5, 6],
                           'meaning': 'Copies of each card; 0: as many as its number says '
                                      '(cards).'},
                'final_round': {'default': True,
                                'choices': [True, False],
                                'meaning': 'Once somebody reaches the target, the round is '
                                           'played to its end.'},
                'max_turns': {'default': 300,
                              'range': [10, 5000],
                              'meaning': 'Turns of all players together after which the match '
                                         'ends anyway.'}}}
# fmt: on

ZONES = {
    "faces": {"component": "die", "owner": "table", "ordered": True},
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
    "table": {"component": "card", "owner": "table", "ordered": True},
    "discards": {"component": "card", "owner": "table", "ordered": False},
}


def _settings(parameters: dict[str, Any]) -> dict[str, Any]:
    known = GAME["parameters"]
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; known: {', '.join(known)}")
    rules = {name: parameters.get(name, entry["default"]) for name, entry in known.items()}
    for name, entry in known.items():
        allowed = entry.get("choices") or range(entry["range"][0], entry["range"][1] + 1)
        if type(rules[name]) is not type(entry["default"]) or rules[name] not in allowed:
            raise ValueError(f"{name} is {rules[name]!r}; allowed: {allowed}")
    return rules


def initial_state(num_players: int, **parameters: object) -> State:
    """No points yet, and Player 1 to begin.

    Raises:
        ValueError: If a parameter is unknown or out of range, a face is not on the dice, or
            nothing could ever end a turn.

    Rules: R1, R2, R3, R4.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        raise ValueError(
            f"num_players is {num_players}; allowed: {GAME['min_players']} to {GAME['max_players']}"
        )
    rules = _settings(parameters)
    cards = rules["kind"] == "cards"
    highest = rules["highest_card"] if cards else rules["sides"]
    for name in ("bonus_face",) if cards else ("bust_face", "bonus_face"):
        if rules[name] > highest:
            raise ValueError(f"{name} is {rules[name]}; allowed: 0 to {highest}")
    if not cards and not rules["bust_face"] and not rules["max_rolls"]:
        raise ValueError("bust_face and max_rolls are both 0: nothing would ever end a turn")
    if rules["double_bust"] and (cards or rules["dice"] == 1 or not rules["bust_face"]):
        raise ValueError("double_bust is True; it needs two dice and a bust_face")
    numbers = range(1, highest + 1) if cards else ()
    return {
        "rules": rules,
        "phase": "choose",
        "player": 0,
        "scores": [0] * num_players,
        "turn_total": 0,
        "rolls": 0,
        "turns": 0,
        "faces": [],
        "deck": [str(number) for number in numbers for _ in range(rules["copies"] or number)],
        "table": [],
        "discards": [],
        "rewards": [0] * num_players,
    }


def get_current_player(state: State) -> int:
    """The seat on turn, -1 while dice roll or a card is drawn, -4 once the match is over.

    Rules: R4, R10, R11.
    """
    if state["phase"] == "choose":
        return int(state["player"])
    return TERMINAL if state["phase"] == "over" else CHANCE


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Going on and stopping, as far as allowed; at a chance event, faces or card numbers.

    Rules: R5, R9.
    """
    phase, rules = state["phase"], state["rules"]
    if phase == "over":
        return []
    cards = rules["kind"] == "cards"
    if phase == "luck":
        if cards:
            return ["card " + number for number in dict.fromkeys(state["deck"])]
        return [f"face {number}" for number in range(1, rules["sides"] + 1)]
    spent = rules["max_rolls"] and state["rolls"] >= rules["max_rolls"]
    reached = state["scores"][state["player"]] + state["turn_total"] >= rules["target_score"]
    if spent or (reached and not rules["final_round"]):
        return ["stop"]
    if cards and not state["deck"] and not state["discards"]:
        return ["stop"]
    going_on = "draw" if cards else "roll"
    return [going_on, "stop"] if state["rolls"] or not rules["must_roll"] else [going_on]


def get_chance_probabilities(state: State) -> list[float]:
    """Equal for the faces of a die; by the copies left for the cards of the deck.

    Rules: R5.
    """
    rules, deck = state["rules"], state["deck"]
    if rules["kind"] == "cards":
        return [deck.count(number) / len(deck) for number in dict.fromkeys(deck)]
    return [1 / rules["sides"]] * rules["sides"]


def parse_action(action: str) -> dict[str, str | int]:
    """The action in parts: its kind, and the number of a face or card.

    Rules: R5, R9.
    """
    kind, _, number = action.partition(" ")
    return {"kind": kind, "number": int(number)} if number else {"kind": kind}


def apply_action(state: State, action: str) -> State:
    """The state after a decision to go on or stop, or after a die or card showed.

    Raises:
        ValueError: If the action is not legal.

    Rules: R5, R6, R7, R8, R9, R10, R11.
    """
    if action not in get_legal_actions(state):
        legal = ", ".join(get_legal_actions(state))
        raise ValueError(f"{action!r} is not legal; legal: {legal or 'nothing'}")
    if action == "stop":
        scores = state["scores"].copy()
        scores[state["player"]] += state["turn_total"]
        return _pass_turn(state, scores)
    if action in ("roll", "draw"):
        after = {**state, "phase": "luck", "rolls": state["rolls"] + 1, "faces": []}
        if action == "draw" and not state["deck"]:
            after["deck"] = sorted(state["discards"], key=int)
            after["discards"] = []
        return after
    number = action.split()[1]
    return _drawn(state, number) if state["rules"]["kind"] == "cards" else _rolled(state, number)


def _worth(rules: dict[str, Any], number: str) -> int:
    return int(number) * (2 if int(number) == rules["bonus_face"] else 1)


def _rolled(state: State, face: str) -> State:
    rules, faces = state["rules"], [*state["faces"], face]
    if len(faces) < rules["dice"]:
        return {**state, "faces": faces}
    state = {**state, "faces": faces}
    busts = faces.count(str(rules["bust_face"]))
    if busts:
        scores = state["scores"]
        if rules["double_bust"] and busts > 1:
            scores = scores.copy()
            scores[state["player"]] = 0
        return _pass_turn(state, scores)
    won = sum(_worth(rules, number) for number in faces)
    return {**state, "phase": "choose", "turn_total": state["turn_total"] + won}


def _drawn(state: State, card: str) -> State:
    deck = state["deck"].copy()
    deck.remove(card)
    after = {**state, "phase": "choose", "deck": deck, "table": [*state["table"], card]}
    if card in state["table"]:
        return _pass_turn(after, state["scores"])
    after["turn_total"] = state["turn_total"] + _worth(state["rules"], card)
    return after


def _pass_turn(state: State, scores: list[int]) -> State:
    rules, turns = state["rules"], state["turns"] + 1
    following = (state["player"] + 1) % len(scores)
    reached = max(scores) >= rules["target_score"]
    over = (reached and (following == 0 or not rules["final_round"])) or turns >= rules["max_turns"]
    return {
        "rules": rules,
        "phase": "over" if over else "choose",
        "player": following,
        "scores": scores,
        "turn_total": 0,
        "rolls": 0,
        "turns": turns,
        "faces": state["faces"],
        "deck": state["deck"],
        "table": [],
        "discards": state["discards"] + state["table"],
        "rewards": _returns(scores) if over else state["rewards"],
    }


def _returns(scores: list[int]) -> list[float]:
    best = max(scores)
    winners = scores.count(best)
    if winners == len(scores):
        return [0] * winners
    losers = len(scores) - winners
    return [1 / winners if own == best else -1 / losers for own in scores]


def get_rewards(state: State) -> list[float]:
    """What the end of the match paid each player; nothing before.

    Rules: R12.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[dict[str, Any]]:
    """The whole state, the same for everyone but for the own seat.

    Rules: R13.
    """
    return [{**state, "you": seat} for seat in range(len(state["scores"]))]


def get_events(state: State, action: str) -> list[list[str]]:
    """What everyone sees: decisions, faces and cards, busts and the end.

    Rules: R5, R6, R7, R9, R10, R11.
    """
    name, after = get_player_name(state["player"]), apply_action(state, action)
    kind, _, number = action.partition(" ")
    told = {
        "roll": f"{name} rolls.",
        "draw": f"{name} draws a card.",
        "stop": f"{name} stops and keeps {state['turn_total']}.",
        "face": f"The die shows {number}.",
        "card": f"The card is {number}.",
    }[kind]
    events = [told]
    if kind in ("face", "card") and after["turns"] > state["turns"]:
        events.append(f"{name} busts and loses the points of the turn.")
        if after["scores"] != state["scores"]:
            events.append(f"{name} loses the whole score.")
    if after["phase"] == "over":
        best = max(after["scores"])
        winners = [get_player_name(s) for s, own in enumerate(after["scores"]) if own == best]
        events.append(f"The match is over; the best score is {best} ({', '.join(winners)}).")
    return [events for _ in state["scores"]]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Everything lies open; the deck's cards are known, not their order.

    Rules: R13.
    """
    del state, player_id
    return dict.fromkeys(ZONES, "contents")


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """The one state that the newest observation allows.

    Rules: R13.
    """
    del player_id
    seen = obs_action_history[-1][0]
    return {key: value for key, value in seen.items() if key != "you"}
