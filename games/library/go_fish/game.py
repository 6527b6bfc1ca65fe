"""Go fish: ask the other players for cards and lay down books of one rank."""

# More than 300 lines because a game module is one self-contained source by contract.

import random
from collections import Counter
from typing import Any

State = dict[str, Any]

RANKS = "23456789TJQKA"
CHANCE = -1
TERMINAL = -4

# fmt: off
GAME: dict[str, Any] = {
    "name": "go_fish",
    "summary": "Ask other players for ranks that you hold; complete books of one rank.",
    "min_players": 2,
    "max_players": 6,
    "conserved": ["card"],
    "open": ["phase", "player", "asked", "last", "known", "fresh", "dealt", "stall", "paid"],
    "parameters": {
        "hand_size": {"default": 0, "range": [0, 12],
            "meaning": "Cards dealt to each player; 0: seven each for two players, else five."},
        "ranks": {"default": 13, "range": [4, 13],
            "meaning": "How many ranks are in the pack, counted down from the ace."},
        "suits": {"default": 4, "range": [2, 4], "meaning": "Cards of each rank in the pack."},
        "book_size": {"default": 4, "range": [2, 4],
            "meaning": "Cards of one rank that make a book: four of a kind, or pairs with 2."},
        "extra_turn_on_catch": {"default": True, "choices": [True, False],
            "meaning": "A player who is given cards asks again."},
        "extra_turn_on_fish": {"default": True, "choices": [True, False],
            "meaning": "A player who draws the rank just asked for asks again."},
        "end_when_out": {"default": False, "choices": [True, False],
            "meaning": "The game ends as soon as a player has laid down the last card held."},
        "scoring": {"default": "most_books", "choices": ["most_books", "books"],
            "meaning": "Whether the most books win, or every book is simply worth a point."},
        "stall_asks": {"default": 40, "range": [10, 200],
            "meaning": "The game ends when so many asks in a row failed with the pile empty."},
    },
}
# fmt: on

ZONES = {
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "books.*": {"component": "card", "owner": "each", "ordered": True},
    "deck": {"component": "card", "owner": "nobody", "ordered": False},
}

# Everything in the state but the hands and the draw pile is known to all.
PUBLIC = (
    "rules", "phase", "player", "asked", "last", "books", "known", "fresh", "dealt", "stall",
    "paid",
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


def _pack(rules: dict[str, Any]) -> list[str]:
    return [rank for rank in RANKS[-rules["ranks"] :] for _ in range(rules["suits"])]


def initial_state(num_players: int, **parameters: object) -> State:
    """The table before the first card is dealt. A card is its rank: suits never matter.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the pack is too small.

    Rules: R1, R2.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        most = GAME["max_players"]
        raise ValueError(f"num_players is {num_players}; allowed: {GAME['min_players']} to {most}")
    rules = _settings(parameters)
    if rules["suits"] % rules["book_size"]:
        raise ValueError(
            f"book_size is {rules['book_size']}; it must divide the {rules['suits']} cards of a "
            "rank, or some cards could never be laid down"
        )
    deck = _pack(rules)
    wanted = rules["hand_size"] or (7 if num_players == 2 else 5)  # noqa: PLR2004
    if wanted * num_players >= len(deck):
        raise ValueError(
            f"hand_size is {wanted}; {num_players} players must be dealt fewer than {len(deck)} "
            "cards together"
        )
    rules["hand_size"] = wanted
    return {
        "rules": rules,
        "phase": "deal",
        "player": 0,
        "asked": "",
        "last": [],
        "books": [[] for _ in range(num_players)],
        "known": [{} for _ in range(num_players)],
        "fresh": [{} for _ in range(num_players)],
        "dealt": 0,
        "stall": 0,
        "paid": [0] * num_players,
        "hands": [[] for _ in range(num_players)],
        "deck": deck,
    }


def get_current_player(state: State) -> int:
    """Whose turn it is to ask; chance deals and draws. Rules: R3, R9."""
    if state["phase"] == "ask":
        return int(state["player"])
    return TERMINAL if state["phase"] == "over" else CHANCE


def get_player_name(player_id: int) -> str:
    """A display name, counted from one, as in the actions."""
    if player_id < 0:
        return "chance" if player_id == CHANCE else "terminal"
    return f"Player {player_id + 1}"


def get_legal_actions(state: State) -> list[str]:
    """Asks "ask 2 K" (Player 2, kings); at chance the ranks left in the pile. Rules: R4."""
    phase, player = state["phase"], state["player"]
    if phase == "over":
        return []
    if phase != "ask":
        word = "deal " if phase == "deal" else "draw "
        return [word + rank for rank in dict.fromkeys(state["deck"])]
    ranks = dict.fromkeys(state["hands"][player])
    return [
        f"ask {seat + 1} {rank}"
        for seat, hand in enumerate(state["hands"])
        if hand and seat != player
        for rank in ranks
    ]


def get_chance_probabilities(state: State) -> list[float]:
    """Every card left in the pile is equally likely. Rules: R2, R6."""
    deck = state["deck"]
    return [count / len(deck) for count in Counter(deck).values()]


def parse_action(action: str) -> dict[str, Any]:
    """The kind of an action, its rank, and for an ask the 0-based seat asked."""
    words = action.split(" ")
    asked = {"seat": int(words[1]) - 1} if words[0] == "ask" else {}
    return {"kind": words[0], "rank": words[-1], **asked}


def apply_action(state: State, action: str) -> State:
    """The table after an ask, or after a card is dealt or drawn.

    Raises:
        ValueError: If the action is not legal here.

    Rules: R2, R4, R5, R6, R7, R8, R9, R13.
    """
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {', '.join(get_legal_actions(state))}")
    new = dict(state)
    for key in ("hands", "known", "fresh"):
        new[key] = list(new[key])
    if state["phase"] == "ask":
        _, seat, rank = action.split(" ")
        _ask(new, int(seat) - 1, rank)
    else:
        _take(new, action[5:])
    if new["phase"] == "ask":
        _settle(new)
    return new


def _ask(new: State, target: int, rank: str) -> None:
    player, hands = new["player"], new["hands"]
    _learn(new, player, rank, 0)
    got = hands[target].count(rank)
    new["last"] = [player, target, rank, got]
    _none_left(new, target, rank)
    if got:
        hands[target] = [card for card in hands[target] if card != rank]
        hands[player] = sorted([*hands[player], *[rank] * got])
        _learn(new, player, rank, got)
        _book(new, player, rank)
        new["stall"] = 0
        if not new["rules"]["extra_turn_on_catch"]:
            _advance(new)
    elif new["deck"]:
        new.update(phase="fish", asked=rank)
    else:
        new["stall"] += 1
        _advance(new)
        if new["stall"] >= new["rules"]["stall_asks"]:
            _finish(new)


def _take(new: State, rank: str) -> None:
    """The pile gives `player` a card: dealt, fished for, or drawn with an empty hand."""
    player, phase, rules = new["player"], new["phase"], new["rules"]
    new["deck"] = deck = list(new["deck"])
    deck.remove(rank)
    hands = new["hands"]
    hands[player] = sorted([*hands[player], rank])
    lucky = phase == "fish" and rank == new["asked"]
    if lucky:
        _learn(new, player, rank, 1)
    if not _book(new, player, rank) and not lucky:
        drawn = new["fresh"][player]
        new["fresh"][player] = {r: n + (r != new["asked"]) for r, n in drawn.items()}
    if new["phase"] == "over":
        return
    new["asked"] = ""
    if phase == "deal":
        new["dealt"] += 1
        new["player"] = new["dealt"] // rules["hand_size"]
        if new["player"] < len(hands):
            return
        new["player"] = 0
    new["phase"] = "ask"
    if phase == "fish" and not (lucky and rules["extra_turn_on_fish"]):
        _advance(new)


def _learn(new: State, player: int, rank: str, gained: int) -> None:
    """All see that `player` holds `rank` (an ask), or has just gained so many."""
    known, fresh = dict(new["known"][player]), new["fresh"][player]
    if rank not in known and not gained:
        known[rank] = 1
        if fresh.get(rank):
            new["fresh"][player] = {**fresh, rank: fresh[rank] - 1}
    else:
        known[rank] = known.get(rank, 0) + gained
    new["known"][player] = known


def _none_left(new: State, player: int, rank: str) -> None:
    """All see that `player` holds no card of `rank` now."""
    new["known"][player] = {r: n for r, n in new["known"][player].items() if r != rank}
    new["fresh"][player] = {**new["fresh"][player], rank: 0}


def _book(new: State, player: int, rank: str) -> bool:
    """Lay down a complete book of `rank`, if `player` holds one."""
    hands, size = new["hands"], new["rules"]["book_size"]
    if hands[player].count(rank) < size:
        return False
    # Books leave at once, so a hand gains at most one book and keeps nothing of its rank.
    hands[player] = [card for card in hands[player] if card != rank]
    new["books"] = list(new["books"])
    new["books"][player] = [*new["books"][player], *[rank] * size]
    _none_left(new, player, rank)
    out = new["rules"]["end_when_out"] and not hands[player] and new["phase"] != "deal"
    if out or not (new["deck"] or any(hands)):
        _finish(new)
    return True


def _advance(new: State) -> None:
    if new["phase"] != "over":
        new["player"] = (new["player"] + 1) % len(new["hands"])


def _settle(new: State) -> None:
    """A player who cannot ask draws, or the turn goes to one who can."""
    hands = new["hands"]
    if not hands[new["player"]]:
        if new["deck"]:
            new["phase"] = "draw"
            return
        while not hands[new["player"]]:
            _advance(new)
    elif sum(1 for hand in hands if hand) == 1:
        new["phase"] = "draw"
        _advance(new)


def _finish(new: State) -> None:
    books = [len(laid) // new["rules"]["book_size"] for laid in new["books"]]
    winners = books.count(max(books))
    if new["rules"]["scoring"] == "books":
        paid: list[float] = list(books)
    elif winners == len(books):
        paid = [0] * len(books)
    else:
        losers = len(books) - winners
        paid = [1 / winners if own == max(books) else -1 / losers for own in books]
    new.update(phase="over", paid=paid)


def get_rewards(state: State) -> list[float]:
    """What the end of the game paid each player; zeros before. Rules: R10."""
    return list(state["paid"])


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own hand, all books, everybody's number of cards, and what the asks have shown.

    `known[p]` counts the cards of each rank that player p is known to hold; `fresh[p]` holds, for
    ranks of which p was seen to keep nothing but the known ones, how many cards p drew unseen
    since; `last` is the last ask: who asked whom for what, and got how many. Rules: R11, R12.
    """
    public = {key: state[key] for key in PUBLIC}
    public["counts"] = [len(hand) for hand in state["hands"]]
    public["pile"] = len(state["deck"])
    return [{**public, "seat": seat, "hand": hand} for seat, hand in enumerate(state["hands"])]


def render(observation: dict[str, Any]) -> str:
    """The table as its player sees it: hand, books, hands by number, pile and what was shown."""
    lines = [f"your hand: {' '.join(sorted(observation['hand'], key=RANKS.index))}"]
    for seat, count in enumerate(observation["counts"]):
        who = "you" if seat == observation["seat"] else f"player {seat + 1}"
        books = " ".join(observation["books"][seat]) or "none"
        known = observation["known"][seat]
        held = " ".join(rank for rank in RANKS for _ in range(known.get(rank, 0)))
        shown = f", known to hold {held}" if held and seat != observation["seat"] else ""
        lines.append(f"{who}: {count} cards, books: {books}{shown}")
    return "\n".join([*lines, f"in the pile: {observation['pile']}"])


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives; an unlucky draw is seen by its drawer alone. Rules: R11."""
    count, player, after = len(state["hands"]), state["player"], apply_action(state, action)
    name, told = get_player_name(player), []
    events: list[list[str]] = [[] for _ in range(count)]
    if state["phase"] == "ask":
        asked = parse_action(action)
        target, rank = asked["seat"], asked["rank"]
        got = state["hands"][target].count(rank)
        result = f"gets {got}" if got else "gets none"
        told.append(f"{name} asks {get_player_name(target)} for {rank} and {result}.")
    else:
        rank = action[5:]
        verb = "are dealt" if state["phase"] == "deal" else "draw"
        lucky = state["phase"] == "fish" and rank == state["asked"]
        if lucky:
            told.append(f"{name} draws {rank}, as asked.")
        elif state["phase"] != "deal":
            told.append(f"{name} draws a card.")
        events[player].append(f"You {verb} {rank}.")
    if after["books"][player] != state["books"][player]:
        told.append(f"{name} lays down a book of {rank}.")
    if after["phase"] == "over":
        told.append("The game ends.")
    return [[*own, *told] for own in events]


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own hand and all books in full; other hands and the pile by number. Rules: R11, R12."""
    seen = {"deck": "count"}
    for seat in range(len(state["hands"])):
        seen[f"hands.{seat}"] = "contents" if seat == player_id else "count"
        seen[f"books.{seat}"] = "contents"
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random table that `player_id` cannot tell from the true one. Rules: R5, R11, R12.

    Cards that others are known to hold are given to them; the other unseen cards go at random to
    hands and pile, within what the asks have shown that a player cannot hold.
    """
    seen = obs_action_history[-1][0]
    state = {key: seen[key] for key in PUBLIC}
    rules, counts = seen["rules"], seen["counts"]
    hidden = Counter(_pack(rules)) - Counter(seen["hand"])
    for laid in seen["books"]:
        hidden -= Counter(laid)
    # Holder n is the pile. `room[h][r]`: how many more cards of rank r holder h can have.
    others = [seat for seat in range(len(counts)) if seat != player_id]
    given: list[Counter[str]] = [Counter() for _ in range(len(counts) + 1)]
    room = [dict.fromkeys(hidden, 0 if s == player_id else 99) for s in range(len(counts) + 1)]
    free = [*counts, seen["pile"]]
    free[player_id] = 0
    for seat in others:
        fixed, fresh = Counter(seen["known"][seat]), seen["fresh"][seat]
        for rank in room[seat]:
            most = rules["book_size"] - 1 - fixed[rank]
            room[seat][rank] = min(most, fresh.get(rank, most))
        hidden -= fixed
        free[seat] -= fixed.total()
    cards = list(hidden.elements())
    random.shuffle(cards)
    for card in cards:
        if not _place(card, given, room, free, set()):
            raise ValueError("no deal of the unseen cards agrees with the observation")
    _mix(given, room)
    hands: list[list[str]] = [[] for _ in counts]
    for seat in others:
        hands[seat] = sorted((given[seat] + Counter(seen["known"][seat])).elements())
    hands[player_id] = seen["hand"]
    pack = dict.fromkeys(_pack(rules))
    return {**state, "hands": hands, "deck": [r for r in pack for _ in range(given[-1][r])]}


def _place(
    card: str,
    given: list[Counter[str]],
    room: list[dict[str, int]],
    free: list[int],
    tried: set[int],
) -> bool:
    """Give `card` to a random holder with room, moving other cards along an augmenting path."""
    able = [h for h in range(len(free)) if h not in tried and room[h][card] > given[h][card]]
    open_to = [h for h in able if free[h]]
    if open_to:
        holder = random.choices(open_to, [free[h] for h in open_to])[0]
        free[holder] -= 1
        given[holder][card] += 1
        return True
    for holder in able:
        tried.add(holder)
        for other in list(given[holder].elements()):
            if other != card and _place(other, given, room, free, tried):
                given[holder][other] -= 1
                given[holder][card] += 1
                return True
    return False


def _mix(given: list[Counter[str]], room: list[dict[str, int]]) -> None:
    """Random exchanges between holders that keep the limits, towards the uniform deal."""
    slots = [(holder, card) for holder, cards in enumerate(given) for card in cards.elements()]
    for _ in range(2 * len(slots)):
        one, two = random.randrange(len(slots)), random.randrange(len(slots))
        (a, x), (b, y) = slots[one], slots[two]
        if a == b or x == y or given[a][y] >= room[a][y] or given[b][x] >= room[b][x]:
            continue
        for holder, lost, gained in ((a, x, y), (b, y, x)):
            given[holder][lost] -= 1
            given[holder][gained] += 1
        slots[one], slots[two] = (a, y), (b, x)
