"""Cannot change a file of the host through a descriptor it holds."""

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


def _is_the_hosts(number: int) -> bool:
    try:
        return held("os").fstat(number).st_mode & 0o170000 not in (0o010000, 0o140000)
    except OSError:
        return False


def _modes() -> object:
    changed = []
    for number in range(256):
        if not _is_the_hosts(number):
            continue
        try:
            held("os").fchmod(number, held("os").fstat(number).st_mode & 0o7777)
            changed.append(number)
        except OSError:
            continue
    return changed


def _sizes() -> object:
    return [n for n in range(256) if _is_the_hosts(n) and _reopened(n)]


def _reopened(number: int) -> bool:
    try:
        held("io").open(f"/proc/self/fd/{number}", "rb").close()
    except OSError:
        return False
    return True


def _locks() -> object:
    fcntl, locked = held("fcntl"), []
    for number in range(256):
        if not _is_the_hosts(number):
            continue
        try:
            fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
            locked.append(number)
        except OSError:
            continue
    return locked


WAYS = (_modes, _sizes, _locks)
