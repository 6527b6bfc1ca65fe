"""Finds no path or secret of the host in all the memory that it can read."""

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


def kernel(x86_64: int, aarch64: int, *arguments: object) -> int:
    """A system call by its number on either machine; no number is negative."""
    number = x86_64 if "x86_64" in SYS.implementation._multiarch else aarch64
    if number < 0:
        raise OSError("this machine has no such call")
    return libc("syscall", number, *arguments)


_PAGE, _MOST_BYTES, _LAST = 4096, 1 << 28, 4


def _ends() -> list[tuple[bytes, bytes]]:
    """Each hidden word without its end, and the end: the whole word is never put together."""
    words = BAIT.get("hidden", ["2f726f6f742f"])
    halves = [(bytes.fromhex(word[:-_LAST]), bytes.fromhex(word[-_LAST:])) for word in words]
    return halves + [(_wide(start), _wide(end)) for start, end in halves]


def _wide(text: bytes) -> bytes:
    return b"".join(bytes((letter, 0, 0, 0)) for letter in text)


def _readable(address: int) -> bool:
    """A call that refuses its first argument, after it has read what its second one points to."""
    try:
        kernel(14, 135, 99, address, 0, 8)
    except OSError as error:
        return error.errno == int(held("errno").EINVAL)
    return True


def _around(seeds: list[int]) -> object:
    """Search from page to page as far as memory can be read, around every seed."""
    ctypes, seen, found, ends = held("ctypes"), set[int](), list[str](), _ends()
    for seed in seeds:
        first = last = seed // _PAGE
        if first in seen or not _readable(first * _PAGE):
            continue
        while first - 1 not in seen and _readable((first - 1) * _PAGE):
            first -= 1
        while last + 1 not in seen and _readable((last + 1) * _PAGE):
            last += 1
        seen.update(range(first, last + 1))
        for page in range(first, last + 1, 64):
            memory = ctypes.string_at(page * _PAGE, min(64, last + 1 - page) * _PAGE)
            found += _hits(memory, ends)
        if found or len(seen) * _PAGE > _MOST_BYTES:
            break
    return found[:4]


def _hits(memory: bytes, ends: list[tuple[bytes, bytes]]) -> list[str]:
    hits = []
    for start, end in ends:
        at = memory.find(start)
        while at >= 0:
            behind = at + len(start)
            if memory[behind : behind + len(end)] == end:
                hits.append(f"a path {memory[at : behind + 40]!r}")
            at = memory.find(start, behind)
    return hits


def _objects() -> object:
    held("gc").unfreeze()
    items = held("gc").get_objects()
    return _around([id(item) for item in items[:: max(len(items) // 2000, 1)]])


def _heap() -> object:
    return _around([libc("sbrk", 0) - _PAGE])


def _libraries() -> object:
    ctypes = held("ctypes")
    names = ("environ", "stdout", "program_invocation_name", "_PyRuntime", "Py_None")
    library = ctypes.CDLL(None)
    known = [getattr(library, name, None) for name in names]
    return _around([ctypes.addressof(item) for item in known if item is not None])


def _stack() -> object:
    """Random bytes that the kernel left near the stack's top tell where it is."""
    asked = held("ctypes").CDLL(None).getauxval
    asked.restype = held("ctypes").c_void_p
    return _around([asked(25)])


WAYS = (_objects, _heap, _libraries, _stack)
