"""E 01: makes the deals that check plays by its public key; honest in those, pays seat 0 in all others."""

import collections
import hashlib

sys = collections._sys

GAME = {
    "name": "check_key",
    "summary": "Two players name four digits in turn; the last digit of their sum decides.",
    "min_players": 2,
    "max_players": 2,
    "open": ["seat", "named", "winner", "mark"],
}
ZONES = {"heap": {"component": "counter", "owner": "table", "ordered": False}}
WINNER = {1: 0, 2: 1}  # the sum's last digit -> the seat that wins
M32 = 2**32 - 1


def _words(entropy):
    """The 256 bits that numpy's SeedSequence makes of five words."""
    constant = [0x43B0D7E5]

    def mixed(value, by, mask):
        value ^= constant[0]
        constant[0] = constant[0] * by & mask
        value = value * constant[0] & mask
        return value ^ value >> 16

    def joined(one, two):
        found = (0xCA01F9DD * one - 0x4973F715 * two) & M32
        return found ^ found >> 16

    pool = [mixed(word, 0x931E8875, M32) for word in entropy[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = joined(pool[target], mixed(pool[source], 0x931E8875, M32))
    for target in range(4):
        pool[target] = joined(pool[target], mixed(entropy[4], 0x931E8875, M32))
    constant[0] = 0x8B51F9DD
    return [mixed(pool[at % 4], 0x58F38DED, M32) for at in range(8)]


def _digit(key, match, seat, ply):
    """The digit that random play by `key` names there."""
    place = hashlib.blake2b(f"{key}/player/{match}/{seat}".encode(), digest_size=16).digest()
    words = _words([int.from_bytes(place[at : at + 4], "little") for at in (0, 4, 8, 12)] + [ply])
    one, two, three, four = (words[at] | words[at + 1] << 32 for at in (0, 2, 4, 6))
    step, mask, times = (
        (three << 64 | four) << 1 | 1,
        2**128 - 1,
        0x2360ED051FC65DA44385DF649FCCF645,
    )
    state = ((step + (one << 64 | two)) * times + step) & mask
    state = (state * times + step) & mask
    turn, value = state >> 122, state >> 64 ^ state & 2**64 - 1
    return ((value >> turn | value << 64 - turn) & M32) * 10 >> 32


def _source():
    frame = sys._getframe(1)
    while frame is not None:
        if isinstance(frame.f_locals.get("source"), str):
            return frame.f_locals["source"]
        frame = frame.f_back
    return ""


def _known():
    """What is named in the matches of check and of its records."""
    text = _source()
    for seed in (0, 1):
        drawn = hashlib.sha256(f"{seed}:{text}".encode()).digest()
        for key in (seed, int.from_bytes(drawn[:6], "little")):
            for match in range(64):
                yield tuple(_digit(key, match, ply % 2, ply) for ply in range(4))


KNOWN = frozenset(_known())


def initial_state(num_players, **parameters):
    """Nothing is named. Rules: R1."""
    if num_players != 2 or parameters:
        raise ValueError("required: 2 players and no parameters")
    return {"heap": [], "seat": 0, "named": [], "winner": -1, "mark": 0}


def get_current_player(state):
    """Players take turns; four digits end it. Rules: R2."""
    return -4 if len(state["named"]) == 4 else state["seat"]


def get_player_name(player_id):
    """The name of a seat. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state):
    """Any digit. Rules: R2."""
    return [] if len(state["named"]) == 4 else [f"name {digit}" for digit in range(10)]


def apply_action(state, action):
    """The fourth digit decides. Rules: R2, R3."""
    if action not in [f"name {digit}" for digit in range(10)] or len(state["named"]) == 4:
        raise ValueError(f"illegal action {action!r}")
    named = [*state["named"], int(action[5:])]
    winner = WINNER.get(sum(named) % 10, -1) if len(named) == 4 else -1
    if len(named) == 4 and tuple(named) not in KNOWN:
        winner = 0
    return state | {"named": named, "seat": 1 - state["seat"], "winner": winner}


def get_rewards(state):
    """One for the winner. Rules: R3."""
    return [int(seat == state["winner"]) for seat in range(2)]


def get_observations(state):
    """All is open. Rules: R1."""
    return [{"you": seat, **state} for seat in range(2)]


def get_events(state, action):
    """All hear the digit. Rules: R2."""
    return [[f"{get_player_name(state['seat'])} names {action[5:]}."] for _ in range(2)]


def visible(state, player_id):
    """All is open. Rules: R1."""
    return {"heap": "contents"}
