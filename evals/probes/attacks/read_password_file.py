"""Cannot read the host's password file."""

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


PATH = "/etc/passwd"


def _opened() -> object:
    return held("io").open(PATH).read()


def _descriptor() -> object:
    os = held("os")
    return os.read(os.open(PATH, os.O_RDONLY), 100)


def _relative() -> object:
    os = held("os")
    folder = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    return os.read(os.open("etc/passwd", os.O_RDONLY, dir_fd=folder), 100)


def _through_process_root() -> object:
    return held("io").open("/proc/self/root/etc/passwd").read()


def _line_cache() -> object:
    return held("linecache").getlines(PATH)


def _system_call() -> object:
    return held("os").read(kernel(257, 56, -100, PATH.encode(), 0, 0), 100)


def _old_system_call() -> object:
    return held("os").read(kernel(2, -1, PATH.encode(), 0, 0), 100)


def _opened_by_structure() -> object:
    how = held("ctypes").create_string_buffer(24)
    return held("os").read(kernel(437, 437, -100, PATH.encode(), how, 24), 100)


def _stream_of_the_c_library() -> object:
    return libc("fopen", PATH.encode(), b"r")


def _user_database() -> object:
    return held("pwd").getpwall()


WAYS = (
    _opened,
    _descriptor,
    _relative,
    _through_process_root,
    _line_cache,
    _system_call,
    _old_system_call,
    _opened_by_structure,
    _stream_of_the_c_library,
    _user_database,
)
