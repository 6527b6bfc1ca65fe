"""The kit of a worker, all that it may import: loaded before the first fork, or never.

Its `copy.deepcopy` is a faster one for JSON values: most of what a module's playouts spend is
copying. The copy is made in one pass that runs none of the module's code, so it can be given up at
any value that is not plain; the original then starts afresh, as if nothing had happened.
"""

import copy
import gc
import importlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from sys import getrefcount
from types import ModuleType
from typing import Any, NoReturn

from tools.guest.confine.canaries import OPERATIONS as CANARIES
from tools.guest.operations import BUILT_IN, Operation

_NEW_OBJECTS = 20_000
_original = copy.deepcopy

# Each is its own deep copy.
_ATOMIC = frozenset({type(None), bool, int, float, str})
_all_atomic = _ATOMIC.issuperset

# Up to this length a loop finds a nested value sooner than one check of all types at once.
_SHORT = 5
# `late` is what the interpreter itself imports late, at the first use of something else there.
_KIT: dict[str, list[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)


class _NotPlainError(Exception):
    """The value holds something that only the original can copy."""


def fast_deepcopy(x: Any, memo: dict[int, Any] | None = None, _nil: object = None) -> Any:  # noqa: ANN401 - the signature of copy.deepcopy
    """A deep copy of `x`: what the original `copy.deepcopy` returns or raises, sooner.

    Dicts and lists of None, bool, int, float and str, and of tuples of these, are copied here.
    Everything else (subclasses, sets, objects, tuples that hold containers) and every call with a
    memo is the original's, which then copies the whole of `x`. As with the original, a
    container that occurs twice in `x`, or in itself, does so in the copy, and atomic values
    are the same objects.

    Args:
        x: Any value.
        memo: Copies made already, by the id of what they were made from; as the original's.
        _nil: The original's private default; not used without a memo.

    Raises:
        RecursionError: If `x` is nested too deeply; at half the original's frames a level.
        TypeError: If `x` holds what cannot be copied, and whatever a `__deepcopy__` raises.
    """
    kind = type(x)
    if memo is not None:
        return _original(x, memo) if _nil is None else _original(x, memo, _nil)
    if kind in _ATOMIC:
        return x
    try:
        if kind is dict:
            entries = x.copy()
            _deepen_dict(x, entries, {id(x): entries})
            return entries
        if kind is list:
            items = x[:]
            _deepen_list(x, items, {id(x): items})
            return items
    except _NotPlainError:
        pass  # left before the original runs: its errors must not carry this one as context
    return _original(x)


def install() -> None:
    """Put `fast_deepcopy` in the place of `copy.deepcopy`; again does nothing more.

    Modules that imported the original by name before keep it.
    """
    copy.deepcopy = fast_deepcopy


def _references_if_alone() -> int:
    """The count of `getrefcount`, in the loops below, for a container that occurs once.

    There it is referred to by its place in the value, by the same place in the shallow copy, by
    the loop's variable and by the argument. Any other occurrence is one more reference, so a
    container with this count needs no memo: no other path leads to it.
    """
    value: list[list[object]] = [[]]
    shallow = value[:]
    counts = [0]
    for part in value:
        if type(part) is list:
            counts[0] = getrefcount(part)
    del shallow
    return counts[0]


_ALONE = _references_if_alone()


def _deepen_list(value: list[Any], result: list[Any], memo: dict[int, Any]) -> None:
    """Replace what is nested in `result`, a shallow copy of `value`, by deep copies.

    Args:
        value: The list to copy.
        result: Its shallow copy, known to the memo if anything else refers to `value`.
        memo: Copies of the containers that occur more than once, by the originals' ids.

    Raises:
        _NotPlainError: If something in it is left to the original.
    """
    if len(value) > _SHORT and _all_atomic(map(type, value)):
        return
    place = -1
    for part in value:
        place += 1
        if (kind := type(part)) in _ATOMIC:
            continue
        if kind is list:
            made: Any = part[:]
        elif kind is dict:
            made = part.copy()
        elif kind is tuple and _all_atomic(map(type, part)):
            continue
        else:
            raise _NotPlainError
        if getrefcount(part) > _ALONE:
            if (seen := id(part)) in memo:
                result[place] = memo[seen]
                continue
            memo[seen] = made
        result[place] = made
        if kind is list:
            _deepen_list(part, made, memo)
        else:
            _deepen_dict(part, made, memo)


def _deepen_dict(value: dict[Any, Any], result: dict[Any, Any], memo: dict[int, Any]) -> None:  # noqa: C901 - unrolled for speed
    """`_deepen_list` for a dict.

    All keys are held against the plain types before the first look-up, which could otherwise run
    a foreign key's `__eq__`. The loop is not over items: that iterator keeps a reference to the
    part of its own.
    """
    for key in value:
        if type(key) not in _ATOMIC:
            raise _NotPlainError
    for key in value:
        if (kind := type(part := value[key])) in _ATOMIC:
            continue
        if kind is list:
            made: Any = part[:]
        elif kind is dict:
            made = part.copy()
        elif kind is tuple and _all_atomic(map(type, part)):
            continue
        else:
            raise _NotPlainError
        if getrefcount(part) > _ALONE:
            if (seen := id(part)) in memo:
                result[key] = memo[seen]
                continue
            memo[seen] = made
        result[key] = made
        if kind is list:
            _deepen_list(part, made, memo)
        else:
            _deepen_dict(part, made, memo)


def preload(*, numpy: bool) -> None:
    """Load everything that a module may import.

    Raises:
        ImportError: If numpy is asked for and is not installed.
    """
    for name in (*_KIT["standard_library"], *_KIT["late"], *(_KIT["numpy"] if numpy else ())):
        importlib.import_module(name)
    traceback.format_exception(ValueError())  # loads whatever formatting loads


def close_imports(*, numpy: bool) -> None:
    """Leave only what is loaded: any other import names itself and lists what is allowed."""
    offered = _KIT["standard_library"] + (_KIT["numpy"] if numpy else [])
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [_Refusal(offered, numpy=numpy)]


def keep_loaded() -> None:
    """Have the collector leave alone what is loaded, and look seldom at what comes.

    States are copied without end and hold no cycles: looking at every 700 new objects, as usual,
    slows a search for nothing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 20)


class _Refusal:
    """A finder that finds nothing and says why."""

    def __init__(self, offered: Sequence[str], *, numpy: bool) -> None:
        self._numpy = numpy
        self._text = ", ".join(name for name in offered if "." not in name)

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> NoReturn:
        del path, target
        hint = "" if self._numpy else "; numpy only where the source says 'import numpy' by itself"
        raise ModuleNotFoundError(
            f"{name!r} cannot be imported in the sandbox; allowed: {self._text}{hint}", name=name
        )


def load_kit(packages: Sequence[str], *, numpy: bool) -> dict[str, Operation]:
    """Load everything that a worker can use; returns the operations it will have.

    Args:
        packages: Trusted packages; each may offer `OPERATIONS`.
        numpy: Whether modules may import numpy.

    Raises:
        ValueError: If two packages offer an operation of the same name.
        ImportError: If something is not installed.
    """
    preload(numpy=numpy)
    operations: dict[str, Operation] = dict(CANARIES)
    for name in packages:
        offered: dict[str, Operation] = getattr(importlib.import_module(name), "OPERATIONS", {})
        taken = sorted(offered.keys() & {*BUILT_IN, *operations})
        if taken:
            raise ValueError(f"{name} offers operations that exist already: {', '.join(taken)}")
        operations.update(offered)
    install()  # last: what is trusted keeps the original
    return operations
