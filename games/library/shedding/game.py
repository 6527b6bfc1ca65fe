"""Shedding games of the crazy-eights family: be the first to play out your hand."""

# More than 300 lines because a game module is one self-contained source by contract.

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

State = dict[str, Any]

RANKS = "23456789TJQKA"
SUITS = "CDHS"
CHANCE, TERMINAL = -1, -4
MAX_DEALS = 10
MATCH_TURNS = 300  # no new deal after so many

# fmt: off
GAME: dict[str, Any] = {
    "name": "shedding",
    "summary": "Match the top card by suit or rank; the first to play out a whole hand wins.",
    "min_players": 2,
    "max_players": 8,
    "conserved": ["card"],
    "open": [
        "phase", "player", "dealer", "direction", "suit", "rank", "owed", "drawn", "passes",
        "turns", "past_turns", "scores", "paid", "deals_done", "closing", "refused",
        "reshuffled"
    ],
    "parameters": {
        "hand_size": {"default": 7, "range": [1, 15], "meaning": "Cards dealt to each player."},
        "deck": {"default": "standard", "choices": ["standard", "short"],
            "meaning": "A standard pack of 52 cards, or a short pack of 32 (sevens and up)."},
        "decks": {"default": 0, "range": [0, 3],
            "meaning": "How many packs are shuffled together; 0: one, or two for six or more."},
        "match": {"default": "suit_or_rank", "choices": ["suit_or_rank", "suit", "rank"],
            "meaning": "What a card must share with the top card to be played on it."},
        "wild_rank": {"default": "8",
            "choices": ["none", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"],
            "meaning": "The wild rank: it may be played on anything and names what follows."},
        "skip_rank": {"default": "none",
            "choices": ["none", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"],
            "meaning": "Playing this rank makes the next player miss a turn."},
        "reverse_rank": {"default": "none",
            "choices": ["none", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"],
            "meaning": "Playing this rank turns the direction of play around."},
        "draw_two_rank": {"default": "none",
            "choices": ["none", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"],
            "meaning": "Playing this rank makes the next player draw penalty cards."},
        "penalty_cards": {"default": 2, "range": [1, 5],
            "meaning": "How many cards the draw-two rank makes the next player draw."},
        "stacking": {"default": True, "choices": [True, False],
            "meaning": "A player who must draw penalty cards may pass them on with the same rank."},
        "must_play": {"default": True, "choices": [True, False],
            "meaning": "A player who can play a card must play one and may not draw instead."},
        "draws_per_turn": {"default": 1, "range": [1, 10],
            "meaning": "Cards a player may draw in one turn before passing."},
        "draw_until_playable": {"default": False, "choices": [True, False],
            "meaning": "A player who cannot play keeps drawing until a card can be played."},
        "reshuffle": {"default": True, "choices": [True, False],
            "meaning": "The discards are shuffled into a new draw pile when it runs out."},
        "direction": {"default": "clockwise", "choices": ["clockwise", "counterclockwise"],
            "meaning": "The direction in which the turn passes at the start."},
        "penalty_points": {"default": True, "choices": [True, False],
            "meaning": "Cards left in hand cost points; otherwise going out scores one point."},
        "winner_collects": {"default": False, "choices": [True, False],
            "meaning": "Whoever goes out also gains the points that the others lose."},
        "wild_points": {"default": 50, "range": [0, 100],
            "meaning": "Points that a wild card left in hand costs."},
        "court_points": {"default": 10, "range": [0, 50],
            "meaning": "Points that a jack, queen or king left in hand costs."},
        "ace_points": {"default": 1, "range": [0, 50],
            "meaning": "Points that an ace left in hand costs."},
        "target_score": {"default": 0, "range": [0, 500],
            "meaning": "The match ends once somebody won or lost this many points; 0: no target."},
        "deals": {"default": 0, "range": [0, 10],
            "meaning": "Deals in a match; 0: a single one, or with a target as many as it takes."},
        "max_turns": {"default": 100, "range": [10, 300],
            "meaning": "A deal ends after so many turns (cards played and passes)."},
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
    "rules", "phase", "player", "dealer", "direction", "discards", "suit", "rank", "owed", "drawn",
    "passes", "turns", "past_turns", "scores", "paid", "deals_done", "closing", "refused",
    "reshuffled",
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
    return RANKS if rules["deck"] == "standard" else RANKS[5:]


def _pack(rules: dict[str, Any]) -> list[str]:
    return sorted([rank + suit for rank in _ranks(rules) for suit in SUITS] * rules["decks"])


def initial_state(num_players: int, **parameters: object) -> State:
    """The table before the first card is dealt; Player 1 will have the first turn.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the pack is too small.

    Rules: R1, R2, R3, R20.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        raise ValueError(
            f"num_players is {num_players}; allowed: {GAME['min_players']} to {GAME['max_players']}"
        )
    rules = _settings(parameters)
    rules["decks"] = rules["decks"] or (1 if num_players <= 5 else 2)  # noqa: PLR2004
    special = [rules[key] for key in rules if key.endswith("_rank") and rules[key] != "none"]
    if len(set(special)) < len(special) or not set(special) <= set(_ranks(rules)):
        raise ValueError(
            f"the special ranks are {', '.join(special)}; each must be different and in the "
            f"{rules['deck']} deck ({_ranks(rules)})"
        )
    # With more cards left than there are wild ones, a starter that is not wild can be turned up.
    most = (len(_pack(rules)) - 4 * rules["decks"] - 1) // num_players
    if rules["hand_size"] > most:
        raise ValueError(
            f"hand_size is {rules['hand_size']}; {num_players} players: at most {most}"
        )
    rules["step"] = 1 if rules["direction"] == "clockwise" else -1
    rules["limit"] = rules["deals"] or (MAX_DEALS if rules["target_score"] else 1)
    return _new_deal(rules, -rules["step"] % num_players, [0] * num_players, 0)


def _new_deal(rules: dict[str, Any], dealer: int, scores: list[float], done: int) -> State:
    count = len(scores)
    return {
        "rules": rules, "phase": "deal", "player": (dealer + rules["step"]) % count,
        "dealer": dealer, "direction": rules["step"], "discards": [], "suit": "", "rank": "",
        "owed": 0, "drawn": 0, "passes": 0, "turns": 0, "past_turns": 0, "scores": scores,
        "paid": [0] * count, "deals_done": done, "closing": "", "refused": [["", "", 0]] * count,
        "reshuffled": [], "hands": [[] for _ in range(count)], "deck": _pack(rules),
    }  # fmt: skip


def get_current_player(state: State) -> int:
    """Whose turn it is; chance deals, turns the starter up and draws. Rules: R4, R13."""
    phase = state["phase"]
    if phase in ("play", "name"):
        return int(state["player"])
    return TERMINAL if phase == "over" else CHANCE


def get_player_name(player_id: int) -> str:
    """A display name, counted from one."""
    if player_id < 0:
        return "chance" if player_id == CHANCE else "terminal"
    return f"Player {player_id + 1}"


def _playable(state: State, card: str) -> bool:
    rules = state["rules"]
    if card[0] == rules["wild_rank"] or (card[1] == state["suit"] and rules["match"] != "rank"):
        return True
    return bool(card[0] == state["rank"] and rules["match"] != "suit")


def get_legal_actions(state: State) -> list[str]:
    """Cards that may be played, drawing, passing, what a wild card may name; or the deals.

    Rules: R5, R6, R7, R8, R9, R10, R11.
    """
    phase = state["phase"]
    if phase == "play":
        return _choices(state)
    rules = state["rules"]
    if phase == "name":
        if rules["match"] == "rank":
            return ["name " + rank for rank in _ranks(rules) if rank != rules["wild_rank"]]
        return ["name " + suit for suit in SUITS]
    if phase == "over":
        return []
    cards = state["deck"]
    if phase == "turn":
        cards = [card for card in cards if card[0] != rules["wild_rank"]]
    return [phase + " " + card for card in (dict.fromkeys(cards) if rules["decks"] > 1 else cards)]


def _choices(state: State) -> list[str]:
    rules = state["rules"]
    hand = dict.fromkeys(state["hands"][state["player"]])
    if state["owed"]:
        same = [card for card in hand if rules["stacking"] and card[0] == state["rank"]]
        return [*("play " + card for card in same), "draw"]
    plays = ["play " + card for card in hand if _playable(state, card)]
    if plays and rules["must_play"]:
        return plays
    again = rules["draw_until_playable"] or state["drawn"] < rules["draws_per_turn"]
    return [*plays, "draw" if again and state["deck"] else "pass"]


def get_chance_probabilities(state: State) -> list[float]:
    """Every card left in the pile is equally likely; a wild starter is put back. Rules: R3, R4."""
    cards = state["deck"]
    if state["phase"] == "turn":
        cards = [card for card in cards if card[0] != state["rules"]["wild_rank"]]
    if state["rules"]["decks"] == 1:
        return [1 / len(cards)] * len(cards)
    return [count / len(cards) for count in Counter(cards).values()]


def parse_action(action: str) -> dict[str, str]:
    """The kind of an action (play, draw, pass, name, deal, turn) and its card, suit or rank."""
    return {"kind": action[:4], "what": action[5:]}


def apply_action(state: State, action: str) -> State:
    """The table after a card is dealt, drawn or played, a suit is named, or a turn is passed.

    Raises:
        ValueError: If the action is not legal here.

    Rules: R4, R5, R6, R7, R8, R9, R10, R11, R12.
    """
    phase, what = state["phase"], action[5:]
    if phase in ("play", "name"):
        legal = action in get_legal_actions(state)
    else:
        legal = action == phase + " " + what and what in state["deck"]
        legal = legal and (phase != "turn" or what[0] != state["rules"]["wild_rank"])
    if not legal:
        raise ValueError(f"{action!r} is not legal; legal: {', '.join(get_legal_actions(state))}")
    new = dict(state)
    if any(state["paid"]):
        new["paid"] = [0] * len(state["hands"])
    if phase == "play":
        if action == "draw":
            _refuse(new)
            new.update(phase="draw", passes=0)
        elif action == "pass":
            _pass(new)
        else:
            _play(new, what)
    elif phase == "name":
        new["rank" if new["rules"]["match"] == "rank" else "suit"] = what
        new["phase"] = "play"
        _effect(new, "", new["player"])
    else:
        _take(new, phase, what)
    return new


def _take(new: State, phase: str, card: str) -> None:
    """Chance takes one card from the pile: dealt, turned up or drawn."""
    new["deck"] = deck = list(new["deck"])
    deck.remove(card)
    if phase == "turn":
        new.update(phase="play", discards=[card], rank=card[0], suit=card[1])
        _effect(new, card, new["dealer"])
        return
    player = new["player"]
    new["hands"] = hands = list(new["hands"])
    hands[player] = sorted([*hands[player], card])
    if phase == "deal":
        new["player"] = (player + new["direction"]) % len(hands)
        if player == new["dealer"] and len(hands[player]) == new["rules"]["hand_size"]:
            new.update(phase="turn", player=player)
        return
    new["refused"] = refused = list(new["refused"])
    suit, rank, fresh = refused[player]
    refused[player] = [suit, rank, fresh + 1]
    _refill(new)
    if not new["owed"]:
        new.update(phase="play", drawn=new["drawn"] + 1)
        return
    new["owed"] = new["owed"] - 1 if new["deck"] else 0
    if not new["owed"]:
        new["phase"] = "play"
        _effect(new, "", player)


def _refill(new: State) -> None:
    """Shuffle all discards but the top one into a new pile where the pile has run out."""
    if not new["deck"] and new["rules"]["reshuffle"] and len(new["discards"]) > 1:
        new["deck"] = new["reshuffled"] = sorted(new["discards"][:-1])
        new["discards"] = new["discards"][-1:]


def _effect(new: State, card: str, player: int) -> None:
    """Pass the turn on from `player`, as the card just played (if any) says."""
    rules, hops, rank = new["rules"], 1, card[:1]
    if rank:
        if rank == rules["skip_rank"]:
            hops = 2
        elif rank == rules["reverse_rank"]:
            new["direction"] = -new["direction"]
        elif rank == rules["draw_two_rank"] and new["deck"]:
            new["owed"] = new["owed"] + rules["penalty_cards"]
    new["player"] = (player + hops * new["direction"]) % len(new["hands"])


def _refuse(new: State) -> None:
    """All see that a player who must play if able had no card to play."""
    if new["rules"]["must_play"] and not new["owed"]:
        new["refused"] = refused = list(new["refused"])
        refused[new["player"]] = [new["suit"], new["rank"], 0]


def _pass(new: State) -> None:
    _refuse(new)
    new["passes"] = 0 if new["deck"] else new["passes"] + 1
    new["turns"] += 1
    if new["passes"] > len(new["hands"]) or new["turns"] >= new["rules"]["max_turns"]:
        _end_deal(new, None, "pass")
    else:
        new["drawn"] = 0
        _effect(new, "", new["player"])


def _play(new: State, card: str) -> None:
    player, rules = new["player"], new["rules"]
    new["hands"] = hands = list(new["hands"])
    hands[player] = hand = list(hands[player])
    hand.remove(card)
    suit, rank, fresh = new["refused"][player]
    if fresh and (suit or rank) and _playable({"rules": rules, "suit": suit, "rank": rank}, card):
        new["refused"] = refused = list(new["refused"])
        refused[player] = [suit, rank, fresh - 1]
    new["discards"] = [*new["discards"], card]
    new.update(passes=0, drawn=0, turns=new["turns"] + 1, rank=card[0], suit=card[1])
    if not hand or new["turns"] >= rules["max_turns"]:
        _end_deal(new, None if hand else player, "play " + card)
        return
    _refill(new)
    if card[0] == rules["wild_rank"]:
        new["phase"] = "name"
        return
    _effect(new, card, player)


def _points(rules: dict[str, Any], card: str) -> int:
    rank = card[0]
    if rank == rules["wild_rank"]:
        return int(rules["wild_points"])
    if rank in "JQK":
        return int(rules["court_points"])
    return int(rules["ace_points"]) if rank == "A" else RANKS.index(rank) + 2


def _end_deal(new: State, winner: int | None, closing: str) -> None:
    """Score the deal; deal again, or end the match."""
    rules, hands = new["rules"], new["hands"]
    left = [sum(_points(rules, card) for card in hand) for hand in hands]
    if rules["penalty_points"]:
        paid: list[float] = [-points for points in left]
        if winner is not None and rules["winner_collects"]:
            paid[winner] = sum(left)
    else:
        fewest = [seat for seat, points in enumerate(left) if points == min(left)]
        winners = fewest if winner is None else [winner]
        paid = [1 / len(winners) if seat in winners else 0 for seat in range(len(hands))]
    scores = [before + gain for before, gain in zip(new["scores"], paid, strict=True)]
    done, target = new["deals_done"] + 1, rules["target_score"]
    turns = new["past_turns"] + new["turns"]
    reached = target and max(map(abs, scores)) >= target
    if reached or done >= rules["limit"] or turns >= MATCH_TURNS:
        new.update(phase="over", player=TERMINAL, scores=scores, deals_done=done)
    else:
        new.update(_new_deal(rules, (new["dealer"] + rules["step"]) % len(hands), scores, done))
    new.update(paid=paid, closing=closing, past_turns=turns)


def get_rewards(state: State) -> list[float]:
    """Points won or lost in the deal that has just ended; else zeros. Rules: R14, R15, R16."""
    return list(state["paid"])


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own hand, everybody's number of cards, all discards; at the end all hands. Rules: R17, R18.

    `refused[p]` is the suit and rank that player p last could not match, and how many cards the
    player may have kept since; `reshuffled` went into the new draw pile; `closing` ended a deal.
    """
    public = {key: state[key] for key in PUBLIC}
    public["counts"] = [len(hand) for hand in state["hands"]]
    public["pile"] = len(state["deck"])
    public["shown"] = state["hands"] if state["phase"] == "over" else []
    return [{**public, "seat": seat, "hand": hand} for seat, hand in enumerate(state["hands"])]


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives of an action; a card drawn is seen by its drawer. Rules: R17."""
    count, phase, what = len(state["hands"]), state["phase"], action[5:]
    actor = get_player_name(state["player"])
    if phase in ("deal", "draw"):
        verb = "draw" if phase == "draw" else "are dealt"
        events = [[f"{actor} draws a card."] if phase == "draw" else [] for _ in range(count)]
        events[state["player"]] = [f"You {verb} {what}."]
        return events
    if action == "draw":
        # The cards drawn follow one by one, each as an event of its own.
        return [[] for _ in range(count)]
    words = {"turn": f"{what} is turned up.", "name": f"{actor} names {what}."}
    words |= {"pass": f"{actor} passes.", "play": f"{actor} plays {what}."}
    told = [words[action[:4]]]
    after = apply_action(state, action)
    if after["deals_done"] > state["deals_done"]:
        paid = ", ".join(f"{get_player_name(s)} {p:+g}" for s, p in enumerate(after["paid"]))
        told.append(f"The deal ends: {paid}.")
    return [list(told) for _ in range(count)]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own hand and discards in full, other hands and the pile by number. Rules: R17, R18."""
    seen = {"deck": "count", "discards": "contents"}
    for seat in range(len(state["hands"])):
        open_hand = seat == player_id or state["phase"] == "over"
        seen[f"hands.{seat}"] = "contents" if open_hand else "count"
    return seen


def _assign(cards: list[str], slots: list[int], fits: Callable[[int, str], bool]) -> None:
    """Shuffle `cards` in place so that `fits(slots[i], cards[i])` for every i.

    A uniform shuffle, mended by exchanges or, where none helps, by augmenting paths.
    """
    random.shuffle(cards)
    size = range(len(cards))
    bad = [i for i in size if not fits(slots[i], cards[i])]
    for i in bad:
        for j in random.sample(size, len(cards)):
            if fits(slots[i], cards[j]) and fits(slots[j], cards[i]):
                cards[i], cards[j] = cards[j], cards[i]
                break
    if all(fits(slots[i], cards[i]) for i in bad):
        return
    holder = [-1] * len(cards)

    def place(slot: int, tried: set[int]) -> bool:
        for index in size:
            if index not in tried and fits(slots[slot], cards[index]):
                tried.add(index)
                if holder[index] < 0 or place(holder[index], tried):
                    holder[index] = slot
                    return True
        return False

    if not all(place(slot, set()) for slot in size):
        raise ValueError("no deal of the unseen cards agrees with the observation")
    cards[:] = [card for _, card in sorted(zip(holder, cards, strict=True))]


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random table that `player_id` cannot tell from the true one. Rules: R17, R18.

    Hidden cards are dealt at random to the other hands and the pile, respecting what players
    could not match when they drew or passed and which cards were last shuffled into the pile.
    """
    seen = obs_action_history[-1][0]
    state = {key: seen[key] for key in PUBLIC}
    hidden = Counter(_pack(seen["rules"])) - Counter(seen["discards"])
    if seen["shown"]:
        held = Counter(card for hand in seen["shown"] for card in hand)
        return {**state, "hands": seen["shown"], "deck": sorted((hidden - held).elements())}
    cards = list((hidden - Counter(seen["hand"])).elements())
    counts, refused, pile = seen["counts"], seen["refused"], set(seen["reshuffled"])
    # Slot -1 is the pile; 2p an old card of player p, which had no match; 2p + 1 a newer one.
    slots = [-1] * seen["pile"]
    for seat, count in enumerate(counts):
        if seat != player_id:
            suit, rank, fresh = refused[seat]
            fresh = min(fresh, count) if suit or rank else count
            slots += [2 * seat] * (count - fresh) + [2 * seat + 1] * fresh

    def fits(slot: int, card: str) -> bool:
        if slot < 0:
            return not pile or card in pile
        suit, rank, _ = refused[slot // 2]
        stop = {"rules": seen["rules"], "suit": suit, "rank": rank}
        return slot % 2 == 1 or not _playable(stop, card)

    _assign(cards, slots, fits)
    hands: list[list[str]] = [[] for _ in counts]
    hands[player_id] = seen["hand"]
    for slot, card in zip(slots, cards, strict=True):
        if slot >= 0:
            hands[slot // 2].append(card)
    state["hands"] = [hand if s == player_id else sorted(hand) for s, hand in enumerate(hands)]
    state["deck"] = sorted(card for slot, card in zip(slots, cards, strict=True) if slot < 0)
    return state
