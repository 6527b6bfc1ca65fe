"""Residue of what was forgotten: copies of a path in freed memory and in the interpreter's own C.

Dropping a string frees its memory without clearing it, the dynamic linker keeps the names of what
it loaded, and the interpreter keeps its start-up paths as wide characters. A module that reads
outside of its arrays would find them all.
"""

import ctypes
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress

_TABLE_BYTES, _WINDOW_BYTES = 1 << 20, 1 << 17
_PAGE_BITS, _ENTRY_BYTES = 12, 8
_FILLED_BYTES = 1 << 18  # of every size
_STEP, _SMALLEST, _LARGEST_SMALL, _BYTES_HEAD = 16, 48, 512, 33  # of the interpreter's allocator
_LARGE_SIZES = (600, 1000, 2000, 4000, 8000, 16_000, 32_000)
_BEHIND_A_PATH = b"\0/:\"' ,)\n"  # what else begins with the same letters is no such path
# Constants may stand among the code; of code, only the interpreter's own knows of folders.
_PRIVATE = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) r(?:.-p|-xp(?=.*/(?:lib)?python[^/]*$)) \S+ \S+ \d+ *(\[\w+\])?",
    re.MULTILINE,
)
_WIDE = (b"[heap]", b"[stack]")  # where the C library puts wide characters
_KERNELS_OWN = (b"[vvar]", b"[vvar_vclock]", b"[vdso]", b"[vsyscall]")


def overwrite(words: Iterable[str]) -> None:
    """Overwrite every copy of the words in this process's private memory, live ones too.

    That includes what is compiled into the interpreter, such as where it was installed.

    Call it last: an object that still holds a word holds another text afterwards. Memory is read
    and written through the process's own files, so that a region that goes away meanwhile is an
    error and no crash.

    Raises:
        OSError: If the process cannot reach its own memory.
    """
    roots = _without_covered(words)
    _fill_free_memory()
    narrow = [(word.encode(), b"x" * len(word.encode())) for word in roots]
    wide = [(_wide(word), _wide("x" * len(word))) for word in roots]
    with ExitStack() as files:
        memory = os.open("/proc/self/mem", os.O_RDWR)
        files.callback(os.close, memory)
        present = os.open("/proc/self/pagemap", os.O_RDONLY)
        files.callback(os.close, present)
        found: list[tuple[int, bytes]] = []
        for start, end, holds_wide in list(_regions()):
            needles = narrow + wide if holds_wide else narrow
            found += _places(needles, _windows(memory, present, start, end))
        for place, filler in found:  # what was searched for is among them, hence not before
            with suppress(OSError):  # where the kernel lets nobody write to read-only memory
                os.pwrite(memory, filler, place)


def _fill_free_memory() -> None:
    """Have the allocator hand out what it holds free, and fill it with zeros.

    Afterwards what is found in memory belongs to something alive, and may be written to.
    """
    for size in range(_SMALLEST, _LARGEST_SMALL + 1, _STEP):
        del [bytes(size - _BYTES_HEAD) for _ in range(_FILLED_BYTES // size)][:]
    kept = [bytes(size) for size in _LARGE_SIZES for _ in range(_FILLED_BYTES // size)]
    small = [object() for _ in range(_FILLED_BYTES // _STEP)]
    numbers = [float(number) for number in range(_FILLED_BYTES // _STEP // 2)]
    del kept, small, numbers


def _wide(text: str) -> bytes:
    """The text as the C library's wide characters; its codec can no longer be imported."""
    return b"".join(ord(character).to_bytes(4, "little") for character in text)


def _without_covered(words: Iterable[str]) -> list[str]:
    """The words that no other one begins.

    >>> _without_covered(["/a/b", "/a", "/c", "/a"])
    ['/a', '/c']
    """
    kept: list[str] = []
    for word in sorted(set(words)):
        if not (kept and word.startswith(kept[-1])):
            kept.append(word)
    return kept


def _regions() -> Iterator[tuple[int, int, bool]]:
    """Start and end of each private region, and whether wide characters may lie there.

    The table itself names files, so it is read into a buffer that is cleared afterwards.
    """
    buffer = ctypes.create_string_buffer(_TABLE_BYTES)
    table, filled = memoryview(buffer).cast("B"), 0
    source = os.open("/proc/self/maps", os.O_RDONLY)
    try:
        while read := os.readv(source, [table[filled:]]):
            filled += read
    finally:
        os.close(source)
    for match in _PRIVATE.finditer(table[:filled]):
        if match[3] not in _KERNELS_OWN:
            yield int(match[1], 16), int(match[2], 16), match[3] in _WIDE
    ctypes.memset(buffer, 0, filled)


def _windows(
    memory: int, present: int, start: int, end: int
) -> Iterator[tuple[int, bytearray, int]]:
    """Parts of a region: where each begins, a copy to search in, and how much of it is filled.

    Parts no page of which was ever touched are left out. The parts overlap by a page, so that
    nothing is missed on a border.
    """
    window = bytearray(_WINDOW_BYTES)
    view = memoryview(window)
    while start < end:
        size = min(_WINDOW_BYTES, end - start)
        pages = os.pread(
            present, (size >> _PAGE_BITS) * _ENTRY_BYTES, (start >> _PAGE_BITS) * _ENTRY_BYTES
        )
        if any(pages[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]):
            try:
                size = os.preadv(memory, [view[:size]], start)
            except OSError:  # a region of the kernel's own, or one that is gone
                break
            yield start, window, size
        start += size if size < _WINDOW_BYTES else size - (1 << _PAGE_BITS)
    window[:] = bytes(_WINDOW_BYTES)


def _places(
    needles: Iterable[tuple[bytes, bytes]], windows: Iterable[tuple[int, bytearray, int]]
) -> Iterator[tuple[int, bytes]]:
    for start, copy, size in windows:
        for needle, filler in needles:
            at = copy.find(needle, 0, size)
            while at >= 0:
                behind = at + len(needle)
                if behind >= size or copy[behind] in _BEHIND_A_PATH:
                    yield start + at, filler
                at = copy.find(needle, behind, size)
