"""Finds no path or secret of the host in any object, module or code it can walk to."""

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


_LIMIT = 2_000_000


def _hidden() -> list[str]:
    return [bytes.fromhex(word).decode() for word in BAIT.get("hidden", ["2f726f6f742f"])]


def _texts(roots: list[object]) -> list[str]:
    """Every string reachable from the roots by what the collector knows of."""
    gc, seen, texts = held("gc"), set[int](), list[str]()
    while roots and len(seen) < _LIMIT:
        item = roots.pop()
        if id(item) in seen or item is BAIT:
            continue
        seen.add(id(item))
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, bytes):
            texts.append(item.decode("latin-1"))
        elif type(item).__name__ == "code":
            texts += (repr(item), *map(repr, vars(type(item))["co_consts"].__get__(item)))
        else:
            roots += gc.get_referents(item)
    return texts


def _matching(texts: list[str]) -> object:
    words = _hidden()
    return sorted({text[:150] for text in texts for word in words if word in text})[:4]


def _modules() -> object:
    attributes = ("__file__", "__path__", "__cached__", "__spec__", "__loader__")
    return _matching(
        [
            f"{name}.{attribute}={vars(module).get(attribute)!r}"
            for name, module in list(SYS.modules.items())
            for attribute in attributes
        ]
    )


def _interpreter() -> object:
    names = ("path", "prefix", "exec_prefix", "base_prefix", "executable", "_base_executable")
    caches = [SYS.path_importer_cache, SYS.meta_path, SYS.path_hooks]
    values = [getattr(SYS, name, None) for name in names]
    return _matching([repr(value) for value in [*values, *caches]])


def _walk_from_modules() -> object:
    return _matching(_texts([dict(vars(module)) for module in list(SYS.modules.values())]))


def _walk_from_the_collector() -> object:
    gc = held("gc")
    gc.unfreeze()
    return _matching(_texts([item for item in gc.get_objects() if item is not BAIT]))


def _interned() -> object:
    texts = [repr(name) for name in SYS.modules]
    texts += [repr(vars(held("linecache")).get("cache"))[:100_000]]
    return _matching(texts)


WAYS = (_modules, _interpreter, _interned, _walk_from_modules, _walk_from_the_collector)
