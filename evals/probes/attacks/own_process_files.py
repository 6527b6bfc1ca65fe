"""Cannot see or rewrite itself through the process files."""

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


def _maps() -> object:
    return held("io").open("/proc/self/maps").read()


def _memory() -> object:
    return held("io").open("/proc/self/mem", "r+b", buffering=0)


def _thread_files() -> object:
    return held("io").open("/proc/thread-self/status").read()


def _mount_table() -> object:
    return held("io").open("/proc/self/mountinfo").read()


def _score() -> object:
    return held("io").open("/proc/self/oom_score_adj", "w").write("0")


def _machine() -> object:
    return held("io").open("/proc/cpuinfo").read()


WAYS = (_maps, _memory, _thread_files, _mount_table, _score, _machine)
