"""Cannot flood the host with its answer."""

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


def _long() -> object:
    return "x" * (12 * 2**20)


def _nested() -> object:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def _amplified() -> object:
    return [[]] * 4_000_000


def main(first: int = 0, last: int = 99) -> dict[str, object]:
    """Answer with too much at once; what the host keeps of it is what the host sees."""
    found = [way() for way in WAYS[first:last]]
    tried = len(found)
    return {"breached": tried > 0, "how": "it all arrived", "tried": tried, "found": found}


WAYS = (_long, _nested, _amplified)
