"""Finds no path of the host in the memory its arguments and environment once stood in."""

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


_PAGE = 4096


def _hidden_in(found: bytes) -> object:
    words = [bytes.fromhex(word) for word in BAIT.get("hidden", ["2f686f6d652f", "2f726f6f742f"])]
    return [(word, found.count(word)) for word in words if word in found]


def _block_from(address: int) -> bytes:
    """The bytes from one argument up to the top of the stack, which ends in eight zeros."""
    ctypes, found = held("ctypes"), b""
    for _ in range(64):
        size = _PAGE - address % _PAGE
        found += ctypes.string_at(address, size)
        address += size
        if found.endswith(bytes(8)):
            break
    return found


def _program_name() -> object:
    ctypes = held("ctypes")
    name = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "program_invocation_name")
    return _hidden_in(_block_from(name.value))


def _argument_vector() -> object:
    ctypes = held("ctypes")
    vector = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "__libc_argv")
    return _hidden_in(_block_from(vector[0]))


def _original_environment() -> object:
    """The auxiliary vector names the program's file, in the same block."""
    ctypes = held("ctypes")
    getauxval = ctypes.CDLL(None).getauxval
    getauxval.restype = ctypes.c_void_p
    file = getauxval(31)
    return _hidden_in(ctypes.string_at(file)) if file else None


def _interpreter() -> object:
    values = [SYS.argv, SYS.orig_argv, SYS.executable, SYS.path, SYS.flags, SYS.warnoptions]
    return _hidden_in(repr(values).encode())


def _process_file() -> object:
    return _hidden_in(held("io").open("/proc/self/cmdline", "rb").read())


WAYS = (_interpreter, _process_file, _program_name, _argument_vector, _original_environment)
