"""Cannot hold its place by stopping itself."""

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


def _stopped() -> object:
    os, signal = held("os"), held("signal")
    os.kill(os.getpid(), signal.SIGSTOP)
    return None


def _by_raise() -> object:
    signal = held("signal")
    signal.raise_signal(signal.SIGSTOP)
    return None


def _waits_for_nothing() -> object:
    reading, _ = held("os").pipe()
    held("os").read(reading, 1)
    return None


def _paused() -> object:
    while True:
        held("signal").pause()


def _locked() -> object:
    """A futex that nobody wakes."""
    lock = held("_thread").allocate_lock()
    lock.acquire()
    held("signal").pthread_sigmask(0, held("signal").valid_signals())
    lock.acquire()
    return None


WAYS = (_stopped, _by_raise, _waits_for_nothing, _paused, _locked)
