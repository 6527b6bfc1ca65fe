"""Uno for two, by the rules of the program RLCard 1.2.0, which are not those of the box.

They differ thus: a card that is drawn is played at once if it is a wild card or has the colour in
play, and kept otherwise; a wild card that is drawn takes a colour by chance, and a draw four among
them makes nobody draw; the draw four may be played only where nothing else can; a match is won with
the last card, and nothing is scored. What RLCard leaves to an error is ruled here: where too few
cards are left to draw, those that are left are drawn.
"""

from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
COLORS = "RGBY"
RANKS = "0123456789SVD"
WILD = ("W", "F")
CARDS = [rank + color for color in COLORS for rank in RANKS + RANKS[1:]] + [*WILD] * 4
HAND = 7
DRAWN = {"D": 2, "F": 4}

GAME: dict[str, Any] = {
    "name": "uno",
    "summary": "Match the colour or the rank of the last card; whoever has no card left wins.",
    "min_players": 2,
    "max_players": 2,
    "conserved": ["card"],
    "total": 0,
    "open": ["player", "turn", "color", "rank", "draws", "rewards.*"],
}
ZONES = {
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "played": {"component": "card", "owner": "table", "ordered": True},
}


def initial_state(num_players: int, **parameters: object) -> State:
    """Seven cards are dealt to each player, then one is turned up. Rules: R1, R2, R3."""
    if num_players != 2 or parameters:  # noqa: PLR2004 - a game for two
        raise ValueError("required: 2 players and no parameters")
    draws = ["0"] * HAND + ["1"] * HAND + ["turn"]
    blank = {"played": [], "color": "", "rank": "", "turn": 0, "player": CHANCE, "rewards": [0, 0]}
    return {**blank, "deck": sorted(CARDS), "hands": [[], []], "draws": draws}


def get_current_player(state: State) -> int:
    """Whose turn it is; -1 while cards or colours are drawn, -4 at the end. Rules: R2, R3, R11."""
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Player 1 for seat 0. Rules: R1."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Cards that fit, a wild card with its colour, or drawing. Rules: R3, R4, R5, R6."""
    if state["player"] == TERMINAL:
        return []
    if state["player"] == CHANCE:
        kind = "color" if state["draws"][0] == "color" else "deal"
        return [f"{kind} {one}" for one in dict.fromkeys(_outcomes(state))]
    hand = dict.fromkeys(state["hands"][state["player"]])
    fitting = [card for card in hand if card[0] == state["rank"] or card[1:] == state["color"]]
    fitting = [card for card in fitting if card not in WILD]
    wild = "W" if "W" in hand else "F" if "F" in hand and not fitting else ""
    fitting += [wild + color for color in COLORS if wild]
    return [f"play {card}" for card in fitting] or ["draw"]


def _outcomes(state: State) -> list[str]:
    """The colours or cards of which one is drawn next."""
    if state["draws"][0] == "color":
        return [*COLORS]
    return [card for card in state["deck"] if card != "F" or state["draws"][0] != "turn"]


def get_chance_probabilities(state: State) -> list[float]:
    """Every card is as likely as another, and so is every colour. Rules: R2, R3, R6, R8."""
    outcomes = _outcomes(state)
    return [outcomes.count(one) / len(outcomes) for one in dict.fromkeys(outcomes)]


def apply_action(state: State, action: str) -> State:
    """The state after a card is drawn or played, or a colour drawn. Rules: R2, R3, R4, R5, R6."""
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    kind, _, card = action.partition(" ")
    if kind == "draw":
        filled = _filled(state, 1)
        if filled["deck"]:
            return {**filled, "draws": ["draw"], "player": CHANCE}
        return _to_turn({**filled, "turn": 1 - state["turn"]})  # R9
    if kind == "play":
        return _played(state, card)
    what, *later = state["draws"]
    if kind == "color":
        return _to_turn({**state, "color": card, "draws": later})
    deck = state["deck"].copy()
    deck.remove(card)
    return _drawn({**state, "deck": deck, "draws": later}, what, card)


def _to_turn(state: State) -> State:
    return {**state, "player": CHANCE if state["draws"] else state["turn"]}


def _filled(state: State, count: int) -> State:
    """Where the deck holds fewer than `count` cards, the pile is shuffled into it. Rules: R9."""
    if len(state["deck"]) >= count:
        return state
    return {**state, "deck": sorted(state["deck"] + state["played"]), "played": []}


def _played(state: State, card: str) -> State:
    """A card leaves the hand of the seat to move; the last one wins. Rules: R4, R5, R10."""
    seat, hands = state["turn"], state["hands"].copy()
    kept = card[0] if card[0] in WILD else card
    hands[seat] = hands[seat].copy()
    hands[seat].remove(kept)
    after = {**state, "hands": hands, "played": [*state["played"], kept]}
    after |= {"rank": card[0], "color": card[1]}
    if not hands[seat]:
        return {**after, "player": TERMINAL, "rewards": [1 - 2 * seat, 2 * seat - 1]}
    return _worked(after)


def _worked(state: State) -> State:
    """The last card skips, or makes the other seat draw; else the turn passes. Rules: R7, R9."""
    rank, turn = state["rank"], state["turn"]
    after = _filled(state, DRAWN.get(rank, 0))
    draws = [str(1 - turn)] * min(DRAWN.get(rank, 0), len(after["deck"]))
    return _to_turn({**after, "draws": draws, "turn": turn if rank in "SDF" else 1 - turn})


def _drawn(state: State, what: str, card: str) -> State:
    """A card goes to a hand or, turned up or drawn in turn, onto the pile. Rules: R2, R3, R6."""
    rank, turn = card[0], state["turn"]
    if what == "draw" and card not in WILD and card[1] != state["color"]:
        what, state = str(turn), {**state, "turn": 1 - turn}
    if what in "01":
        hands = state["hands"].copy()
        hands[int(what)] = sorted([*hands[int(what)], card])
        return _to_turn({**state, "hands": hands})
    after = {**state, "played": [*state["played"], card], "rank": rank, "color": card[1:]}
    if card in WILD:
        return _to_turn({**after, "draws": ["color"], "turn": 1 - turn if what == "draw" else 0})
    if what == "draw":
        return _worked(after)
    draws = ["0", "0"] if rank == "D" else []
    return _to_turn({**after, "draws": draws, "turn": int(rank in "SV")})  # R3


def get_rewards(state: State) -> list[int]:
    """One for whoever has no card left, minus one for the other. Rules: R10."""
    rewards: list[int] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[State]:
    """The own hand, the pile, what counts, and how many cards lie elsewhere. Rules: R4, R11."""
    names = ("player", "color", "rank", "played", "draws", "rewards")
    shared = {name: state[name] for name in names}
    shared |= {"deck_size": len(state["deck"]), "hand_sizes": [*map(len, state["hands"])]}
    return [{**shared, "you": seat, "hand": hand} for seat, hand in enumerate(state["hands"])]


def get_events(state: State, action: str) -> list[list[str]]:
    """A kept card is told to who gets it, all else to everybody. Rules: R2, R3, R6, R11."""
    kind, _, card = action.partition(" ")
    if kind in ("play", "draw"):
        name = get_player_name(state["player"])
        return [[f"{name} plays {card}." if card else f"{name} draws."] for _ in (0, 1)]
    if kind == "color":
        return [[f"The colour is {card}."] for _ in (0, 1)]
    what = state["draws"][0]
    hands = apply_action(state, action)["hands"]
    if hands == state["hands"]:
        return [[f"{card} is turned up."] for _ in (0, 1)]
    owner = state["turn"] if what == "draw" else int(what)
    told = [[f"{get_player_name(owner)} gets a card."] for _ in (0, 1)]
    told[owner] = [f"You get {card}."]
    return told


def visible(state: State, player_id: int) -> dict[str, str]:
    """The own hand and the pile. Rules: R11."""
    del state
    own, other = f"hands.{player_id}", f"hands.{1 - player_id}"
    return {"deck": "count", "played": "contents", own: "contents", other: "count"}
