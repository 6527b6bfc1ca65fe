"""Sources of somebody else, read by a throw-away process: none is parsed in the host.

A text can hold a parser up for minutes, or have it fill the memory, and it lets no other thread
work meanwhile.
"""

import ast
import builtins
import io
import json
import pickle
import subprocess
import sys
from collections.abc import Collection
from functools import lru_cache

from games.text import imported
from games.values import Json, ModuleFault
from tools.guest.reader import MOST_BYTES, MOST_S
from tools.sandbox.backends import SAME_EVERYWHERE, Kit, SandboxUnavailableError
from tools.sandbox.zygote_client import import_paths

_WAIT_S = 60.0  # for a busy machine; the process has `MOST_S` of processor time
_KEPT = 8
_LIMITS = f"more than {MOST_S} s or {MOST_BYTES >> 20} MiB to read"


def foreign_tree(source: str) -> ast.Module:
    """The syntax tree of a source of somebody else; see `syntax_tree`.

    Raises:
        SyntaxError: If it does not parse, or takes too much to read.
        ValueError: If it holds a null character.
        SandboxUnavailableError: If no process can be made.
    """
    told = _Nodes(io.BytesIO(_read(source, "tree"))).load()
    if isinstance(told, ast.Module):
        return told
    is_syntax, args = told
    raise SyntaxError(*args) if is_syntax else ValueError(*args)


def foreign_comments(source: str) -> list[tuple[int, str, str]]:
    """Line, text, and what stands before it, of each comment of a source that parses.

    Raises:
        SyntaxError: If it takes too much to read.
        SandboxUnavailableError: If no process can be made.

    >>> foreign_comments("x = 1  # R1")
    [(1, '# R1', 'x = 1')]
    """
    return [tuple(comment) for comment in json.loads(_read(source, "comments"))]


def foreign_imports(source: str, allowed: Collection[str]) -> list[tuple[str, int]]:
    """Imports of a source beyond allowed modules, with their lines; none where it does not parse.

    Raises:
        SandboxUnavailableError: If no process can be made.

    >>> foreign_imports("import os.path, re", {"re"}), foreign_imports("import", {"re"})
    ([('os.path', 1)], [])
    """
    try:
        found = [*imported(foreign_tree(source))]
    except (SyntaxError, ValueError):
        return []  # loading it says so, with the line
    return [(name, line) for name, line in found if name.partition(".")[0] not in allowed]


def foreign_game(source: str) -> dict[str, Json]:
    """The `GAME` literal of a module of somebody else, read without running it.

    Raises:
        ModuleFault: If the source does not parse or takes too much to read, or `GAME` is not one
            plain literal of JSON.
        SandboxUnavailableError: If no process can be made.
    """
    try:
        told = json.loads(_read(source, "game"))
    except SyntaxError as error:
        raise ModuleFault("unreadable", "module", str(error)) from error
    if "fault" in told:
        raise ModuleFault(**told["fault"])
    game: dict[str, Json] = told["game"]
    return game


class _Nodes(pickle.Unpickler):
    """Reads plain values and nodes of a syntax tree, and calls nothing else."""

    def find_class(self, module: str, name: str) -> object:
        found = getattr(ast, name, None) if module == "ast" else None
        if isinstance(found, type) and issubclass(found, ast.AST):
            return found
        if (module, name) in {("builtins", "Ellipsis"), ("builtins", "complex")}:
            return getattr(builtins, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no node of a syntax tree")


@lru_cache(maxsize=_KEPT)
def _read(source: str, asked: str) -> bytes:
    """The answer of a process.

    Raises:
        SyntaxError: If it takes too much.
        SandboxUnavailableError: If no process can be made.
    """
    paths = ":".join(import_paths(Kit()))
    try:
        done = subprocess.run(
            [sys.executable, "-s", "-S", "-P", "-m", "tools.guest.reader", asked],
            input=source.encode("utf-8", "surrogatepass"),
            capture_output=True,
            cwd="/",
            env={"PYTHONPATH": paths, **SAME_EVERYWHERE},
            timeout=_WAIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SyntaxError(f"it takes {_LIMITS}") from error
    except OSError as error:
        raise SandboxUnavailableError(f"cannot start {sys.executable}: {error}") from error
    if done.returncode:
        raise SyntaxError(f"it takes {_LIMITS}, or is nested too deeply")
    return done.stdout
