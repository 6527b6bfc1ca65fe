"""Sources that the index reads: the library, and modules cut at their definitions.

Modules are made plain as the coder's contract asks. A text of several definitions has `BREAK`
between them, so that what does not fit into a prompt is left out whole; `fitted` says what it was.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from games import library
from games.corpus import CorpusGame, corpus_game, corpus_names
from games.library import read_game
from games.library.annotated import AnnotatedMechanic, family_mechanics
from games.text import imported, syntax_tree
from games.values import REQUIRED_FUNCTIONS, Json
from vectorstore.documents import StoreError

_READ = ("__init__.py", "game.py", "rulebook.md", "presets.yaml", "tags.yaml", "mechanics.yaml")
ALLOWED_IMPORTS = {"collections", "copy", "functools", "itertools", "json", "math", "re", "string"}
CONTRACT_FUNCTIONS = (*REQUIRED_FUNCTIONS, "get_chance_probabilities", "render")
BREAK = "\n\n\n"
_FORBIDDEN = ("print", "open", "input", "exec", "eval", "__import__")
_MARKS = re.compile(r"[ \t]*# (noqa|fmt|type|ruff)\b.*")
_DEFINED = re.compile(r"^(?:def |class )?(\w+)(?:\(| = )", re.MULTILINE)
_LEFT_OUT = "# Left out, for want of room: "


@dataclass(frozen=True)
class LibraryGame:
    """One name of the library.

    Attributes:
        name: A family or a preset.
        family: The family it belongs to; its own name where it is one.
        players: The usual number of players.
        game: Its `GAME` dictionary, with a preset's parameters as the defaults.
        source: Its module source.
        rulebook: Its rulebook for the defaults.
        template: The family's rulebook template.
        shown: Tag -> the rules and functions of the family that show it.
        mechanics: The family's mechanics by name, with their rules and functions.
    """

    name: str
    family: str
    players: int
    game: Mapping[str, Json]
    source: str
    rulebook: str
    template: str
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mechanics: Mapping[str, AnnotatedMechanic] = field(default_factory=dict)


class Library:
    """`games.library`, as it is installed."""

    def fingerprint(self) -> str:
        """SHA-256 over the names and contents of the files that the index reads."""
        digest = hashlib.sha256()
        for name, content in sorted(
            [*_files(files("games.library"), ""), *_files(files("games.corpus"), "corpus/")]
        ):
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def games(self) -> Sequence[LibraryGame]:
        """Families first, then presets; see `games.library.exemplars`."""
        return [_read(name) for name in library.exemplars()]

    def corpus(self) -> Mapping[str, CorpusGame]:
        """The traditional games by name."""
        return {name: corpus_game(name) for name in corpus_names()}


def _read(name: str) -> LibraryGame:
    chosen = library.preset(name)
    try:
        source = library.source(name)
        return LibraryGame(
            name=name,
            family=chosen.family,
            players=chosen.players,
            game=read_game(source),
            source=source,
            rulebook=library.rulebook(name),
            template=library.rulebook_template(chosen.family),
            shown=library.shown(chosen.family),
            mechanics=family_mechanics(chosen.family).mechanics,
        )
    except OSError as error:
        raise StoreError(
            f"the library's {name} cannot be read ({error}); install the program again"
        ) from error


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        name = f"{prefix}{item.name}"
        if item.is_dir():
            yield from _files(item, f"{name}/")
        elif item.name in _READ or (prefix == "corpus/" and item.name.endswith(".yaml")):
            yield name, item.read_bytes()


_HEADING = re.compile(r"^## (.+)$")
_RULE = re.compile(r"^- (R[0-9]+): (.+)$")
_MARK = re.compile(r"{%.*?%}|{#.*?#}")
_ELSE = re.compile(r"{% (?:else|elif)\b(?:(?!{% (?:if|endif)).)*(?={% endif)")
_RULES_START = re.compile(r"\bRules:")
RULES_LINE = re.compile(r"\bRules:\s*(R[0-9]+(?:\s*,\s*R[0-9]+)*)\s*\.?\s*$", re.MULTILINE)
_INSERTED = re.compile(r"{{\s*(\w+).*?}}")


@dataclass(frozen=True)
class RuleSentence:
    """One sentence of a rulebook.

    Attributes:
        id: Such as "R12".
        section: The heading it stands under.
        text: The sentence.
        when: The one setting that differs from the defaults where the sentence needs it.
    """

    id: str
    section: str
    text: str
    when: Mapping[str, Json] = field(default_factory=dict)


def read_rules(markdown: str) -> list[RuleSentence]:
    r"""The rule sentences of a rulebook, in order.

    >>> [(r.id, r.section, r.text) for r in read_rules("## Setup\n\n- R3: Deal a card.\n")]
    [('R3', 'Setup', 'Deal a card.')]
    """
    rules, section = [], ""
    for line in markdown.splitlines():
        if heading := _HEADING.match(line):
            section = heading[1].strip()
        elif rule := _RULE.match(line):
            rules.append(RuleSentence(rule[1], section, rule[2].strip()))
    return rules


def all_rules(
    template: str, game: Mapping[str, Json], settings: Mapping[str, Json], players: int
) -> list[RuleSentence]:
    """Every rule sentence that a rulebook template holds, each id once.

    First those of the given settings; then those that one changed setting brings in, with that
    setting; then any left over (they need two changes) with the template's marks taken out,
    and of two branches the first.

    Args:
        template: The Jinja2 template.
        game: The `GAME` dictionary, for what each parameter may be.
        settings: The effective parameters.
        players: Number of players.

    Raises:
        StoreError: If the template cannot be rendered for one of these.
    """
    from jinja2 import TemplateError

    found: dict[str, RuleSentence] = {}
    start = {**settings, "players": players}
    change: Mapping[str, Json] = {}
    try:
        compiled = library.template_of(template)
        for change in ({}, *_single_changes(game, start)):
            for rule in read_rules(compiled.render({**start, **change})):
                if rule.id not in found:
                    found[rule.id] = RuleSentence(rule.id, rule.section, rule.text, change)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise StoreError(
            f"the rulebook of {game.get('name')} cannot be rendered with {dict(change) or start}: "
            f"{type(error).__name__}: {error}; mend its template"
        ) from error
    for rule in read_rules(_INSERTED.sub(r"\1", _MARK.sub("", _ELSE.sub("", template)))):
        found.setdefault(rule.id, rule)
    return sorted(found.values(), key=lambda rule: int(rule.id[1:]))


def _single_changes(
    game: Mapping[str, Json], start: Mapping[str, Json]
) -> Iterator[dict[str, Json]]:
    """One setting at a time: each other choice, each end of a range, each end of the players."""
    declared: Any = game.get("parameters") or {}
    for name, parameter in declared.items():
        for value in (*parameter.get("choices", ()), *parameter.get("range", ())):
            if value != start.get(name):
                yield {name: value}
    ends: Sequence[Json] = (game["min_players"], game["max_players"])
    for value in ends:
        if value != start["players"]:
            yield {"players": value}


def rule_ids(docstring: str) -> tuple[str, ...]:
    r"""The ids of a docstring's `Rules:` line, or nothing where it has none.

    >>> rule_ids("Deal.\n\nRules: R1, R14.")
    ('R1', 'R14')

    Raises:
        StoreError: If there is such a line and it does not list ids.
    """
    if not _RULES_START.search(docstring):
        return ()
    found = RULES_LINE.search(docstring)
    if found is None:
        raise StoreError("a docstring's `Rules:` line must read like 'Rules: R1, R14.'; mend it")
    return tuple(re.findall(r"R[0-9]+", found[1]))


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
    tree = syntax_tree(source)
    found = [
        f"imports {name}"
        for name, _ in imported(tree)
        if name.partition(".")[0] not in ALLOWED_IMPORTS
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
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
