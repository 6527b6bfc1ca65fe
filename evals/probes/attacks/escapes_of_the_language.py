"""Reaches no program by the known escapes from restricted Python."""

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


def _ran(value: object) -> object:
    text = getattr(value, "read", lambda: value)()
    return text if "ran" in str(text) else None


def _module_of_a_module() -> object:
    return _ran(vars(held("re").enum)["sys"].modules["os"].popen("/bin/echo ran"))


def _subclasses() -> object:
    for kind in object.__subclasses__():
        names = getattr(kind.__init__, "__globals__", {})
        if "popen" in names:
            return _ran(names["popen"]("/bin/echo ran"))
    return None


def _frames() -> object:
    def empty() -> object:
        yield frame

    generator: Any = empty()
    frame = generator.gi_frame
    built_in = frame.f_builtins
    return _ran(built_in["__import__"]("os").popen("/bin/echo ran"))


def _format_fields() -> object:
    formatter = held("string").Formatter()
    module, _ = formatter.get_field("0.__globals__", (main,), {})
    return _ran(module["held"]("posix").posix_spawn("/bin/echo", ["echo", "ran"], {}) and "ran")


def _arrays() -> object:
    ctypes = held("numpy").ctypeslib.ctypes
    return ctypes.CDLL(None).system(b"/bin/true") == 0 and "ran"


def _help_and_debugger() -> object:
    return _ran(held("pydoc").pipepager("ran", "/bin/cat") or "")


WAYS = (
    _module_of_a_module,
    _subclasses,
    _frames,
    _format_fields,
    _arrays,
    _help_and_debugger,
)
