"""Cannot hand a descriptor to the host through its own connection."""

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


def _sent() -> object:
    socket = held("socket")
    for number in range(3, 16):
        try:
            with socket.socket(fileno=held("os").dup(number)) as endpoint:
                return socket.send_fds(endpoint, [b"\0"], [0, 1, 2])
        except OSError:
            continue
    return None


def _by_system_call() -> object:
    ctypes = held("ctypes")
    rights = (ctypes.c_int * 6)(20, 0, 1, 1, 0, 0)
    byte = ctypes.create_string_buffer(1)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(byte), 1)
    parts = (0, 0, ctypes.addressof(vector), 1, ctypes.addressof(rights), 24, 0)
    for number in range(3, 16):
        try:
            return kernel(46, 211, number, (ctypes.c_void_p * 7)(*parts), 0)
        except OSError:
            continue
    return None


def _who_is_there() -> object:
    """The process id of the other side, from its credentials."""
    for number in range(3, 16):
        buffer = held("ctypes").create_string_buffer(12)
        size = held("ctypes").c_uint(12)
        try:
            if libc("getsockopt", number, 1, 17, buffer, held("ctypes").byref(size)) == 0:
                return int.from_bytes(buffer.raw[:4], "little")
        except OSError:
            continue
    return None


WAYS = (_who_is_there, _sent, _by_system_call)
