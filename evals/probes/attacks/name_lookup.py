"""Cannot look up a name."""

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


def _local() -> object:
    return held("socket").getaddrinfo("localhost", 80)


def _old() -> object:
    return held("socket").gethostbyname("localhost")


def _service() -> object:
    return held("socket").getservbyname("http")


def _question() -> object:
    """A question put to the name server that the host runs for this probe."""
    socket = held("_socket")
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return endpoint.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", ("127.0.0.1", known("port")))


WAYS = (_local, _old, _service, _question)
