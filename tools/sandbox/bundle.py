"""Bundles of our own source files, for a guest somewhere that has none of them."""

import ast
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

from games.text import syntax_tree
from tools.sandbox.backends import SandboxUnavailableError

_OURS = ("games", "tools")


def sources(modules: Sequence[str]) -> dict[str, bytes]:
    """The files that `modules` are made of and import, directly or not, from our own packages.

    Ours are `games`, `tools` and whatever package a named module belongs to; everything else
    that they import has to be installed already where the files go. A module's table (`kit.json`
    of `kit.py`) comes along.

    Args:
        modules: Dotted names.

    Returns:
        Content by path below a folder for imports ("tools/guest/runner.py").

    Raises:
        SandboxUnavailableError: If a named module has no source here.
    """
    homes = {top: _home(top) for top in {*_OURS, *(name.partition(".")[0] for name in modules)}}
    files: dict[str, bytes] = {}
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        top, _, rest = name.partition(".")
        file = _file(homes[top], rest) if top in homes else None
        if file is None:
            if name in modules:
                raise SandboxUnavailableError(f"cannot preload {name!r}: it has no source file")
            continue
        content = file.read_bytes()
        for part in filter(Path.is_file, (file, file.with_suffix(".json"))):
            files[part.relative_to(homes[top].parent).as_posix()] = part.read_bytes()
        waiting += [name[:dot] for dot in range(len(name)) if name[dot] == "."]
        waiting += _imported(content, name if file.stem == "__init__" else name.rpartition(".")[0])
    return files


def _home(top: str) -> Path:
    """The folder of a package, or the file of a module that is in none."""
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise SandboxUnavailableError(f"cannot preload {top!r}: there is no such package")
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def _file(home: Path, rest: str) -> Path | None:
    if home.suffix == ".py":
        return None if rest else home
    path = home.joinpath(*rest.split(".")) if rest else home
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file() and (rest or file.parent == home):
            return file
    return None


def _imported(content: bytes, package: str) -> Iterator[str]:
    for node in ast.walk(syntax_tree(content)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
