"""A module's source cut into functions, each with the rule sentences it implements."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vectorstore.errors import StoreError

_RULES_START = re.compile(r"\bRules:")
_RULES_LINE = re.compile(r"\bRules:\s*(R[0-9]+(?:\s*,\s*R[0-9]+)*)\s*\.?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Function:
    """One function at the top of a module.

    Attributes:
        name: Its name.
        summary: The first paragraph of its docstring on one line, or "".
        rules: Ids that its docstring's `Rules:` line names, in that order.
        source: Its source, decorators included.
    """

    name: str
    summary: str
    rules: tuple[str, ...]
    source: str


def functions(source: str) -> Iterator[Function]:
    """Yield the functions at the top of a module, in order.

    Raises:
        StoreError: If the source does not parse.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise StoreError(f"line {error.lineno} does not parse: {error.msg}; mend it") from error
    lines = source.splitlines()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            docstring = ast.get_docstring(node) or ""
            yield Function(
                name=node.name,
                summary=" ".join(_RULES_LINE.sub("", docstring.split("\n\n", 1)[0]).split()),
                rules=rule_ids(docstring),
                source="\n".join(lines[first - 1 : node.end_lineno]),
            )


def rule_ids(docstring: str) -> tuple[str, ...]:
    r"""The ids of a docstring's `Rules:` line, or nothing where it has none.

    >>> rule_ids("Deal.\n\nRules: R1, R14.")
    ('R1', 'R14')

    Raises:
        StoreError: If there is such a line and it does not list ids.
    """
    if not _RULES_START.search(docstring):
        return ()
    found = _RULES_LINE.search(docstring)
    if found is None:
        raise StoreError("a docstring's `Rules:` line must read like 'Rules: R1, R14.'; mend it")
    return tuple(re.findall(r"R[0-9]+", found[1]))


def annotated(function: Function, sentences: Mapping[str, str]) -> str:
    """The function's source under its rule sentences, as comments.

    Raises:
        StoreError: If it names a rule that the rulebook does not have.
    """
    unknown = [id_ for id_ in function.rules if id_ not in sentences]
    if unknown:
        raise StoreError(
            f"{function.name}() names the rules {unknown}, which the rulebook does not have; "
            "mend the docstring or the rulebook"
        )
    comments = [f"# {id_}: {sentences[id_]}" for id_ in function.rules]
    return "\n".join([*comments, function.source])
