"""Scrubbing of a zygote before it forks: where it came from and what it was started with.

Workers are copies of it, so whatever stays in its memory can be read by a module.
"""

import ctypes
import gc
import importlib
import linecache
import os
import posix
import sys
import types
from contextlib import suppress
from pathlib import Path

from tools.guest.confine.residue import overwrite

_ANYWHERE = "/python"
_EVERYWHERE = ("/usr", "/lib")  # tells nothing about the host
_PROGRAM_FILE = 31  # AT_EXECFN of the auxiliary vector
_STAT_ARGUMENTS = 45  # arg_start among the fields that follow the name in /proc/self/stat


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
