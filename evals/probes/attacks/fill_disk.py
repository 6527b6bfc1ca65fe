"""Cannot fill a disk of the host."""

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


_MEBIBYTE = 2**20


def _written() -> object:
    with held("io").open(f"{known('folder')}/filled", "wb", buffering=0) as file:
        return file.write(bytes(_MEBIBYTE))


def _reserved() -> object:
    os = held("os")
    descriptor = os.open(f"{known('folder')}/reserved", os.O_CREAT | os.O_RDWR)
    return os.posix_fallocate(descriptor, 0, _MEBIBYTE) or "reserved 1 MiB"


def _nameless() -> object:
    os = held("os")
    descriptor = os.open(BAIT.get("folder", "/tmp"), os.O_TMPFILE | os.O_RDWR)
    return os.write(descriptor, bytes(_MEBIBYTE))


def _mapped() -> object:
    os = held("os")
    descriptor = os.open(f"{known('folder')}/mapped", os.O_CREAT | os.O_RDWR)
    os.ftruncate(descriptor, _MEBIBYTE)
    held("mmap").mmap(descriptor, _MEBIBYTE)[:] = b"x" * _MEBIBYTE
    return "wrote 1 MiB through a mapping"


def _copied() -> object:
    os = held("os")
    source = os.open("/usr/lib/os-release", os.O_RDONLY)
    target = os.open(f"{known('folder')}/copied", os.O_CREAT | os.O_WRONLY)
    return os.sendfile(target, source, 0, _MEBIBYTE)


WAYS = (_written, _reserved, _nameless, _mapped, _copied)
