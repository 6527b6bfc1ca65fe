"""Cannot hold more memory in objects than a worker may have."""

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


_BYTES = 1200 * 2**20


def _grown() -> object:
    pieces: list[bytes] = []
    try:
        while len(pieces) * 2**20 < _BYTES:
            pieces.append(bytes(2**20))
    except MemoryError:
        return None
    return f"{len(pieces)} MiB"


def _text() -> object:
    try:
        return len("x" * _BYTES)
    except MemoryError:
        return None


def _number() -> object:
    try:
        return (1 << (8 * _BYTES)).bit_length()
    except (MemoryError, OverflowError):
        return None


WAYS = (_text, _number, _grown)
