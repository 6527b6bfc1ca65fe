"""The phrase language of `words.yaml`, compiled to regular expressions over stems.

A phrase is written in plain words: "hand (size|) of <n>". Words are stemmed like the brief's.
`(a|b)` are alternatives, `x?` is optional, `@name` is a macro, `~` skips up to three words of the
same clause, `~~` up to seven. Function words may stand anywhere between two items. `<n>` takes a
number, `<digit>` one below ten, `<an>` a number or an article (one), `<rank>` a card rank,
`<card>` one in a list of ranks, where letters count, `<suit>` a suit, `<one a|b>`
skips one of these words, `^` is the beginning of the brief, `<start>` that of a part of it,
`<stop>` its end, `<end>` holds where a clause ends or goes on with a new part. Skipped words are
not covered by the match: the word accounting still has to explain them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from agents.composer.tokens import FUNCTION_WORDS, Token, small_number, stem

_ITEM = re.compile(r"<one [^<>]+>|<\w+>|@\w+|~~|~|[()|?^]|[^\s()|?<>~@^]+")
_GLUE = (
    r"(?:(?<![0-9] )_\S+ "
    r"|(?<=[0-9] )(?!_(?:to|from|by|in|on|at|per|of _us|of _them|of _you) )_\S+ ){0,3}?"
)
_SKIP = r"(?:[^\s,.;:!?()\n]+ )"

SUITS = {"club": "clubs", "diamond": "diamonds", "heart": "hearts", "spade": "spades"}
RANK_NAMES = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "knave": "J", "joker": "joker"}
_SUIT_STEMS = {stem(word): name for word, name in SUITS.items()}
_RANK_STEMS = {stem(word): name for word, name in RANK_NAMES.items()}
_RANK_LETTERS = {"k": "K", "q": "Q", "j": "J", "t": "T", "_a": "A"}

_ONE = "<one "
_MARKS = frozenset(
    {"<n>", "<digit>", "<an>", "<rank>", "<card>", "<suit>", "<start>", "<stop>", "<end>"}
)
_MOST = 20
"""Macros inside macros."""

Needs: TypeAlias = list[frozenset[str]]
"""Of each set, a matching line holds at least one word."""


@dataclass(frozen=True)
class Capture:
    """Where a phrase was found.

    Attributes:
        covered: Indices of the tokens the phrase explains, in order.
        numbers: Numbers captured, in order.
        ranks: Card ranks captured ("A", "T", "8").
        suits: Suits captured ("spades").
    """

    covered: tuple[int, ...]
    numbers: tuple[int, ...]
    ranks: tuple[str, ...]
    suits: tuple[str, ...]


class Text:
    """A brief's tokens as one line of stems; function words are marked with `_`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tuple(tokens)
        starts: dict[int, int] = {}
        parts: list[str] = []
        offset = 0
        for index, token in enumerate(tokens):
            starts[offset] = index
            written = marked(token.norm) + " "
            parts.append(written)
            offset += len(written)
        self.line = "".join(parts)
        self.starts = starts

    def indices(self, start: int, end: int) -> list[int]:
        """Indices of the tokens that begin in a span of the line."""
        return [self.starts[at] for at in range(start, end) if at in self.starts]

    def find(self, pattern: str) -> list[Capture]:
        """Every place where a phrase stands, from left to right, not overlapping."""
        found: list[Capture] = []
        if not are_met(needs_of(pattern), self.line):
            return found
        for hit in compile_pattern(pattern).finditer(self.line):
            skipped: set[int] = set()
            said: dict[str, list[str]] = {"n": [], "rank": [], "suit": []}
            groups = ((hit.start(name), name, value) for name, value in hit.groupdict().items())
            for at, name, value in sorted(group for group in groups if group[0] >= 0):
                kind = name.rstrip("0123456789")
                if kind == "skip":
                    skipped.update(self.indices(at, hit.end(name)))
                else:
                    said[kind].append(value.strip())
            covered = tuple(i for i in self.indices(*hit.span()) if i not in skipped)
            numbers, ranks = map(_number, said["n"]), map(_rank_of, said["rank"])
            suits = map(_SUIT_STEMS.__getitem__, said["suit"])
            found.append(Capture(covered, tuple(numbers), tuple(ranks), tuple(suits)))
        return found


def marked(norm: str) -> str:
    """A stem as it stands in the line: function words are marked."""
    return f"_{norm}" if norm in FUNCTION_WORDS else norm


def _rank_of(word: str) -> str:
    """The rank letter of a captured rank word or number ("10" is "T")."""
    return (_RANK_STEMS | _RANK_LETTERS | {"10": "T"}).get(word, word)


def _number(text: str) -> int:
    return 1 if text.startswith("_") else int(text)


@lru_cache(maxsize=4096)
def _as_words(item: str) -> frozenset[str]:
    """The forms in which an item that is a word may stand in a line."""
    if item in ("^", "~", "~~") or item.startswith("<"):
        return frozenset()
    plain, value = _plain(item), small_number(item)
    return frozenset({plain} if value is None else {plain, str(value)})


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of an expanded phrase."""
    pieces: list[str] = []
    for counter, item in enumerate(_ITEM.findall(pattern)):
        if item in ("(", "|", ")"):
            pieces.append({"(": "(?:", "|": "|", ")": ")"}[item])
        elif item == "?":
            pieces[-1:] = [pieces[-1] + "?"] if pieces[-1] == ")" else [f"(?:{pieces[-1]})?"]
        else:
            pieces.append(_atom(item, counter))
    return re.compile(r"(?<!\S)" + "".join(pieces))


def _atom(item: str, counter: int) -> str:
    numbers = r"-?\d+"
    ranks = "|".join(sorted(_RANK_STEMS))
    table = {
        "^": r"\A",
        "<stop>": r"(?=\Z|[,.;:!?()\n–])",
        "<start>": r"(?:\A|(?<=[,.;:!?()\n–] ))",
        "<end>": r"(?=\Z|[,.;:!?()\n–]|(?:and|but|wher|while|with|without|except|for|using|_at"
        r"|_the|_who|_whose|_in|_that|_to|_up|_on|_by|_from"
        r"|after|if|when|once|until|unless|only|over|plus|befor|play|pleas) )",
        "~": f"(?P<skip{counter}>{_SKIP}{{0,3}}?)",
        "~~": f"(?P<skip{counter}>{_SKIP}{{0,7}}?)",
        "<n>": f"{_GLUE}(?P<n{counter}>{numbers}) ",
        "<digit>": f"{_GLUE}(?P<n{counter}>[0-9]) ",
        "<an>": f"{_GLUE}(?P<n{counter}>{numbers}|_a|_an) ",
        "<rank>": f"{_GLUE}(?P<rank{counter}>{ranks}|[2-9]|10) ",
        "<card>": f"(?P<rank{counter}>{ranks}|(?:[2-9]|10)(?! (?:suit|player|copi) )"
        f"|{'|'.join(_RANK_LETTERS)}) ",
        "<suit>": f"{_GLUE}(?P<suit{counter}>{'|'.join(_SUIT_STEMS)}) ",
    }
    if item in table:
        return table[item]
    if item.startswith(_ONE):
        words = map(_plain, item[len(_ONE) : -1].replace(" ", "").split("|"))
        return f"{_GLUE}(?P<skip{counter}>(?:{'|'.join(sorted(words))}) )"
    value = small_number(item)
    plain = re.escape(_plain(item))
    if value is None:
        return f"{_GLUE}{plain} "
    return f"{_GLUE}(?:{value}|{plain}) "


def _plain(item: str) -> str:
    return marked(item if item.isdigit() else stem(item))


def expand(phrase: str, macros: Mapping[str, str]) -> str:
    """A phrase with its macros written out.

    >>> expand("@ship of <n>", {"ship": "(boat|@craft)", "craft": "vessel"})
    '(boat|vessel) of <n>'

    Raises:
        ValueError: If it names an unknown macro or mark, or its parentheses do not match.
    """

    def macro(found: re.Match[str]) -> str:
        if found[1] not in macros:
            raise ValueError(f"the unknown macro @{found[1]}; required: one of {_listed(macros)}")
        return macros[found[1]]

    expanded = phrase
    for _ in range(_MOST):
        expanded, replaced = re.subn(r"@(\w*)", macro, expanded)
        if not replaced:
            break
    else:
        raise ValueError("a macro that names itself")
    unknown = {mark for mark in re.findall(r"<[^>]*>?|>", expanded) if not _ITEM.fullmatch(mark)}
    unknown |= set(re.findall(r"<\w+>", expanded)) - _MARKS
    if unknown:
        raise ValueError(f"the unknown mark {min(unknown)}; required: one of {_listed(_MARKS)}")
    needs_of(expanded)
    return expanded


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


@lru_cache(maxsize=4096)
def needs_of(pattern: str) -> Needs:
    """Words of which a line must hold some for a phrase to match.

    Most phrases have no word in common with a brief. Asking for their words first spares compiling
    their regular expressions, which costs a thousand times as much.

    Raises:
        ValueError: If its parentheses do not match, or a question mark follows nothing.
    """
    return needs(_ITEM.findall(pattern), _as_words)


def needs(items: Sequence[str], words: Callable[[str], frozenset[str]]) -> Needs:
    """The needs of a phrase.

    Args:
        items: The phrase's items: words, "(", "|", ")", "?" and marks.
        words: What an item may match as, any of them; empty where it asks for no word.

    >>> phrase = ["a", "(", "b", "|", "c", ")", "d", "?"]
    >>> [sorted(need) for need in needs(phrase, lambda item: frozenset({item}))]
    [['a'], ['b', 'c']]
    """
    found, end = _alternatives(items, 0, words)
    if end != len(items):
        raise ValueError("parentheses that do not match")
    return found


def are_met(wanted: Needs, line: str) -> bool:
    """True where a line of words, each with a space behind it, holds one of every set."""
    return all(any(f"{word} " in line for word in need) for need in wanted)


def _alternatives(
    items: Sequence[str], at: int, words: Callable[[str], frozenset[str]]
) -> tuple[Needs, int]:
    """The needs of `a|b|...` from `at` on, and where it ends."""
    branches: list[Needs] = []
    while True:
        branch, at = _sequence(items, at, words)
        branches.append(branch)
        if at >= len(items) or items[at] == ")":
            break
        at += 1
    if len(branches) == 1:
        return branches[0], at
    if not all(branches):
        return [], at  # one of them asks for nothing
    return [frozenset().union(*(min(branch, key=len) for branch in branches))], at


def _sequence(
    items: Sequence[str], at: int, words: Callable[[str], frozenset[str]]
) -> tuple[Needs, int]:
    """The needs of consecutive items up to "|", ")" or the end, and where that is."""
    found: Needs = []
    while at < len(items) and items[at] not in ("|", ")"):
        if items[at] == "?":
            raise ValueError("a question mark after nothing")
        if items[at] == "(":
            asked, at = _alternatives(items, at + 1, words)
        else:
            word = words(items[at])
            asked = [word] if word else []
        at += 1
        if at < len(items) and items[at] == "?":
            at += 1
        else:
            found += asked
    return found, at
