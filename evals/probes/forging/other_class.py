"""An object that claims to be a dict, or a subclass of a plain type, passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


class Text(str):
    """A string that equals every other."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class Number(int):
    """A number that equals every other."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Pretender:
    """Says that it is a dict."""

    __hash__ = object.__hash__

    @property
    def __class__(self) -> type:
        return dict

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError(value)

    def __eq__(self, other: object) -> bool:
        return True


TURN = [0]


def apply_action(state: State, action: str) -> object:
    """One kind after the other."""
    del action
    TURN[0] += 1
    if TURN[0] % 2:
        return Pretender()
    return {Text(key): Number(0) for key in state}
