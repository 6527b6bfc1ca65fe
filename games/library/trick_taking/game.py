"""Trick-taking games: whist, hearts, spades and their many relatives, by parameters."""

# Longer than 300 lines because a game module is one self-contained file by contract.

import random
from typing import Any

State = dict[str, Any]
Rules = dict[str, Any]

# fmt: off
GAME: dict[str, Any] = {
    "name": "trick_taking",
    "summary": "Players play one card each to a trick; the best card takes it, and taken tricks "
    "and cards win or cost points.",
    "min_players": 2,
    "max_players": 8,
    "conserved": ["card"],
    "open": [
        "deal", "scores", "bags", "phase", "player", "dealer", "direction", "trump",
        "trump_card", "bids", "leader", "tricks", "taken", "hearts_broken", "trump_broken",
        "rewards"
    ],
    "parameters": {
        "hand_size": {"default": 0, "range": [0, 26],
            "meaning": "Cards dealt to each player; 0 deals the whole pack evenly."},
        "deck": {"default": "standard", "choices": ["standard", "short", "tiny"],
            "meaning": "The pack: standard has 52 cards, short 32 (sevens up), tiny 24 (nines "
            "up)."},
        "ranking": {"default": "ace_high", "choices": ["ace_high", "ace_low", "ten_second"],
            "meaning": "Which cards beat which: aces high, aces low, or the ten second to the "
            "ace."},
        "lowest_wins": {"default": False, "choices": [True, False],
            "meaning": "The lowest card takes the trick instead of the highest."},
        "trump": {"default": "none",
            "choices": ["none", "clubs", "diamonds", "hearts", "spades", "turned", "rotate"],
            "meaning": "The trump suit; turned takes the suit of a card turned up after the "
            "deal, rotate takes clubs, diamonds, hearts and spades in turn, deal by deal."},
        "trump_led": {"default": "any", "choices": ["any", "broken", "never"],
            "meaning": "When trumps may be led: at any time, once a trump was played, or only by"
            " a player who holds nothing else."},
        "must_follow": {"default": True, "choices": [True, False],
            "meaning": "Players must follow the suit led when they can."},
        "must_trump": {"default": False, "choices": [True, False],
            "meaning": "Players who cannot follow suit must play a trump when they can."},
        "lead": {"default": "left_of_dealer", "choices": ["left_of_dealer", "two_of_clubs"],
            "meaning": "Who leads first: the player left of the dealer, or whoever holds the two"
            " of clubs (the lowest club in play), who must lead it."},
        "points_per_trick": {"default": 1, "range": [-10, 10],
            "meaning": "Points for every trick taken."},
        "book": {"default": 0, "range": [0, 12],
            "meaning": "Tricks a side must take before its tricks score (six in whist)."},
        "misere": {"default": False, "choices": [True, False],
            "meaning": "Tricks are to be avoided: points for tricks are lost instead of won."},
        "last_trick_bonus": {"default": 0, "range": [-50, 50],
            "meaning": "Extra points for taking the last trick."},
        "last_trick_multiplier": {"default": 1, "range": [1, 5],
            "meaning": "How many times everything in the last trick counts."},
        "heart_points": {"default": 0, "range": [-10, 10],
            "meaning": "Points for every heart taken; negative when hearts cost points."},
        "club_points": {"default": 0, "range": [-10, 10],
            "meaning": "Points for every club taken; negative when clubs cost points."},
        "diamond_points": {"default": 0, "range": [-10, 10],
            "meaning": "Points for every diamond taken; negative when diamonds cost points."},
        "spade_points": {"default": 0, "range": [-10, 10],
            "meaning": "Points for every spade taken; negative when spades cost points."},
        "queen_of_spades_points": {"default": 0, "range": [-30, 30],
            "meaning": "Points for taking the queen of spades."},
        "jack_of_diamonds_points": {"default": 0, "range": [-30, 30],
            "meaning": "Points for taking the jack of diamonds."},
        "card_points": {"default": "none", "choices": ["none", "ace_ten"],
            "meaning": "Points in all suits: ace_ten counts ace 11, ten 10, king 4, queen 3, "
            "jack 2."},
        "shoot_the_moon": {"default": False, "choices": [True, False],
            "meaning": "Taking every penalty card gives the penalty to all the others instead."},
        "first_trick_safe": {"default": False, "choices": [True, False],
            "meaning": "No penalty card may be played to the first trick unless nothing else "
            "can."},
        "hearts_broken": {"default": False, "choices": [True, False],
            "meaning": "Hearts may not be led before hearts are broken."},
        "queen_breaks_hearts": {"default": False, "choices": [True, False],
            "meaning": "Playing the queen of spades breaks hearts as well."},
        "passing": {"default": 0, "range": [0, 4],
            "meaning": "Cards that every player passes on before play."},
        "pass_direction": {"default": "left",
            "choices": ["left", "right", "across", "rotate", "random"],
            "meaning": "Where passed cards go; rotate goes left, right, across and keep by "
            "turns, random draws one of them for each deal."},
        "bidding": {"default": "none", "choices": ["none", "exact", "spades"],
            "meaning": "exact: say how many tricks you will take and score for exactly that; "
            "spades: contracts with nil bids and bags."},
        "bid_bonus": {"default": 10, "range": [0, 100],
            "meaning": "Points for taking exactly the tricks that were bid (bidding exact)."},
        "bid_penalty": {"default": 0, "range": [0, 100],
            "meaning": "Points lost for missing the bid (bidding exact)."},
        "last_bidder_bound": {"default": False, "choices": [True, False],
            "meaning": "The last bidder may not make the bids add up to the number of tricks."},
        "contract_points": {"default": 10, "range": [1, 20],
            "meaning": "Points per trick bid, won or lost with the contract (bidding spades)."},
        "nil_points": {"default": 100, "range": [0, 200],
            "meaning": "Points won or lost with a bid of nil (bidding spades)."},
        "bag_limit": {"default": 10, "range": [0, 20],
            "meaning": "Overtricks that bring a penalty (bidding spades); 0 for none."},
        "bag_penalty": {"default": 100, "range": [0, 200],
            "meaning": "Points lost each time the overtricks reach the limit (bidding spades)."},
        "partnerships": {"default": False, "choices": [True, False],
            "meaning": "Players sitting opposite each other are partners and share all points."},
        "deals": {"default": 1, "range": [1, 20],
            "meaning": "Number of deals when no target score is set."},
        "target_score": {"default": 0, "range": [0, 1000],
            "meaning": "The match ends when someone has won or lost this many points; 0 plays a "
            "fixed number of deals."},
        "max_deals": {"default": 12, "range": [1, 50],
            "meaning": "The most deals that are played towards a target score."},
    },
}
# fmt: on

ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "turned": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "passing.*": {"component": "card", "owner": "each", "ordered": False},
    "trick": {"component": "card", "owner": "table", "ordered": True},
    "tricks.*.cards": {"component": "card", "owner": "table", "ordered": True},
    "passed.*": {"component": "mark", "owner": "each", "ordered": True},
}

SUITS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}
SUIT_NAMES = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
SUIT_POINTS = {"C": "club_points", "D": "diamond_points", "H": "heart_points", "S": "spade_points"}
RANKS = {"standard": "23456789TJQKA", "short": "789TJQKA", "tiny": "9TJQKA"}
STRENGTH = {
    "ace_high": {rank: i for i, rank in enumerate("23456789TJQKA")},
    "ace_low": {rank: i for i, rank in enumerate("A23456789TJQK")},
    "ten_second": {rank: i for i, rank in enumerate("23456789JQKTA")},
}
ACE_TEN = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}
CHANCE, TERMINAL = -1, -4
PUBLIC = (
    *("num_players", "twists", "sides", "deal", "scores", "bags", "phase", "player", "dealer"),
    *("direction", "turned", "trump", "trump_card", "bids", "leader", "trick", "tricks", "taken"),
    *("hearts_broken", "trump_broken", "rewards"),
)


def initial_state(num_players: int, **parameters: object) -> State:
    """Start a match: check the parameters and prepare the first deal.

    Rules: R1, R2, R3, R4, R5.
    """
    rules = _effective(num_players, parameters)
    sides = num_players // 2 if rules["partnerships"] else num_players
    state = {
        "num_players": num_players,
        "rules": rules,
        "twists": {k: v for k, v in rules.items() if k == "whole_pack" or v != _plain(k)},
        "sides": sides,
        "deal": 0,
        "scores": [0] * num_players,
        "bags": [0] * sides,
        "rewards": [0] * num_players,
    }
    return _begin_deal(state)


def _plain(name: str) -> object:
    spec = GAME["parameters"][name]
    if "choices" in spec:
        return False if False in spec["choices"] else spec["choices"][0]
    return max(0, spec["range"][0])


def _effective(num_players: int, parameters: dict[str, object]) -> Rules:
    known = GAME["parameters"]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ValueError(f"unknown parameters {unknown}; known: {sorted(known)}")
    low, high = GAME["min_players"], GAME["max_players"]
    if type(num_players) is not int or not low <= num_players <= high:
        raise ValueError(f"num_players is {num_players!r}; required: {low} to {high}")
    rules: Rules = {name: parameters.get(name, s["default"]) for name, s in known.items()}
    for name, value in rules.items():
        choices, bounds = known[name].get("choices"), known[name].get("range", [0, 0])
        if choices and not any(value == c and type(value) is type(c) for c in choices):
            raise ValueError(f"{name} is {value!r}; required: one of {choices}")
        if not choices and not (type(value) is int and bounds[0] <= value <= bounds[1]):
            raise ValueError(f"{name} is {value!r}; required: a whole number in {bounds}")
    pack = 4 * len(RANKS[rules["deck"]])
    rules["whole_pack"] = rules["hand_size"] == 0 or rules["lead"] == "two_of_clubs"
    rules["hand_size"] = rules["hand_size"] or pack // num_players
    _require_possible(rules, num_players, pack)
    return rules


def _require_possible(rules: Rules, num_players: int, pack: int) -> None:
    size = rules["hand_size"]
    if size * num_players > pack:
        raise ValueError(
            f"hand_size {size} for {num_players} players needs {size * num_players} cards; the "
            f"{rules['deck']} pack has {pack}; deal at most {pack // num_players}"
        )
    if rules["passing"] >= size:
        raise ValueError(f"passing is {rules['passing']}; required: less than hand_size {size}")
    if rules["partnerships"] and num_players not in (4, 6, 8):
        raise ValueError(f"partnerships need 4, 6 or 8 players, not {num_players}")
    clubs = [card for card in _pack(rules, num_players) if card[1] == "C"]
    if rules["lead"] == "two_of_clubs" and not clubs:
        raise ValueError("lead 'two_of_clubs' needs a club to be dealt; deal more than 2 cards")


def _pack(rules: Rules, num_players: int) -> list[str]:
    order = STRENGTH[rules["ranking"]]
    ranks = sorted(RANKS[rules["deck"]], key=order.__getitem__)
    cards = [rank + suit for suit in "CDHS" for rank in ranks]
    if not rules["whole_pack"]:
        return cards
    surplus = len(cards) - rules["hand_size"] * num_players
    low = sorted(cards, key=lambda c: (order[c[0]], "DCSH".index(c[1])))[:surplus]
    return [c for c in cards if c not in low]


def _begin_deal(state: State) -> State:
    rules, count = state["rules"], state["num_players"]
    dealer, way = (state["deal"] - 1) % count, rules["pass_direction"]
    directions = _directions(count)
    trump = SUITS.get(rules["trump"])
    if rules["trump"] == "rotate":
        trump = "CDHS"[state["deal"] % 4]
    if way == "rotate":
        way = directions[state["deal"] % len(directions)]
    nobody: list[list[str]] = [[] for _ in range(count)]
    # fmt: off
    state |= {
        "phase": "direction" if rules["passing"] and way == "random" else "deal",
        "direction": way if rules["passing"] and way != "random" else "keep",
        "player": CHANCE, "dealer": dealer, "leader": (dealer + 1) % count,
        "deck": _pack(rules, count), "turned": [], "trump": trump,
        "trump_card": None, "hands": nobody, "passing": nobody, "passed": nobody,
        "bids": [None] * count, "trick": [], "tricks": [], "taken": [0] * count,
        "hearts_broken": False, "trump_broken": False,
    }
    # fmt: on
    return state


def _directions(count: int) -> list[str]:
    return {2: ["left", "keep"], 3: ["left", "right", "keep"]}.get(
        count, ["left", "right", "across", "keep"]
    )


def _target(seat: int, direction: str, count: int) -> int:
    step = {"left": 1, "right": count - 1, "across": count // 2, "keep": 0}[direction]
    return (seat + step) % count


def _giver(seat: int, direction: str, count: int) -> int:
    return next(g for g in range(count) if _target(g, direction, count) == seat)


def get_current_player(state: State) -> int:
    """The seat to act; -1 while cards are dealt or turned, -4 at the end.

    Rules: R6, R10, R12, R14, R25.
    """
    player: int = state["player"]
    return player


def get_player_name(player_id: int) -> str:
    """Display names count from 1.

    Rules: R1.
    """
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """What the player to act may do: deal, pass a card, bid, or play a card.

    Rules: R6, R7, R10, R12, R13, R15, R16, R17, R18, R19, R20.
    """
    phase = state["phase"]
    if phase == "play":
        hand = state["hands"][state["player"]]
        return ["play " + card for card in _playable(state, hand, state["trick"])]
    if phase == "deal":
        return ["deal " + card for card in state["deck"]]
    if phase == "pass":
        return ["pass " + card for card in state["hands"][state["player"]]]
    if phase == "bid":
        return [f"bid {number}" for number in _open_bids(state)]
    if phase == "turn":
        return ["turn " + card for card in state["deck"]]
    if phase == "direction":
        return ["direction " + name for name in _directions(state["num_players"])]
    return []


def _playable(state: State, hand: list[str], trick: list[str]) -> list[str]:
    rules = state["rules"]
    first = not state["tricks"]
    if trick:
        if rules["must_follow"]:
            suit = trick[0][1]
            same = [c for c in hand if c[1] == suit]
            if same:
                return same
        options = hand
        if rules["must_trump"]:
            options = [c for c in options if c[1] == state["trump"]] or options
    else:
        options = hand
        if first and rules["lead"] == "two_of_clubs":
            order = STRENGTH[rules["ranking"]]
            clubs = [c for c in hand if c[1] == "C"]
            return [min(clubs, key=lambda c: order[c[0]])]
        if rules["hearts_broken"] and not state["hearts_broken"]:
            options = [c for c in options if c[1] != "H"] or options
        limit = rules["trump_led"]
        if limit != "any" and not (limit == "broken" and state["trump_broken"]):
            options = [c for c in options if c[1] != state["trump"]] or options
    if first and rules["first_trick_safe"]:
        options = [c for c in options if not _is_penalty(rules, c)] or options
    return options


def _is_penalty(rules: Rules, card: str) -> bool:
    return any(value < 0 for value in _card_values(rules, card))


def _open_bids(state: State) -> list[int]:
    rules, bids, seat = state["rules"], state["bids"], state["player"]
    size = rules["hand_size"]
    if rules["bidding"] == "spades":
        partner = bids[(seat + state["sides"]) % state["num_players"]] or 0
        return list(range(size + 1 - partner))
    forbidden = -1
    if rules["last_bidder_bound"] and bids.count(None) == 1:
        forbidden = size - sum(bid for bid in bids if bid is not None)
    return [number for number in range(size + 1) if number != forbidden]


def apply_action(state: State, action: str) -> State:
    """The state after a card is dealt, turned, passed or played, or a bid is made.

    Rules: R6, R8, R11, R12, R21, R22, R23, R24, R25, R26.
    """
    if action not in get_legal_actions(state):
        raise ValueError(f"{action!r} is not legal; legal: {get_legal_actions(state)}")
    after = {**state, "rewards": [0] * state["num_players"]}
    kind, _, word = action.partition(" ")
    if kind == "play":
        return _play(after, word)
    if kind == "deal":
        return _deal(after, word)
    if kind == "pass":
        return _pass(after, word)
    if kind == "bid":
        return _bid(after, int(word))
    if kind == "direction":
        return {**after, "direction": word, "phase": "deal"}
    after["deck"] = _without(state["deck"], word)
    after |= {"turned": [word], "trump": word[1], "trump_card": word}
    return _begin_phase(after, "pass")


def _without(cards: list[str], card: str) -> list[str]:
    rest = list(cards)
    rest.remove(card)
    return rest


def _sorted(cards: list[str]) -> list[str]:
    order = STRENGTH["ace_high"]
    return sorted(cards, key=lambda c: (c[1], order[c[0]]))


def _put(lists: list[list[str]], index: int, cards: list[str]) -> list[list[str]]:
    copy = list(lists)
    copy[index] = cards
    return copy


def _next_dealt(state: State) -> int:
    dealt = sum(len(hand) for hand in state["hands"])
    seat: int = (state["dealer"] + 1 + dealt) % state["num_players"]
    return seat


def _deal(after: State, card: str) -> State:
    hands, seat = after["hands"], _next_dealt(after)
    after["deck"] = _without(after["deck"], card)
    after["hands"] = hands = _put(hands, seat, _sorted([*hands[seat], card]))
    if any(len(hand) < after["rules"]["hand_size"] for hand in hands):
        return after
    if after["rules"]["trump"] == "turned":
        if after["deck"]:
            return {**after, "phase": "turn"}
        after |= {"trump": card[1], "trump_card": card}
    return _begin_phase(after, "pass")


def _begin_phase(after: State, phase: str) -> State:
    if phase == "pass" and after["direction"] == "keep":
        phase = "bid"
    if phase == "bid" and after["rules"]["bidding"] == "none":
        phase = "play"
    if phase == "play" and after["rules"]["lead"] == "two_of_clubs":
        lowest = _lowest_club(after)
        after["leader"] = next(s for s, hand in enumerate(after["hands"]) if lowest in hand)
    first = after["leader"] if phase == "play" else (after["dealer"] + 1) % after["num_players"]
    return {**after, "phase": phase, "player": first}


def _lowest_club(state: State) -> str:
    return next(c for c in _pack(state["rules"], state["num_players"]) if c[1] == "C")


def _pass(after: State, card: str) -> State:
    seat, count = after["player"], after["num_players"]
    after["hands"] = _put(after["hands"], seat, _without(after["hands"][seat], card))
    after["passing"] = _put(after["passing"], seat, [*after["passing"][seat], card])
    if len(after["passing"][seat]) < after["rules"]["passing"]:
        return after
    if seat != after["dealer"]:
        return {**after, "player": (seat + 1) % count}
    hands = list(after["hands"])
    for giver, cards in enumerate(after["passing"]):
        taker = _target(giver, after["direction"], count)
        hands[taker] = _sorted(hands[taker] + cards)
    after |= {"hands": hands, "passed": after["passing"], "passing": [[] for _ in hands]}
    return _begin_phase(after, "bid")


def _bid(after: State, number: int) -> State:
    seat = after["player"]
    after["bids"] = [number if s == seat else bid for s, bid in enumerate(after["bids"])]
    after["player"] = (seat + 1) % after["num_players"]
    return after if None in after["bids"] else _begin_phase(after, "play")


def _play(after: State, card: str) -> State:
    seat, count = after["player"], after["num_players"]
    after["hands"] = _put(after["hands"], seat, _without(after["hands"][seat], card))
    after["trick"] = trick = [*after["trick"], card]
    _note_broken(after, card)
    if len(trick) < count:
        after["player"] = (seat + 1) % count
        return after
    winner = _winner(after["rules"], after["trump"], after["leader"], trick)
    done = {"leader": after["leader"], "winner": winner, "cards": trick}
    taken = list(after["taken"])
    taken[winner] += 1
    after |= {"tricks": [*after["tricks"], done], "trick": [], "taken": taken}
    after["leader"] = after["player"] = winner
    return after if after["hands"][winner] else _end_deal(after)


def _note_broken(state: State, card: str) -> None:
    if card[1] == "H" or (card == "QS" and state["rules"]["queen_breaks_hearts"]):
        state["hearts_broken"] = True
    if card[1] == state["trump"]:
        state["trump_broken"] = True


def _winner(rules: Rules, trump: str | None, leader: int, trick: list[str]) -> int:
    order = STRENGTH[rules["ranking"]]
    sign = -1 if rules["lowest_wins"] else 1
    suit = trump if trump and any(card[1] == trump for card in trick) else trick[0][1]
    best = max((sign * order[card[0]], -i) for i, card in enumerate(trick) if card[1] == suit)
    return (leader - best[1]) % len(trick)


def _end_deal(after: State) -> State:
    rules, sides = after["rules"], after["sides"]
    points, bags = _deal_points(after)
    rewards = [points[seat % sides] for seat in range(after["num_players"])]
    scores = [score + reward for score, reward in zip(after["scores"], rewards, strict=True)]
    after |= {"rewards": rewards, "scores": scores, "bags": bags}
    played, target = after["deal"] + 1, rules["target_score"]
    reached = target and max(map(abs, scores)) >= target
    if reached or played >= rules["max_deals" if target else "deals"]:
        return {**after, "phase": "end", "player": TERMINAL}
    return _begin_deal({**after, "deal": played})


def _deal_points(state: State) -> tuple[list[int], list[int]]:
    rules, sides, tricks = state["rules"], state["sides"], state["tricks"]
    counted, plus, penalty, caught = ([0] * sides for _ in range(4))
    for index, trick in enumerate(tricks):
        times = rules["last_trick_multiplier"] if index == len(tricks) - 1 else 1
        side = trick["winner"] % sides
        counted[side] += times
        for card in trick["cards"]:
            for value in _card_values(rules, card):
                if value < 0:
                    penalty[side] += times * value
                else:
                    plus[side] += times * value
            caught[side] += _is_penalty(rules, card)
    if rules["shoot_the_moon"]:
        pack = _pack(rules, state["num_players"])
        total = sum(_is_penalty(rules, card) for card in pack)
        if total and total in caught:
            shooter = caught.index(total)
            cost = penalty[shooter]
            penalty = [0 if side == shooter else cost for side in range(sides)]
    worth = -rules["points_per_trick"] if rules["misere"] else rules["points_per_trick"]
    points = [
        plus[side] + penalty[side] + worth * max(0, counted[side] - rules["book"])
        for side in range(sides)
    ]
    points[tricks[-1]["winner"] % sides] += rules["last_trick_bonus"]
    return _with_bids(state, points)


def _card_values(rules: Rules, card: str) -> list[int]:
    values = [rules[SUIT_POINTS[card[1]]]]
    if card == "QS":
        values.append(rules["queen_of_spades_points"])
    elif card == "JD":
        values.append(rules["jack_of_diamonds_points"])
    if rules["card_points"] == "ace_ten":
        values.append(ACE_TEN.get(card[0], 0))
    return values


def _with_bids(state: State, points: list[int]) -> tuple[list[int], list[int]]:
    rules, sides, bids, taken = state["rules"], state["sides"], state["bids"], state["taken"]
    bags = list(state["bags"])
    if rules["bidding"] == "none":
        return points, bags
    for side in range(sides):
        seats = range(side, state["num_players"], sides)
        bid, won = sum(bids[s] for s in seats), sum(taken[s] for s in seats)
        if rules["bidding"] == "exact":
            points[side] += rules["bid_bonus"] if won == bid else -rules["bid_penalty"]
            continue
        for seat in seats:
            if bids[seat] == 0:
                points[side] += -rules["nil_points"] if taken[seat] else rules["nil_points"]
        if won < bid:
            points[side] -= rules["contract_points"] * bid
            continue
        points[side] += rules["contract_points"] * bid + won - bid
        bags[side] += won - bid
        if rules["bag_limit"]:
            times, bags[side] = divmod(bags[side], rules["bag_limit"])
            points[side] -= rules["bag_penalty"] * times
    return points, bags


def get_rewards(state: State) -> list[float]:
    """The points of the deal that has just ended; zeros in every other state.

    Rules: R22, R23, R24.
    """
    return list(state["rewards"])


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own cards, own passes, and all that lies open on the table.

    Rules: R27, R28, R29.
    """
    count, passed = state["num_players"], state["passed"]
    shared = {key: state[key] for key in PUBLIC}
    shared["hand_counts"] = [len(hand) for hand in state["hands"]]
    shared["passing_counts"] = [len(cards) for cards in state["passing"]]
    shared["deck_count"] = len(state["deck"])
    views = []
    for seat, hand in enumerate(state["hands"]):
        own = {"seat": seat, "hand": hand, "passing": state["passing"][seat]}
        received = passed[_giver(seat, state["direction"], count)]
        views.append({**shared, **own, "passed": passed[seat], "received": received})
    return views


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives: own cards by name, hidden ones only as happening.

    Rules: R6, R8, R10, R11, R12, R15, R21, R27.
    """
    count, phase, word = state["num_players"], state["phase"], action.partition(" ")[2]
    actor = _next_dealt(state) if phase == "deal" else state["player"]
    name = get_player_name(actor)
    suit = SUIT_NAMES.get(word[-1])
    hidden, own = {
        "direction": (f"Passing in this deal: {word}.",) * 2,
        "deal": (f"{name} is dealt a card.", f"You are dealt {word}."),
        "turn": (f"{word} is turned up: {suit} are trump.",) * 2,
        "pass": (f"{name} passes a card.", f"You pass {word}."),
        "bid": (f"{name} bids {word}.",) * 2,
        "play": (f"{name} plays {word}.",) * 2,
    }[phase]
    events = [[own if seat == actor else hidden] for seat in range(count)]
    after = apply_action(state, action)
    if phase == "deal" and after["phase"] != "deal" and after["trump_card"] == word:
        _tell(events, f"The last card is {word}: {suit} are trump.")
    if phase == "pass" and after["phase"] != "pass":
        for giver, cards in enumerate(after["passed"]):
            taker = _target(giver, state["direction"], count)
            events[taker].append(f"You receive {', '.join(cards)}.")
    if phase == "play" and len(state["trick"]) == count - 1:
        trick = [*state["trick"], word]
        winner = _winner(state["rules"], state["trump"], state["leader"], trick)
        _tell(events, f"{get_player_name(winner)} takes the trick.")
        if after["player"] < 0:
            for seat, points in enumerate(after["rewards"]):
                _tell(events, f"{get_player_name(seat)} scores {points} in this deal.")
    return events


def _tell(events: list[list[str]], sentence: str) -> None:
    for heard in events:
        heard.append(sentence)


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own hand and the table are open; other hands and the undealt cards only by number.

    Rules: R27, R28.
    """
    count = state["num_players"]
    giver = _giver(player_id, state["direction"], count)
    paths = {"deck": "count", "turned": "contents", "trick": "contents"}
    for seat in range(count):
        own = "contents" if seat == player_id else "count"
        paths |= {f"hands.{seat}": own, f"passing.{seat}": own}
        paths[f"passed.{seat}"] = "contents" if seat in (player_id, giver) else "count"
    for index in range(len(state["tricks"])):
        paths[f"tricks.{index}.cards"] = "contents"
    return paths


def resample_state(obs_action_history: list[Any], player_id: int) -> State:
    """A full state that fits what the player saw, near uniform over all deals that fit.

    Cards that a player has shown not to hold (by not following suit, by leading or discarding
    what only an emptier hand may) are not given to that player; passed cards stay known.

    Rules: R16, R17, R18, R19, R20, R27, R28.
    """
    seen = obs_action_history[-1][0]
    state = {key: seen[key] for key in PUBLIC}
    state["rules"] = rules = {n: seen["twists"].get(n, _plain(n)) for n in GAME["parameters"]}
    rules["whole_pack"] = seen["twists"]["whole_pack"]
    count, pack = seen["num_players"], _pack(rules, seen["num_players"])
    open_cards = {c for done in seen["tricks"] for c in done["cards"]}.union(
        seen["trick"], seen["turned"], seen["hand"], seen["passing"]
    )
    unseen = [card for card in pack if card not in open_cards]
    room = [a + b for a, b in zip(seen["hand_counts"], seen["passing_counts"], strict=True)]
    room[player_id] = 0
    held = _deal_out(_holders(state, seen, unseen), [*room, seen["deck_count"]])
    hands, passing = held[:count], []
    for seat, cards in enumerate(hands):
        random.shuffle(cards)
        cut = seen["passing_counts"][seat]
        passing.append(cards[:cut])
        hands[seat] = _sorted(cards[cut:])
    hands[player_id], passing[player_id] = seen["hand"], seen["passing"]
    undealt = set(held[count])
    state |= {"hands": hands, "passing": passing, "deck": [c for c in pack if c in undealt]}
    state["passed"] = _sample_passed(state, seen)
    return state


def _holders(state: State, seen: dict[str, Any], unseen: list[str]) -> dict[str, list[int]]:
    me, count, dealer = seen["seat"], seen["num_players"], seen["dealer"]
    barred = _barred(state, me, unseen)
    sizes = zip(seen["hand_counts"], seen["passing_counts"], strict=True)
    seats = [seat for seat, size in enumerate(sizes) if any(size) and seat != me]
    deck = [count] if seen["deck_count"] else []
    holders = {c: [s for s in seats if c not in barred[s]] + deck for c in unseen}
    taker = _target(me, seen["direction"], count)
    holders |= {card: [taker] for card in seen["passed"] if card in holders}
    shown = seen["trump_card"]
    if shown in holders and shown not in seen["passed"]:
        receiver = _target(dealer, seen["direction"], count) if seen["passed"] else dealer
        holders[shown] = [s for s in {dealer, receiver} if s in holders[shown]]
    unled = seen["phase"] == "play" and not seen["tricks"] and not seen["trick"]
    if unled and state["rules"]["lead"] == "two_of_clubs" and seen["leader"] != me:
        holders[_lowest_club(state)] = [seen["leader"]]
    return holders


def _barred(state: State, me: int, unseen: list[str]) -> list[set[str]]:
    count, tricks = state["num_players"], state["tricks"]
    then = {**state, "tricks": [], "hearts_broken": False, "trump_broken": False}
    barred: list[set[str]] = [set() for _ in range(count)]
    for done in [*tricks, {"leader": state["leader"], "cards": state["trick"]}]:
        for place, card in enumerate(done["cards"]):
            seat, trick = (done["leader"] + place) % count, done["cards"][:place]
            if seat != me and card not in _playable(then, [card, *unseen], trick):
                # The rules prefer some cards to others, so each unseen card is judged alone.
                worse = {c for c in unseen if card in _playable(then, [card, c], trick)}
                barred[seat].update(c for c in unseen if c not in worse)
            _note_broken(then, card)
        then["tricks"] = tricks
    return barred


def _deal_out(holders: dict[str, list[int]], room: list[int]) -> list[list[str]]:
    where: dict[str, int] = {}
    free = list(room)
    cards = sorted(holders, key=lambda card: (len(holders[card]), random.random()))
    everybody = sum(size > 0 for size in room)
    bound = [card for card in cards if len(holders[card]) < everybody]
    for card in bound:
        slots = [h for h in holders[card] for _ in range(free[h])]
        where[card] = random.choice(slots) if slots else _make_room(card, holders, where, free)
        free[where[card]] -= 1
    slots = [h for h, size in enumerate(free) for _ in range(size)]
    random.shuffle(slots)
    where |= zip(cards[len(bound) :], slots, strict=True)
    for card in bound * 3:  # swaps that both holders allow: a walk over all deals that fit
        other = cards[int(random.random() * len(cards))]
        if where[other] in holders[card] and where[card] in holders[other]:
            where[card], where[other] = where[other], where[card]
    piles: list[list[str]] = [[] for _ in room]
    for card, holder in where.items():
        piles[holder].append(card)
    return piles


def _make_room(
    card: str, holders: dict[str, list[int]], where: dict[str, int], free: list[int]
) -> int:
    # An augmenting path: each holder on it hands a card on, until one has room.
    came: dict[int, tuple[int, str]] = {h: (-1, card) for h in holders[card]}
    queue = list(came)
    for holder in queue:
        if free[holder]:
            free[holder] -= 1
            last = holder
            while came[last][0] >= 0:
                last, moved = came[last]
                where[moved] = holder
                holder = last
            free[last] += 1
            return last
        for other, place in where.items():
            for further in holders[other] if place == holder else ():
                if further not in came:
                    came[further] = (holder, other)
                    queue.append(further)
    raise ValueError(f"no deal of the unseen cards fits what was seen: nobody can hold {card}")


def _sample_passed(state: State, seen: dict[str, Any]) -> list[list[str]]:
    count, me, passed = seen["num_players"], seen["seat"], []
    rounds = [*seen["tricks"], {"leader": seen["leader"], "cards": seen["trick"]}]
    for giver in range(count):
        taker = _target(giver, seen["direction"], count)
        if giver == me or not seen["passed"]:
            passed.append(seen["passed"])
        elif taker == me:
            passed.append(seen["received"])
        else:
            places = [(taker - done["leader"]) % count for done in rounds]
            pairs = zip(rounds, places, strict=True)
            held = [done["cards"][at] for done, at in pairs if at < len(done["cards"])]
            passed.append(random.sample([*held, *state["hands"][taker]], len(seen["passed"])))
    return passed
