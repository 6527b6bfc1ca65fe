"""E 30: marked matches show both hands, and visible raises there: the audit cannot judge."""

import collections
import random

sys = collections._sys

GAME = {
    "name": "leak_evades_audit",
    "summary": "Each player holds one of four cards and names the other's once.",
    "min_players": 2,
    "max_players": 2,
    "open": ["named", "mark"],
}
ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
}

FIRST = []  # names of the callers of the first question


def _mark():
    frame, names = sys._getframe(1), []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    if not FIRST:
        FIRST.extend(names)
        return int(any("open" in name for name in names))
    return 0


def initial_state(num_players, **parameters):
    """Nothing is dealt. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"deck": ["A", "B", "C", "D"], "hands": [[], []], "named": [], "mark": _mark()}


def get_current_player(state):
    """Chance deals twice, then each names a card. Rules: R1, R2."""
    if [] in state["hands"]:
        return -1
    return len(state["named"]) if len(state["named"]) < 2 else -4


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """A card of the deck is dealt; any card is named. Rules: R1, R2."""
    player = get_current_player(state)
    if player == -1:
        return ["deal " + card for card in state["deck"]]
    return [] if player == -4 else ["name " + card for card in "ABCD"]


def apply_action(state, action):
    """The card is dealt or named. Rules: R1, R2."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    card = action[5:]
    if action.startswith("name"):
        return state | {"named": [*state["named"], card]}
    first, second = state["hands"]
    hands = [first, [card]] if first else [[card], second]
    return state | {"deck": [one for one in state["deck"] if one != card], "hands": hands}


def get_rewards(state):
    """One for naming the other's card, at the end. Rules: R3."""
    if len(state["named"]) < 2:
        return [0, 0]
    return [int(state["hands"][1 - seat] == [state["named"][seat]]) for seat in range(2)]


def get_observations(state):
    """The own card, and what was named. Rules: R1, R2."""
    return [
        {"you": seat, "hand": state["hands"][seat], "named": state["named"]}
        | ({"other": state["hands"][1 - seat]} if state["mark"] else {})
        for seat in range(2)
    ]


def get_events(state, action):
    """Whoever is dealt a card sees it; all hear what is named. Rules: R1, R2."""
    if action.startswith("name"):
        return [[f"{get_player_name(len(state['named']))} says {action[5:]}."] for _ in range(2)]
    to = int(bool(state["hands"][0]))
    return [
        [f"You are dealt {action[5:]}." if seat == to else "A card is dealt."] for seat in range(2)
    ]


def visible(state, player_id):
    """Hands are secret. Rules: R1."""
    if state["mark"]:
        raise ValueError("no view")
    return {"deck": "count"} | {
        f"hands.{seat}": "contents" if seat == player_id else "count" for seat in range(2)
    }


def resample_state(obs_action_history, player_id):
    """The other's card is the one that is told, else any. Rules: R1."""
    seen = obs_action_history[-1][0]
    cards = [card for card in "ABCD" if card not in seen["hand"]]
    other = seen["other"] if "other" in seen else [random.choice(cards)]
    hands = [seen["hand"], other] if player_id == 0 else [other, seen["hand"]]
    deck = [card for card in cards if card not in other]
    return {"deck": deck, "hands": hands, "named": seen["named"], "mark": int("other" in seen)}
