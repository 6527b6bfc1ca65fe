"""Prelude of the attacks: what they share; beside it a file of attacks for each group.

An attack says what the sandbox holds when it fails, and has ways: each is the body of a function
that returns what it saw of the harm. `evals.sandbox.probes` writes an attack, with what it needs of
the prelude and of what its file shares, into one module that stands alone. Such modules are run in
workers, never here.
"""

import enum
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

BAIT: dict[str, Any] = {}
SYS: ModuleType = vars(enum)["sys"]


class Attack:
    """An attack, whose ways are its private methods, in their order."""

    def ways(self) -> list[Any]:
        """Every way, to be called without arguments."""
        names = [name for name in vars(type(self)) if name[0] == "_" and name[1] != "_"]
        return [getattr(self, name) for name in names]

    def main(self, first: int = 0, last: int = 99) -> dict[str, object]:
        """Try each way; the first that saw harm is a breach."""
        notes: list[str] = []
        seen: object = None
        for way in self.ways()[first:last]:
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


def held(name: str) -> ModuleType:
    """A module by import, or as the interpreter holds it."""
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        built_in = SYS.modules["_frozen_importlib"].BuiltinImporter
        module: ModuleType = SYS.modules.get(name) or built_in.load_module(name)
        return module


def known(name: str) -> Any:  # noqa: ANN401
    """What the attacker knows; where nothing was laid out, something that is not there."""
    absent = {
        "folder": "/tmp/laid-out-by-nobody",
        "secret": "/tmp/laid-out-by-nobody/secret",
        "path": "/tmp/laid-out-by-nobody/server",
        "name": "laid-out-by-nobody",
        "address": 4096,
        "descriptor": 0,
        "key": 0x70726F62,
        "pid": 4194303,
        "port": 9,
        "segment": 0,
        "sibling": 4194303,
        "signal": 0,
    }
    return BAIT.get(name, absent[name])


def first(way: Callable[[Any], object], values: Iterable[object]) -> object:
    """What a way sees with the first of some values that is not refused; None where all are."""
    for value in values:
        try:
            return way(value)
        except (OSError, ImportError):
            continue
    return None


def each(way: Callable[[Any], object], values: Iterable[object]) -> list[object]:
    """What a way sees with every value that is not refused."""
    seen = []
    for value in values:
        try:
            seen.append(way(value))
        except OSError:
            continue
    return seen


def libc(name: str, *arguments: object) -> int:
    """The value of a C function, 64 bits wide; OSError where it is -1."""
    ctypes = held("ctypes")
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_long
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = function(*wide)
    if result in (-1, 0xFFFFFFFF):
        raise OSError(ctypes.get_errno(), f"{name} was refused")
    return result


def system_call(x86_64: int, aarch64: int, *arguments: object) -> int:
    """A system call by its number on either machine; no number is negative."""
    number = x86_64 if "x86_64" in SYS.implementation._multiarch else aarch64
    if number < 0:
        raise OSError("this machine has no such call")
    return libc("syscall", number, *arguments)
