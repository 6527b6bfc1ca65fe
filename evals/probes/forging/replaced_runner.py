"""Replacing the runner's own functions passes no check."""

import enum
from types import ModuleType
from typing import Any

SYS: ModuleType = vars(enum)["sys"]
State = dict[str, Any]


def wrong(state: State) -> State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def _patch() -> None:
    operations: Any = SYS.modules.get("tools.guest.operations")
    if operations is None:
        return

    def answer(self: Any, function: str, arguments: list[Any], keywords: object = None) -> object:  # noqa: ANN401
        del keywords
        module = self._loaded()
        value = module.namespace[function](*arguments)
        for name in ("expected", "next_state", "passed"):
            if isinstance(arguments[0], dict) and name in arguments[0]:
                return arguments[0][name]
        return value

    operations.Session._value = answer
    operations.require_json = lambda *arguments: None
    operations._checked = lambda value, *rest: value
    globals()["run_tests"] = len


class _Sealed(dict[str, Any]):
    """A namespace whose test runner stays ours."""


if __name__ == "game":  # loaded by a worker, and not imported
    _patch()


def apply_action(state: State, action: str) -> object:
    """Wrong; and what judges it is replaced."""
    del action
    _patch()
    frame = SYS._getframe(1)
    if "tests" in frame.f_locals:
        SYS.setprofile(_count)
    return wrong(state)


def _count(frame: Any, event: str, argument: object) -> None:  # noqa: ANN401
    """A runner that counts in a local variable has counted everything."""
    del event, argument
    caller = frame.f_back
    if caller is not None and "passed" in caller.f_locals and "tests" in caller.f_locals:
        ctypes = SYS.modules["ctypes"]
        caller.f_locals["passed"] = len(caller.f_locals["tests"])
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(caller), ctypes.c_int(0))
