"""Bundle of source files, for a machine that has none of ours."""

from collections.abc import Sequence
from contextlib import suppress
from modulefinder import Module, ModuleFinder
from pathlib import Path

from tools.sandbox.backends import SandboxUnavailableError


class _OurModules(ModuleFinder):
    """The modules of some packages that a module imports, directly or not."""

    def __init__(self, packages: set[str]) -> None:
        super().__init__()
        self._packages = packages

    def import_module(self, partname: str, fqname: str, parent: Module) -> Module | None:
        if fqname.partition(".")[0] not in self._packages:
            return None
        return super().import_module(partname, fqname, parent)


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
    finder = _OurModules({"games", "tools", *(name.partition(".")[0] for name in modules)})
    for name in modules:
        with suppress(ImportError):
            finder.import_hook(name)
        if not str(getattr(finder.modules.get(name), "__file__", "")).endswith(".py"):
            raise SandboxUnavailableError(f"cannot preload {name!r}: it has no source file")
    files: dict[str, bytes] = {}
    for name, module in finder.modules.items():
        file = Path(vars(module)["__file__"])
        root = file.parents[name.count(".") + (file.name == "__init__.py")]
        for part in filter(Path.is_file, (file, file.with_suffix(".json"))):
            files[part.relative_to(root).as_posix()] = part.read_bytes()
    return files
