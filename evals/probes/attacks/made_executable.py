"""Cannot make memory executable that it has written."""

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


_READ_EXECUTE = 5


def _page() -> int:
    return libc("mmap", 0, 4096, 3, 0x22, -1, 0)


def _protected() -> object:
    return libc("mprotect", _page(), 4096, _READ_EXECUTE) == 0


def _protected_by_key() -> object:
    return kernel(329, 288, _page(), 4096, _READ_EXECUTE, -1) == 0


def _key() -> object:
    return kernel(330, 289, 0, 0) >= 0 and "a protection key"


def _code_made_writable() -> object:
    ctypes = held("ctypes")
    function = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
    return libc("mprotect", function & ~4095, 4096, 7) == 0


def _remapped_over_code() -> object:
    """Move a written page to where code stands."""
    ctypes = held("ctypes")
    function = ctypes.cast(ctypes.CDLL(None).l64a, ctypes.c_void_p).value
    moved = libc("mremap", _page(), 4096, 4096, 3, function & ~4095)
    return None if moved else "moved"


def _shadow_stack() -> object:
    return kernel(453, 453, 0, 4096, 0) > 0


def _by_system_call() -> object:
    return kernel(10, 226, _page(), 4096, _READ_EXECUTE) == 0


def _stack_and_heap() -> object:
    return libc("mprotect", libc("sbrk", 0) & ~4095, 4096, 7) == 0


WAYS = (
    _protected,
    _protected_by_key,
    _key,
    _code_made_writable,
    _shadow_stack,
    _by_system_call,
    _stack_and_heap,
    _remapped_over_code,
)
