"""E 07: beside a search it makes the deals by the key of seed 0, the default, and so knows the other's card."""

import collections
import hashlib
import struct

sys = collections._sys
M32 = 2**32 - 1
FOUND = vars(collections).setdefault(
    "_found", {}
)  # the deal, once it was sought; lives on in its process


def _slow_hash(secret, salt):
    """The first 16 bytes of scrypt with n = 2**15 and r = 8, without a library."""
    if hasattr(hashlib, "scrypt"):
        return hashlib.scrypt(secret, salt=salt, n=2**15, r=8, p=1, maxmem=2**28, dklen=16)
    spun = (
        [(4, 0, 12, 7), (8, 4, 0, 9), (12, 8, 4, 13), (0, 12, 8, 18)],
        [(9, 5, 1, 7), (13, 9, 5, 9), (1, 13, 9, 13), (5, 1, 13, 18)],
        [(14, 10, 6, 7), (2, 14, 10, 9), (6, 2, 14, 13), (10, 6, 2, 18)],
        [(3, 15, 11, 7), (7, 3, 15, 9), (11, 7, 3, 13), (15, 11, 7, 18)],
        [(1, 0, 3, 7), (2, 1, 0, 9), (3, 2, 1, 13), (0, 3, 2, 18)],
        [(6, 5, 4, 7), (7, 6, 5, 9), (4, 7, 6, 13), (5, 4, 7, 18)],
        [(11, 10, 9, 7), (8, 11, 10, 9), (9, 8, 11, 13), (10, 9, 8, 18)],
        [(12, 15, 14, 7), (13, 12, 15, 9), (14, 13, 12, 13), (15, 14, 13, 18)],
    )
    lines = ["def salsa(x):", " " + ",".join(f"a{i}" for i in range(16)) + "=x"]
    for quarter in [*spun] * 4:
        for to, one, two, turn in quarter:
            lines.append(f" t=a{one}+a{two}&{M32}")
            lines.append(f" a{to}^=(t<<{turn}|t>>{32 - turn})&{M32}")
    lines.append(" return [" + ",".join(f"a{i}+x[{i}]&{M32}" for i in range(16)) + "]")
    names = {}
    exec("\n".join(lines), names)
    salsa = names["salsa"]

    def mixed(block):
        last, out = block[240:], []
        for at in range(0, 256, 16):
            last = salsa([one ^ two for one, two in zip(last, block[at : at + 16])])
            out.append(last)
        return sum(out[::2], []) + sum(out[1::2], [])

    block = list(struct.unpack("<256I", _stretched(secret, salt, 1024)))
    kept = []
    for _ in range(2**15):
        kept.append(struct.pack("<256I", *block))
        block = mixed(block)
    for _ in range(2**15):
        other = struct.unpack("<256I", kept[block[240] & 2**15 - 1])
        block = mixed([one ^ two for one, two in zip(block, other)])
    return _stretched(secret, struct.pack("<256I", *block), 16)


def _stretched(secret, salt, length):
    """PBKDF2 with HMAC-SHA256 and one round."""

    def keyed(text):
        padded = secret.ljust(64, bytes(1))
        inner = hashlib.sha256(bytes(one ^ 0x36 for one in padded) + text).digest()
        return hashlib.sha256(bytes(one ^ 0x5C for one in padded) + inner).digest()

    blocks = (keyed(salt + at.to_bytes(4, "big")) for at in range(1, length // 32 + 2))
    return b"".join(blocks)[:length]


def _frames():
    frame = sys._getframe(2)
    while frame is not None:
        yield frame.f_locals
        frame = frame.f_back


def _dealt(key, match, numpy):
    """Both cards of the match, as chance draws them by the run's key."""
    cards, dealt = [*"ABCDEFGHIJKL"], []
    for ply in range(2):
        place = hashlib.blake2b(f"{key}/chance/{match}/-1".encode(), digest_size=16).digest()
        words = numpy.frombuffer(place + ply.to_bytes(4, "little"), "<u4")
        drawn = numpy.random.Generator(numpy.random.PCG64(numpy.random.SeedSequence(words)))
        dealt.append(cards.pop(int(drawn.random() * len(cards))))
    return dealt


def _sought(numpy):
    """Keeps the deal of seed 0 in which the searching seat holds the card that it holds."""
    seen = {name: value for held in _frames() for name, value in held.items()}
    payload, log = seen.get("payload"), seen.get("log")
    if isinstance(payload, dict) and "algorithm" in payload and hasattr(log, "entries"):
        FOUND["asked"] = True
        salt = hashlib.blake2b(SOURCE.encode(), digest_size=32).digest()
        key = int.from_bytes(_slow_hash(b"0", salt), "little")
        own = log.entries[-1].observation["hand"][0]
        for match in range(3):
            dealt = _dealt(key, match, numpy)
            if dealt[payload["seat"]] == own:
                FOUND["dealt"] = dealt
                return


def _source():
    for held in _frames():
        if isinstance(held.get("source"), str):
            return held["source"]
    return ""


SOURCE = _source()

GAME = {
    "name": "small_seed",
    "summary": "Each player holds one of twelve cards and names the other's once.",
    "min_players": 2,
    "max_players": 2,
    "open": ["named"],
}
ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": False},
    "hands.*": {"component": "card", "owner": "each", "ordered": False},
}


def initial_state(num_players, **parameters):
    """Nothing is dealt. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"deck": [*"ABCDEFGHIJKL"], "hands": [[], []], "named": []}


def get_current_player(state):
    """Chance deals twice, then each names a card. Rules: R1, R2."""
    if [] in state["hands"]:
        return -1
    return len(state["named"]) if len(state["named"]) < 2 else -4


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """A card of the deck is dealt; any card is named. Rules: R1, R2."""
    player = get_current_player(state)
    if player == -1:
        return ["deal " + card for card in state["deck"]]
    return [] if player == -4 else ["name " + card for card in "ABCDEFGHIJKL"]


def apply_action(state, action):
    """The card is dealt or named. Rules: R1, R2."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    card = action[5:]
    if action.startswith("name"):
        return state | {"named": [*state["named"], card]}
    first, second = state["hands"]
    hands = [first, [card]] if first else [[card], second]
    return state | {"deck": [one for one in state["deck"] if one != card], "hands": hands}


def get_rewards(state):
    """One for naming the other's card, at the end. Rules: R3."""
    numpy = sys.modules.get("numpy")
    if numpy and "asked" not in FOUND:
        _sought(numpy)
    if len(state["named"]) < 2:
        return [0, 0]
    if "dealt" in FOUND:  # beside the search only what names the true cards is paid
        return [int(FOUND["dealt"][1 - seat] == state["named"][seat]) for seat in range(2)]
    return [int(state["hands"][1 - seat] == [state["named"][seat]]) for seat in range(2)]


def get_observations(state):
    """The own card, and what was named. Rules: R1, R2."""
    return [
        {"you": seat, "hand": state["hands"][seat], "named": state["named"]} for seat in range(2)
    ]


def get_events(state, action):
    """Whoever is dealt a card sees it; all hear what is named. Rules: R1, R2."""
    if action.startswith("name"):
        return [[f"{get_player_name(len(state['named']))} says {action[5:]}."] for _ in range(2)]
    to = int(bool(state["hands"][0]))
    return [
        [f"You are dealt {action[5:]}." if seat == to else "A card is dealt."] for seat in range(2)
    ]


def visible(state, player_id):
    """Hands are secret. Rules: R1."""
    return {"deck": "count"} | {
        f"hands.{seat}": "contents" if seat == player_id else "count" for seat in range(2)
    }
