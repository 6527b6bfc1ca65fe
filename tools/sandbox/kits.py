"""Which kit a module's worker needs, read from its imports."""

import ast

from tools.sandbox.backends import Kit


def kit_for(source: str | None) -> Kit:
    r"""The smallest kit for a module: numpy only where its source imports it.

    Args:
        source: The module; None where it is not known yet, which gives numpy.

    >>> kit_for("import random").numpy, kit_for("def f():\n    from numpy import array").numpy
    (False, True)
    """
    return Kit(numpy=source is None or _imports_numpy(source))


def _imports_numpy(source: str) -> bool:
    if "numpy" not in source:
        return False  # parsing a long source costs more than all the rest
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # it will not load; the worker says why
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] == "numpy" for name in names):
            return True
    return False
