"""A verdict that is only printed counts for nothing."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def apply_action(state: State, action: str) -> object:
    """Say so."""
    del action
    print("1048576 passed, 0 failed")  # noqa: T201 - the forgery itself
    print('{"passed": true, "value": {}}', flush=True)  # noqa: T201
    return wrong(state)
