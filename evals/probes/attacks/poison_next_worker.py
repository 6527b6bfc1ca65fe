"""Leaves nothing behind for the next worker."""

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


def _shadowed() -> object:
    import builtins

    vars(builtins)["len"] = lambda value: 7
    vars(held("json"))["loads"] = lambda text: "poisoned"
    SYS.modules["math"] = SYS.modules["enum"]
    return None


def _overwritten() -> object:
    """Change a small integer in place, in memory that the zygote shares with its workers."""
    ctypes = held("ctypes")
    number = 251
    ctypes.c_uint32.from_address(id(number) + 24).value = 252
    return None


def _kept_in_the_thawed() -> object:
    held("gc").unfreeze()
    held("atexit").register(print, "poisoned")
    return None


WAYS = (_shadowed, _kept_in_the_thawed, _overwritten)
