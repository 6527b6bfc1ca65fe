"""Ending early with success counts for nothing."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def apply_action(state: State, action: str) -> object:
    """Success, as far as an exit code can tell."""
    SYS.modules["os"]._exit(0)
    return [state, action]
