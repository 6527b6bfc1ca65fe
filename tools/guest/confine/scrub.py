"""Scrubbing of a zygote before it forks: where it came from, what it was started with, its clocks.

Workers are copies of it, so whatever stays in its memory can be read by a module. Dropping a string
frees its memory without clearing it, the dynamic linker keeps the names of what it loaded, and the
interpreter keeps its start-up paths as wide characters. A module that reads outside of its arrays
would find them all.

A worker does not run between two requests, so a clock that does not go on then cannot tell how
long another worker took to answer. System calls that tell the time are the filter's to refuse.
Three ways lead around it: the pages in which the kernel keeps the time for the C library, the
processor's counter, and Python's own functions, which take a refused clock for 0.
"""

import ctypes
import datetime
import gc
import importlib
import linecache
import logging
import os
import posix
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from tools.guest.confine import kernel
from tools.guest.faults import ClockError

_ANYWHERE = "/python"
_EVERYWHERE = ("/usr", "/lib")  # tells nothing about the host
_PROGRAM_FILE = 31  # AT_EXECFN of the auxiliary vector
_STAT_ARGUMENTS = 45  # arg_start among the fields that follow the name in /proc/self/stat
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
_PAGES = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) .*\[vvar\w*\]$", re.MULTILINE)
_OWN = frozenset({"agents", "games", "tools"})
_TELLING = ("time", "monotonic", "perf_counter", "clock_gettime")
_MOMENTS = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions that take the present for a moment that is not given, and which argument that is."""


def forget_host() -> None:
    """Forget the arguments, the environment and every path of the host."""
    places = _places()
    if sys.platform == "linux":
        _blank_start_up()
    os.environ.clear()
    posix.environ.clear()
    sys.argv[:] = ["worker"]
    sys.orig_argv[:] = ["worker"]
    sys.dont_write_bytecode = True
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix", "executable"):
        setattr(sys, name, _ANYWHERE)
    for name in ("_base_executable", "_home", "_stdlib_dir", "_git"):
        if hasattr(sys, name):
            setattr(sys, name, None)
    linecache.clearcache()
    _forget_files()
    _rename_code(places)
    _rename_constants(places)
    if "platform" in sys.modules:
        vars(sys.modules["platform"])["_uname_cache"] = None  # it holds the host's name
    if sys.platform == "linux":
        gc.collect()
        # Where the kernel keeps a process from its own memory, a worker is kept from it as well.
        with suppress(OSError):
            overwrite(place for place in places if not place.startswith(_EVERYWHERE))


def _places() -> tuple[str, ...]:
    """Folders of the host that code was loaded from."""
    found = {str(Path(os.__file__).parent), sys.prefix, sys.base_prefix, *sys.path}
    found |= {str(Path(sys.executable).parent), *os.environ.get("PYTHONPATH", "").split(":")}
    return tuple(sorted(place for place in found if place.startswith("/") and place != "/"))


def _forget_files() -> None:
    for module in list(sys.modules.values()):
        if not isinstance(module, types.ModuleType):
            continue
        fields = module.__dict__
        for name in ("__file__", "__cached__", "__path__"):
            if isinstance(fields.get(name), list):
                fields[name] = []
            elif name in fields and name != "__path__":
                fields[name] = None
        spec = fields.get("__spec__")
        if spec is not None:
            spec.origin = spec.cached = spec.loader_state = None
            spec.submodule_search_locations = (
                None if spec.submodule_search_locations is None else []
            )
        for loader in (fields.get("__loader__"), getattr(spec, "loader", None)):
            if hasattr(loader, "path"):
                vars(loader)["path"] = None


def _rename_code(places: tuple[str, ...]) -> None:
    """Give every function's code a name inside the library instead of its path on the host."""
    rename = importlib.import_module("_imp")._fix_co_filename  # what the import system itself uses
    for item in gc.get_objects():
        if not isinstance(item, types.FunctionType):
            continue
        if item.__code__.co_filename.startswith("/"):
            rename(item.__code__, _anonymous(item.__code__.co_filename))
        if item.__defaults__:
            item.__defaults__ = tuple(_renamed(value, places) for value in item.__defaults__)


def _rename_constants(places: tuple[str, ...]) -> None:
    """Replace paths that modules keep, such as the logging module's own."""
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else ():
            new = _renamed(value, places)
            if new is not value:
                setattr(module, name, new)


def _renamed(value: object, places: tuple[str, ...]) -> object:
    return _anonymous(value) if isinstance(value, str) and value.startswith(places) else value


def _anonymous(path: str) -> str:
    return f"{_ANYWHERE}/{path.rpartition('/')[2]}"


def _blank_start_up() -> None:
    """Overwrite the strings that the kernel put on the stack: arguments, then environment."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    starts_and_ends = [int(field) for field in fields[_STAT_ARGUMENTS : _STAT_ARGUMENTS + 4]]
    for start, end in (starts_and_ends[:2], starts_and_ends[2:]):
        if start and end > start:
            ctypes.memset(start, 0, end - start)
    asked = ctypes.CDLL(None).getauxval
    asked.restype, asked.argtypes = ctypes.c_void_p, (ctypes.c_ulong,)
    program = asked(_PROGRAM_FILE)  # the program's path stands behind both
    if program:
        ctypes.memset(program, 0, len(ctypes.string_at(program)))


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
            found += _occurrences(needles, _windows(memory, present, start, end))
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


def _occurrences(
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


def stop_clocks(preloaded: Iterable[str] = ()) -> str:
    """Leave no clock in reach of this process and of those it forks.

    A package of others that is preloaded, such as OpenSpiel's, may need a clock, and ends its
    worker without one. Beside it only our own source runs, so clocks stay in reach there.

    Args:
        preloaded: Names of preloaded packages.

    Returns:
        Why one is left; "" where none is.
    """
    _refuse_in_python()
    others = {name.partition(".")[0] for name in preloaded} - _OWN
    if others:
        return f"{', '.join(sorted(others))} may need one"
    try:
        for start, end in _PAGES.findall(Path("/proc/self/maps").read_text(encoding="utf-8")):
            # With zeros there the C library makes a system call, or has 0 for the time.
            kernel.blank(int(start, 16), int(end, 16) - int(start, 16))
        kernel.trap_counter()
    except OSError as error:
        return str(error)
    return ""


def _refuse_in_python() -> None:
    logging_needs = {"time": lambda: 0.0, "time_ns": lambda: 0, "strftime": time.strftime}
    vars(logging).update(time=SimpleNamespace(**logging_needs), _startTime=0)
    for name in _TELLING:
        for function in (name, f"{name}_ns"):
            setattr(time, function, _refused)
    time.sleep = _refused
    for name, place in _MOMENTS.items():
        setattr(time, name, _of_a_moment(getattr(time, name), place))
    # The class is C's and takes no new attributes; `today` asks `time` by itself.
    methods = next(found for found in gc.get_referents(vars(datetime.datetime)) if "now" in found)
    methods.update(now=classmethod(_refused), utcnow=classmethod(_refused))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))


def _refused(*_: object, **__: object) -> NoReturn:
    raise ClockError("read the clock; a game has no clock")


def _of_a_moment(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    def told(*given: Any) -> Any:  # noqa: ANN401 - as the C function
        return function(*given) if given[place:] not in ((), (None,)) else _refused()

    return told
