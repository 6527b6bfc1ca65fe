"""House page: `docs/house.md`, the sums of the code by room, and what a commit adds to them.

    python scripts/house.py            print the sums, and their difference to the parent commit
    python scripts/house.py page       write docs/house.md from the working tree
    python scripts/house.py REV        print the sums, and their difference to commit REV

A line of code is a line of Python that is no docstring, comment or blank.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "house.md"
ROOMS = ("app", "evals", "graph", "agents", "agents/composer", "tools", "vectorstore", "games")
PRODUCT = tuple(room for room in ROOMS if "/" not in room)
MEASURES = (
    "lines",
    "files",
    "functions over 40",
    "functions over 60",
    "loose",
    "noqa",
    "noqa without reason",
)
LARGEST = 15
HEAD = """# The house in numbers

`python scripts/house.py page` makes this page; `.ci/run` prints what a commit adds.
A line of code is a line of Python that is no docstring, comment or blank. `agents/composer` is a
part of `agents`. "loose" counts annotations of a `dict` or `Mapping` from `str` to `Any`, `object`
or JSON, and uses of a name that stands for one.
"""

_LOOSE = {"Any", "object", "Json", "JsonValue"}
_LONG = (40, 60)  # lines of code of a function: the aim, and the hard stop
_DATA = "evals/sandbox/forgeries/"  # modules that an evaluation holds up to be refused
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOQA = re.compile(r"# noqa(?::[A-Z0-9, ]+)?(.*)")


@dataclass(frozen=True)
class Source:
    """One Python file of the tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def code(self) -> set[int]:
        """Numbers of its lines of code."""
        said: set[int] = set()
        for node in ast.walk(self.tree):
            if not isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTION)):
                continue
            if ast.get_docstring(node, clean=False):
                said.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        return {
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if number not in said and line.strip() and not line.strip().startswith("#")
        }


def sources_here() -> list[Source]:
    """The Python files of the working tree, as far as git knows or would add them."""
    listed = _git("ls-files", "-co", "--exclude-standard", "*.py").decode().split("\n")
    paths = [path for path in sorted(set(listed)) if path and (ROOT / path).is_file()]
    return [_source(path, (ROOT / path).read_text(encoding="utf-8")) for path in paths]


def sources_at(revision: str) -> list[Source]:
    """The Python files of a commit."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", revision))) as archive:
        found = [(m.name, archive.extractfile(m)) for m in archive if m.name.endswith(".py")]
        return [_source(name, file.read().decode()) for name, file in found if file is not None]


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


def _source(path: str, text: str) -> Source:
    return Source(path, text, ast.parse(text))


def measured(sources: list[Source]) -> dict[str, Counter[str]]:
    """Every measure of every room, of the product and of the tests."""
    loose = set(_aliases(sources))
    rooms: dict[str, Counter[str]] = {room: Counter() for room in (*ROOMS, "product", "tests")}
    for source in sources:
        if source.path.startswith(_DATA):
            continue
        within = [room for room in (*ROOMS, "tests") if source.path.startswith(f"{room}/")]
        if source.path.split("/")[0] in PRODUCT:
            within.append("product")
        counts = _counts(source, loose) if within else Counter()
        for room in within:
            rooms[room].update(counts)
    return rooms


def _counts(source: Source, loose: set[str]) -> Counter[str]:
    code = source.code
    counts = Counter({"lines": len(code), "files": 1})
    for node in ast.walk(source.tree):
        if isinstance(node, _FUNCTION):
            length = len(code & set(range(node.lineno, (node.end_lineno or 0) + 1)))
            for most in _LONG:
                counts[f"functions over {most}"] += length > most
    counts["loose"] = sum(
        _is_loose(part) or (isinstance(part, ast.Name) and part.id in loose)
        for annotation in _annotations(source.tree)
        for part in ast.walk(annotation)
    )
    for line in source.text.splitlines():
        if found := _NOQA.search(line):
            counts["noqa"] += 1
            counts["noqa without reason"] += not found[1].strip(" -")
    return counts


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTION) and node.returns is not None:
            yield _unquoted(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            yield _unquoted(node.annotation)


def _unquoted(annotation: ast.expr) -> ast.expr:
    """An annotation without the quotes around it."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _is_loose(node: ast.AST) -> bool:
    """True for `dict` or `Mapping` of `str` to a value of any kind.

    >>> [_is_loose(ast.parse(f"dict[{of}]", mode="eval").body) for of in ("str, Any", "str, int")]
    [True, False]
    """
    return (
        isinstance(node, ast.Subscript)
        and ast.unparse(node.value).split(".")[-1] in ("dict", "Mapping", "MutableMapping")
        and isinstance(node.slice, ast.Tuple)
        and ast.unparse(node.slice.elts[0]) == "str"
        and ast.unparse(node.slice.elts[-1]).strip("'\"").split(".")[-1] in _LOOSE
    )


def _aliases(sources: list[Source]) -> Iterator[str]:
    """Names of the product that stand for a loose annotation."""
    for source in sources:
        if source.path.split("/")[0] not in PRODUCT:
            continue
        for node in source.tree.body:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name) and _is_loose(node.value):
                yield target.id


def page(sources: list[Source]) -> str:
    """The page."""
    rooms = measured(sources)
    rows = [[room, *(f"{counts[name]:,}" for name in MEASURES)] for room, counts in rooms.items()]
    largest = sorted(
        ((len(s.code), s.path) for s in sources if s.path.split("/")[0] in PRODUCT), reverse=True
    )
    files = [[path, str(lines)] for lines, path in largest[:LARGEST]]
    tables = [_table(["room", *MEASURES], rows), _table(["largest files", "lines"], files)]
    return "\n".join([HEAD, *tables])


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:" for _ in head[1:]]], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def difference(
    now: Mapping[str, Counter[str]], before: Mapping[str, Counter[str]]
) -> Iterator[str]:
    """A line for each room with its sum, and what changed; a room without change is left out."""
    for room, counts in now.items():
        changes = {name: counts[name] - before[room][name] for name in MEASURES}
        told = ", ".join(f"{name} {by:+,}" for name, by in changes.items() if by)
        if told or room in ("product", "tests"):
            yield f"{room}: {counts['lines']:,} lines of code ({told or 'no change'})"


def main() -> None:
    """Run the command of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("command", nargs="?", help="page: write docs/house.md; or a commit")
    command = parser.parse_args().command
    here = sources_here()
    if command == "page":
        PAGE.write_text(page(here), encoding="utf-8")
        return
    lines = difference(measured(here), measured(sources_at(command or "HEAD^")))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
