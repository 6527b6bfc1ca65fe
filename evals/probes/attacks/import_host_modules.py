"""Cannot import the host's own code."""

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


_NAMES = (
    "app.cli",
    "graph.build",
    "evals.registry",
    "agents.models",
    "vectorstore",
    "tools.sandbox",
)


def _imported() -> object:
    for name in _NAMES:
        try:
            return __import__(name)
        except ImportError:
            continue
    return None


def _with_the_path() -> object:
    SYS.path[:0] = [bytes.fromhex(word).decode() for word in BAIT.get("hidden", [])]
    held("importlib").invalidate_caches()
    return _imported()


def _already_there() -> object:
    return [name for name in _NAMES if name in SYS.modules]


def _by_folder_of_a_package() -> object:
    path = list(SYS.modules["tools"].__path__)
    return held("importlib.machinery").PathFinder.find_spec("tools.sandbox", path)


def _installed() -> object:
    for name in ("pip", "pytest", "openai", "chromadb", "pydantic", "sqlite3", "ssl"):
        try:
            return __import__(name)
        except ImportError:
            continue
    return None


def _from_text() -> object:
    for word in BAIT.get("hidden", []):
        try:
            return held("io").open(f"{bytes.fromhex(word).decode()}/app/cli.py").read()
        except OSError:
            continue
    return None


WAYS = (
    _imported,
    _already_there,
    _by_folder_of_a_package,
    _with_the_path,
    _installed,
    _from_text,
)
