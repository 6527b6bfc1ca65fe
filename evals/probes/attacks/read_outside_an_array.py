"""Finds nothing of the host by reading outside of an array."""

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


_REACH = 2**18


def _hidden_in(found: bytes) -> object:
    words = [bytes.fromhex(word) for word in BAIT.get("hidden", ["2f726f6f742f"])]
    return [word for word in words if word in found]


def _behind() -> object:
    import numpy

    strided = numpy.lib.stride_tricks.as_strided
    return _hidden_in(strided(numpy.zeros(16, dtype="uint8"), (_REACH,), (1,)).tobytes())


def _before() -> object:
    import numpy

    strided = numpy.lib.stride_tricks.as_strided
    return _hidden_in(strided(numpy.zeros(16, dtype="uint8"), (_REACH,), (-1,)).tobytes()[::-1])


def _around_an_object() -> object:
    import numpy

    ctypes: Any = vars(numpy.ctypeslib)["ctypes"]
    return _hidden_in(ctypes.string_at(id(held("os")) - 4096, 8192))


WAYS = (_around_an_object, _behind, _before)
