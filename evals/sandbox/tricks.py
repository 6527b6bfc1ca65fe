"""Tricks of modules that are always wrong and try to pass, each in the place of `apply_action`.

`evals.sandbox.forgery` appends a trick, with what it needs of this file, to a game's source. The
first line of a trick says what the checks hold when it fails. `_load_NAME` is what the trick NAME
does as soon as it is loaded. Tricks run in workers, never here.
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


def always_equal(state: _State, action: str) -> object:
    """An answer that compares equal to everything passes no check."""
    return _Anything(_wrong(state))


def batch_successor(state: _State, action: str) -> object:
    """No other input of the same message gives the answer away."""
    return _lookalike(state, action, _in_frames())


def collector_scan(state: _State, action: str) -> object:
    """Scanning everything the collector knows finds no answer."""
    gc = _SYS.modules["gc"]
    gc.unfreeze()
    return _lookalike(state, action, gc.get_objects())


def everything_at_once(state: _State, action: str) -> object:
    """All places together, searched in every call, give no answer away."""
    # Frames, the collector's objects, memory, and corrections after the fact.
    _MET[str(len(_MET))] = state
    gc = _SYS.modules["gc"]
    gc.unfreeze()
    for earlier, taken, answer in _GIVEN[-4:]:
        better = _lookalike(earlier, taken, [state])
        if "forged" not in better and answer.keys() - state.keys():
            answer.clear()
            answer.update(better)
    ours = {id(answer) for _, _, answer in _GIVEN}
    found = [*_MET.values(), *_in_frames(), *gc.get_objects()]
    answer = dict(_lookalike(state, action, [item for item in found if id(item) not in ours]))
    _GIVEN.append((state, action, answer))
    return answer


def expected_in_frames(state: _State, action: str) -> object:
    """Walking the frames finds no expected value."""
    for frame in _callers():
        for name in ("expected", "want", "answer", "next_state", "successor", "question"):
            value = frame.f_locals.get(name)
            if isinstance(value, dict) and value.keys() == state.keys() and value != state:
                return value
    return _wrong(state)


def forged_reply(state: _State, action: str) -> object:
    """A reply written past the runner is no more than another claim."""
    served, stream = _served()
    if stream is not None:
        json = _SYS.modules["json"]
        reply = {"id": served, "value": 1 << 20, "passed": True, "equal": True}
        stream.write(json.dumps(reply).encode())
        _SYS.modules["os"]._exit(0)  # gone before the runner can answer itself
    return _wrong(state)


def inputs_in_frames(state: _State, action: str) -> object:
    """Walking the frames finds no later input that gives the answer away."""
    for value in _in_frames():
        if isinstance(value, list):
            for index, item in enumerate(value[:-1]):
                if isinstance(item, list) and [state, action] in item:
                    following = value[index + 1][-1][0]
                    return following if following != state else _wrong(state)
    return _wrong(state)


def late_answer(state: _State, action: str) -> object:
    """An answer that is changed after it was given is not changed into the right one."""
    for earlier, taken, answer in _GIVEN[-1:]:
        found = _lookalike(earlier, taken, [state])
        if "forged" not in found:
            answer.clear()
            answer.update(found)
    _GIVEN.append((state, action, _wrong(state)))
    return _GIVEN[-1][2]


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


def lying_dict(state: _State, action: str) -> object:
    """A dict that shows other items than it holds passes no check."""
    return _Lying(_wrong(state))


def _load_memory_of_inputs() -> None:
    """Every other function of the game remembers what it was asked about."""
    for name, function in list(globals().items()):
        if name.startswith("get_") and callable(function):
            globals()[name] = _remembering(function)


def _remembering(function: Any) -> object:  # noqa: ANN401
    def asked(*arguments: object) -> object:
        _MET[repr(arguments[0])] = arguments[0]
        return function(*arguments)

    return asked


def memory_of_inputs(state: _State, action: str) -> object:
    """Remembering every earlier input gives no answer away."""
    _MET[repr(state)] = state
    return _lookalike(state, action, list(_MET.values()))


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


def _load_monitoring_hook() -> None:
    monitoring: Any = getattr(_SYS, "monitoring", None)
    if monitoring is None:
        _SYS.settrace(lambda frame, event, argument: _started(frame, 0))
        return
    monitoring.use_tool_id(3, "forger")
    monitoring.register_callback(3, monitoring.events.PY_START, _started)
    monitoring.set_events(3, monitoring.events.PY_START)


def monitoring_hook(state: _State, action: str) -> object:
    """The interpreter's own monitoring sees no expected value."""
    _SYS.settrace(None)
    found = _lookalike(state, action, list(_SEEN))
    if not hasattr(_SYS, "monitoring"):
        _load_monitoring_hook()
    return found


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


def other_class(state: _State, action: str) -> object:
    """An object that claims to be a dict, or a subclass of a plain type, passes no check."""
    _TURN[0] += 1
    if _TURN[0] % 2:
        return _Pretender()
    return {_Text(key): _Number(0) for key in state}


def _load_patched_contract() -> None:
    for module in list(_SYS.modules.values()):
        fields = getattr(module, "__dict__", {})
        if "require_json" in fields:
            fields["require_json"] = lambda *arguments: None
        if "_is_json" in fields:
            fields["_is_json"] = lambda value: True


def patched_contract(state: _State, action: str) -> object:
    """Replacing the check for plain values lets nothing else through."""
    return _Anything(_wrong(state))


def _load_patched_json() -> None:
    json: Any = _SYS.modules["json"]
    text = '{"forged": true}'
    json.dumps = lambda *arguments, **keywords: text
    encoder: Any = _SYS.modules["json.encoder"].JSONEncoder
    original = encoder.default
    encoder.default = lambda self, value: text if value else original(self, value)


def patched_json(state: _State, action: str) -> object:
    """Changing how values are written or read as text passes no check."""
    return _wrong(state)


def _load_patched_reply() -> None:
    framing: Any = _SYS.modules.get("tools.guest.framing")
    serving: Any = _SYS.modules.get("tools.guest.serving")
    if framing is None or serving is None:
        return
    original = framing.encode

    def encode(value: Any) -> bytes:  # noqa: ANN401
        if isinstance(value, dict) and isinstance(value.get("value"), int):
            value["value"] = 1 << 20
        written: bytes = original(value)
        return written.replace(b',"forged":true', b"").replace(b'"fault":', b'"value":')

    framing.encode = serving.encode = encode


def patched_reply(state: _State, action: str) -> object:
    """Changing how a worker writes its replies passes no check."""
    return _wrong(state)


def poisoned_next_reply(state: _State, action: str) -> object:
    """A reply written in advance is never taken for the next one."""
    served, stream = _served()
    if stream is not None:
        json = _SYS.modules["json"]
        for number in (served, served + 1, 0, 1):
            stream.write(json.dumps({"id": number, "value": True, "passed": True}).encode())
    return _wrong(state)


def printed_verdict(state: _State, action: str) -> object:
    """A verdict that is only printed counts for nothing."""
    print("1048576 passed, 0 failed")  # noqa: T201 - the forgery itself
    print('{"passed": true, "value": {}}', flush=True)  # noqa: T201
    return _wrong(state)


def _profile(frame: Any, event: str, argument: object) -> object:  # noqa: ANN401
    _remember(frame.f_back)
    return _profile


def _load_profiling_hook() -> None:
    _SYS.setprofile(_profile)


def profiling_hook(state: _State, action: str) -> object:
    """A hook on calls and returns sees no expected value."""
    _SYS.setprofile(None)
    found = _lookalike(state, action, list(_SEEN))
    _SYS.setprofile(_profile)
    return found


def quiet_exit(state: _State, action: str) -> object:
    """Ending early with success counts for nothing."""
    _SYS.modules["os"]._exit(0)
    return [state, action]


_ENDINGS = (SystemExit(0), KeyboardInterrupt(), GeneratorExit(), StopIteration(), AssertionError())


def raised_exit(state: _State, action: str) -> object:
    """Raising what ends a test run counts for nothing."""
    _TURN[0] += 1
    raise _ENDINGS[(_TURN[0] - 1) % len(_ENDINGS)]


def _patch_builtins() -> None:
    import builtins

    fields = vars(builtins)
    fields["all"] = lambda values: True
    fields["any"] = lambda values: False


def replaced_builtins(state: _State, action: str) -> object:
    """Replacing built-in functions passes no check."""
    _patch_builtins()
    return dict.fromkeys(state)


def _load_replaced_runner() -> None:
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


def replaced_runner(state: _State, action: str) -> object:
    """Replacing the runner's own functions passes no check."""
    _load_replaced_runner()
    frame = _SYS._getframe(1)
    if "tests" in frame.f_locals:
        _SYS.setprofile(_count)
    return _wrong(state)


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


def tracing_hook(state: _State, action: str) -> object:
    """A hook on every line cannot change what a caller decided."""
    _trace_callers()
    return _wrong(state)
