"""Cannot make system calls of another kind of machine."""

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


def kernel(x86_64: int, aarch64: int, *arguments: object) -> int:
    """A system call by its number on either machine; no number is negative."""
    number = x86_64 if "x86_64" in SYS.implementation._multiarch else aarch64
    if number < 0:
        raise OSError("this machine has no such call")
    return libc("syscall", number, *arguments)


_X32 = 0x40000000


def _x32_process_id() -> object:
    return kernel(_X32 + 39, -1)


def _x32_open() -> object:
    return kernel(_X32 + 2, -1, b"/etc/passwd", 0, 0)


def _x32_vector() -> object:
    return kernel(_X32 + 515, -1, 0, None, 0)


def _old_gate() -> object:
    """The 32-bit gate, where the C library holds its two bytes before a return."""
    ctypes = held("ctypes")
    if "x86_64" not in SYS.implementation._multiarch:
        return None
    start = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value & ~4095
    offset = ctypes.string_at(start, 2**18).find(b"\xcd\x80\xc3")
    if offset < 0:
        return None
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(start + offset)()
    return None if answer == -38 else f"the gate answered {answer}"  # noqa: PLR2004


WAYS = (_old_gate, _x32_process_id, _x32_open, _x32_vector)
