"""Goofspiel: everybody bids one card at the same time for each prize.

Kept in one file of more than 300 lines because a game module is one self-contained source.
"""

import random
from collections import Counter
from itertools import product
from math import prod
from typing import Any

State = dict[str, Any]
Bids = list[int]

CHANCE = -1
TERMINAL = -4
SEARCHES = 200

# fmt: off
GAME: dict[str, Any] = {
    "name": "goofspiel",
    "summary": "Bid a card from equal hands for every prize; each card can be bid only once.",
    "min_players": 2,
    "max_players": 5,
    "conserved": ["card", "prize"],
    "open": ["player", "points", "results", "rewards"],
    "parameters": {
        "cards": {"default": 13, "range": [2, 13],
            "meaning": "Cards in each hand, numbered from 1, and as many prizes."},
        "prize_order": {"default": "random", "choices": ["random", "descending", "ascending"],
            "meaning": "The order in which the prizes come up."},
        "tie": {"default": "discard", "choices": ["discard", "carry", "split", "next_unique"],
            "meaning": "A tie for the best bid discards the prize, carries it over to the next "
                "one, splits it among the tied, or gives it to the best bid made only once."},
        "returns": {"default": "win", "choices": ["win", "points", "difference"],
            "meaning": "What counts at the end: winning, own points, or points above average."},
        "hidden_bids": {"default": False, "choices": [True, False],
            "meaning": "Bids stay face down; only who wins each prize is announced."},
    },
}
# fmt: on

ZONES = {
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "committed.*": {"component": "card", "owner": "each", "ordered": True},
    "played.*": {"component": "card", "owner": "each", "ordered": True},
    "prizes_left": {"component": "prize", "owner": "nobody", "ordered": False},
    "stake": {"component": "prize", "owner": "table", "ordered": True},
    "taken.*": {"component": "prize", "owner": "each", "ordered": True},
    "gone": {"component": "prize", "owner": "table", "ordered": True},
}


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


def initial_state(num_players: int, **parameters: object) -> State:
    """Full hands and all prizes still to come up.

    Raises:
        ValueError: If a parameter is unknown or out of range, or the number of players is.

    Rules: R1, R2, R3, R4.
    """
    if not GAME["min_players"] <= num_players <= GAME["max_players"]:
        raise ValueError(
            f"num_players is {num_players}; allowed: {GAME['min_players']} to {GAME['max_players']}"
        )
    rules = _settings(parameters)
    numbers = [str(number) for number in range(1, rules["cards"] + 1)]
    state = {
        "rules": rules,
        "player": CHANCE,
        "hands": [numbers] * num_players,
        "committed": [[]] * num_players,
        "played": [[]] * num_players,
        "prizes_left": numbers,
        "stake": [],
        "taken": [[]] * num_players,
        "gone": [],
        "points": [0] * num_players,
        "results": [],
        "rewards": [0] * num_players,
    }
    return state if rules["prize_order"] == "random" else _next_prize(state)


def _next_prize(state: State) -> State:
    """Turn up the next prize of a fixed order, in a state that nobody else holds yet."""
    prizes = state["prizes_left"]
    prize = prizes[-1] if state["rules"]["prize_order"] == "descending" else prizes[0]
    state["prizes_left"] = [other for other in prizes if other != prize]
    state["stake"] = [*state["stake"], prize]
    state["player"] = 0
    return state


def get_current_player(state: State) -> int:
    """The seat that bids next, -1 while a prize is turned up, or -4 once the game is over.

    Rules: R4, R6, R13.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """A display name: Player 1 for seat 0."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """A bid with every card in the player's hand; at a chance event, every prize still to come.

    Rules: R4, R5.
    """
    player = state["player"]
    if player == TERMINAL:
        return []
    if player == CHANCE:
        return ["prize " + prize for prize in state["prizes_left"]]
    return ["bid " + card for card in state["hands"][player]]


def parse_action(action: str) -> dict[str, str | int]:
    """The action in parts: "bid" or "prize", and the number.

    Rules: R4, R5.
    """
    kind, number = action.split()
    return {"kind": kind, "number": int(number)}


def apply_action(state: State, action: str) -> State:
    """The state after a prize came up or a bid was laid; the last bid decides the round.

    Raises:
        ValueError: If the action is not legal.

    Rules: R4, R5, R6, R7, R8, R9, R10, R13.
    """
    player = state["player"]
    kind, _, number = action.partition(" ")
    if player == CHANCE and kind == "prize" and number in state["prizes_left"]:
        left = [prize for prize in state["prizes_left"] if prize != number]
        return {**state, "player": 0, "prizes_left": left, "stake": [*state["stake"], number]}
    if player < 0 or kind != "bid" or number not in state["hands"][player]:
        legal = ", ".join(get_legal_actions(state))
        raise ValueError(f"{action!r} is not legal; legal: {legal or 'nothing'}")
    hands, committed = state["hands"].copy(), state["committed"].copy()
    hands[player] = [card for card in hands[player] if card != number]
    committed[player] = [number]
    after = {**state, "hands": hands, "committed": committed, "player": player + 1}
    return _decided(after) if player + 1 == len(hands) else after


def _outcome(bids: Bids, tie: str) -> list[int]:
    """Seats that get the prize: one, none, or the tied ones where they share it."""
    best = max(bids)
    top = [seat for seat, bid in enumerate(bids) if bid == best]
    if len(top) == 1 or tie == "split":
        return top
    if tie == "next_unique":
        count = Counter(bids)
        single = [bid for bid in bids if count[bid] == 1]
        return [bids.index(max(single))] if single else []
    return []


def _decided(state: State) -> State:
    """Give the prize away and open the next round, in a state that nobody else holds yet."""
    rules, stake = state["rules"], state["stake"]
    bids = [int(cards[0]) for cards in state["committed"]]
    seats = _outcome(bids, rules["tie"])
    state["played"] = [
        [*played, *card] for played, card in zip(state["played"], state["committed"], strict=True)
    ]
    state["committed"] = [[]] * len(bids)
    state["results"] = [*state["results"], {"prizes": stake, "to": seats}]
    worth = sum(int(prize) for prize in stake)
    if seats:
        share = worth / len(seats) if worth % len(seats) else worth // len(seats)
        points = state["points"].copy()
        for seat in seats:
            points[seat] += share
        state["points"] = points
    if len(seats) == 1:
        taken = state["taken"].copy()
        taken[seats[0]] = taken[seats[0]] + stake
        state["taken"] = taken
    carried = not seats and rules["tie"] == "carry" and bool(state["prizes_left"])
    if len(seats) != 1 and not carried:
        state["gone"] = state["gone"] + stake
    state["stake"] = stake if carried else []
    if not state["prizes_left"]:
        return {**state, "player": TERMINAL, "rewards": _returns(state["points"], rules["returns"])}
    if rules["prize_order"] == "random":
        state["player"] = CHANCE
        return state
    return _next_prize(state)


def _returns(points: list[float], kind: str) -> list[float]:
    if kind == "points":
        return points
    if kind == "difference":
        mean = sum(points) / len(points)
        return [own - mean for own in points]
    points = [round(own, 9) for own in points]  # sums of shares that differ in their last digits
    winners = points.count(max(points))
    losers = len(points) - winners
    if not losers:
        return [0] * len(points)
    return [1 / winners if own == max(points) else -1 / losers for own in points]


def get_rewards(state: State) -> list[float]:
    """What the end of the game paid each player; nothing before.

    Rules: R11, R12.
    """
    rewards: list[float] = state["rewards"]
    return rewards


def get_observations(state: State) -> list[dict[str, Any]]:
    """The prizes and who got them, the own cards, and the bids where they lie open.

    Rules: R14, R15, R16.
    """
    open_bids = not state["rules"]["hidden_bids"]
    seen = {
        "to_move": state["player"],
        "stake": state["stake"],
        "prizes_left": state["prizes_left"],
        "taken": state["taken"],
        "gone": state["gone"],
        "points": state["points"],
        "results": state["results"],
        "has_bid": [bool(cards) for cards in state["committed"]],
        "rules": state["rules"],
        "players": len(state["hands"]),
    }
    return [
        {
            **seen,
            "you": seat,
            "hand": hand,
            "own_bid": state["committed"][seat],
            "own_played": state["played"][seat],
            "played": state["played"] if open_bids else [],
        }
        for seat, hand in enumerate(state["hands"])
    ]


def get_events(state: State, action: str) -> list[list[str]]:
    """Prizes and results for everyone; a bid to its bidder alone until it is turned up.

    Rules: R4, R5, R7, R15, R16.
    """
    player, count = state["player"], len(state["hands"])
    kind, _, number = action.partition(" ")
    after = apply_action(state, action)
    if kind == "prize":
        return [[f"Prize {number} is turned up."] for _ in range(count)]
    name = get_player_name(player)
    told = [[f"{name} lays a bid face down."] for _ in range(count)]
    told[player] = [f"You bid {number} face down."]
    if len(after["results"]) > len(state["results"]):
        result = after["results"][-1]
        prize = " and ".join(result["prizes"])
        shown = []
        if not state["rules"]["hidden_bids"]:
            bids = [f"{get_player_name(s)} {cards[-1]}" for s, cards in enumerate(after["played"])]
            shown.append(f"The bids are {', '.join(bids)}.")
        winners = " and ".join(get_player_name(seat) for seat in result["to"])
        verb = "share" if len(result["to"]) > 1 else "wins"
        shown.append(f"{winners} {verb} prize {prize}." if winners else f"A tie for {prize}.")
        told = [[*seat, *shown] for seat in told]
    return told


def visible(state: State, player_id: int) -> dict[str, str]:
    """Prizes lie open; hands and laid bids are the player's own secret.

    Rules: R14, R15, R16.
    """
    seen = {"prizes_left": "contents", "stake": "contents", "gone": "contents"}
    for seat in range(len(state["hands"])):
        own = "contents" if seat == player_id else "count"
        seen[f"hands.{seat}"] = seen[f"committed.{seat}"] = own
        seen[f"played.{seat}"] = own if state["rules"]["hidden_bids"] else "contents"
        seen[f"taken.{seat}"] = "contents"
    return seen


def resample_state(obs_action_history: list[list[Any]], player_id: int) -> State:
    """A random state with bids of the others that explain every announced result.

    Rules: R7, R15, R16.
    """
    seen = obs_action_history[-1][0]
    rules, count = seen["rules"], seen["players"]
    played = seen["played"]
    if rules["hidden_bids"]:
        played = _explained(seen, player_id)
    numbers = [str(number) for number in range(1, rules["cards"] + 1)]
    hands, committed = [], []
    for seat in range(count):
        left = [card for card in numbers if card not in played[seat]]
        bid = [random.choice(left)] if seen["has_bid"][seat] else []
        committed.append(seen["own_bid"] if seat == player_id else bid)
        hands.append([card for card in left if card not in committed[seat]])
    over = seen["to_move"] == TERMINAL
    keys = ("rules", "prizes_left", "stake", "taken", "gone", "points", "results")
    return {
        **{key: seen[key] for key in keys},
        "player": seen["to_move"],
        "hands": hands,
        "committed": committed,
        "played": played,
        "rewards": _returns(seen["points"], rules["returns"]) if over else [0] * count,
    }


def _explained(seen: dict[str, Any], player_id: int) -> list[list[str]]:
    """Past bids of all seats, drawn among those that give the announced results."""
    own = [int(card) for card in seen["own_played"]]
    others = [seat for seat in range(seen["players"]) if seat != player_id]
    searches = (_searched(seen, player_id, own) for _ in range(SEARCHES))
    rounds = next((found for found in searches if found is not None), None)
    if rounds is None:
        raise RuntimeError(
            f"no bids explain the announced results after {SEARCHES} searches; the history must "
            "hold an observation made by this module"
        )
    spare = {
        seat: [n for n in range(1, seen["rules"]["cards"] + 1) if all(r[seat] != n for r in rounds)]
        for seat in others
    }
    # Exchanges that keep every result mix the search's answer towards an even draw.
    for _ in range(40 * len(rounds)):
        seat, first = random.choice(others), random.randrange(len(rounds))
        second = random.randrange(len(rounds) + len(spare[seat]))
        if second < len(rounds):
            _exchange(seen, rounds, seat, first, second)
            continue
        place = second - len(rounds)
        trial = rounds[first].copy()
        trial[seat] = spare[seat][place]
        if _fits(seen, first, trial):
            spare[seat][place], rounds[first] = rounds[first][seat], trial
    return [[str(bids[seat]) for bids in rounds] for seat in range(seen["players"])]


def _fits(seen: dict[str, Any], index: int, bids: Bids) -> bool:
    return bool(_outcome(bids, seen["rules"]["tie"]) == seen["results"][index]["to"])


def _exchange(seen: dict[str, Any], rounds: list[Bids], seat: int, first: int, second: int) -> None:
    one, two = rounds[first].copy(), rounds[second].copy()
    one[seat], two[seat] = two[seat], one[seat]
    if _fits(seen, first, one) and _fits(seen, second, two):
        rounds[first], rounds[second] = one, two


def _options(
    seen: dict[str, Any], index: int, own_seat: int, own: int, used: list[set[int]]
) -> list[Bids]:
    """Joint bids of one round that give its result, in random order; a sample of many."""
    numbers = range(1, seen["rules"]["cards"] + 1)
    free = [[n for n in numbers if n not in spent] for spent in used]
    free[own_seat] = [own]
    if prod(len(cards) for cards in free) <= 400:  # noqa: PLR2004
        trials = [list(bids) for bids in product(*free)]
        random.shuffle(trials)
    else:
        trials = [[random.choice(cards) for cards in free] for _ in range(400)]
    return [bids for bids in trials if _fits(seen, index, bids)]


def _searched(
    seen: dict[str, Any], player_id: int, own: Bids, nodes: int = 500
) -> list[Bids] | None:
    """One assignment by randomised depth-first search, tightest rounds first, or None."""
    used: list[set[int]] = [set() for _ in range(seen["players"])]
    rounds: list[Bids] = [[] for _ in own]
    budget = nodes

    def fill(left: list[int]) -> bool:
        nonlocal budget
        if not left:
            return True
        ways = {index: _options(seen, index, player_id, own[index], used) for index in left}
        index = min(left, key=lambda i: len(ways[i]))
        for bids in ways[index]:
            budget -= 1
            rounds[index] = bids
            for seat, bid in enumerate(bids):
                used[seat].add(bid)
            if budget >= 0 and fill([other for other in left if other != index]):
                return True
            for seat, bid in enumerate(bids):
                used[seat].discard(bid)
        return False

    return rounds if fill(list(range(len(own)))) else None
