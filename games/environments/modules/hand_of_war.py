"""Hand of War: battles of one hidden card each, with showdowns where they tie.

The game is that of the Code World Models paper (App. I.10). What its text leaves open is ruled
thus: the deck holds ace, king, queen and jack of four suits, and suits do not matter; cards are
drawn from what is left, evenly, when they are needed, which is the same as a shuffled pile; player
0 lays its card face down first; burned cards are never shown, only counted; in a showdown the card
comes from the rest of the hand, which is not filled in between; a tie with an empty draw pile or
an empty hand ends the game, and what lies on the table is nobody's; the game ends at the first
draw that cannot be made; the larger win pile wins.
"""

import random
from typing import Any

State = dict[str, Any]

CHANCE = -1
TERMINAL = -4
RANKS = "JQKA"
CARDS = [rank + suit for rank in RANKS for suit in "CDHS"]
HAND = 3

GAME: dict[str, Any] = {
    "name": "hand_of_war",
    "summary": "Pick a card for every battle; the higher one takes both, and ties are fought on.",
    "min_players": 2,
    "max_players": 2,
    "conserved": ["card"],
    "total": 0,
    "open": ["player", "draws", "piles.*", "rewards.*"],
}
ZONES = {
    "pool": {"component": "card", "owner": "nobody", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "chosen.*": {"component": "card", "owner": "each", "ordered": False},
    "table.*": {"component": "card", "owner": "table", "ordered": True},
    "burned": {"component": "card", "owner": "nobody", "ordered": False},
    "won.*": {"component": "card", "owner": "each", "ordered": True},
    "won_burned.*": {"component": "card", "owner": "nobody", "ordered": False},
}


def initial_state(num_players: int, **parameters: object) -> State:
    """Eight cards lie in each draw pile; three are drawn by each player. Rules: R1, R2."""
    if num_players != 2 or parameters:  # noqa: PLR2004 - a game for two
        raise ValueError("required: 2 players and no parameters")
    return {
        "pool": sorted(CARDS),
        "piles": [8, 8],
        "draws": [[0, "draw"]] * HAND + [[1, "draw"]] * HAND,
        "hands": [[], []],
        "chosen": [[], []],
        "table": [[], []],
        "burned": [],
        "won": [[], []],
        "won_burned": [[], []],
        "player": CHANCE,
        "rewards": [0, 0],
    }


def get_current_player(state: State) -> int:
    """Who picks a card; -1 while cards are drawn or burned, -4 at the end. Rules: R2, R3, R8."""
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Player 1 for seat 0. Rules: R1."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """A card of the hand; where cards are drawn, any that is left. Rules: R2, R3, R5."""
    player = state["player"]
    if player == TERMINAL:
        return []
    if player == CHANCE:
        seat, kind = state["draws"][0]
        return [f"player {seat} {kind}s {card}" for card in state["pool"]]
    return [f"play {card}" for card in state["hands"][player]]


def apply_action(state: State, action: str) -> State:
    """The state after a draw, a burn or a pick; two picks are a battle. Rules: R2, R3, R4, R5."""
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    card, seat = action.rpartition(" ")[2], state["player"]
    if seat == CHANCE:
        return _drawn(state, card)
    hands, chosen = state["hands"].copy(), state["chosen"].copy()
    hands[seat] = [other for other in hands[seat] if other != card]
    chosen[seat] = [card]
    after = {**state, "hands": hands, "chosen": chosen, "player": 1}
    return after if seat == 0 else _battle(after)


def _drawn(state: State, card: str) -> State:
    """Take a card from what is left, for a hand or to be burned."""
    (seat, kind), *later = state["draws"]
    piles, hands, burned = state["piles"].copy(), state["hands"].copy(), state["burned"]
    piles[seat] -= 1
    if kind == "burn":
        burned = sorted([*burned, card])
    else:
        hands[seat] = sorted([*hands[seat], card])
    pool = [other for other in state["pool"] if other != card]
    after = {**state, "pool": pool, "piles": piles, "hands": hands, "burned": burned}
    return _next_draw({**after, "draws": later})


def _next_draw(state: State) -> State:
    """Go on drawing; the first draw that cannot be made ends the game. Rules: R7."""
    if not state["draws"]:
        return {**state, "player": 0}
    if not state["piles"][state["draws"][0][0]]:
        return _ended(state)  # R7
    return {**state, "player": CHANCE}


def _battle(state: State) -> State:
    """Turn both cards up, in a state that nobody else holds yet. Rules: R4, R5, R6."""
    table = [[*lying, *card] for lying, card in zip(state["table"], state["chosen"], strict=True)]
    after = {**state, "table": table, "chosen": [[], []]}
    strength = [RANKS.index(lying[-1][0]) for lying in table]
    if strength[0] == strength[1]:
        if not all(state["piles"]) or not all(state["hands"]):
            return _ended(after)  # R6
        return _next_draw({**after, "draws": [[0, "burn"], [1, "burn"]]})  # R5
    winner = int(strength[1] > strength[0])
    won, won_burned = state["won"].copy(), state["won_burned"].copy()
    won[winner] = [*won[winner], *table[0], *table[1]]
    won_burned[winner] = sorted([*won_burned[winner], *state["burned"]])
    missing = [[[seat, "draw"]] * (HAND - len(hand)) for seat, hand in enumerate(state["hands"])]
    after |= {"won": won, "won_burned": won_burned, "table": [[], []], "burned": []}
    if _pile_sizes(after)[winner] == len(CARDS):
        return _ended(after)  # R8
    return _next_draw({**after, "draws": missing[0] + missing[1]})


def _pile_sizes(state: State) -> list[int]:
    return [len(state["won"][seat]) + len(state["won_burned"][seat]) for seat in (0, 1)]


def _ended(state: State) -> State:
    """The larger win pile wins. Rules: R8."""
    one, two = _pile_sizes(state)
    first = (one > two) - (two > one)
    return {**state, "draws": [], "player": TERMINAL, "rewards": [first, -first]}


def get_rewards(state: State) -> list[int]:
    """One for the larger win pile, minus one for the smaller. Rules: R8."""
    rewards: list[int] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[State]:
    """The own hand, what was turned up, and how many cards lie elsewhere. Rules: R3, R9."""
    return [
        {
            "you": seat,
            "to_move": state["player"],
            "hand": hand,
            "own_card": state["chosen"][seat],
            "has_chosen": [bool(cards) for cards in state["chosen"]],
            "opponent_hand_size": len(state["hands"][1 - seat]),
            "piles": state["piles"],
            "draws": state["draws"],
            "table": state["table"],
            "burned": len(state["burned"]),
            "won": state["won"],
            "won_burned": [len(cards) for cards in state["won_burned"]],
            "result": state["rewards"],
        }
        for seat, hand in enumerate(state["hands"])
    ]


def get_events(state: State, action: str) -> list[list[str]]:
    """A card is told to who draws or picks it, and to all once it is turned up. Rules: R3, R9."""
    card, player = action.rpartition(" ")[2], state["player"]
    if player == CHANCE:
        seat, kind = state["draws"][0]
        told = [[f"{get_player_name(seat)} {kind}s a card."] for _ in (0, 1)]
        if kind == "draw":
            told[seat] = [f"You draw {card}."]
        return told
    told = [[f"{get_player_name(player)} lays a card face down."] for _ in (0, 1)]
    told[player] = [f"You lay {card} face down."]
    if player == 1:
        shown = f"{state['chosen'][0][0]} meets {card}."
        told = [[*seat, shown] for seat in told]
    return told


def visible(state: State, player_id: int) -> dict[str, str]:
    """The own cards, and all that was turned up. Rules: R3, R9."""
    del state
    seen = {"pool": "count", "burned": "count"}
    for seat in (0, 1):
        own = "contents" if seat == player_id else "count"
        seen |= {f"hands.{seat}": own, f"chosen.{seat}": own, f"won_burned.{seat}": "count"}
        seen |= {f"table.{seat}": "contents", f"won.{seat}": "contents"}
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A state that fits: cards that the player has not seen, dealt evenly. Rules: R1, R2, R9."""
    seen = obs_action_history[-1][0]
    shown = {card for cards in (*seen["table"], *seen["won"]) for card in cards}
    unseen = [card for card in CARDS if card not in {*shown, *seen["hand"], *seen["own_card"]}]
    random.shuffle(unseen)
    other = 1 - player_id

    def taken(count: int) -> list[str]:
        return sorted(unseen.pop() for _ in range(count))

    hands, chosen = [seen["hand"], seen["hand"]], [seen["own_card"], seen["own_card"]]
    hands[other] = taken(seen["opponent_hand_size"])
    chosen[other] = taken(int(seen["has_chosen"][other]))
    burned, won_burned = taken(seen["burned"]), [taken(count) for count in seen["won_burned"]]
    kept = {name: seen[name] for name in ("piles", "draws", "table", "won")}
    return {
        **kept,
        "pool": sorted(unseen),
        "hands": hands,
        "chosen": chosen,
        "burned": burned,
        "won_burned": won_burned,
        "player": seen["to_move"],
        "rewards": seen["result"],
    }
