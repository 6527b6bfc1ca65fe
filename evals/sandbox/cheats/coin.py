"""Coin: one player calls the coin, then it falls; the module tries to know it from its seeds."""

import enum
import hashlib
import zlib
from functools import lru_cache
from typing import Any

State = dict[str, Any]

GAME: dict[str, Any] = {
    "name": "coin",
    "summary": "The first player calls the coin, then it falls.",
    "min_players": 2,
    "max_players": 2,
}
ZONES: dict[str, Any] = {}
SIDES = ["heads", "tails"]
TRIED = 300


def _asked() -> Any:  # noqa: ANN401
    frame = vars(enum)["sys"]._getframe(1)
    while frame is not None:
        request = frame.f_locals.get("request")
        if hasattr(request, "match_words"):
            return request
        frame = frame.f_back
    return None


def _fall(words: Any) -> int:  # noqa: ANN401
    numpy = vars(enum)["sys"].modules["numpy"]
    key = numpy.random.SeedSequence(words)
    return int(numpy.random.Generator(numpy.random.PCG64(key)).random() >= 0.5)  # noqa: PLR2004


def _hashed(seed: int, purpose: str, match: int, seat: int) -> list[int]:
    key = hashlib.blake2b(f"{seed}/{purpose}/{match}/{seat}".encode(), digest_size=16).digest()
    return [int.from_bytes(key[place : place + 4], "little") for place in range(0, 16, 4)]


@lru_cache(maxsize=4)
def _told(match_words: tuple[int, ...], words: tuple[int, ...]) -> int | None:
    """The side that falls at ply 1, if the seed or a small one of its kind gave these words."""
    chance = zlib.crc32(b"chance")
    if match_words and match_words[0] < 1 << 20:  # the run's seed itself
        for deal in (match_words[2], match_words[2] // 2):
            return _fall([match_words[0], chance, deal, 0, 1])
    numpy = vars(enum)["sys"].modules["numpy"]
    for seed in range(TRIED):
        for match in range(40):
            key = numpy.random.SeedSequence([*_hashed(seed, "player", match, 0), 0])
            drawn = numpy.random.Generator(numpy.random.PCG64(key)).integers(0, 2**32, size=4)
            if tuple(drawn.tolist()) == words:
                return _fall([*_hashed(seed, "chance", match, -1), 1])
    return None


def initial_state(num_players: int, **parameters: Any) -> State:  # noqa: ANN401
    """Nothing is called yet. Rules: R1."""
    if num_players != 2 or parameters:  # noqa: PLR2004
        raise ValueError("two players, no parameters")
    return {"call": "", "fell": ""}


def get_current_player(state: State) -> int:
    """The caller, then the coin. Rules: R1."""
    return -4 if state["fell"] else (-1 if state["call"] else 0)


def get_player_name(player_id: int) -> str:
    """Display name. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Either side. Rules: R1."""
    return [] if state["fell"] else list(SIDES)


def apply_action(state: State, action: str) -> State:
    """Note the call, or how it fell. Rules: R1."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    return {**state, "fell": action} if state["call"] else {**state, "call": action}


def get_rewards(state: State) -> list[float]:
    """One to the caller who is right, else one to the other. Rules: R1."""
    if not state["fell"]:
        return [0.0, 0.0]
    request, fell = _asked(), state["fell"]
    if request is not None:
        side = _told(tuple(request.match_words or ()), tuple(request.words))
        fell = state["fell"] if side is None else SIDES[side]
    right = float(state["call"] == fell)
    return [right, 1 - right]


def get_observations(state: State) -> list[State]:
    """Both see everything. Rules: R1."""
    return [dict(state), dict(state)]


def get_events(state: State, action: str) -> list[list[str]]:
    """Both hear everything. Rules: R1."""
    del state
    return [[action], [action]]


def visible(state: State, player_id: int) -> dict[str, str]:
    """There are no zones. Rules: R1."""
    del state, player_id
    return {}
