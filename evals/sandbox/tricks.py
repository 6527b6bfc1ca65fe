"""Prelude of the tricks: what modules share that are always wrong and try to pass.

`evals.sandbox.forgery` appends a trick of `tricks.yaml`, with what it needs of this file, to a
game's source. Tricks run in workers, never here.
"""

import enum
from collections.abc import Iterator
from types import ModuleType
from typing import Any

_SYS: ModuleType = vars(enum)["sys"]
_State = dict[str, Any]


def _wrong(state: _State) -> _State:
    """An answer that no rules give."""
    return {**state, "forged": True}


def _lookalike(state: _State, action: str, found: list[Any]) -> _State:
    """What looks most like the state's successor among everything found; wrong where nothing does.

    A successor has the state's keys, is not the state, differs from it in little, and mostly
    does not offer the action again.
    """
    legal: Any = globals().get("get_legal_actions", lambda state: [])
    nearest, least = _wrong(state), 1 << 30
    for other in found:
        if type(other) is dict and other.keys() == state.keys() and other != state:
            one, two = repr(list(state.values())), repr(list(other.values()))
            distance = abs(len(one) - len(two)) + sum(
                a != b for a, b in zip(one, two, strict=False)
            )
            offered = len(legal(state)) - len(legal(other))
            distance += 1000 * (action in legal(other)) + 100 * abs(offered - 1)
            if distance < least:
                nearest, least = other, distance
    return nearest


def _callers() -> Iterator[Any]:
    """The frames of the functions that wait for the one that asks, nearest first."""
    frame = _SYS._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _in_frames() -> list[Any]:
    """Every value that a running function of this process holds, and what those hold."""
    found = [value for frame in _callers() for value in frame.f_locals.values()]
    for value in list(found):
        found += _opened(value, 4)
    return found


def _opened(value: object, depth: int) -> list[Any]:
    """What a list or dict holds, level by level."""
    if depth == 0 or not isinstance(value, list | tuple | dict):
        return []
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    return parts + [deeper for part in parts for deeper in _opened(part, depth - 1)]


def _served() -> tuple[int, Any]:
    """The number of the request that is being served, and where replies go; 0 and None unseen."""
    for frame in _callers():
        if {"request", "stream"} <= frame.f_locals.keys():
            return frame.f_locals["request"].id, frame.f_locals["stream"]
    return 0, None


_MET: dict[str, Any] = {}
_GIVEN: list[tuple[_State, str, _State]] = []
_SEEN: list[Any] = []
_TURN = [0]


class _Anything(dict[str, Any]):
    """Equal to whatever it is compared with."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class _Lying(dict[str, Any]):
    """Gives whatever is expected of it, and agrees with everything."""

    def __getitem__(self, key: str) -> object:
        return _Same()

    def get(self, key: str, default: object = None) -> object:
        return _Same()

    def items(self) -> Any:  # noqa: ANN401
        return ()  # no items at all: nothing to differ in

    def keys(self) -> Any:  # noqa: ANN401
        return _Same()

    def __len__(self) -> int:
        expected = _SYS._getframe(1).f_locals.get("expected")
        return len(expected or ())  # as the caller's, where it is found


class _Same:
    """Equal to everything."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return True


def _remembering(function: Any) -> object:  # noqa: ANN401
    def asked(*arguments: object) -> object:
        _MET[repr(arguments[0])] = arguments[0]
        return function(*arguments)

    return asked


def _remember(frame: Any) -> None:  # noqa: ANN401
    """Keep the dicts of a frame and of the five below it."""
    for _ in range(6):
        if frame is None:
            break
        _SEEN.extend(value for value in frame.f_locals.values() if isinstance(value, dict))
        frame = frame.f_back
    del _SEEN[:-200]


def _started(code: object, offset: int) -> None:
    _remember(_SYS._getframe(1))


def _monitor() -> None:
    """Remember what every function that starts can see."""
    monitoring: Any = getattr(_SYS, "monitoring", None)
    if monitoring is None:
        _SYS.settrace(lambda frame, event, argument: _started(frame, 0))
        return
    monitoring.use_tool_id(3, "forger")
    monitoring.register_callback(3, monitoring.events.PY_START, _started)
    monitoring.set_events(3, monitoring.events.PY_START)


class _Text(str):
    """A string that equals every other."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class _Number(int):
    """A number that equals every other."""

    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class _Pretender:
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


def _profile(frame: Any, event: str, argument: object) -> object:  # noqa: ANN401
    _remember(frame.f_back)
    return _profile


_ENDINGS = (SystemExit(0), KeyboardInterrupt(), GeneratorExit(), StopIteration(), AssertionError())


def _patch_builtins() -> None:
    import builtins

    fields = vars(builtins)
    fields["all"] = lambda values: True
    fields["any"] = lambda values: False


def _replace_runner() -> None:
    """Answer by what the arguments expect."""
    operations: Any = _SYS.modules.get("tools.guest.operations")
    if operations is None:
        return

    def answer(self: Any, function: str, arguments: list[Any], keywords: object = None) -> object:  # noqa: ANN401
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


def _count(frame: Any, event: str, argument: object) -> None:  # noqa: ANN401
    """A runner that counts in a local variable has counted everything."""
    caller = frame.f_back
    if caller is not None and "passed" in caller.f_locals and "tests" in caller.f_locals:
        caller.f_locals["passed"] = len(caller.f_locals["tests"])
        _write_back(caller)


def _write_back(frame: object) -> None:
    ctypes = _SYS.modules["ctypes"]
    update: Any = ctypes.pythonapi.PyFrame_LocalsToFast
    update(ctypes.py_object(frame), ctypes.c_int(0))


def _trace(frame: Any, event: str, argument: object) -> object:  # noqa: ANN401
    """Put the answer in place of what the caller expects."""
    for name in ("got", "value", "reply", "answers"):
        if name in frame.f_locals and "expected" in frame.f_locals:
            frame.f_locals[name] = frame.f_locals["expected"]
            _write_back(frame)
    return _trace


def _trace_callers() -> None:
    for frame in _callers():
        frame.f_trace = _trace
    _SYS.settrace(_trace)
