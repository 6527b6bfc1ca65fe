"""The Crew: The Quest for Planet Nine, its fifty missions, for three to five players.

Readings, where the printed rules leave something open or a table talks freely:

- What the crew decides together, its commander decides here: swapping or moving tokens (missions
  23 and 40), the roles of mission 50, the distress signal, and the task that five players may hand
  on from mission 25. In mission 50 the commander may name himself.
- Before each trick the seats may speak once round, from the leader; at a table in any order. A
  card that is the only one of its colour is told as the only one, never as highest or lowest.
- The commander names no one but another player in missions 5, 20, 27, 33 and 37. In missions 11
  and 41 he may name himself: nothing forbids it. In mission 11 he does so after the draft.
- Mission 12: a card that lies open in front of its owner is not drawn.
- Mission 17 ends, as others do, when the last task is fulfilled: later nines do no harm.
- With three players one card stays unplayed. A mission that needs it is lost.
- The number of attempts is not counted; a match is one attempt. The game for two is left out.
"""

# More than 300 lines because a game module is one self-contained source by contract.

import random
from typing import Any

State = dict[str, Any]

CHANCE, TERMINAL = -1, -4
COLOURS = {"P": "pink", "B": "blue", "G": "green", "Y": "yellow"}
CARDS = [colour + value for colour in COLOURS for value in "123456789"]
PACK = [*CARDS, "R1", "R2", "R3", "R4"]
CHANCES = ("first", "deal", "task", "draw")
ANSWERS = {"sick": ["good", "bad"], "roles": ["first", "last", "rest"]}

# A mission: number of tasks, tokens in the order of the tasks, and what is special about it.
TOKENS = ("1", "2", "3", "4", "5", "O", ">", ">>", ">>>", ">>>>")
# fmt: off
MISSIONS = [line.split() for line in (
    "1", "2", "2 1 2", "3", "0 sick",
    "3 > >> dead", "3 O", "3 1 2 3", "0 one_1", "4",
    "4 1 muted", "4 O drawing", "0 rockets", "4 > >> >>> dead", "4 1 2 3 4",
    "0 nines", "2 nines", "5 from_2", "5 1 from_3", "2 decision",
    "5 1 2 dead", "5 > >> >>> >>>>", "5 1 2 3 4 5 swap", "6 distribution", "6 > >> dead",
    "0 two_1", "3 decision", "6 1 O from_3", "0 even dead", "6 > >> >>> from_2",
    "6 1 2 3", "7 distribution", "0 single", "0 even frame", "7 > >> >>>",
    "7 1 2 distribution", "4 decision", "8 from_3", "8 > >> >>> dead", "8 1 2 3 move",
    "0 ends", "9", "9 distribution", "0 rockets rising", "9 > >> >>>",
    "0 pink", "10", "3 O finale", "10 > >> >>>", "0 roles",
)]

GAME: dict[str, Any] = {
    "name": "the_crew",
    "summary": "All win or lose together: the right players must win the right tricks, and hardly "
    "a word is allowed.",
    "min_players": 3,
    "max_players": 5,
    "conserved": ["card"],
    "best_score": 1,
    "open": [
        "steps", "leader", "commander_seat", "row", "tasks", "tokens", "done", "replies", "named",
        "signal", "radio", "result",
    ],
    "parameters": {
        "mission": {"default": 1, "range": [1, 50], "meaning": "Which of the fifty missions."},
        "radio": {"default": True, "choices": [True, False],
            "meaning": "Each player may show one card before a trick, once in the mission."},
        "distress": {"default": False, "choices": [True, False],
            "meaning": "The crew may send a distress signal: each then passes a card on."},
    },
}
# fmt: on

ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
    "moving.*": {"component": "card", "owner": "each", "ordered": False},
    "gone.*": {"component": "mark", "owner": "each", "ordered": True},
    "trick": {"component": "card", "owner": "table", "ordered": True},
    "tricks.*.cards": {"component": "card", "owner": "table", "ordered": True},
}
PUBLIC = ("rules", *(name for name in GAME["open"] if name != "steps"), "trick", "tricks")


def initial_state(num_players: int, **parameters: object) -> State:
    """The table before the first card is dealt.

    Raises:
        ValueError: If a parameter is unknown or out of range.

    Rules: R1, R2, R5.
    """
    known = GAME["parameters"]
    unknown = sorted(parameters.keys() - known.keys())
    if unknown:
        raise ValueError(f"unknown parameter {', '.join(unknown)}; known: {', '.join(known)}")
    least, most = GAME["min_players"], GAME["max_players"]
    if type(num_players) is not int or not least <= num_players <= most:
        raise ValueError(f"num_players is {num_players!r}; allowed: {least} to {most}")
    rules: dict[str, Any] = {n: parameters.get(n, entry["default"]) for n, entry in known.items()}
    for name, entry in known.items():
        allowed = entry.get("choices") or range(entry["range"][0], entry["range"][1] + 1)
        if type(rules[name]) is not type(entry["default"]) or rules[name] not in allowed:
            raise ValueError(f"{name} is {rules[name]!r}; allowed: {allowed}")
    nobody: list[list[str]] = [[] for _ in range(num_players)]
    # fmt: off
    return {
        "rules": rules, "steps": _steps(rules, num_players), "leader": 0, "commander_seat": -1,
        "deck": PACK, "hands": nobody, "moving": nobody, "gone": nobody, "row": [], "tasks": nobody,
        "tokens": {}, "done": [], "replies": nobody, "named": [], "signal": "", "radio": nobody,
        "trick": [], "tricks": [], "result": "",
    }
    # fmt: on


def _steps(rules: dict[str, Any], count: int) -> list[list[Any]]:
    """What happens before the first trick: kinds of step, and seats counted from the leader."""
    number, *marks = MISSIONS[rules["mission"] - 1]
    tasks, name = int(number), ["name", 0]
    ask: list[list[Any]] = [["reply", offset] for offset in range(1, count)]
    draws: list[list[Any]] = [["task", 0]] * tasks
    steps: list[list[Any]] = [["first", 0]] if len(PACK) % count else []
    steps += [["deal", place % count] for place in range(len(PACK))]
    if "decision" in marks:
        steps += [*ask, name, *draws]
    elif "distribution" in marks:
        steps += [["task", 0], *ask, ["give", 0]] * tasks
    else:
        steps += [*draws, *([mark, 0] for mark in marks if mark in ("swap", "move"))]
        steps += [["take", place % count] for place in range(tasks)]
    if {"sick", "single", "ends", "roles"}.intersection(marks):
        steps += [*ask, name]
    if {"muted", "roles"}.intersection(marks):
        steps += [name]
    if tasks and count == 5 and rules["mission"] >= 25:  # noqa: PLR2004 - R13
        steps += [["hand", 0]]
    return steps + ([["signal", 0]] if rules["distress"] else [])


def _marks(state: State) -> list[str]:
    return MISSIONS[state["rules"]["mission"] - 1]


def _seat(state: State) -> int:
    """Whom the next step concerns."""
    return int((state["leader"] + state["steps"][0][1]) % len(state["hands"]))


def get_current_player(state: State) -> int:
    """Whose turn it is; chance deals, and draws tasks.

    Rules: R3, R4, R5, R8, R11, R16.
    """
    if state["result"]:
        return TERMINAL
    return CHANCE if state["steps"][0][0] in CHANCES else _seat(state)


def get_player_name(player_id: int) -> str:
    """A display name, counted from one, as in the actions."""
    return {CHANCE: "chance", TERMINAL: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """What may happen next.

    Rules: R3, R4, R5, R7, R8, R9, R10, R11, R13, R14, R15, R17, R18, R22.
    """
    if state["result"]:
        return []
    kind, seat = state["steps"][0][0], _seat(state)
    hand, row = state["hands"][seat], state["row"]
    given = {"deal": state["deck"], "take": row, "signal": ["none", "left", "right"]}
    if kind == "talk":
        return ["silent", *_shown(state, hand)]
    if kind == "task":
        taken = {card for own in (row, *state["tasks"]) for card in own}
        options = [card for card in CARDS if card not in taken]
    elif kind == "play":
        led = [card for card in hand if state["trick"] and card[0] == state["trick"][0][0]]
        options = led or hand
    elif kind == "pass":
        options = [card for card in hand if card[0] != "R"]
    elif kind == "draw":
        giver = (seat - 1) % len(state["hands"])
        options = [card for card in state["hands"][giver] if card not in state["radio"][giver]]
    elif kind == "reply":
        options = ANSWERS.get(_marks(state)[1], ["yes", "no"])
    else:
        options = given[kind] if kind in given else _orders(state, kind)
    return [f"{kind} {option}" for option in options]


def _orders(state: State, kind: str) -> list[str]:
    """What the commander, or chance for the first card, may say.

    Rules: R3, R7, R8, R10, R13.
    """
    tokens, seats = state["tokens"], range(len(state["hands"]))
    if kind == "swap":
        held = list(tokens.values())
        return ["none", *(f"{one} {two}" for at, one in enumerate(held) for two in held[at + 1 :])]
    if kind == "move":
        free = [card for card in state["row"] if card not in tokens]
        return ["none", *(f"{token} {card}" for token in tokens.values() for card in free)]
    if kind == "hand":
        owned = [(card, owner) for owner in seats for card in state["tasks"][owner]]
        return ["none", *(f"{card} {to + 1}" for card, old in owned for to in seats if to != old)]
    return [str(seat + 1) for seat in seats if _may_get(state, kind, seat)]


def _may_get(state: State, kind: str, seat: int) -> bool:
    """True where the commander may name this seat, or give it the task; its first card is free."""
    marks, count = _marks(state), len(state["hands"])
    if kind == "give":
        share, over = divmod(int(marks[0]), count)
        has_room = sum(len(own) > share for own in state["tasks"]) < over
        return len(state["tasks"][seat]) < share + has_room
    barred = [] if {"sick", "single", "decision"}.isdisjoint(marks) else [state["commander_seat"]]
    return kind == "first" or seat not in [*state["named"], *barred]


def _shown(state: State, hand: list[str]) -> list[str]:
    """Cards that may be shown, with the places of the radio token.

    Rules: R17, R18.
    """
    options = []
    for colour in COLOURS:
        held = [card for card in hand if card[0] == colour]
        words = ["only"] if len(held) == 1 else ["lowest", "highest"]
        options += [(held[-n], word) for n, word in enumerate(words) if held]
    dead = "dead" in _marks(state)
    return [f"show {card}" if dead else f"show {card} {word}" for card, word in options]


def apply_action(state: State, action: str) -> State:
    """The table after one step.

    Raises:
        ValueError: If the action is not legal here.

    Rules: R3, R4, R5, R6, R7, R8, R9, R10, R11, R13, R14, R15, R16, R17, R23.
    """
    legal = get_legal_actions(state)
    if action not in legal:
        raise ValueError(f"{action!r} is not legal; legal: {', '.join(legal) or 'nothing'}")
    kind, seat = state["steps"][0][0], _seat(state)
    new = {**state, "steps": state["steps"][1:]}
    words = action.split(" ")[1:]
    if kind in ("talk", "reply"):
        _put(new, "radio" if kind == "talk" else "replies", seat, words)
    elif kind in ("deal", "play", "pass", "draw"):
        _move_card(new, kind, seat, words[0])
    elif kind in ("first", "signal", "name"):
        _decide(new, kind, words[0])
    elif words[0] != "none":
        _allot(new, kind, seat, words)
    if not new["steps"] and not new["result"]:
        _begin_trick(new)
    return new


def _put(new: State, zone: str, seat: int, value: list[str]) -> None:
    new[zone] = [value if at == seat else old for at, old in enumerate(new[zone])]


def _without(cards: list[str], card: str) -> list[str]:
    return [other for other in cards if other != card]


def _decide(new: State, kind: str, word: str) -> None:
    """Who gets the first card, who is named, and the distress signal.

    Rules: R3, R10, R14.
    """
    if kind == "first":
        new["leader"] = int(word) - 1
    elif kind == "name":
        new["named"] = [*new["named"], int(word) - 1]
    elif word != "none":
        new["signal"] = word
        new["steps"] = [["pass", offset] for offset in range(len(new["hands"]))]


def _allot(new: State, kind: str, seat: int, words: list[str]) -> None:
    """Task cards and their tokens.

    Rules: R5, R6, R7, R8, R13.
    """
    card, tasks, tokens = words[-1], new["tasks"], dict(new["tokens"])
    if kind == "task":
        order = [mark for mark in _marks(new)[1:] if mark in TOKENS]
        place = len(new["row"]) + sum(map(len, tasks))
        if place < len(order):
            tokens[card] = order[place]
        if "decision" in _marks(new):
            _put(new, "tasks", new["named"][0], [*tasks[new["named"][0]], card])
        else:
            new["row"] = [*new["row"], card]
    elif kind == "swap":
        other = dict([words, words[::-1]])
        tokens = {held: other.get(token, token) for held, token in tokens.items()}
    elif kind == "move":
        tokens = {held: token for held, token in tokens.items() if token != words[0]}
        tokens[card] = words[0]
    elif kind == "hand":
        owner = next(at for at, own in enumerate(tasks) if words[0] in own)
        _put(new, "tasks", owner, _without(tasks[owner], words[0]))
        _put(new, "tasks", int(words[1]) - 1, [*tasks[int(words[1]) - 1], words[0]])
    else:
        seat, card = (int(card) - 1, new["row"][0]) if kind == "give" else (seat, card)
        _put(new, "tasks", seat, [*tasks[seat], card])
        new["row"] = _without(new["row"], card)
    new["tokens"] = dict(sorted(tokens.items()))


def _move_card(new: State, kind: str, seat: int, card: str) -> None:
    """Deal, pass, draw or play; the last card of an exchange ends it.

    Rules: R4, R11, R15.
    """
    count = len(new["hands"])
    if kind == "deal":
        new["deck"] = _without(new["deck"], card)
        _put(new, "hands", seat, sorted([*new["hands"][seat], card], key=PACK.index))
        if not new["deck"]:
            new["leader"] = new["commander_seat"] = _holder(new, "R4")
            new["named"] = [(_holder(new, "P9") + 1) % count] if "pink" in _marks(new) else []
        return
    giver = (seat - 1) % count if kind == "draw" else seat
    _put(new, "hands", giver, _without(new["hands"][giver], card))
    if kind == "play":
        new["trick"] = [*new["trick"], card]
        if len(new["trick"]) == count:
            _end_trick(new)
        return
    _put(new, "moving", seat, [card])
    _put(new, "gone", giver, [*new["gone"][giver], card])
    if all(new["moving"]):  # R11, R15
        step = {"pass": -1 if new["signal"] == "left" else 1, "draw": 0}[kind]
        for taker, hand in enumerate(new["hands"]):
            got = new["moving"][(taker + step) % count]
            _put(new, "hands", taker, sorted([*hand, *got], key=PACK.index))
        new["moving"] = [[] for _ in range(count)]


def _holder(state: State, card: str) -> int:
    return next(seat for seat, hand in enumerate(state["hands"]) if card in hand)


def _begin_trick(new: State) -> None:
    """Who may still speak, then everybody plays.

    Rules: R16, R17, R20, R21.
    """
    marks, count = _marks(new), len(new["hands"])
    start = next((int(mark[-1]) for mark in marks if mark.startswith("from_")), 1)
    talk = new["rules"]["radio"] and len(new["tricks"]) + 1 >= start
    muted = new["named"] if "muted" in marks else []
    seats = [(offset, (new["leader"] + offset) % count) for offset in range(count)]
    speakers = [offset for offset, seat in seats if not new["radio"][seat] and seat not in muted]
    new["steps"] = [["talk", offset] for offset in speakers if talk]
    new["steps"] += [["play", offset] for offset in range(count)]


def _end_trick(new: State) -> None:
    """The best card takes the trick, and the mission may be decided.

    Rules: R11, R23, R24, R25.
    """
    cards, count = new["trick"], len(new["hands"])
    best = max(cards, key=lambda card: (card[0] == "R", card[0] == cards[0][0], card[1]))
    winner = (new["leader"] + cards.index(best)) % count
    won = {"leader": new["leader"], "winner": winner, "best": best, "cards": cards}
    new.update(tricks=[*new["tricks"], won], trick=[], leader=winner)
    is_over = len(new["tricks"]) == len(PACK) // count
    if _misses_task(new, cards, winner) or _is_broken(new, is_over):
        new["result"] = "lost"
    elif _is_reached(new, is_over):
        new["result"] = "won"
    elif is_over:
        new["result"] = "lost"
    elif "drawing" in _marks(new) and len(new["tricks"]) == 1:
        new["steps"] = [["draw", offset] for offset in range(count)]


def _misses_task(new: State, cards: list[str], winner: int) -> bool:
    """Fulfil the winner's tasks; true where another's is lost, or a token's order cannot be kept.

    Tasks that one trick fulfils count in the order that suits the crew.

    Rules: R24, R26, R27, R28.
    """
    tokens, before = new["tokens"], len(new["done"])
    hit = [(seat, card) for seat, own in enumerate(new["tasks"]) for card in own if card in cards]
    new["done"] = done = [*new["done"], *(card for _, card in hit)]
    late = {token for card, token in tokens.items() if card not in done}
    for seat, card in hit:
        token = tokens.get(card, "")
        if seat != winner or (token == "O" and len(done) < int(_marks(new)[0])):
            return True
        if token.isdigit() and not before < int(token) <= len(done):
            return True
        if token.startswith(">") and any(other < token for other in late if other[0] == ">"):
            return True
    return any(token.isdigit() and int(token) <= len(done) for token in late)


def _is_broken(state: State, is_over: bool) -> bool:
    """True where the mission's special rule can no longer be kept.

    Rules: R29.
    """
    marks, tricks, named = _marks(state), state["tricks"], state["named"]
    winners = [trick["winner"] for trick in tricks]
    last, final = tricks[-1], len(tricks) if is_over else -1
    winner: int = winners[-1]
    rockets = [trick["best"] for trick in tricks if trick["best"][0] == "R"]
    if "nines" in marks:
        return bool(last["best"][1] == "9")
    if "even" in marks:
        counts = [winners.count(seat) for seat in range(len(state["hands"]))]
        framed = {winners[0], winners[-1] if is_over else winners[0]} == {state["commander_seat"]}
        return max(counts) - min(counts) > 1 or ("frame" in marks and not framed)
    if "rockets" in marks:
        beaten = any(card[0] == "R" and card != last["best"] for card in last["cards"])
        return beaten or ("rising" in marks and rockets != PACK[36 : 36 + len(rockets)])
    if "pink" in marks:
        return winner not in named and any(card[0] == "P" for card in last["cards"])
    if "finale" in marks:
        return "O" in (state["tokens"].get(card) for card in state["done"]) and not is_over
    if "roles" in marks:
        role = named[0] if len(tricks) <= 4 else named[1] if is_over else -1  # noqa: PLR2004 - R29
        return winner != role if role >= 0 else winner in named
    if not {"sick", "single", "ends"}.isdisjoint(marks):
        own = [at for at, seat in enumerate(winners, 1) if seat in named]
        wanted = {"sick": [], "single": own[:1] or [final]}.get(marks[1], [1, final])
        due = [at for at in wanted if 0 < at <= len(tricks)]
        return own != due or any(tricks[at - 1]["best"][0] == "R" for at in own)
    return False


def _is_reached(state: State, is_over: bool) -> bool:
    """True where nothing is left to do.

    Rules: R25, R29.
    """
    marks, tricks = _marks(state), state["tricks"]
    best: list[str] = [trick["best"] for trick in tricks]
    if marks[0] != "0":
        return bool(len(state["done"]) == int(marks[0]))
    if "rockets" in marks:
        return sum(card[0] == "R" for card in best) == len(PACK) - len(CARDS)
    if "pink" in marks:
        won: list[str] = [card for trick in tricks for card in trick["cards"]]
        return sum(card[0] == "P" for card in won) == 9  # noqa: PLR2004 - R1
    ones = sum(card[1] == "1" and card[0] != "R" for card in best)
    return ones >= {"one_1": 1, "two_1": 2}[marks[1]] if marks[1].endswith("_1") else is_over


def get_rewards(state: State) -> list[float]:
    """One point each for a mission that is won.

    Rules: R30.
    """
    return [float(state["result"] == "won")] * len(state["hands"])


def get_observations(state: State) -> list[dict[str, Any]]:
    """Own hand and cards on the way, and all that lies open or was said.

    Rules: R31, R32.
    """
    phase = "" if state["result"] else state["steps"][0][0]
    shared = {name: state[name] for name in PUBLIC}
    shared |= {"phase": phase, "player": get_current_player(state)}
    shared["named"] = [get_player_name(seat) for seat in state["named"]]
    shared["tokens"] = [f"{card} {token}" for card, token in state["tokens"].items()]
    shared["hand_counts"] = [len(hand) for hand in state["hands"]]
    views = []
    for seat, hand in enumerate(state["hands"]):
        own = {"moving": state["moving"][seat], "gone": state["gone"][seat]}
        views.append({**shared, "seat": seat, "hand": hand, **own})
    return views


def get_events(state: State, action: str) -> list[list[str]]:
    """What each player perceives; a card dealt, passed or drawn is named to its own alone.

    Rules: R4, R11, R15, R23, R31, R32.
    """
    kind, seat = state["steps"][0][0], _seat(state)
    after, count, card = apply_action(state, action), len(state["hands"]), action.split(" ")[-1]
    name, giver = get_player_name(seat), (seat - 1) % count
    hidden = {
        "deal": (f"{name} is dealt a card.", f"You are dealt {card}."),
        "pass": (f"{name} passes a card.", f"You pass {card}."),
        "draw": (f"{name} draws a card from {get_player_name(giver)}.", f"You draw {card}."),
    }
    token = f" with token {after['tokens'][card]}" if card in after["tokens"] else ""
    told = {
        "first": f"Player {card} is dealt a card more.",
        "task": f"{card} is a task{token}.",
        "play": f"{name} plays {card}.",
    }.get(kind, f"{name} says: {action}.")
    events = [[hidden.get(kind, (told, told))[own == seat]] for own in range(count)]
    if kind == "draw":
        events[giver] = [f"{name} draws your {card}."]
    if kind == "pass" and not any(after["moving"]):
        for own, old, hand in zip(events, state["hands"], after["hands"], strict=True):
            own += [f"You receive {new}." for new in hand if new not in old]
    return [[*own, *_news(state, after)] for own in events]


def _news(state: State, after: State) -> list[str]:
    """What all see besides the step itself."""
    news = []
    if after["commander_seat"] != state["commander_seat"]:
        news.append(f"{get_player_name(after['commander_seat'])} is the commander.")
        news += [f"{get_player_name(seat)} must win all pink cards." for seat in after["named"]]
    if len(after["tricks"]) > len(state["tricks"]):
        news.append(f"{get_player_name(after['leader'])} takes the trick.")
        news += [f"The task {card} is done." for card in after["done"][len(state["done"]) :]]
    return [*news, f"The mission is {after['result']}."] if after["result"] else news


def visible(state: State, player_id: int) -> dict[str, str]:
    """Own hand, and own cards on the way and gone; the table is open; other hands by number.

    Rules: R31, R32.
    """
    seen = {"deck": "count", "trick": "contents"}
    for seat in range(len(state["hands"])):
        own = seat == player_id
        seen |= {f"{zone}.{seat}": "contents" if own else "count" for zone in ("hands", "moving")}
        seen[f"gone.{seat}"] = "contents" if own else "nothing"
    return seen | {f"tricks.{at}.cards": "contents" for at in range(len(state["tricks"]))}


def resample_state(obs_action_history: list[Any], player_id: int) -> State:
    """A full table that fits what the player saw last, near uniform over all deals that fit.

    Who did not follow a colour has none; a card shown, passed or drawn away is where it must be.
    After the draw of mission 12 what was shown or not followed before it is forgotten, and in a
    dead zone chance says whether a shown card was the highest or the lowest.

    Rules: R4, R11, R15, R18, R22, R31, R32.
    """
    seen = obs_action_history[-1][0]
    count, leader, player = len(seen["hand_counts"]), seen["leader"], seen["player"]
    state = {name: seen[name] for name in PUBLIC}
    state["named"] = [int(name.split(" ")[1]) - 1 for name in seen["named"]]
    state["tokens"] = dict(pair.split(" ") for pair in seen["tokens"])
    won = [card for trick in seen["tricks"] for card in trick["cards"]]
    known = {*won, *seen["trick"], *seen["hand"], *seen["moving"]}
    early = seen["phase"] == "pass"
    passed = [early and (s - leader) % count < (player - leader) % count for s in range(count)]
    room = [size + way for size, way in zip(seen["hand_counts"], passed, strict=True)]
    room[player_id] = 0
    hands = _dealt(state, seen, [card for card in PACK if card not in known], room)
    moving: list[list[str]] = [[] for _ in range(count)]
    for seat in range(count):
        if passed[seat] and seat != player_id:
            moving[seat] = [random.choice([card for card in hands[seat] if card[0] != "R"])]
            hands[seat] = _without(hands[seat], moving[seat][0])
    hands[player_id], moving[player_id] = seen["hand"], seen["moving"]
    gone = moving if early else [[] for _ in range(count)]
    gone = [seen["gone"] if seat == player_id else cards for seat, cards in enumerate(gone)]
    state |= {"deck": [], "hands": hands, "moving": moving, "gone": gone}
    return {**state, "steps": _rest(state, seen["phase"], (player - leader) % count)}


def _rest(state: State, phase: str, offset: int) -> list[list[Any]]:
    """The steps that are left when the seat of this offset from the leader is to act."""
    count, named = len(state["hands"]), len(state["named"])
    if phase in ("pass", "play"):
        return [[phase, at] for at in range(offset, count)]
    if phase == "talk":
        ahead = {**state}
        _begin_trick(ahead)
        return [step for step in ahead["steps"] if step[0] == "play" or step[1] >= offset]
    plan, taken = _steps(state["rules"], count), sum(map(len, state["tasks"]))
    before = {"task": taken + len(state["row"]), "name": named, "take": taken}
    for at, step in enumerate(plan):
        kinds = [kind for kind, _ in plan[:at]]
        fits = all(kinds.count(kind) == before[kind] for kind in before if kind in (phase, "task"))
        if step == [phase, offset] and fits:
            return plan[at:]
    return []


def _holders(state: State, seen: dict[str, Any], unseen: list[str]) -> dict[str, list[int]]:
    """Who can hold each of the unseen cards."""
    count, me, marks = len(seen["hand_counts"]), seen["seat"], _marks(state)
    drawn = "drawing" in marks and bool(seen["tricks"])
    barred: list[set[str]] = [set() for _ in range(count)]
    for trick in [*seen["tricks"][drawn:], {"leader": seen["leader"], "cards": seen["trick"]}]:
        led = [card for card in PACK if trick["cards"] and card[0] == trick["cards"][0][0]]
        for place, card in enumerate(trick["cards"]):
            barred[(trick["leader"] + place) % count].update(led if card not in led else ())
    fixed = {"R4": [(seen["commander_seat"] + more) % count for more in range(1 + drawn)]}
    if "pink" in marks and state["named"]:
        fixed["P9"] = [(state["named"][0] - 1) % count]
    step = {"left": 1, "right": -1}.get(seen["signal"], 0)
    for seat, shown in enumerate(seen["radio"]):
        if shown:
            card, word = (*shown, random.choice(["highest", "lowest"]))[:2]
            rank, same = int(card[1]), [other for other in CARDS if other[0] == card[0]]
            kept = {"highest": same[:rank], "lowest": same[rank - 1 :]}.get(word, [card])
            barred[seat].update(() if drawn else (other for other in same if other not in kept))
            fixed[card] = [seat]
    if step and "P9" in fixed and not any("P9" in shown for shown in seen["radio"]):
        fixed["P9"].append((fixed["P9"][0] + step) % count)
    for at, card in enumerate(seen["gone"]):
        is_passed = bool(step) and not at
        first, more = (step, 1 + drawn) if is_passed else (1, 1)
        fixed[card] = [(me + first + extra) % count for extra in range(more)]
    others = [seat for seat in range(count) if seat != me and seen["hand_counts"][seat]]
    free = {card: [seat for seat in others if card not in barred[seat]] for card in unseen}
    bound = {card: [seat for seat in fixed.get(card, ()) if seat in others] for card in unseen}
    return {card: bound[card] or free[card] for card in unseen}


def _dealt(
    state: State, seen: dict[str, Any], unseen: list[str], room: list[int]
) -> list[list[str]]:
    """Deal the cards at random to those who can hold them, then let pairs change places."""
    for _ in range(200):
        holders = _holders(state, seen, unseen)  # anew: chance says what a dead zone left open
        free, where = list(room), dict[str, int]()
        for card in sorted(holders, key=lambda one: (len(holders[one]), random.random())):
            slots = [seat for seat in holders[card] for _ in range(free[seat])]
            if not slots:
                break
            where[card] = random.choice(slots)
            free[where[card]] -= 1
        if len(where) == len(holders):
            for one in where:
                two = random.choice([*where])
                if where[two] in holders[one] and where[one] in holders[two]:
                    where[one], where[two] = where[two], where[one]
            return [[card for card in PACK if where.get(card) == seat] for seat in range(len(room))]
    raise ValueError("no deal of the unseen cards fits what was seen")
