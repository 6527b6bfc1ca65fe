"""A heuristic that remembers hands in a module of the library: it lives on where files are loaded anew."""

GAME = {
    "name": "remembers_in_process",
    "summary": "Each player holds one of four cards and names the other's once.",
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
    return {"deck": ["A", "B", "C", "D"], "hands": [[], []], "named": []}


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
