"""Cannot grow its stack without bound."""

import enum
from types import ModuleType
from typing import Any

BAIT: dict[str, Any] = {}
SYS: ModuleType = vars(enum)["sys"]


def held(name: str) -> ModuleType:
    """A module by import, or as the interpreter holds it."""
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        built_in = SYS.modules["_frozen_importlib"].BuiltinImporter
        module: ModuleType = SYS.modules.get(name) or built_in.load_module(name)
        return module


def main(first: int = 0, last: int = 99) -> dict[str, object]:
    """Try each way; a way returns what it saw of the harm, and the first that does is a breach."""
    notes: list[str] = []
    seen: object = None
    for way in WAYS[first:last]:
        try:
            seen = way()
            note = f"saw {seen!r:.150}" if seen else "saw nothing"
        except Exception as error:  # noqa: BLE001 - that a way is refused is what we hope for
            seen, note = None, f"{type(error).__name__}: {error}"
        notes.append(f"{way.__name__.strip('_')}: {note}")
        if seen:
            break
    told = notes[-1] if seen else "; ".join(notes)
    return {"breached": bool(seen), "how": told, "tried": len(notes)}


_FRAMES, _LEVELS = 500_000, 200_000


def _plain() -> object:
    """Frames of Python functions need memory and no stack, so they come to an end with it."""
    SYS.setrecursionlimit(2**31 - 1)
    bound = held("resource").getrlimit(held("resource").RLIMIT_AS)[0]

    def deeper(depth: int) -> int:
        return depth if depth >= _FRAMES else deeper(depth + 1)

    try:
        return deeper(0) and bound < 0
    except (RecursionError, MemoryError):
        return None


def _through_c() -> object:
    SYS.setrecursionlimit(2**31 - 1)
    nested: list[object] = []
    for _ in range(_LEVELS):
        nested = [nested]
    try:
        return len(repr(nested)) > _LEVELS
    except (RecursionError, MemoryError):
        return None


def _stack_limit() -> object:
    resource = held("resource")
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


WAYS = (_stack_limit, _through_c, _plain)
