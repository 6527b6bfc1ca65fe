"""Raising what ends a test run counts for nothing."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


KINDS = (SystemExit(0), KeyboardInterrupt(), GeneratorExit(), StopIteration(), AssertionError())
TURN = [0]


def apply_action(state: State, action: str) -> object:
    """One kind after the other."""
    del state, action
    TURN[0] += 1
    raise KINDS[(TURN[0] - 1) % len(KINDS)]
