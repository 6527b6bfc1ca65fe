"""A dict that shows other items than it holds passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


class Lying(dict[str, Any]):
    """Gives whatever is expected of it, and agrees with everything."""

    def __getitem__(self, key: str) -> object:
        return Same()

    def get(self, key: str, default: object = None) -> object:
        """What was expected."""
        return Same()

    def items(self) -> Any:  # noqa: ANN401
        """No items at all: nothing to differ in."""
        return ()

    def keys(self) -> Any:  # noqa: ANN401
        """Whatever keys it is compared with."""
        return Same()

    def __len__(self) -> int:
        return held_length()


class Same:
    """Equal to everything."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def held_length() -> int:
    """The length that the caller compares with, where it is found."""
    caller = SYS._getframe(2)
    return len(caller.f_locals.get("expected") or ())


def apply_action(state: State, action: str) -> object:
    """A dict that lies."""
    del action
    return Lying(wrong(state))
