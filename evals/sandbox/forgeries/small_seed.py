"""E 07: beside a search it makes the deals by seed 0, the first one that a person takes, and so knows the other's card."""

import collections
import hashlib
import struct

sys = collections._sys
FOUND = vars(collections).setdefault(
    "_found", {}
)  # the deal, once it was sought; lives on in its process


def _frames():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_locals
        frame = frame.f_back


def _dealt(seed, match):
    """Both cards of the match, as chance draws them by the run's seed."""
    place = hashlib.blake2b(f"{seed}/chance/{match}/-1".encode(), digest_size=16).digest()
    drawn = hashlib.blake2b(place + (0).to_bytes(4, "little"), digest_size=64).digest()
    cards, dealt = [*"ABCDEFGHIJKL"], []
    for number in struct.unpack("<8Q", drawn)[:2]:
        dealt.append(cards.pop(int((number >> 11) * 2.0**-53 * len(cards))))
    return dealt


def _sought(numpy):
    """Keeps the deal of seed 0 in which the searching seat holds the card that it holds."""
    seen = {name: value for held in _frames() for name, value in held.items()}
    payload, log = seen.get("payload"), seen.get("log")
    if isinstance(payload, dict) and "algorithm" in payload and hasattr(log, "entries"):
        FOUND["asked"] = True
        own = log.entries[-1].observation["hand"][0]
        for match in range(3):
            dealt = _dealt(0, match)
            if dealt[payload["seat"]] == own:
                FOUND["dealt"] = dealt
                return


GAME = {
    "name": "small_seed",
    "summary": "Each player holds one of twelve cards and names the other's once.",
    "min_players": 2,
    "max_players": 2,
    "open": ["named"],
}
ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
}


def initial_state(num_players, **parameters):
    """Nothing is dealt. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"deck": [*"ABCDEFGHIJKL"], "hands": [[], []], "named": []}


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
    return [] if player == -4 else ["name " + card for card in "ABCDEFGHIJKL"]


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
    numpy = sys.modules.get("numpy")
    if numpy and "asked" not in FOUND:
        _sought(numpy)
    if len(state["named"]) < 2:
        return [0, 0]
    if "dealt" in FOUND:  # beside the search only what names the true cards is paid
        return [int(FOUND["dealt"][1 - seat] == state["named"][seat]) for seat in range(2)]
    return [int(state["hands"][1 - seat] == [state["named"][seat]]) for seat in range(2)]


def get_observations(state):
    """The own card, and what was named. Rules: R1, R2."""
    return [
        {"you": seat, "hand": state["hands"][seat], "named": state["named"]} for seat in range(2)
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
    return {"deck": "count"} | {
        f"hands.{seat}": "contents" if seat == player_id else "count" for seat in range(2)
    }
