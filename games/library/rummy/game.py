"""Rummy: draw, collect melds, discard, and knock when few points are left."""

# More than 300 lines because a game module is one self-contained source by contract.

import itertools
import random
from typing import Any

State = dict[str, Any]
Meld = tuple[int, int, int]  # bits of its natural cards, wild cards it needs, their points

LOW = "A23456789TJQK"
SUITS = "CDHS"
CHANCE = -1
TERMINAL = -4
MAX_DEALS = 10
MATCH_TURNS = 300  # no new deal after so many

# fmt: off
GAME: dict[str, Any] = {
    "name": "rummy",
    "summary": "Draw and discard to collect sets and runs; knock when few points are unmatched.",
    "min_players": 2,
    "max_players": 6,
    "conserved": ["card"],
    "open": [
        "phase", "player", "dealer", "taken", "known", "turns", "past_turns", "scores", "paid",
        "deals_done", "closing"
    ],
    "parameters": {
        "hand_size": {"default": 0, "range": [0, 13],
            "meaning": "Cards dealt to each player; 0: ten for two, seven for up to four, six."},
        "deck": {"default": "standard", "choices": ["standard", "short"],
            "meaning": "A standard pack of 52 cards, or a short pack of 32 (sevens and up)."},
        "melds": {"default": "sets_and_runs", "choices": ["sets_and_runs", "sets", "runs"],
            "meaning": "What counts as a meld: cards of one rank, runs in one suit, or both."},
        "min_meld": {"default": 3, "range": [3, 4], "meaning": "Fewest cards in a meld."},
        "ace": {"default": "low", "choices": ["low", "high", "both"],
            "meaning": "Whether aces stand below twos, above kings, or either, in runs."},
        "wild_rank": {"default": "none",
            "choices": ["none", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"],
            "meaning": "Cards of this rank are wild and stand for any card in a meld."},
        "wild_points": {"default": 15, "range": [0, 50],
            "meaning": "Points that an unmatched wild card counts."},
        "knock_limit": {"default": 10, "range": [0, 50],
            "meaning": "Most unmatched points with which one may knock; 0: one must go gin."},
        "gin_bonus": {"default": 25, "range": [0, 100],
            "meaning": "Bonus for knocking with no unmatched card."},
        "undercut_bonus": {"default": 25, "range": [0, 100],
            "meaning": "Bonus for having no more unmatched points than the one who knocked."},
        "draw_from_discard": {"default": True, "choices": [True, False],
            "meaning": "The top discard may be taken instead of a card from the pile."},
        "pile_left": {"default": 2, "range": [0, 10],
            "meaning": "A deal ends without a knock when no more than so many cards are left."},
        "max_turns": {"default": 60, "range": [10, 200],
            "meaning": "A deal ends without a knock after so many turns."},
        "no_knock": {"default": "lowest", "choices": ["lowest", "nobody"],
            "meaning": "Who scores when nobody knocks: the fewest unmatched points, or nobody."},
        "target_score": {"default": 0, "range": [0, 500],
            "meaning": "The match ends when somebody has this many points; 0: no target."},
        "deals": {"default": 0, "range": [0, 10],
            "meaning": "Deals in a match; 0: a single one, or with a target as many as it takes."},
    },
}
# fmt: on

ZONES = {
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
    "discards": {"component": "card", "owner": "table", "ordered": True},
}

# Everything in the state but the hands and the draw pile is known to all.
PUBLIC = (
    "rules", "phase", "player", "dealer", "discards", "taken", "known", "turns", "past_turns",
    "scores", "paid", "deals_done", "closing",
)  # fmt: skip


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


def _ranks(rules: dict[str, Any]) -> str:
    return LOW if rules["deck"] == "standard" else "A789TJQK"


def _pack(rules: dict[str, Any]) -> list[str]:
    return sorted(rank + suit for rank in _ranks(rules) for suit in SUITS)


def initial_state(num_players: int, **parameters: object) -> State:
    """The table before the first card is dealt; Player 1 will have the first turn.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the pack is too small.

    Rules: R1, R2, R3.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        most = GAME["max_players"]
        raise ValueError(f"num_players is {num_players}; allowed: {GAME['min_players']} to {most}")
    rules = _settings(parameters)
    if rules["wild_rank"] not in ("none", *_ranks(rules)):
        raise ValueError(
            f"wild_rank is {rules['wild_rank']}; the {rules['deck']} deck has {_ranks(rules)}"
        )
    usual = {2: 10, 3: 7, 4: 7}.get(num_players, 6)
    most = (len(_pack(rules)) - 1 - rules["pile_left"] - num_players) // num_players
    rules["hand_size"] = rules["hand_size"] or min(usual, most)
    if not rules["min_meld"] <= rules["hand_size"] <= most:
        raise ValueError(
            f"hand_size is {rules['hand_size']}; {num_players} players of this pack can get "
            f"{rules['min_meld']} to {most} each"
        )
    rules["limit"] = rules["deals"] or (MAX_DEALS if rules["target_score"] else 1)
    return _new_deal(rules, num_players - 1, [0] * num_players, 0)


def _new_deal(rules: dict[str, Any], dealer: int, scores: list[float], done: int) -> State:
    count = len(scores)
    return {
        "rules": rules, "phase": "deal", "player": (dealer + 1) % count, "dealer": dealer,
        "discards": [], "taken": "", "known": [[] for _ in range(count)], "turns": 0,
        "past_turns": 0, "scores": scores, "paid": [0] * count, "deals_done": done, "closing": "",
        "hands": [[] for _ in range(count)], "deck": _pack(rules),
    }  # fmt: skip


def _points(rules: dict[str, Any], card: str) -> int:
    if card[0] == rules["wild_rank"]:
        return int(rules["wild_points"])
    return min(LOW.index(card[0]) + 1, 10)


def _sets(rules: dict[str, Any], cards: list[str], wilds: int) -> list[tuple[int, int]]:
    """Bits and missing cards of every set among the natural `cards`."""
    found = []
    for rank in {card[0] for card in cards}:
        same = [1 << i for i, card in enumerate(cards) if card[0] == rank]
        for size in range(max(1, rules["min_meld"] - wilds), len(same) + 1):
            missing = max(0, rules["min_meld"] - size)
            found += [(sum(some), missing) for some in itertools.combinations(same, size)]
    return found


def _runs(rules: dict[str, Any], cards: list[str], wilds: int) -> list[tuple[int, int]]:
    """Bits and missing cards of every run that begins and ends with a natural card."""
    found, order = [], _ranks(rules)
    for suit in SUITS:
        held = [(order.index(card[0]), i) for i, card in enumerate(cards) if card[1] == suit]
        if rules["ace"] != "low":
            high = [(len(order), i) for place, i in held if place == 0]
            held = high + [pair for pair in held if pair[0] or rules["ace"] == "both"]
        held.sort()
        for first, (start, _) in enumerate(held):
            bits = 0
            for place, i in held[first:]:
                span = place - start + 1
                bits |= 1 << i
                missing = span - bits.bit_count() + max(0, rules["min_meld"] - span)
                if missing > wilds or span > len(order):
                    if span - bits.bit_count() > wilds:
                        break
                    continue
                found.append((bits, missing))
    return found


def _melds(rules: dict[str, Any], cards: list[str], wilds: int) -> list[Meld]:
    """Every meld among the natural `cards`, dearest first. Rules: R4, R16, R17."""
    found = _sets(rules, cards, wilds) if rules["melds"] != "runs" else []
    if rules["melds"] != "sets":
        found += _runs(rules, cards, wilds)
    points = [_points(rules, card) for card in cards]
    worth = [
        (bits, missing, sum(p for i, p in enumerate(points) if bits >> i & 1))
        for bits, missing in set(found)
    ]
    return sorted(worth, key=lambda meld: (-meld[2], meld[1], meld[0]))


def _best(melds: list[Meld], banned: int, wilds: int) -> tuple[int, list[int]]:
    """Most points of natural cards in disjoint melds without the `banned` bits, and the melds.

    Depth first with a bound: at most ever `len(melds)` deep, in practice one to three melds.
    """
    able = [meld for meld in melds if not meld[0] & banned and meld[1] <= wilds]
    best: tuple[int, list[int]] = (0, [])
    stack: list[tuple[int, int, int, int, list[int]]] = [(0, 0, wilds, 0, [])]
    while stack:
        start, used, left, saved, chosen = stack.pop()
        for index in range(start, len(able)):
            bits, missing, worth = able[index]
            if not bits & used and missing <= left:
                total, picked = saved + worth, [*chosen, bits]
                if total > best[0] or not best[1]:
                    best = (total, picked)
                stack.append((index + 1, used | bits, left - missing, total, picked))
    return best


def _arrange(rules: dict[str, Any], hand: list[str]) -> tuple[int, list[list[str]]]:
    """Fewest unmatched points of a hand, and its melds. Rules: R8, R17."""
    cards = [card for card in hand if card[0] != rules["wild_rank"]]
    wild = [card for card in hand if card[0] == rules["wild_rank"]]
    saved, chosen = _best(_melds(rules, cards, len(wild)), 0, len(wild))
    melds = [[card for i, card in enumerate(cards) if bits >> i & 1] for bits in chosen]
    left = sum(_points(rules, card) for card in cards) - saved
    if not melds:
        return left + len(wild) * rules["wild_points"], []
    for meld in melds:
        while len(meld) < rules["min_meld"] and wild:
            meld.append(wild.pop())
    melds[0] += wild
    return left, melds


def _knocks(rules: dict[str, Any], hand: list[str]) -> list[str]:
    """The cards after whose discard the rest has few enough unmatched points to knock."""
    cards = [card for card in hand if card[0] != rules["wild_rank"]]
    wilds, limit = len(hand) - len(cards), rules["knock_limit"]
    melds = _melds(rules, cards, wilds)
    total = sum(_points(rules, card) for card in cards)
    saved, some = _best(melds, 0, wilds)
    if total - saved - 10 > limit and some:
        return []
    found = []
    for card in hand:
        own = cards.index(card) if card in cards else -1
        banned, left = (1 << own, wilds) if own >= 0 else (0, wilds - 1)
        saved, some = _best(melds, banned, left)
        rest = total - (_points(rules, card) if own >= 0 else 0) - saved
        if rest + (0 if some else left * rules["wild_points"]) <= limit:
            found.append(card)
    return found


def get_current_player(state: State) -> int:
    """Whose turn it is; chance deals and gives cards from the pile. Rules: R4, R5."""
    phase = state["phase"]
    if phase in ("choose", "discard"):
        return int(state["player"])
    return TERMINAL if phase == "over" else CHANCE


def get_player_name(player_id: int) -> str:
    """A display name, counted from one."""
    if player_id < 0:
        return "chance" if player_id == CHANCE else "terminal"
    return f"Player {player_id + 1}"


def get_legal_actions(state: State) -> list[str]:
    """Draw or take; then discard or knock with a card. At chance, the cards of the pile.

    Rules: R5, R6, R7, R8.
    """
    phase = state["phase"]
    if phase == "choose":
        return ["draw", "take"]
    if phase == "over":
        return []
    if phase == "discard":
        hand, taken = state["hands"][state["player"]], state["taken"]
        knocks = _knocks(state["rules"], hand)
        return [
            *("discard " + card for card in hand if card != taken),
            *("knock " + card for card in knocks if card != taken),
        ]
    return [phase + " " + card for card in state["deck"]]


def parse_action(action: str) -> dict[str, str]:
    """The kind of an action (draw, take, discard, knock, deal, turn) and its card, if any."""
    kind, _, card = action.partition(" ")
    return {"kind": kind, "card": card}


def apply_action(state: State, action: str) -> State:
    """The table after a card is dealt, drawn, taken, discarded, or knocked with.

    Raises:
        ValueError: If the action is not legal here.

    Rules: R2, R3, R5, R6, R7, R8, R9, R10.
    """
    kind, _, card = action.partition(" ")
    phase = state["phase"]
    if phase == "discard" and kind == "discard":
        legal = card in state["hands"][state["player"]] and card != state["taken"]
    elif phase in ("choose", "discard", "over"):
        legal = action in get_legal_actions(state)
    else:
        legal = kind == phase and card in state["deck"]
    if not legal:
        raise ValueError(f"{action!r} is not legal; legal: {', '.join(get_legal_actions(state))}")
    new = dict(state)
    if any(state["paid"]):
        new["paid"] = [0] * len(state["hands"])
    if phase == "choose" and kind == "draw":
        new["phase"] = "draw"
    elif phase == "choose":
        _pick_up(new)
    elif phase == "discard":
        _discard(new, card, knocking=kind == "knock")
    else:
        _take(new, phase, card)
    return new


def _take(new: State, phase: str, card: str) -> None:
    """Chance takes one card from the pile: dealt, turned up or drawn."""
    new["deck"] = [other for other in new["deck"] if other != card]
    if phase == "turn":
        new.update(discards=[card], player=(new["dealer"] + 1) % len(new["hands"]))
        new["phase"] = "choose" if new["rules"]["draw_from_discard"] else "draw"
        return
    player = new["player"]
    new["hands"] = hands = list(new["hands"])
    hands[player] = sorted([*hands[player], card])
    if phase == "draw":
        new["phase"] = "discard"
        return
    new["player"] = (player + 1) % len(hands)
    if player == new["dealer"] and len(hands[player]) == new["rules"]["hand_size"]:
        new["phase"] = "turn"


def _pick_up(new: State) -> None:
    player, card = new["player"], new["discards"][-1]
    new["discards"] = new["discards"][:-1]
    new["hands"] = list(new["hands"])
    new["hands"][player] = sorted([*new["hands"][player], card])
    new["known"] = list(new["known"])
    new["known"][player] = sorted([*new["known"][player], card])
    new.update(phase="discard", taken=card)


def _discard(new: State, card: str, *, knocking: bool) -> None:
    player, rules = new["player"], new["rules"]
    new["hands"], new["known"] = list(new["hands"]), list(new["known"])
    new["hands"][player] = [other for other in new["hands"][player] if other != card]
    new["known"][player] = [other for other in new["known"][player] if other != card]
    new["discards"] = [*new["discards"], card]
    new.update(taken="", turns=new["turns"] + 1)
    if knocking:
        _end_deal(new, player, "knock " + card)
    elif len(new["deck"]) <= rules["pile_left"] or new["turns"] >= rules["max_turns"]:
        _end_deal(new, None, "discard " + card)
    else:
        new["player"] = (player + 1) % len(new["hands"])
        new["phase"] = "choose" if rules["draw_from_discard"] else "draw"


def _payments(rules: dict[str, Any], left: list[int], knocker: int | None) -> list[float]:
    """What each player gets, given everybody's unmatched points; it sums to zero."""
    paid = [0] * len(left)
    low = left.index(min(left)) if knocker is None else knocker
    if knocker is None and (rules["no_knock"] == "nobody" or left.count(min(left)) > 1):
        return list(paid)
    for seat, points in enumerate(left):
        if seat == low:
            continue
        due = points - left[low]
        if knocker is not None and left[low] == 0:
            due += rules["gin_bonus"]
        elif knocker is not None and due <= 0:
            due -= rules["undercut_bonus"]
        paid[seat] -= due
        paid[low] += due
    return list(paid)


def _end_deal(new: State, knocker: int | None, closing: str) -> None:
    """Score the deal; deal again, or end the match."""
    rules, hands = new["rules"], new["hands"]
    paid = _payments(rules, [_arrange(rules, hand)[0] for hand in hands], knocker)
    scores = [before + gain for before, gain in zip(new["scores"], paid, strict=True)]
    done, target = new["deals_done"] + 1, rules["target_score"]
    turns = new["past_turns"] + new["turns"]
    if done >= rules["limit"] or turns >= MATCH_TURNS or (target and max(scores) >= target):
        new.update(phase="over", player=TERMINAL, scores=scores, deals_done=done)
    else:
        new.update(_new_deal(rules, (new["dealer"] + 1) % len(hands), scores, done))
    new.update(paid=paid, closing=closing, past_turns=turns)


def get_rewards(state: State) -> list[float]:
    """Points won or lost in the deal that has just ended; else zeros. Rules: R11, R12, R13."""
    return list(state["paid"])


def value_function(state: State, player_id: int) -> float:
    """What entering `state` paid, plus half the lead in unmatched points of the deal under way."""
    paid = float(state["paid"][player_id])
    if state["phase"] not in ("choose", "draw", "discard"):
        return paid
    left = [_arrange(state["rules"], hand)[0] for hand in state["hands"]]
    others = (sum(left) - left[player_id]) / (len(left) - 1)
    return paid + (others - left[player_id]) / 2


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own hand with its best melds and unmatched points, all discards, and cards seen taken.

    `known[p]` are the cards that player p took from the discards and still holds;
    `closing` is the action that ended the deal before. Rules: R14, R15.
    """
    public = {key: state[key] for key in PUBLIC}
    public["counts"] = [len(hand) for hand in state["hands"]]
    public["pile"] = len(state["deck"])
    public["shown"] = state["hands"] if state["phase"] == "over" else []
    seen = []
    for seat, hand in enumerate(state["hands"]):
        dealing = state["phase"] in ("deal", "turn")
        unmatched, melds = (0, []) if dealing else _arrange(state["rules"], hand)
        own = {"seat": seat, "hand": hand, "melds": melds, "unmatched": unmatched}
        seen.append({**public, **own})
    return seen


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives; a card from the pile is seen by its drawer. Rules: R14."""
    count, phase = len(state["hands"]), state["phase"]
    kind, _, card = action.partition(" ")
    name = get_player_name(state["player"])
    if phase in ("deal", "draw"):
        others = [f"{name} draws a card."] if phase == "draw" else []
        events = [list(others) for _ in range(count)]
        events[state["player"]] = [f"You {'draw' if others else 'are dealt'} {card}."]
        return events
    if phase == "choose":
        told = [f"{name} takes {state['discards'][-1]}."] if kind == "take" else []
    elif phase == "turn":
        told = [f"{card} is turned up."]
    else:
        told = [f"{name} {'knocks and ' if kind == 'knock' else ''}discards {card}."]
        after = apply_action(state, action)
        if after["deals_done"] > state["deals_done"]:
            paid = ", ".join(f"{get_player_name(s)} {p:+g}" for s, p in enumerate(after["paid"]))
            told.append(f"The deal ends: {paid}.")
    return [list(told) for _ in range(count)]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own hand and discards in full, other hands and the pile by number. Rules: R14, R15."""
    over = state["phase"] == "over"
    seen = {"deck": "count", "discards": "contents"}
    for seat in range(len(state["hands"])):
        seen[f"hands.{seat}"] = "contents" if over or seat == player_id else "count"
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random table that `player_id` cannot tell from the true one. Rules: R14, R15.

    Players keep the cards they were seen to take; all other unseen cards are dealt at random.
    """
    seen = obs_action_history[-1][0]
    state = {key: seen[key] for key in PUBLIC}
    fixed = seen["shown"] or [
        seen["hand"] if seat == player_id else held for seat, held in enumerate(seen["known"])
    ]
    gone = {*seen["discards"], *(card for hand in fixed for card in hand)}
    cards = [card for card in _pack(seen["rules"]) if card not in gone]
    random.shuffle(cards)
    hands = []
    for held, count in zip(fixed, seen["counts"], strict=True):
        more = count - len(held)
        hands.append(sorted([*held, *cards[:more]]))
        cards = cards[more:]
    return {**state, "hands": hands, "deck": sorted(cards)}
