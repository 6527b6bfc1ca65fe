"""Cannot load programs or modules into the kernel."""

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


def _map() -> object:
    attributes = (held("ctypes").c_uint32 * 32)(2, 4, 8, 1)
    return kernel(321, 280, 0, attributes, 128)


def _program() -> object:
    """The shortest program: return zero."""
    ctypes = held("ctypes")
    code = (ctypes.c_uint64 * 2)(0xB7, 0x95)
    text = ctypes.create_string_buffer(b"GPL")
    attributes = (ctypes.c_uint64 * 16)(1 | 2 << 32, ctypes.addressof(code), ctypes.addressof(text))
    return kernel(321, 280, 5, attributes, 128)


def _filter_of_its_own() -> object:
    """A second seccomp filter with a listener could answer for the first."""
    ctypes = held("ctypes")
    code = ctypes.c_uint64(6 | 0x7FFF0000 << 32)
    structure = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
    return kernel(317, 277, 1, 8, structure)


def _filter_by_prctl() -> object:
    return libc("prctl", 21, 0, 0, 0, 0) not in (0, 2)


WAYS = (_filter_of_its_own, _filter_by_prctl, _map, _program)
