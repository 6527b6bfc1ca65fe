"""Card games and bargaining of OpenSpiel as JSON."""

import re
from itertools import takewhile

from games.environments.openspiel import (
    Encoding,
    Native,
    View,
    plies,
    seen_structs,
    spoken,
    struct,
    turn,
    without,
)
from games.environments.openspiel.gin import drawn_history
from games.values import CHANCE, Action, Json, Observation, State

_KUHN = "JQK"
_ITEMS = "XYZ"
_BETS = ("Fold", "Call", "Raise")
_DRAW_UPCARD, _PASS = 52, 54  # OpenSpiel's actions of gin rummy
_NO_BID = "unknown/pass"
_SEATS = 4  # of crazy eights
_DEALT = 20  # cards that it deals
_MOST_DRAWS = 5
_COLUMN = 40  # characters that its text gives to a seat
_CARDS = 52  # its actions from here on: draw, pass, nominate; as chance's: who deals
_DRAW, _HOLD = 52, 53
_EIGHT = 6  # a card's action is 4 times its rank, from 0 for the two, plus its suit


def _kuhn(native: Native) -> View:
    past = plies(native)
    dealt = [_KUHN[action] for player, action in past if player == CHANCE]
    cards: list[Json] = [dealt[seat] if seat < len(dealt) else None for seat in (0, 1)]
    betting: list[Json] = [("Pass", "Bet")[action] for player, action in past if player != CHANCE]
    state: State = {"betting": betting, "cards": cards, "current_player": turn(native)}
    shared = without(state, "cards")
    return state, [{**shared, "card": cards[seat], "my_player_id": seat} for seat in (0, 1)]


def _kuhn_action(native: Native, action: int) -> Action:
    said = spoken(native, action)
    return f"Deal {_KUHN[action]}" if native.is_chance_node() else said


def _leduc_card(card: int) -> str | None:
    return None if card < 0 else f"{_KUHN[card // 2]}{card % 2 + 1}"


def _leduc(native: Native) -> View:
    dealt = [_leduc_card(card) for card in native.get_private_cards()]
    cards: list[Json] = [dealt[seat] if seat < len(dealt) else None for seat in (0, 1)]
    betting: list[Json] = [
        [_BETS[action] for action in taken] for taken in (native.round1(), native.round2())
    ]
    state: State = {
        "betting": betting,
        "current_player": turn(native),
        "money": [int(money) for money in native.money()],
        "pot": native.pot(),
        "private_cards": cards,
        "public_card": _leduc_card(native.public_card()),
        "round": native.round(),
    }
    shared = without(state, "private_cards")
    return state, [{**shared, "my_player_id": seat, "private_card": cards[seat]} for seat in (0, 1)]


def _leduc_action(native: Native, action: int) -> Action:
    return f"Deal {_leduc_card(action)}" if native.is_chance_node() else spoken(native, action)


def _items(counts: list[int]) -> dict[str, Json]:
    return dict(zip(_ITEMS, counts, strict=True))


def _bargaining(native: Native) -> View:
    is_started = bool(native.history())
    made = native.offers() if is_started else []
    offers: list[Json] = [
        {"num_turn": number, "player": (number - 1) % 2, "quantities": _items(offer.quantities)}
        for number, offer in enumerate(made, 1)
    ]
    pool = native.instance().pool if is_started else None
    values = native.instance().values if is_started else None
    agreement: Json = None
    if is_started and plies(native)[-1] == (len(made) % 2, native.agree_action()):
        assert pool is not None  # the type checker is told what the phase grants
        kept = made[-1].quantities
        left = [all_ - mine for all_, mine in zip(pool, kept, strict=True)]
        shares: list[Json] = [_items(kept), _items(left)]
        agreement = shares if len(made) % 2 else shares[::-1]
    own: list[Json] = [_items(row) for row in values] if values else [None, None]
    shared: dict[str, Json] = {
        "agreement": agreement,
        "current_player": turn(native),
        "num_turns": len(offers),
        "pool": _items(pool) if pool else None,
    }
    state: State = {
        **shared,
        "offer_history": offers,
        "player_0_values": own[0],
        "player_1_values": own[1],
    }
    last = offers[-1] if offers else None
    return state, [
        {**shared, "my_player_id": seat, "previous_offer": last, "values": own[seat]}
        for seat in (0, 1)
    ]


def _bargaining_action(native: Native, action: int) -> Action:
    said = spoken(native, action)
    if native.is_chance_node():
        numbers = [re.findall(r": (\d+)", row) for row in said.splitlines()[1:]]
        return ";".join(",".join(row) for row in numbers)
    seat = native.current_player()
    if action == native.agree_action():
        return f"player {seat} agrees"
    asked = ",".join(re.findall(r": (\d+)", said))
    return f"player {seat} offers {asked}"


def _gin_rummy(native: Native) -> View:
    """OpenSpiel's JSON with what it lacks: two counters that end a hand, and who draws."""
    past = plies(native)
    chosen = [action for player, action in past if player != CHANCE]
    passed = len([*takewhile(lambda action: action == _PASS, chosen)])
    is_first = chosen[passed : passed + 1] == [_DRAW_UPCARD]
    draws = chosen.count(_DRAW_UPCARD) - is_first
    is_drawing = bool(chosen) and native.is_chance_node()
    more: dict[str, Json] = {
        "drawing_player": past[-1][0] if is_drawing else None,
        "num_draw_upcard": draws,
        "repeated_move": "Repeated move: 1" in str(native),
    }
    return struct(native) | more, [seen | more for seen in seen_structs(native)]


def _hearts(native: Native) -> View:
    """OpenSpiel's JSON; it shows what was received too early, before all have passed."""
    state, seen = struct(native), seen_structs(native)
    if state["phase"] == "Pass":
        for one in seen:
            one["received_cards"] = [["XX"] * len(cards) for cards in one["received_cards"]]
    return state, seen


def _skat_cards(text: str) -> list[Json]:
    """Cards drawn as Unicode playing cards, in their order; a card's back is none.

    >>> _skat_cards("🃇 🂠 🂺")
    ['D7', 'HT']
    """
    points = [ord(sign) for sign in text if sign >= "\U0001f0a0"]
    return [f"{'SHDC'[(p >> 4) - 0x1F0A]}{' A     789TJ QK'[p & 15]}" for p in points if p & 15]


def _skat_trick(text: str | None) -> Json:
    if text is None:
        return None
    return {"cards": _skat_cards(text), "leader": int(text.split()[1].rstrip(","))}


def _skat(native: Native) -> View:
    shown = dict(line.split(":", 1) for line in str(native).splitlines() if ":" in line)
    named = dict(re.findall(r"^(Last trick won by player) (\d+)$", str(native), re.MULTILINE))
    bids: list[Json] = [_NO_BID] * 3
    phase = shown["Phase"].strip()
    made = [(player, action) for player, action in plies(native) if player != CHANCE][:3]
    for player, action in made:
        said = native.action_to_string(player, action)
        bids[player] = said
        if said != _NO_BID:
            break
    solo = next((seat for seat in range(3) if bids[seat] != _NO_BID), None)
    winner = named.get("Last trick won by player")
    points = re.findall(r"\d+", shown.get("Points (Solo / Team)", "0 0"))
    skat = _skat_cards(shown["Skat"])
    shared: dict[str, Json] = {
        "bids": bids,
        "current_player": turn(native),
        "current_trick": _skat_trick(shown.get("Current Trick")),
        "game_type": shown["Game Type"].strip(),
        "last_trick": _skat_trick(shown.get("Last Trick")),
        "last_trick_winner": None if winner is None else int(winner),
        "phase": phase,
        "solo_player": solo,
    }
    hands = [_skat_cards(shown[f"Player {seat}"]) for seat in range(3)]
    state: State = {
        **shared,
        "deck": _skat_cards(shown["Deck"]),
        "hands": [*hands],
        "points": [int(number) for number in points],
        "skat": skat,
    }
    seen: list[Observation] = [
        {**shared, "hand": hands[seat], "my_player_id": seat, "skat": skat if seat == solo else []}
        for seat in range(3)
    ]
    return state, seen


def _crazy_eights(native: Native) -> View:
    text = str(native)
    rows = text.splitlines()[-4:]
    hands: list[list[Json]] = [
        [
            f"{row[5]}{rank}"
            for row in rows
            for rank in row[_COLUMN * seat + len("Suit C:") : _COLUMN * (seat + 1)].replace(" ", "")
        ]
        for seat in range(_SEATS)
    ]
    top = re.search(r"^Last card: (\w+)\nLast suit: (\w)$", text, re.MULTILINE)
    deck = native.get_dealer_deck()
    shared: dict[str, Json] = {
        **_eights_past(native),
        "current_player": turn(native),
        "suit": top[2] if top else None,
        "top_card": top[1] if top else None,
    }
    state: State = {**shared, "dealer_deck": [*deck], "hands": [*hands]}
    sizes: list[Json] = [len(hand) for hand in hands]
    seen: list[Observation] = [
        {
            **shared,
            "deck_size": sum(deck),
            "hand": hands[seat],
            "hand_sizes": sizes,
            "my_player_id": seat,
        }
        for seat in range(_SEATS)
    ]
    return state, seen


def _eights_past(native: Native) -> dict[str, Json]:
    """Facts of earlier plies that the rules need and no text of OpenSpiel's tells.

    A seat draws up to five times a turn; five passes in a row with an empty deck end the match, as
    does the hundredth card played.
    """
    past = plies(native)
    dealer = past[0][1] - _CARDS if past else None
    left = _CARDS
    dealt = drawn = passes = played = 0
    is_nominating = has_begun = False
    for player, action in past[1:]:
        if player == CHANCE:
            if dealt < _DEALT:
                dealt, left = dealt + 1, left - 1
            elif not has_begun:
                has_begun = action // 4 != _EIGHT
                left -= has_begun
            else:
                left -= 1
                drawn = drawn + 1 if left else _MOST_DRAWS
            continue
        passes = passes + 1 if action == _HOLD and not left else 0
        is_nominating = False
        if action == _HOLD:
            drawn = 0
        elif action < _DRAW:
            played, drawn, is_nominating = played + 1, 0, action // 4 == _EIGHT
    is_drawing = has_begun and native.is_chance_node()
    return {
        "dealer": dealer,
        "drawing_player": past[-1][0] if is_drawing else None,
        "n_dealt": dealt,
        "n_drawn": drawn,
        "n_passes": passes,
        "n_plays": played,
        "nominating": is_nominating and not native.is_terminal(),
    }


CARDS = {
    "kuhn_poker": Encoding("kuhn_poker", _kuhn, _kuhn_action),
    "leduc_poker": Encoding("leduc_poker", _leduc, _leduc_action),
    "bargaining": Encoding("bargaining", _bargaining, _bargaining_action),
    "gin_rummy": Encoding("gin_rummy", _gin_rummy, kept=2000, history=drawn_history),
    "hearts": Encoding("hearts", _hearts),
    "skat": Encoding("skat", _skat),
    "crazy_eights": Encoding("crazy_eights(players=4)", _crazy_eights),
}
