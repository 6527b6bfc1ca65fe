"""An answer that compares equal to everything passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


class Anything(dict[str, Any]):
    """Equal to whatever it is compared with."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


def apply_action(state: State, action: str) -> object:
    """Equal to the right answer."""
    del action
    return Anything(wrong(state))
