"""Changing how values are written or read as text passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def _same(*arguments: object, **keywords: object) -> str:
    return '{"forged": true}'


def _patch() -> None:
    json = SYS.modules["json"]
    for module in (json, SYS.modules["json.encoder"], SYS.modules.get("tools.guest.framing")):
        for name in ("dumps", "encode", "_encode"):
            if hasattr(module, name) and module is json:
                setattr(module, name, _same)
    encoder: Any = SYS.modules["json.encoder"].JSONEncoder
    original = encoder.default
    encoder.default = lambda self, value: _same() if value else original(self, value)


if __name__ == "game":  # loaded by a worker, and not imported
    _patch()


def apply_action(state: State, action: str) -> object:
    """Written like anything else, once writing is changed."""
    del action
    return wrong(state)
