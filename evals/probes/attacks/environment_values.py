"""Finds no value of the host's environment."""

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


_OURS = (b"PYTHON", b"OPENBLAS", b"OMP_", b"MKL_", b"LC_")


def _python() -> object:
    return dict(held("os").environ)


def _c_library() -> object:
    ctypes = held("ctypes")
    strings = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found: list[object] = []
    while strings and strings[len(found)]:
        found.append(strings[len(found)])
    return found


def _asked_for() -> object:
    ctypes = held("ctypes")
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    names = (b"HOME", b"PATH", b"USER", b"LOGNAME", b"PWD", b"PYTHONPATH", b"PROBE_BAIT")
    return [value for value in map(getenv, names) if value]


def _process_file() -> object:
    return held("io").open("/proc/self/environ", "rb").read()


def _copied_by_posix() -> object:
    values = held("posix").environ
    return {name: value for name, value in values.items() if not name.startswith(_OURS)}


WAYS = (_python, _c_library, _asked_for, _process_file, _copied_by_posix)
