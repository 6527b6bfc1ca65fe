"""Holds no file, device or folder of the host."""

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


def _kinds() -> object:
    os, held_kinds = held("os"), {}
    for number in range(1024):
        try:
            mode = os.fstat(number).st_mode & 0o170000
        except OSError:
            continue
        if mode not in (0o010000, 0o140000):
            held_kinds[number] = oct(mode)
    return held_kinds


def _seekable() -> object:
    os, found = held("os"), []
    for number in range(256):
        try:
            found.append((number, os.lseek(number, 0, 1)))
        except OSError:
            continue
    return found


def _mapped() -> object:
    """Files and devices can be mapped; pipes and sockets cannot."""
    found = []
    for number in range(64):
        try:
            found.append((number, libc("mmap", 0, 4096, 1, 1, number, 0)))
        except OSError:
            continue
    return found


def _terminal() -> object:
    return [n for n in range(256) if held("os").isatty(n)]


def _many() -> object:
    """Three dead pipes and one connection is all a worker needs."""
    numbers = [n for n in range(1024) if _open(n)]
    return numbers if len(numbers) > 4 else None  # noqa: PLR2004


def _open(number: int) -> bool:
    """Reading nothing from an open descriptor succeeds, or fails by its mode."""
    try:
        held("os").read(number, 0)
    except OSError as error:
        writable_alone = held("os").write
        try:
            writable_alone(number, b"")
        except OSError:
            return bool(error.errno != held("errno").EBADF)
    return True


WAYS = (_kinds, _seekable, _mapped, _terminal, _many)
