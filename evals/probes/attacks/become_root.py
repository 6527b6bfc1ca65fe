"""Is not root, and cannot become it."""

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


def _is_root() -> object:
    os = held("os")
    return 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) and "it is root"


def _set_user() -> object:
    held("os").setuid(0)
    return "became root"


def _set_all_users() -> object:
    held("os").setresuid(0, 0, 0)
    return "became root"


def _set_groups() -> object:
    held("os").setgroups([0])
    return "joined root's group"


def _file_system_user() -> object:
    return libc("setfsuid", 0) == 0 and libc("setfsuid", 0) == 0


def _capabilities() -> object:
    ctypes = held("ctypes")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    everything = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
    return kernel(126, 91, header, everything) == 0


def _privileges_regained() -> object:
    return libc("prctl", 38, 0, 0, 0, 0) == 0


WAYS = (
    _is_root,
    _set_user,
    _set_all_users,
    _set_groups,
    _file_system_user,
    _capabilities,
    _privileges_regained,
)
