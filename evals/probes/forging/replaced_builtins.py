"""Replacing built-in functions passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def _patch() -> None:
    import builtins

    fields = vars(builtins)
    fields["all"] = lambda values: True
    fields["any"] = lambda values: False


def apply_action(state: State, action: str) -> object:
    """Wrong; and what it is compared by is replaced."""
    del action
    _patch()
    return dict.fromkeys(state)
