"""Limit poker with few cards: Kuhn poker, Leduc poker and their relatives, by parameters."""

# Longer than 300 lines because a game module is one self-contained file by contract.

import random
from typing import Any

State = dict[str, Any]
Rules = dict[str, Any]

# fmt: off
GAME: dict[str, Any] = {
    "name": "poker",
    "summary": "Players bet fixed amounts on hidden cards; the best hand that has not folded "
    "wins the pot.",
    "min_players": 2,
    "max_players": 8,
    "total": 0,
    "conserved": ["card"],
    "open": [
        "deal", "scores", "phase", "player", "first", "paid", "rewards", "folded", "round",
        "raises", "pending", "betting", "shown", "last_deal"
    ],
    "parameters": {
        "ranks": {"default": 0, "range": [0, 13],
            "meaning": "How many different ranks the deck has, counted down from the king (13 "
            "adds the ace on top); 0 for one more than there are players."},
        "suits": {"default": 2, "range": [1, 4],
            "meaning": "Copies of each rank in the deck."},
        "hand_size": {"default": 1, "range": [1, 3],
            "meaning": "Hidden cards dealt to each player."},
        "rounds": {"default": 2, "range": [1, 4],
            "meaning": "Rounds of betting in a deal."},
        "board": {"default": "0,1", "format": "one to four whole numbers from 0 to 3, with commas",
            "meaning": "Cards laid open on the table before each round of betting; the last "
            "number holds for the rounds after it, numbers beyond the last round are not used."},
        "ante": {"default": 1, "range": [0, 10],
            "meaning": "Chips every player puts into the pot before the cards are dealt."},
        "bets": {"default": "2,4", "format": "one to four whole numbers from 1 to 100, with commas",
            "meaning": "Size of a bet or raise in each round; the last number holds for the "
            "rounds after it, numbers beyond the last round are not used."},
        "max_raises": {"default": 2, "range": [1, 8],
            "meaning": "Bets and raises allowed in one round, all players together."},
        "lowest_wins": {"default": False, "choices": [True, False],
            "meaning": "The lowest hand wins the pot instead of the highest."},
        "show_folded": {"default": False, "choices": [True, False],
            "meaning": "Players who fold show their cards to everybody."},
        "deals": {"default": 1, "range": [1, 50],
            "meaning": "Number of deals in a match; the first seat moves on after each."},
    },
}
# fmt: on

ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "board": {"component": "card", "owner": "table", "ordered": True},
}

ORDER = "23456789TJQKA"
SUITS = "CDHS"
CHANCE, TERMINAL = -1, -4
PUBLIC = (
    *("num_players", "rules", "deal", "scores", "phase", "player", "first", "board", "paid"),
    *("folded", "round", "raises", "pending", "betting", "shown", "last_deal"),
)


def initial_state(num_players: int, **parameters: object) -> State:
    """Start a match: check the parameters and put the antes in.

    Rules: R1, R2, R3, R4.
    """
    rules = _effective(num_players, parameters)
    state = {
        "num_players": num_players,
        "rules": rules,
        "deal": 0,
        "scores": [0] * num_players,
        "rewards": [0] * num_players,
        "last_deal": None,
    }
    return _begin_deal(state)


def _effective(num_players: int, parameters: dict[str, object]) -> Rules:
    known = GAME["parameters"]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(known)}")
    low, high = GAME["min_players"], GAME["max_players"]
    if type(num_players) is not int or not low <= num_players <= high:
        raise ValueError(f"num_players is {num_players!r}; required: {low} to {high}")
    rules: Rules = {name: parameters.get(name, spec["default"]) for name, spec in known.items()}
    for name, value in rules.items():
        _require_allowed(name, value, known[name])
    rules["ranks"] = rules["ranks"] or num_players + 1
    rounds = rules["rounds"]
    rules["board"] = _numbers("board", rules["board"], rounds, 0, 3)
    rules["bets"] = _numbers("bets", rules["bets"], rounds, 1, 100)
    cards = rules["ranks"] * rules["suits"]
    needed = num_players * rules["hand_size"] + sum(rules["board"])
    if needed > cards:
        raise ValueError(
            f"{num_players} players need {needed} cards with the board; {rules['ranks']} ranks "
            f"times {rules['suits']} suits give {cards}; raise ranks or suits"
        )
    return rules


def _require_allowed(name: str, value: object, spec: dict[str, Any]) -> None:
    if "choices" in spec:
        if not any(value == c and type(value) is type(c) for c in spec["choices"]):
            raise ValueError(f"{name} is {value!r}; required: one of {spec['choices']}")
    elif "range" in spec:
        least, most = spec["range"]
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{name} is {value!r}; required: a whole number {least} to {most}")


def _numbers(name: str, text: object, rounds: int, least: int, most: int) -> list[int]:
    parts = text.split(",") if isinstance(text, str) else []
    good = all(part.strip().isdecimal() and least <= int(part) <= most for part in parts)
    if not good or not 1 <= len(parts) <= GAME["parameters"]["rounds"]["range"][1]:
        raise ValueError(
            f"{name} is {text!r}; required: {GAME['parameters'][name]['format']}, one a round"
        )
    numbers = [int(part) for part in parts]
    return (numbers + numbers[-1:] * rounds)[:rounds]


def _pack(rules: Rules) -> list[str]:
    top = len(ORDER) if rules["ranks"] == len(ORDER) else len(ORDER) - 1
    ranks = ORDER[top - rules["ranks"] : top]
    return [rank + suit for rank in ranks for suit in SUITS[-rules["suits"] :]]


def _begin_deal(state: State) -> State:
    rules, count = state["rules"], state["num_players"]
    state.update(
        phase="deal",
        player=CHANCE,
        first=state["deal"] % count,
        deck=_pack(rules),
        hands=[[] for _ in range(count)],
        board=[],
        paid=[rules["ante"]] * count,
        folded=[False] * count,
        shown=[False] * count,
        round=0,
        raises=0,
        pending=0,
        betting=[[] for _ in range(rules["rounds"])],
    )
    return state


def get_current_player(state: State) -> int:
    """The seat to bet; -1 while cards are dealt, -4 at the end.

    Rules: R5, R7, R12.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Display names count from 1.

    Rules: R1.
    """
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Fold, call and raise when facing a bet; otherwise check and bet.

    Rules: R5, R6, R8, R9, R10.
    """
    if state["phase"] == "bet":
        open_raise = state["raises"] < state["rules"]["max_raises"]
        if max(state["paid"]) > state["paid"][state["player"]]:
            return ["fold", "call", "raise"] if open_raise else ["fold", "call"]
        return ["check", "bet"] if open_raise else ["check"]
    if state["phase"] == "end":
        return []
    return ["deal " + card for card in state["deck"]]


def apply_action(state: State, action: str) -> State:
    """The state after a card is dealt or a player has bet, called, checked or folded.

    Rules: R5, R6, R7, R8, R9, R10, R11, R12, R13, R14.
    """
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    after = dict(state)
    after["rewards"] = [0] * state["num_players"]
    if state["phase"] == "bet":
        return _bet(after, action)
    card = action.partition(" ")[2]
    after["deck"] = [c for c in state["deck"] if c != card]
    if state["phase"] == "deal":
        return _deal(after, card)
    after["board"] = [*state["board"], card]
    return _begin_round(after)


def _next_dealt(state: State) -> int:
    dealt = sum(len(hand) for hand in state["hands"])
    seat: int = (state["first"] + dealt) % state["num_players"]
    return seat


def _deal(after: State, card: str) -> State:
    seat = _next_dealt(after)
    hands = list(after["hands"])
    hands[seat] = sorted([*hands[seat], card], key=_card_key)
    after["hands"] = hands
    if any(len(hand) < after["rules"]["hand_size"] for hand in hands):
        return after
    return _begin_round(after)


def _card_key(card: str) -> tuple[int, str]:
    return ORDER.index(card[0]), card[1]


def _begin_round(after: State) -> State:
    number = after["round"]
    if len(after["board"]) < sum(after["rules"]["board"][: number + 1]):
        after.update(phase="board", player=CHANCE)
        return after
    count = after["num_players"]
    after.update(phase="bet", raises=0, pending=count - sum(after["folded"]))
    after["player"] = _next_active(after, (after["first"] - 1) % count)
    return after


def _next_active(state: State, seat: int) -> int:
    count = state["num_players"]
    while True:
        seat = (seat + 1) % count
        if not state["folded"][seat]:
            return seat


def _bet(after: State, action: str) -> State:
    seat, number = after["player"], after["round"]
    betting = list(after["betting"])
    betting[number] = [*betting[number], [seat, action]]
    after.update(betting=betting, pending=after["pending"] - 1)
    if action == "fold":
        after["folded"] = _put(after["folded"], seat, value=True)
        if after["rules"]["show_folded"]:
            after["shown"] = _put(after["shown"], seat, value=True)
    elif action != "check":
        price = max(after["paid"])
        if action in ("bet", "raise"):
            price += after["rules"]["bets"][number]
            active = after["num_players"] - sum(after["folded"])
            after.update(raises=after["raises"] + 1, pending=active - 1)
        after["paid"] = _put(after["paid"], seat, value=price)
    if sum(after["folded"]) == after["num_players"] - 1:
        return _end_deal(after)
    if after["pending"]:
        after["player"] = _next_active(after, seat)
        return after
    if number + 1 == after["rules"]["rounds"]:
        after["shown"] = [
            shown or not folded
            for shown, folded in zip(after["shown"], after["folded"], strict=True)
        ]
        return _end_deal(after)
    after["round"] = number + 1
    return _begin_round(after)


def _put(values: list[Any], index: int, *, value: object) -> list[Any]:
    copy = list(values)
    copy[index] = value
    return copy


def _strength(cards: list[str]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    for card in cards:
        rank = ORDER.index(card[0])
        counts[rank] = counts.get(rank, 0) + 1
    return sorted(((number, rank) for rank, number in counts.items()), reverse=True)


def _winners(state: State) -> list[int]:
    seats = [s for s in range(state["num_players"]) if not state["folded"][s]]
    if len(seats) == 1:
        return seats
    strength = {seat: _strength(state["hands"][seat] + state["board"]) for seat in seats}
    choose = min if state["rules"]["lowest_wins"] else max
    best = choose(strength.values())
    return [seat for seat in seats if strength[seat] == best]


def _end_deal(after: State) -> State:
    winners, paid = _winners(after), after["paid"]
    share = sum(paid) / len(winners)
    net = [(share if seat in winners else 0) - chips for seat, chips in enumerate(paid)]
    after["rewards"] = net
    after["scores"] = [a + b for a, b in zip(after["scores"], net, strict=True)]
    after["last_deal"] = {
        "board": after["board"],
        "hands": [h if s else None for h, s in zip(after["hands"], after["shown"], strict=True)],
        "winners": winners,
        "won": net,
    }
    if after["deal"] + 1 == after["rules"]["deals"]:
        after.update(phase="end", player=TERMINAL, pending=0)
        return after
    after["deal"] += 1
    return _begin_deal(after)


def get_rewards(state: State) -> list[float]:
    """Chips won or lost in the deal that has just ended; zeros in every other state.

    Rules: R13, R14.
    """
    return list(state["rewards"])


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own cards, the board, all betting, and cards that were shown.

    Rules: R15, R16, R17.
    """
    shared = {key: state[key] for key in PUBLIC}
    shared["deck_count"] = len(state["deck"])
    shared["hand_counts"] = [len(hand) for hand in state["hands"]]
    shared["pot"] = sum(state["paid"])
    views = []
    for seat, own in enumerate(state["hands"]):
        open_hands = [
            hand if state["shown"][other] else None for other, hand in enumerate(state["hands"])
        ]
        views.append({**shared, "seat": seat, "hand": own, "open_hands": open_hands})
    return views


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives: own cards by name, other hands only as dealt.

    Rules: R5, R6, R8, R9, R13, R15, R16.
    """
    count, word = state["num_players"], action.partition(" ")[2]
    actor = _next_dealt(state) if state["phase"] == "deal" else state["player"]
    name = get_player_name(actor)
    after = apply_action(state, action)
    if state["phase"] == "deal":
        return [
            [f"You are dealt {word}." if seat == actor else f"{name} is dealt a card."]
            for seat in range(count)
        ]
    if state["phase"] == "board":
        return [[f"{word} is laid open on the table."] for _ in range(count)]
    size = state["rules"]["bets"][state["round"]]
    said = {
        "fold": f"{name} folds.",
        "check": f"{name} checks.",
        "call": f"{name} calls.",
        "bet": f"{name} bets {size}.",
        "raise": f"{name} raises by {size}.",
    }[action]
    told = [said]
    if action == "fold" and state["rules"]["show_folded"]:
        told.append(f"{name} shows {' '.join(state['hands'][actor])}.")
    if any(after["rewards"]) or after["deal"] > state["deal"] or after["player"] == TERMINAL:
        result = after["last_deal"]
        for seat, hand in enumerate(result["hands"]):
            if hand and not (state["folded"][seat] or (seat == actor and action == "fold")):
                told.append(f"{get_player_name(seat)} shows {' '.join(hand)}.")
        for seat, won in enumerate(result["won"]):
            told.append(f"{get_player_name(seat)} {'loses' if won < 0 else 'wins'} {abs(won):g}.")
    return [list(told) for _ in range(count)]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own cards, the board and shown hands are open; other cards only by number.

    Rules: R15, R16, R17.
    """
    paths = {"deck": "count", "board": "contents"}
    for seat, shown in enumerate(state["shown"]):
        paths[f"hands.{seat}"] = "contents" if seat == player_id or shown else "count"
    return paths


def parse_action(action: str) -> dict[str, Any]:
    """Split an action into its kind and, where a card is dealt, the card.

    Rules: R5, R8, R9.
    """
    kind, _, card = action.partition(" ")
    return {"kind": kind, "card": card} if card else {"kind": kind}


def resample_state(obs_action_history: list[Any], player_id: int) -> State:
    """A full state that fits what the player saw: unseen cards are shuffled and dealt.

    Every deal of the unseen cards is equally likely; betting is taken to say nothing of them.

    Rules: R15, R16, R17.
    """
    seen = obs_action_history[-1][0]
    state = {key: seen[key] for key in PUBLIC}
    count, open_hands = seen["num_players"], list(seen["open_hands"])
    open_hands[player_id] = seen["hand"]
    known = {card for hand in open_hands if hand for card in hand} | set(seen["board"])
    unseen = [card for card in _pack(seen["rules"]) if card not in known]
    random.shuffle(unseen)
    hands = []
    for seat in range(count):
        if open_hands[seat] is None:
            size = seen["hand_counts"][seat]
            hands.append(sorted(unseen[:size], key=_card_key))
            unseen = unseen[size:]
        else:
            hands.append(open_hands[seat])
    rewards = seen["last_deal"]["won"] if _just_ended(seen) else [0] * count
    state.update(hands=hands, deck=sorted(unseen, key=_card_key), rewards=rewards)
    return state


def _just_ended(seen: dict[str, Any]) -> bool:
    fresh = seen["phase"] == "deal" and not any(seen["hand_counts"]) and seen["deal"] > 0
    return bool(seen["phase"] == "end" or fresh)
