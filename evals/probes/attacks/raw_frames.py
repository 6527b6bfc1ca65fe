"""Cannot harm the host by what it writes to its own connection."""

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


_LENGTH_BYTES = 4


def _write(body: bytes, length: int | None = None) -> object:
    """Write a frame to whatever takes it; the host must end this worker for it."""
    os = held("os")
    size = len(body) if length is None else length
    frame = size.to_bytes(_LENGTH_BYTES, "little") + body
    for number in range(3, 64):
        try:
            sent = os.write(number, frame)
            while sent < len(frame):
                sent += os.write(number, frame[sent:])
        except OSError:
            continue
        return None
    return None


def _long() -> object:
    return _write(b"{", 2**32 - 1)


def _empty() -> object:
    return _write(b"")


def _nested() -> object:
    return _write(b"[" * 4_000_000)


def _nested_in_names() -> object:
    return _write(b'{"a":' * 1_000_000)


def _digits() -> object:
    return _write(b'{"value":' + b"9" * 4_000_000 + b"}")


def _exponent() -> object:
    return _write(b'{"value":1e' + b"9" * 4_000_000 + b"}")


def _no_text() -> object:
    return _write(b"\xff\xfe" * 1000)


def _half_characters() -> object:
    return _write(b'{"id":1,"value":"\\ud800"}')


def _no_number() -> object:
    return _write(b'{"id":NaN,"value":Infinity}')


def _many_small() -> object:
    return _write(b"[" + b"[]," * 2_000_000 + b"[]]")


def _flood() -> object:
    for _ in range(16):
        _write(bytes(2**20))
    return None


def _half() -> object:
    """The first half of a frame, and then nothing for as long as it may."""
    _write(b"{", 1000)
    held("time").sleep(3600)
    return None


WAYS = (
    _long,
    _empty,
    _nested,
    _nested_in_names,
    _digits,
    _exponent,
    _no_text,
    _half_characters,
    _no_number,
    _many_small,
    _flood,
    _half,
)
