"""Text that tested code or a person wrote, made harmless to show."""

import ast
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from games.values import ModuleFault

# Unicode's confusables (UTS #39), small letters: of two of one script that look alike, the usual.
_LOOKS = str.maketrans(
    "авекмнорстухзбгіѕјԁԍԛԝαβγεζηικμνορτυχ",
    "abekmhopctyx36risjdgqwabyezhikmvoptux",
)
_PARSING = threading.Lock()
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # a control sequence, such as a colour
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # such as a link
)
# Controls, direction marks, surrogates, line and paragraph ends, and what takes no room or shows
# as a blank: soft hyphen, zero-width characters, fillers, variation selectors, tags. Whole runs of
# them: one by one, 30 MB of NUL take 17 seconds.
_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\(|:\s*[^\s:&/\\]*[:&/\\])")  # inline, or the definition of an address


def read_yaml(text: str) -> Any:  # noqa: ANN401 - whoever asks knows what it holds
    """The value of a YAML text: read by libyaml where it is there, ten times as fast.

    Raises:
        yaml.YAMLError: If it is none.
    """
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def plain_text(text: str) -> str:
    r"""A text without terminal escapes, control and direction characters, and unseen ones.

    >>> plain_text("\x1b[31mred\x1b[0m\x07 \u202eevil\u200b\n")
    'red evil\n'
    >>> plain_text("\x1b]8;;http://somewhere\x1b\\link\x1b]8;;\x1b\\")
    'link'
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub("", _ESCAPES.sub("", text))


def untagged(text: str) -> str:
    """A plain text in which nothing is an HTML tag, or a Markdown link or image.

    >>> untagged("2 < 3 <script> ![x](y)"), untagged("[x]: javascript:y")
    ('2 < 3 ‹script> ! [x] (y)', '[x] : javascript:y')
    """
    return _LINK.sub("] ", _TAG.sub("‹", plain_text(text))).replace("![", "! [")


def one_line(text: str) -> str:
    r"""Somebody else's text on one line, without what could steer a terminal or a page.

    >>> one_line("You\n\x1b[2J win. ")
    'You win.'
    """
    return " ".join(untagged(text).split())


def quoted(text: str) -> str:
    r"""Somebody else's words within a line of ours: no line of theirs stands at the margin.

    >>> print(quoted("wrong\nall checks passed"))
    wrong
        | all checks passed
    """
    return "\n    | ".join(untagged(text).splitlines())


def number_of(count: int, noun: str) -> str:
    """A count with its noun.

    >>> number_of(1, "match"), number_of(0, "match"), number_of(2, "deal")
    ('1 match', '0 matches', '2 deals')
    """
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending}"


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A question behind a misspelt word; nothing where no known one is near.

    >>> did_you_mean("Whsit", ["hearts", "whist"]), did_you_mean("dice", ["hearts", "whist"])
    (" (did you mean 'whist'?)", '')
    """
    near = get_close_matches(str(word).lower(), [str(one) for one in known], n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def is_plain_line(text: str) -> bool:
    r"""True for one line of text that shows as it is; an action must be one.

    Nor may letters be decomposed: two spellings of one word look the same.

    >>> is_plain_line("play 9♥"), is_plain_line("pass\u200b"), is_plain_line("a\tb")
    (True, False, False)
    >>> is_plain_line("caf\u00e9"), is_plain_line("cafe\u0301")
    (True, False)
    """
    if text.isascii():
        return text.isprintable()
    shown = unicodedata.normalize("NFC", plain_text(text))
    return shown == text and "\n" not in text and "\t" not in text


def syntax_tree(source: str | bytes) -> ast.Module:
    """The syntax tree of a Python source.

    One thread builds a tree at a time: CPython 3.11 counts the depth of all of them together, and
    raises SystemError where two meet (gh-106905).

    Raises:
        SyntaxError: If it does not parse.
        ValueError: If it holds a null character.
        RecursionError: If it is nested too deeply.
        MemoryError: The same, of some versions.
    """
    with _PARSING:
        return ast.parse(source)  # noqa: TID251 - here alone


def skeleton(line: str) -> str | None:
    r"""A plain line without what a reader may overlook; None for any other text.

    That is case, blanks, how letters are written, and letters of Greek and Cyrillic that look like
    Latin ones. Scripts may be mixed, as in a Russian game with cards such as KH; so letters are
    compared, and no mixture is refused.

    >>> {skeleton(line) for line in ("Take  1", "take 1 ", "\uff54ake\u00a01", "t\u0430k\u0435 1")}
    {'take 1'}
    >>> skeleton("two\nlines")
    """
    if not is_plain_line(line):
        return None
    folded = unicodedata.normalize("NFKC", line.casefold()).casefold()
    return " ".join(folded.split()).translate(_LOOKS)


def game_literal(tree: ast.Module) -> ast.Dict:
    """The node of the `GAME` of a module.

    Raises:
        ModuleFault: If `GAME` is no dict that is written out.
    """
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and any(isinstance(target, ast.Name) and target.id == "GAME" for target in targets)
            and isinstance(node.value, ast.Dict)
        ):
            return node.value
    raise _no_literal()


def literal_game(source: str) -> dict[str, Any]:
    """The `GAME` of a module, read without running it.

    Raises:
        ModuleFault: If the source does not parse, or `GAME` is not one plain literal.
    """
    try:
        tree = syntax_tree(source)
    except SyntaxError as error:
        raise ModuleFault.of_syntax(error) from error
    except ValueError as error:
        raise ModuleFault("unreadable", "module", str(error)) from error
    try:
        game: dict[str, Any] = ast.literal_eval(game_literal(tree))
    except (TypeError, ValueError, SyntaxError) as error:
        raise _no_literal() from error
    return game


def _no_literal() -> ModuleFault:
    told = "must be one plain dict literal at the top of the module"
    return ModuleFault("missing", "GAME", told)


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    r"""The module and the line of everything that is imported; "." for a package of its own.

    >>> [*imported(syntax_tree("import os.path\nfrom re import sub"))]
    [('os.path', 1), ('re', 2)]
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ".", node.lineno


def bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module binds.

    Functions and comprehensions have scopes of their own (Python reference 4.2.2, 6.2.4).

    >>> sorted(bound_by(ast.parse("for a in [b for b in (c := [])]: import os.path").body[0]))
    ['a', 'c', 'os']
    """
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    found: set[str] = set()
    inside: list[ast.AST] = [node]
    while inside:
        for one in ast.iter_child_nodes(inside.pop()):
            if isinstance(one, ast.stmt):
                found |= bound_by(one)
            elif isinstance(one, _SCOPES):
                walked = (w for w in ast.walk(one) if isinstance(w, ast.NamedExpr))
                found |= {walrus.target.id for walrus in walked}
            elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                found.add(one.id)
            else:
                inside.append(one)
    return found


def bare_words(text: str) -> str:
    """The words of a text, by which it says the same as another.

    >>> bare_words("Empty the hand!"), bare_words("empty  the Hand")
    ('empty the hand', 'empty the hand')
    """
    return " ".join(re.findall(r"\w+", text.casefold()))
