"""The lexicons' phrase language, compiled to regular expressions over stems.

A phrase is written in plain words: "hand (size|) of <n>". Words are stemmed like the brief's.
`(a|b)` are alternatives, `x?` is optional, `@name` is a named group of alternatives, `~` skips up
to three words of the same clause, `~~` up to seven. Function words may stand anywhere between two
items. `<n>` takes a number, `<an>` a number or an article (one), `<rank>` a card rank, `<suit>` a
suit, `<game>` skips the word for a game and `<kind>` one that says who plays it ("individual
spades"), `^` is the beginning of the brief, `<start>` that of a part of it, `<stop>` its end,
`<end>` holds where a clause ends or goes on with a new part. Skipped words are not covered by the
match: the word accounting still has to explain them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.composer.needs import Needs, are_met, needs
from agents.composer.quantities import small_number
from agents.composer.words import FUNCTION_WORDS, Token, stem, word_set

_ITEM = re.compile(r"<\w+>|@\w+|~~|~|[()|?^]|[^\s()|?<>~@^]+")
_GLUE = (
    r"(?:(?<![0-9] )_\S+ "
    r"|(?<=[0-9] )(?!_(?:to|from|by|in|on|at|per|of _us|of _them|of _you) )_\S+ ){0,3}?"
)
_SKIP = r"(?:[^\s,.;:!?()\n]+ )"

SUITS = {"club": "clubs", "diamond": "diamonds", "heart": "hearts", "spade": "spades"}
RANK_NAMES = {"ace": "A", "king": "K", "queen": "Q", "jack": "J", "knave": "J", "joker": "joker"}
_SUIT_STEMS = {stem(word): name for word, name in SUITS.items()}
_RANK_STEMS = {stem(word): name for word, name in RANK_NAMES.items()}
_GAME_WORDS = word_set(
    "whist hearts spades rummy gin poker pig battleship battleships goofspiel gomoku breakthrough"
    " card board dice fish eights go crazy"
)
_KIND_WORDS = word_set(
    "individual solo single singles family house home local cutthroat partnership partners team"
    " pairs couples player handed hander person"
)
_TEN = 10

MACROS = {
    "each": "(each|apiece|per (player|person|head|hand|seat)|every (player|one)|everyone"
    "|everybody|(each|every|all|both) (player|person|one|side)|all)",
    "who": "(player|team|whoever|first"
    "|person|everyone|everybody|somebody|someone|you|one|anyone|anybody|opponent|side|winner)",
    "deal": "(deal|start|begin|receive|hold|get|give|have|draw|open|take|distribute|hand)",
    "win": "(win|victory|triumph|prevail|end|finish|over|decide|champion)",
    "reach": "(reach|get|hit|score|make|collect|accumulate|have|amass|pass|earn|gain|arrive"
    "|attain|bank|up|total|go|play)",
    "points": "(point|pt|score|mark)",
    "cost": "(cost|lose|penalty|penalise|penalize|negative|minus|bad|against|deduct|subtract"
    "|punish|hurt|demerit|forfeit|fine|penal|dock|detriment|harm|undesirable"
    "|set you back|set back)",
    "avoid": "(avoid|dodge|shun|duck|evade|not (take|want|win|collect|capture|catch))",
    "worth": "(worth|score|count|earn|give|bring|value|award|get|pay|yield|add|gain|carry|reward)",
    "takes": "((end|wind|finish|stuck|leave) with|take|taking|win|capture|collect|gather|catch"
    "|pick|eat|get|gain|land)",
    "nobody": "(nobody|none|neither|not|never|no (player|one|body))",
    "double": "(double|twice|2 time|x 2|two fold|twofold)",
    "triple": "(triple|treble|thrice|3 time|threefold)",
    "length": "(row|line|streak|sequence|chain|string|column|connected|unbroken|straight|adjacent)",
    "piece": "(piece|disc|disk|stone|token|mark|man|pawn|checker|chip|symbol|counter|coin|ball"
    "|soldier|figure|draught)",
    "until": "(until|till|before|unless)",
}


@dataclass(frozen=True)
class Match:
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

    def find(self, pattern: str) -> list[Match]:
        """Every place where a phrase stands, from left to right, not overlapping."""
        found: list[Match] = []
        if not are_met(_needs(pattern), self.line):
            return found
        for hit in compile_pattern(pattern).finditer(self.line):
            skipped: set[int] = set()
            numbers: list[tuple[int, int]] = []
            ranks: list[tuple[int, str]] = []
            suits: list[tuple[int, str]] = []
            for name, value in hit.groupdict().items():
                if value is None:
                    continue
                at = hit.start(name)
                if name.startswith("skip"):
                    skipped.update(self.indices(*hit.span(name)))
                elif name.startswith("n"):
                    numbers.append((at, _number(value)))
                elif name.startswith("rank"):
                    ranks.append((at, rank_of(value.strip())))
                elif name.startswith("suit"):
                    suits.append((at, _SUIT_STEMS[value.strip()]))
            covered = [i for i in self.indices(*hit.span()) if i not in skipped]
            found.append(
                Match(
                    tuple(covered),
                    tuple(value for _, value in sorted(numbers)),
                    tuple(value for _, value in sorted(ranks)),
                    tuple(value for _, value in sorted(suits)),
                )
            )
        return found


def marked(norm: str) -> str:
    """A stem as it stands in the line: function words are marked."""
    return f"_{norm}" if norm in FUNCTION_WORDS else norm


def rank_of(word: str) -> str:
    """The rank letter of a captured rank word or number ("10" is "T")."""
    if word in _RANK_STEMS:
        return _RANK_STEMS[word]
    return "T" if word == str(_TEN) else word


def _number(text: str) -> int:
    text = text.strip()
    return 1 if text.startswith("_") else int(text)


@lru_cache(maxsize=4096)
def _needs(pattern: str) -> Needs:
    return needs(_ITEM.findall(expand(pattern)), _as_words)


@lru_cache(maxsize=4096)
def _as_words(item: str) -> frozenset[str]:
    """How an item may stand in a line, where it is a word."""
    if item in ("^", "~", "~~") or item.startswith("<"):
        return frozenset()
    plain, value = _plain(item), small_number(item)
    return frozenset({plain} if value is None else {plain, str(value)})


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of a phrase.

    Raises:
        ValueError: If a phrase names an unknown macro.
    """
    pieces: list[str] = []
    for counter, item in enumerate(_ITEM.findall(expand(pattern))):
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
        "<game>": _one_of(f"skip{counter}", _GAME_WORDS),
        "<kind>": _one_of(f"skip{counter}", _KIND_WORDS),
        "<end>": r"(?=\Z|[,.;:!?()\n–]|(?:and|but|wher|while|with|without|except|for|using|_at"
        r"|_the|_who|_whose|_in|_that|_to|_on|_by|_from"
        r"|after|if|when|once|until|unless|only|over|plus|befor|play|pleas) )",
        "~": f"(?P<skip{counter}>{_SKIP}{{0,3}}?)",
        "~~": f"(?P<skip{counter}>{_SKIP}{{0,7}}?)",
        "<n>": f"{_GLUE}(?P<n{counter}>{numbers}) ",
        "<an>": f"{_GLUE}(?P<n{counter}>{numbers}|_a|_an) ",
        "<rank>": f"{_GLUE}(?P<rank{counter}>{ranks}|[2-9]|10) ",
        "<suit>": f"{_GLUE}(?P<suit{counter}>{'|'.join(_SUIT_STEMS)}) ",
    }
    if item in table:
        return table[item]
    value = small_number(item)
    plain = re.escape(_plain(item))
    if value is None:
        return f"{_GLUE}{plain} "
    return f"{_GLUE}(?:{value}|{plain}) "


def _one_of(group: str, words: Iterable[str]) -> str:
    """Any of some words, as a group that is skipped."""
    return f"{_GLUE}(?P<{group}>(?:{'|'.join(sorted(map(_plain, words)))}) )"


def _plain(item: str) -> str:
    return marked(item if item.isdigit() else stem(item))


def expand(pattern: str) -> str:
    """A phrase with its macros written out."""
    while "@" in pattern:
        expanded = re.sub(r"@(\w+)", lambda match: _macro(match[1]), pattern)
        pattern = expanded
    return pattern


def _macro(name: str) -> str:
    if name not in MACROS:
        raise ValueError(f"unknown macro @{name}; known: {', '.join(sorted(MACROS))}")
    return MACROS[name]
