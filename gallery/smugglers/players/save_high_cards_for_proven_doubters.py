COPIES = 5
TOP = 4


def number(text):
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


def seat_of(name):
    try:
        return int(str(name).split()[-1]) - 1
    except (ValueError, IndexError):
        return 0


def record(ob, seat):
    """True and false cards of this seat turned up, and how many claims it made, how many of 4."""
    true = lies = made = fours = 0
    for entry in ob["claims"]:
        if seat_of(entry["player"]) == seat:
            made += 1
            fours += entry["claim"] == TOP
            if entry["answer"] == "doubt":
                if number(entry["card"]) == entry["claim"]:
                    true += 1
                else:
                    lies += 1
    return true, lies, made, fours


def turned_up(ob, n):
    return sum(cards.count(str(n)) for cards in ob["face_up"])


def unseen(ob, n):
    """Copies of n that this player cannot place."""
    me = seat_of(ob["you"])
    own = ob["hand"].count(str(n)) + ob["face_down"][me].count(str(n))
    return max(0, COPIES - own - turned_up(ob, n))


def laid(ob):
    me = seat_of(ob["you"])
    down = ob["face_down"][me]
    return number(down[-1]) if down else 0


def mood(ob, me):
    """Bold: the next player lets pass; true: lay high cards truly."""
    answers = doubts = 0
    for entry in ob["claims"]:
        if seat_of(entry["player"]) == me:
            answers += 1
            doubts += entry["answer"] == "doubt"
    caught = record(ob, me)[1] > 0
    bold = answers > 0 and not caught and 3 * doubts <= answers
    passer = answers > 0 and 2 * doubts < answers
    return bold, passer


def bluff(ob):
    let = sum(1 for e in ob["claims"] if e["claim"] == TOP and e["answer"] == "pass")
    return TOP - 1 if turned_up(ob, TOP) + let >= 3 else TOP


def decide(ob, phase, word, n):
    me = seat_of(ob["you"])
    if phase == "answer":
        if word != "doubt":
            return 0.0
        c = ob["claim"]
        true, lies, made, fours = record(ob, seat_of(ob["laying"]))
        if c >= 3 or unseen(ob, c) <= 2:
            return 1.0
        return -1.0 if true > 0 and lies == 0 else 0.5
    bold, passer = mood(ob, me)
    left = len(ob["hand"]) + (phase == "claim")
    if phase == "lay":
        return float(-n) if bold and left > 2 else float(n)
    card = laid(ob)
    if left <= 2:
        lie = card == 1 and passer
    else:
        lie = bold and card < bluff(ob)
    aim = bluff(ob) if lie else card
    return 10.0 if n == aim else 0.1 * n


def score(observation, action):
    try:
        word, _, value = action.partition(" ")
        phase = observation["phase"]
        kinds = {"lay": ("lay",), "claim": ("claim",), "answer": ("pass", "doubt")}
        if word not in kinds.get(phase, ()):
            return 0.0
        result = float(decide(observation, phase, word, number(value)))
        return result if -1e9 < result < 1e9 else 0.0
    except Exception:
        return 0.0
