"""Words of a brief: tokens with their place in the text, lightly stemmed.

Stems only have to agree with each other: the lexicons' phrases go through the same function, so
"takes", "taking" and "taken" meet in one stem whatever that stem looks like.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["word", "number", "stop"]


def word_set(*lines: str) -> frozenset[str]:
    """The words of some lines, as a set."""
    return frozenset(word for line in lines for word in line.split())


_TOKEN = re.compile(
    r"(?P<number>[-−+]?\d{1,3}(?:,\d{3})+(?!\d)|(?<![\w-])[-−]\d+|\d+)(?:'?s\b|(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<stop>[,.;:!?()\[\]{}\n–—×*/])"
)

_IRREGULAR = {
    form: base
    for base, forms in {
        "take": "took taken",
        "win": "won",
        "lose": "lost",
        "draw": "drew drawn",
        "fall": "fell fallen",
        "hold": "held",
        "keep": "kept",
        "get": "got gotten gets",
        "deal": "dealt",
        "hide": "hid hidden",
        "break": "broke broken",
        "beat": "beaten",
        "lead": "led",
        "go": "went gone goes going",
        "lay": "laid",
        "throw": "threw thrown",
        "choose": "chose chosen",
        "sink": "sank sunk sunken",
        "begin": "began begun",
        "make": "made",
        "give": "gave given",
        "pay": "paid",
        "buy": "bought",
        "catch": "caught",
        "leave": "left",
        "shoot": "shooting shoots",
        "die": "dice",
        "person": "people persons folk folks ppl",
        "man": "men",
        "color": "colour colours colored coloured colors",
        "center": "centre centres centred",
        "gray": "grey",
        "token": "counter counters tokens",
        "have": "has had having",
        "be": "is are was were been being am",
        "do": "does did done doing",
        "child": "children kid kids pupil pupils",
        "trump": "trumps trumping trumped",
        "tic": "tick",
        "tac": "tack",
    }.items()
    for form in forms.split()
}
_NOT_PLURAL = word_set("this his its us as yes plus minus bonus")

_KEPT = word_set("handed sided theme themed toe")

FUNCTION_WORDS = word_set(
    "a an the of is are be been being was were am to in on at by from their his her its "
    "your our my this that these those there it they them you he she we i us me will would shall "
    "should may might can could must do does did done has have had having as so then also just "
    "exactly always simply own such here simple's which who whose whom what let lets get gets "
    "out up down into onto per than too very"
)
"""Words that may stand between the words of a phrase without changing its sense."""


@dataclass(frozen=True)
class Token:
    """One word, number or stop of the brief.

    Attributes:
        text: As it stands in the brief.
        start: Offset of its first character in the brief.
        end: Offset after its last character.
        norm: Its stem, the digits of a number, or the stop itself.
        kind: "word", "number" or "stop".
    """

    text: str
    start: int
    end: int
    norm: str
    kind: Kind


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of one lower-case word.

    >>> {stem(w) for w in ("take", "takes", "taking", "taken", "took")} == {stem("take")}
    True
    >>> stem("winning") == stem("won"), stem("carries") == stem("carry")
    (True, True)
    """
    word = _IRREGULAR.get(word, word)
    if word in FUNCTION_WORDS or word in _NOT_PLURAL or word in _KEPT:
        return word
    for suffix, kept in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", "")):
        base = word.removesuffix(suffix)
        if base != word and len(base) >= _MIN_BASE and re.search("[aeiouy]", base):
            if suffix == "ed" and base.endswith("e"):
                continue
            return _tidy(_IRREGULAR.get(base + kept, base + kept))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > _MIN_BASE:
        hissing = word.endswith(("xes", "ches", "shes", "zes", "sses"))
        singular = word[:-2] if hissing else word[:-1]
        return _tidy(_IRREGULAR.get(singular, singular))
    return _tidy(word)


_MIN_BASE = 3


def _tidy(word: str) -> str:
    if len(word) > _MIN_BASE and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if len(word) > 1 and word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    if len(word) > 2 and word.endswith("e"):  # noqa: PLR2004 - "be" and "he" keep theirs
        word = word[:-1]
    return word


def tokenise(text: str) -> tuple[Token, ...]:
    """Split a brief into tokens; contractions are opened, hyphens and quotes separate words.

    >>> [token.norm for token in tokenise("Can't play 8s!")]
    ['can', 'not', 'play', '8', '!']
    """
    plain = text.replace("’", "'").replace("‘", "'").replace("−", "-")
    plain = re.sub(r"(?<=\d)-(?=\d)", "–", plain)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(plain):
        start, end = match.span()
        if match["number"] is not None:
            norm = match["number"].replace(",", "").removeprefix("+")
            tokens.append(Token(text[start:end], start, end, norm, "number"))
        elif match["stop"] is not None:
            tokens.append(_stop(match["stop"], start, end))
        else:
            tokens += _open_contraction(text[start:end], match["word"].lower(), start, end)
    return tuple(tokens)


def _stop(text: str, start: int, end: int) -> Token:
    if text in "×*":
        return Token(text, start, end, "x", "word")
    return Token(text, start, end, text, "stop")


def _open_contraction(text: str, word: str, start: int, end: int) -> list[Token]:
    whole = {"cannot": ("can", "not"), "can't": ("can", "not"), "won't": ("will", "not")}
    if word in whole:
        parts: tuple[str, ...] = whole[word]
    elif word.endswith("n't"):
        parts = (word[:-3], "not")
    elif "'" in word:
        head, tail = word.split("'", 1)
        opened = {"re": "are", "ll": "will", "ve": "have", "d": "would", "m": "am"}
        parts = (head, opened[tail]) if tail in opened else (head,)
    else:
        parts = (word,)
    return [Token(text, start, end, stem(part), "word") for part in parts]
