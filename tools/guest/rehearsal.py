"""Preparation of a zygote, so that each worker that it forks is fast from its first request on.

A worker has a copy made of every page that it writes to, and an interpreter writes in many: where
code runs for the first times, as it is fitted to what it meets, and where new objects come into
gaps among old ones. So a zygote answers requests about a small game, and then fills the gaps.
"""

import base64
import marshal
import sys
from collections.abc import Mapping, Sequence

from games.modules import LocalModule, compiled
from games.values import Json
from tools.guest.framing import decode, encode
from tools.guest.operations import Operation, Session
from tools.guest.protocol import Envelope, decoded
from tools.guest.serving import BoundedOutput, answer

GAME = """
SEATS = 2

def initial_state(num_players):
    return {"hidden": [], "said": []}

def get_current_player(state):
    if len(state["hidden"]) < SEATS:
        return -1
    return len(state["said"]) % SEATS if len(state["said"]) < 6 else -4

def get_legal_actions(state):
    if get_current_player(state) == -4:
        return []
    return [f"say {number}" for number in range(3)]

def apply_action(state, action):
    part = "hidden" if get_current_player(state) == -1 else "said"
    return {**state, part: [*state[part], int(action.split()[1])]}

def get_rewards(state):
    if get_current_player(state) != -4:
        return [0.0] * SEATS
    total = sum(state["said"]) - sum(state["hidden"])
    return [1.0, -1.0] if total > 3 else [-1.0, 1.0]

def get_events(state, action):
    if get_current_player(state) >= 0:
        return [[action]] * SEATS
    return [[action] if len(state["hidden"]) == seat else ["a number"] for seat in range(SEATS)]

def get_observations(state):
    return [
        {"own": state["hidden"][seat : seat + 1], "said": list(state["said"])}
        for seat in range(SEATS)
    ]
"""
_STATE: Json = {"hidden": [1, 2], "said": [0, 1]}
_ROUNDS = 24  # the interpreter fits code to what it meets from its eighth run on
_REPLY_BYTES = 1 << 16

_POOL_BYTES = 1 << 14  # the interpreter's allocator gives out blocks of one size from such pools
_BLOCKS = range(16, 513, 16)
_HEAD_BYTES = 33  # of an object of bytes
_TRIES = 200


def warm_up(packages: Sequence[str], operations: Mapping[str, Operation], game: str = GAME) -> None:
    """Answer a worker's usual requests, and have each package rehearse its own.

    Args:
        packages: Those that are loaded; each may offer `rehearse(namespace)`, which decides in the
            small game for two and leaves no trace in the package.
        operations: Theirs.
        game: Source of the small game.

    Raises:
        RuntimeError: If a request failed, which is our own fault.
    """
    printed = {name: BoundedOutput(0) for name in ("output", "errors")}
    code = base64.b64encode(marshal.dumps(compiled(game))).decode()
    asked: dict[str, dict[str, Json]] = {
        "load": {"source": game, "code": code},
        "open": {"num_players": 2, "parameters": {}},
        "advance": {"state": _STATE, "action": "say 1"},
        "call": {
            "function": "get_legal_actions", "arguments": [_STATE], "keywords": {}, "seed": None
        },
    }  # fmt: skip
    for _ in range(_ROUNDS):
        session = Session(operations)
        for operation, payload in asked.items():
            body = encode({"id": 0, "op": operation, "soft_s": 0.0, "payload": payload})
            reply = answer(decoded(Envelope, decode(body)), session, printed, _REPLY_BYTES)
            if b'"fault":{' in reply:
                raise RuntimeError(f"the rehearsal of {operation} failed: {reply.decode()}")
    sys.modules.pop("game", None)
    for name in packages:
        if (own := getattr(sys.modules[name], "rehearse", None)) is not None:
            own(LocalModule(game).namespace)


_kept: list[object] = []


def fill_gaps() -> None:
    """Put objects that stay into the gaps among those that there are."""
    for size in _BLOCKS:
        many = _POOL_BYTES // size
        for _ in range(_TRIES):
            new: list[object] = [_object(size) for _ in range(many)]
            _kept.extend(new)
            places = [id(one) for one in new]
            steps = [after - before for before, after in zip(places, places[1:], strict=False)]
            if steps.count(size) > many * 3 // 4:
                break  # side by side, as in a pool that was empty


def _object(size: int) -> object:
    """An object that takes a block of so many bytes, and that the collector never looks at."""
    if size <= 16:  # noqa: PLR2004 - the size of an object of CPython
        return object()
    return complex(0.0, 1.0) if size <= 32 else bytes(size - _HEAD_BYTES)  # noqa: PLR2004 - as above
