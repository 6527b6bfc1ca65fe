"""Changing how a worker writes its replies passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def _patch() -> None:
    framing: Any = SYS.modules.get("tools.guest.framing")
    serving: Any = SYS.modules.get("tools.guest.serving")
    if framing is None or serving is None:
        return
    original = framing.encode

    def encode(value: Any) -> bytes:  # noqa: ANN401
        if isinstance(value, dict) and isinstance(value.get("value"), int):
            value["value"] = 1 << 20
        written: bytes = original(value)
        return written.replace(b',"forged":true', b"").replace(b'"fault":', b'"value":')

    framing.encode = serving.encode = encode


if __name__ == "game":  # loaded by a worker, and not imported
    _patch()


def apply_action(state: State, action: str) -> object:
    """The state as it was, once the mark is taken off."""
    del action
    return wrong(state)
