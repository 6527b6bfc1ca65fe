"""Cannot make processes without bound."""

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


_CHILDREN = 32


def _children() -> object:
    os, made = held("os"), []
    for _ in range(_CHILDREN):
        pid = os.fork()
        if pid == 0:
            held("time").sleep(1)
            os._exit(0)
        made.append(pid)
    for pid in made:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return f"{len(made)} processes at once"


WAYS = (_children,)
