"""Cannot learn whether a file of the host exists, how large it is or when it changed."""

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


def _path() -> str:
    path: str = BAIT.get("secret", "/etc/passwd")
    return path


def _stat() -> object:
    return held("os").stat(_path())


def _link_stat() -> object:
    return held("os").lstat(_path())


def _access() -> object:
    return held("os").access(_path(), 0)


def _existence_by_error() -> object:
    """Two different errors for a file that is there and one that is not tell them apart."""
    os, seen = held("os"), list[object]()
    for path in (_path(), _path() + "-absent"):
        try:
            os.stat(path)
            seen.append(0)
        except OSError as error:
            seen.append(error.errno)
    return None if seen[0] == seen[1] else seen


def _file_system() -> object:
    return held("os").statvfs("/")


def _extended() -> object:
    buffer = held("ctypes").create_string_buffer(256)
    return kernel(332, 291, -100, _path().encode(), 0, 0xFFF, buffer) == 0


def _old_system_call() -> object:
    buffer = held("ctypes").create_string_buffer(256)
    return kernel(4, -1, _path().encode(), buffer) == 0


def _link_target() -> object:
    return held("os").readlink("/proc/self/exe")


def _working_folder() -> object:
    return held("os").getcwd()


def _attributes() -> object:
    return held("os").listxattr(_path()) == []


WAYS = (
    _stat,
    _link_stat,
    _access,
    _existence_by_error,
    _file_system,
    _extended,
    _old_system_call,
    _link_target,
    _working_folder,
    _attributes,
)
