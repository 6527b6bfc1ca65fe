"""What a module may import: loaded before the first fork, because nothing can be loaded later."""

import importlib
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

STANDARD_LIBRARY = (
    "__future__",
    "abc",
    "array",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "collections.abc",
    "colorsys",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "keyword",
    "logging",
    "math",
    "numbers",
    "operator",
    "pprint",
    "queue",
    "random",
    "re",
    "reprlib",
    "secrets",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "threading",
    "time",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
)

NUMPY = (
    "numpy",
    "numpy.fft",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.typing",
)

# What the interpreter itself imports late, at the first use of something above.
_LATE = (
    "_strptime",
    "encodings.ascii",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.punycode",
    "locale",
    "token",
)


def preload(*, numpy: bool) -> None:
    """Load everything that a module may import.

    Raises:
        ImportError: If numpy is asked for and is not installed.
    """
    for name in (*STANDARD_LIBRARY, *_LATE, *(NUMPY if numpy else ())):
        importlib.import_module(name)
    traceback.format_exception(ValueError())  # loads whatever formatting loads


def close_imports(*, numpy: bool) -> None:
    """Leave only what is loaded: any other import names itself and lists what is allowed."""
    offered = STANDARD_LIBRARY + (NUMPY if numpy else ())
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
    sys.meta_path[:] = [_Refusal(offered, numpy=numpy)]


class _Refusal:
    """A finder that finds nothing and says why."""

    def __init__(self, offered: Sequence[str], *, numpy: bool) -> None:
        self._numpy = numpy
        self._text = ", ".join(name for name in offered if "." not in name)

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> NoReturn:
        del path, target
        hint = "" if self._numpy else "; numpy only where the source says 'import numpy' by itself"
        raise ModuleNotFoundError(
            f"{name!r} cannot be imported in the sandbox; allowed: {self._text}{hint}", name=name
        )
