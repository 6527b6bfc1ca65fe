"""The kit of a worker, all that it may import: loaded before the first fork, or never."""

import importlib
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from tools.guest.confine.canaries import OPERATIONS as CANARIES
from tools.guest.copying import install
from tools.guest.operations import BUILT_IN, Operation

# `late` is what the interpreter itself imports late, at the first use of something else there.
_KIT: dict[str, list[str]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)


def preload(*, numpy: bool) -> None:
    """Load everything that a module may import.

    Raises:
        ImportError: If numpy is asked for and is not installed.
    """
    # hashlib goes without OpenSSL: its fast key derivation would help to guess a run's seed.
    sys.modules["_hashlib"] = None  # type: ignore[assignment]
    for name in (*_KIT["standard_library"], *_KIT["late"], *(_KIT["numpy"] if numpy else ())):
        importlib.import_module(name)
    del sys.modules["_hashlib"]
    traceback.format_exception(ValueError())  # loads whatever formatting loads


def close_imports(*, numpy: bool) -> None:
    """Leave only what is loaded: any other import names itself and lists what is allowed."""
    offered = _KIT["standard_library"] + (_KIT["numpy"] if numpy else [])
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


def load_kit(packages: Sequence[str], *, numpy: bool) -> dict[str, Operation]:
    """Load everything that a worker can use; returns the operations it will have.

    Args:
        packages: Trusted packages; each may offer `OPERATIONS`.
        numpy: Whether modules may import numpy.

    Raises:
        ValueError: If two packages offer an operation of the same name.
        ImportError: If something is not installed.
    """
    preload(numpy=numpy)
    operations: dict[str, Operation] = dict(CANARIES)
    for name in packages:
        offered: dict[str, Operation] = getattr(importlib.import_module(name), "OPERATIONS", {})
        taken = sorted(offered.keys() & {*BUILT_IN, *operations})
        if taken:
            raise ValueError(f"{name} offers operations that exist already: {', '.join(taken)}")
        operations.update(offered)
    install()  # last: what is trusted keeps the original
    return operations
