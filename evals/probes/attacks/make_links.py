"""Cannot link to, rename or move a file of the host."""

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


def _symlink() -> object:
    held("os").symlink(known("secret"), f"{known('folder')}/symlink")
    return "linked"


def _link() -> object:
    held("os").link(known("secret"), f"{known('folder')}/link")
    return "linked"


def _rename() -> object:
    held("os").rename(f"{known('folder')}/movable", f"{known('folder')}/moved")
    return "renamed"


def _symlink_by_system_call() -> object:
    place = f"{known('folder')}/raw".encode()
    return kernel(266, 36, known("secret").encode(), -100, place) == 0


def _exchange() -> object:
    one, other = f"{known('folder')}/movable".encode(), known("secret").encode()
    return kernel(316, 276, -100, one, -100, other, 2) == 0


WAYS = (_symlink, _link, _rename, _symlink_by_system_call, _exchange)
