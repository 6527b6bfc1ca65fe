"""The operations that preloaded packages offer beside the built-in ones."""

import importlib
from collections.abc import Sequence

from tools.guest.canaries import OPERATIONS as CANARIES
from tools.guest.copying import install
from tools.guest.imports import preload
from tools.guest.operations import BUILT_IN, Operation


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
