"""Sources of modules: made plain as the coder's contract asks, and cut at their definitions.

A text of several definitions has `BREAK` between them, so that what does not fit into a prompt is
left out whole; `fitted` says what that was.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from games.contract import REQUIRED_FUNCTIONS
from games.text import syntax_tree
from vectorstore.library import RULES_LINE, rule_ids
from vectorstore.settings import StoreError

ALLOWED_IMPORTS = {"collections", "copy", "functools", "itertools", "json", "math", "re", "string"}
CONTRACT_FUNCTIONS = (*REQUIRED_FUNCTIONS, "get_chance_probabilities", "render")
BREAK = "\n\n\n"
_FORBIDDEN = ("print", "open", "input", "exec", "eval", "__import__")
_MARKS = re.compile(r"[ \t]*# (noqa|fmt|type|ruff)\b.*")
_DEFINED = re.compile(r"^(?:def |class )?(\w+)(?:\(| = )", re.MULTILINE)
_LEFT_OUT = "# Left out, for want of room: "


@dataclass(frozen=True)
class Definition:
    """One statement at the top of a module.

    Attributes:
        name: What it defines.
        source: Its text, decorators included.
        uses: Names of the module's other definitions that it reads, in order.
        summary: The first paragraph of its docstring on one line, or "".
        rules: Ids that its docstring's `Rules:` line names, in that order.
        kind: What it is.
    """

    name: str
    source: str
    uses: tuple[str, ...]
    summary: str = ""
    rules: tuple[str, ...] = ()
    kind: type[ast.stmt] = ast.FunctionDef


def plain(source: str) -> str:
    """The same program without annotations and marks for linters; named tuples by `collections`.

    Raises:
        StoreError: If the source does not parse.
    """
    tree, text = _parsed(source), source.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    cuts = sorted(
        (cut for node in ast.walk(tree) for cut in _cuts(node, text, starts)), reverse=True
    )
    for first, last, instead in cuts:
        text = text[:first] + instead.encode() + text[last:]
    lines = _MARKS.sub("", text.decode()).splitlines()
    if any(instead for *_, instead in cuts):
        head = tree.body[0].end_lineno or 0 if ast.get_docstring(tree) else 0
        lines.insert(head, "from collections import namedtuple")
    return "\n".join(lines)


def _cuts(node: ast.AST, text: bytes, starts: list[int]) -> Iterator[tuple[int, int, str]]:
    """(first byte, byte after the last, what stands there instead) of what a node loses."""

    def begin(part: ast.expr | ast.stmt | ast.arg) -> int:
        return starts[part.lineno - 1] + part.col_offset

    def end(part: ast.expr | ast.stmt) -> int:
        return starts[(part.end_lineno or 1) - 1] + (part.end_col_offset or 0)

    if isinstance(node, ast.arg) and node.annotation is not None:
        yield begin(node) + len(node.arg.encode()), end(node.annotation), ""
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield end(node.target), end(node.annotation), ""
    elif isinstance(node, ast.FunctionDef) and node.returns is not None:
        arrow = text.rindex(b"->", 0, begin(node.returns))
        yield len(text[:arrow].rstrip()), end(node.returns), ""
    elif isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
        fields = [ast.unparse(i.target) for i in node.body if isinstance(i, ast.AnnAssign)]
        made = json.dumps([node.name, fields])[1:-1]
        yield begin(node), end(node), f"{node.name} = namedtuple({made})"


def definitions(source: str) -> dict[str, Definition]:
    """The definitions at the top of a module by name, in order; an import under what it binds.

    Raises:
        StoreError: If the source does not parse, or a docstring's `Rules:` line is bad.
    """
    tree, lines = _parsed(source), source.splitlines()
    bound: dict[str, tuple[ast.stmt, str]] = {}
    for node in tree.body:
        for name, text in _bound(node, lines):
            bound[name] = node, text
    found = {}
    for name, (node, text) in bound.items():
        reads = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        uses = tuple(dict.fromkeys(read for read in reads if read in bound and read != name))
        said = (ast.get_docstring(node) or "") if isinstance(node, ast.FunctionDef) else ""
        summary = " ".join(RULES_LINE.sub("", said.split("\n\n", 1)[0]).split())
        found[name] = Definition(name, text, uses, summary, rule_ids(said), type(node))
    return found


def closure(
    code: Mapping[str, Definition], roots: Iterable[str], *, but: Iterable[str] = ()
) -> list[str]:
    """Names of the roots that there are, then of all they use, nearest first, `but` these."""
    names = [root for root in roots if root in code]
    for name in names:  # grows while it is read
        names += [use for use in code[name].uses if use not in names and use not in but]
    return names


def readable(source: str) -> str:
    """The module as an example shows it: plain, and only what the coder's contract asks for.

    Raises:
        StoreError: See `definitions`.
    """
    code = definitions(plain(source))
    needed = set(closure(code, ("GAME", "ZONES", *CONTRACT_FUNCTIONS)))
    kept = [definition for name, definition in code.items() if name in needed]
    imports = sorted(
        one.source for one in kept if issubclass(one.kind, ast.Import | ast.ImportFrom)
    )
    docstring = ast.get_docstring(syntax_tree(source)) or ""
    title = f'"""{docstring.splitlines()[0]}"""' if docstring else ""
    rest = [one.source for one in kept if not issubclass(one.kind, ast.Import | ast.ImportFrom)]
    parts = dict.fromkeys((title, "\n".join(imports), *rest))
    return BREAK.join(part for part in parts if part)


def faults(source: str) -> list[str]:
    """In what a text of definitions breaks the contract that the coder's prompt states.

    >>> faults("import random")
    ['imports random']
    """
    found = []
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = getattr(node, "module", None)
            modules = [of] if of else [alias.name for alias in node.names]
            found += [f"imports {m}" for m in modules if m.split(".")[0] not in ALLOWED_IMPORTS]
        elif isinstance(node, ast.ClassDef):
            found.append(f"defines the class {node.name}")
        elif isinstance(node, ast.Global):
            found.append(f"changes the global {', '.join(node.names)}")
        elif isinstance(node, ast.Name) and node.id in _FORBIDDEN:
            found.append(f"uses {node.id}")
    return found


def fitted(text: str, limit: int, *, nearest: Mapping[str, float] | None = None) -> str:
    """The definitions of a text that fit into `limit` characters, and what was left out.

    Args:
        text: Definitions with `BREAK` between them; the first one matters most.
        limit: At most so many characters.
        nearest: Name of a definition -> distance to what is looked for; these fill the room first.

    Returns:
        Whole definitions in the order of the text; "" where the first does not fit.
    """
    text, _, before = text.partition(BREAK + _LEFT_OUT)
    parts = text.split(BREAK)
    names = [(_DEFINED.search(part) or [part, part])[1] for part in parts]
    lost = before.rstrip(".\n").split(", ") if before else []
    near = nearest or {}
    order = sorted(range(1, len(parts)), key=lambda place: (near.get(names[place], 9.0), place))
    kept, room = {0}, limit - len(parts[0])
    for step, place in enumerate(order):
        rest = [names[other] for other in order[step + 1 :]] + lost
        said = len(BREAK + _LEFT_OUT + ", ".join(rest)) + 1 if rest else 0
        if len(BREAK) + len(parts[place]) + said <= room:
            kept.add(place)
            room -= len(BREAK) + len(parts[place])
        else:
            lost.append(names[place])
    shown = BREAK.join(parts[place] for place in sorted(kept))
    whole = f"{shown}{BREAK}{_LEFT_OUT}{', '.join(lost)}." if lost else shown
    return whole if len(whole) <= limit else ""


def _parsed(source: str) -> ast.Module:
    try:
        return syntax_tree(source)
    except SyntaxError as error:
        raise StoreError(f"line {error.lineno} does not parse: {error.msg}; mend it") from error


def _bound(node: ast.stmt, lines: list[str]) -> Iterator[tuple[str, str]]:
    """(name, source) of what a statement at the top of a module defines."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(item.lineno for item in decorators)])
    text = "\n".join(lines[first - 1 : node.end_lineno])
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name, text
    elif isinstance(node, ast.Assign):
        names = (part for part in ast.walk(node.targets[0]) if isinstance(part, ast.Name))
        yield from ((part.id, text) for part in names)
    elif isinstance(node, ast.Import):
        yield from ((alias.name, f"import {alias.name}") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.name, f"from {node.module} import {alias.name}"
