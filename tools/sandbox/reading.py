"""Sources of somebody else, as the host reads them: a throw-away process tries first.

A text can hold a parser up for minutes, or have it fill the memory, and it lets no other thread
work meanwhile. A short text cannot do much; a longer one is read here only where a process of its
own could read it within its bounds.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Collection
from functools import lru_cache

from games.text import imported, literal_game, syntax_tree
from games.values import Json, ModuleFault, require_json
from tools.guest.reader import GAME, MOST_BYTES, MOST_S
from tools.sandbox.backends import SAME_EVERYWHERE, Kit, SandboxUnavailableError
from tools.sandbox.zygote_client import import_paths

_SHORT = 1 << 14  # characters: the worst of so many takes a tenth of a second
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
    if len(source) > _SHORT:
        _read(source, "")
    try:
        return syntax_tree(source)
    except (MemoryError, RecursionError) as error:
        raise SyntaxError("it is nested too deeply") from error


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
    if len(source) > _SHORT:
        try:
            told = json.loads(_read(source, GAME))
        except SyntaxError as error:
            raise ModuleFault("unreadable", "module", str(error)) from error
        if "fault" in told and isinstance(told["fault"], dict):
            raise ModuleFault(**told["fault"])
        game: dict[str, Json] = told
        return game
    try:
        game = literal_game(source)
    except (MemoryError, RecursionError) as error:
        raise ModuleFault("unreadable", "module", "it is nested too deeply") from error
    require_json(game, "GAME")
    return game


@lru_cache(maxsize=_KEPT)
def _read(source: str, asked: str) -> bytes:
    """The answer of a process that read it: then the host may, too.

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
