"""Cannot run a program."""

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


def _command() -> str:
    return f"/bin/mkdir {BAIT.get('folder', '/tmp')}/ran"


def _system() -> object:
    return held("os").system(_command()) == 0


def _spawned() -> object:
    os = held("os")
    return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)


def _subprocess() -> object:
    return held("subprocess").run(["/bin/true"], check=True, timeout=5)


def _read_from() -> object:
    return held("os").popen("/bin/echo ran").read()


def _c_library() -> object:
    return libc("system", _command().encode()) == 0


def _pipe_of_the_c_library() -> object:
    return libc("popen", _command().encode(), b"r")


def _script_folder() -> object:
    held("_posixsubprocess")
    return held("pty").spawn(["/bin/true"]) == 0


def _replaced() -> object:
    """The last way: where it works this process is gone, and only the host sees the folder."""
    held("os").execv("/bin/sh", ["sh", "-c", f"{_command()}-by-exec"])
    return None


WAYS = (
    _system,
    _spawned,
    _subprocess,
    _read_from,
    _c_library,
    _pipe_of_the_c_library,
    _script_folder,
    _replaced,
)
