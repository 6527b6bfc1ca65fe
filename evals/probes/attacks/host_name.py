"""Cannot learn the host's name or time zone."""

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


def _uname() -> object:
    return held("os").uname().nodename


def _platform() -> object:
    return held("platform").node()


def _socket() -> object:
    return held("socket").gethostname()


def _c_library() -> object:
    buffer = held("ctypes").create_string_buffer(256)
    return libc("gethostname", buffer, 256) == 0 and buffer.value


def _by_system_call() -> object:
    buffer = held("ctypes").create_string_buffer(512)
    return kernel(63, 160, buffer) == 0 and buffer.raw[65:130].rstrip(b"\0")


def _time_zone() -> object:
    time = held("time")
    return [name for name in time.tzname if name != "UTC"] or time.timezone or time.altzone


def _local_time() -> object:
    time = held("time")
    return [second for second in (0, 15_000_000) if time.localtime(second) != time.gmtime(second)]


WAYS = (_uname, _platform, _socket, _c_library, _by_system_call, _time_zone, _local_time)
