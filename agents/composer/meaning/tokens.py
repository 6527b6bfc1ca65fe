"""Tokens of a brief: words with their place in the text, lightly stemmed, and numbers in words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from agents.composer.lexicon import common, word_list

Kind: TypeAlias = Literal["word", "number", "stop"]

_TOKEN = re.compile(
    r"(?P<number>(?<![\w-])-\d+|\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:'?s\b|(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?|&)|(?P<stop>[,.;:!?()\[\]{}\n–—|])"
    r"|(?P<times>×|(?<=[\d ])\*(?=[\d ]))"
)
_DASHES = re.compile(r"(?<=\d)-(?=\d)|\.\.+(?=\d)")
_LEAST_STEM = 3
_ENDINGS = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""))
_HISSING = ("xes", "ches", "shes", "zes", "sses")
_CONTRACTED = {"re": "are", "ll": "will", "ve": "have", "d": "would", "m": "am"}
_NOT = {"cannot": "can", "can't": "can", "cant": "can", "won't": "will", "wont": "will"}
_BARE_NOT = re.compile(r"(do|does|did|is|are|was|were|has|have|could|should|would)n'?t")
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000}
_RUNS = {("half", "a", "dozen"): 6, ("half", "dozen"): 6, ("a", "couple", "of"): 2}
_TEN, _HUNDRED = 10, 100


@dataclass(frozen=True)
class Token:
    """One word, number or stop of the brief.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character.
        norm: Its stem, the digits of a number, or the stop itself.
        kind: "word", "number" or "stop".
        plain: The word in small letters, the digits, or the stop.
    """

    start: int
    end: int
    norm: str
    kind: Kind
    plain: str


@cache
def _irregular() -> dict[str, str]:
    return {form: base for base, forms in common().irregular.items() for form in forms.split()}


@cache
def _numbers() -> dict[str, int]:
    found = {word: value for value, word in enumerate(common().units.split())}
    found |= {word: _TEN * (2 + value) for value, word in enumerate(common().tens.split())}
    return found | {f"{word}s": value for word, value in found.items()} | {"sixes": 6}


@cache
def _openings() -> frozenset[str]:
    """The words that a number may begin with; digits may too."""
    return frozenset({*_numbers(), *(run[0] for run in _RUNS), "a", "minus"})


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of one lower-case word.

    >>> {stem(w) for w in ("take", "takes", "taking", "taken", "took")} == {stem("take")}
    True
    >>> stem("winning") == stem("won"), stem("carries") == stem("carry")
    (True, True)
    """
    word = _irregular().get(word, word)
    if word in word_list("function") or word in word_list("kept"):
        return word
    for suffix, kept in _ENDINGS:
        base = word.removesuffix(suffix)
        spelled = re.search("[aeiouy]", base) and (suffix != "ed" or not base.endswith("e"))
        if base != word and len(base) >= _LEAST_STEM and spelled:
            return _tidy(_irregular().get(base + kept, base + kept))
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > _LEAST_STEM:
        singular = word[:-2] if word.endswith(_HISSING) else word[:-1]
        return _tidy(_irregular().get(singular, singular))
    return _tidy(word)


def stems(text: str) -> frozenset[str]:
    """The stems of a line's words, as a set."""
    return frozenset(token.norm for token in tokenise(text) if token.kind != "stop")


def _tidy(word: str) -> str:
    if len(word) > _LEAST_STEM and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if len(word) > 1 and word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word[:-1] if len(word) >= _LEAST_STEM and word.endswith("e") else word


@lru_cache(maxsize=4096)
def tokenise(text: str) -> tuple[Token, ...]:
    """Split a text into tokens: contractions are opened, numbers in words are numbers.

    >>> [token.norm for token in tokenise("2p: can't play 8s, u dont say!")]
    ['2', 'player', ':', 'can', 'not', 'play', '8', ',', 'you', 'do', 'not', 'say', '!']
    >>> words = "twenty-one points, half a dozen cards, a hundred and fifty, eights"
    >>> [token.norm for token in tokenise(words) if token.kind == "number"]
    ['21', '6', '150', '8']
    """
    bare = text if text.isascii() else "".join(map(_without_accent, text))
    bare = bare.replace("’", "'").replace("‘", "'").replace("−", "-")
    bare = _DASHES.sub(lambda match: "–".ljust(len(match[0])), bare)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(bare):
        start, end = match.span()
        kind: Kind = "word"
        parts: Sequence[str] = (match["word"] or "x",)
        if match["number"]:
            kind, parts = "number", (match["number"].replace(",", ""),)
        elif match["stop"]:
            kind, parts = "stop", (match["stop"],)
        elif match["word"] and match["word"].lower() == "p" and bare[start - 1 : start].isdigit():
            parts = ("player",)
        elif match["word"]:
            parts = _opened(match["word"].lower())
        for part in parts:
            norm = stem(part) if kind == "word" else part
            tokens.append(Token(start, end, norm, kind, part))
    return _with_numbers(tokens)


def _without_accent(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0]


@lru_cache(maxsize=8192)
def _opened(word: str) -> tuple[str, ...]:
    word = common().typed.get(word, word)
    if word in _NOT:
        return (_NOT[word], "not")
    if found := _BARE_NOT.fullmatch(word):
        return (found[1], "not")
    head, _, tail = word.partition("'")
    return (head, _CONTRACTED[tail]) if tail in _CONTRACTED else (head,)


def _with_numbers(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens; a run of number words is one number."""
    merged: list[Token] = []
    index = 0
    openings = _openings()
    while index < len(tokens):
        token, value, used = tokens[index], 0, 0
        if token.kind == "number" or token.plain in openings:
            value, used = _number(tokens, index)
        if used:
            end = tokens[index + used - 1].end
            merged.append(Token(token.start, end, str(value), "number", str(value)))
        else:
            merged.append(token)
        index += max(used, 1)
    return tuple(merged)


def _number(tokens: Sequence[Token], start: int) -> tuple[int, int]:
    """The number that begins at a token and how many tokens it takes; (0, 0) for none."""
    said = [token.plain for token in tokens[start : start + 8]]
    for run, value in _RUNS.items():
        if tuple(said[: len(run)]) == run:
            return value, len(run)
    if said[0] == "one" and (
        (start and tokens[start - 1].plain in word_list("before_one"))
        or (len(said) > 1 and said[1] in word_list("after_one"))
    ):
        return 0, 0
    if said[0] == "minus" and len(said) > 1:
        digits = tokens[start + 1].kind == "number"
        value, used = (int(said[1]), 1) if digits else _number(tokens, start + 1)
        return -value, used + 1 if used else 0
    scaled = len(said) > 1 and said[1].removesuffix("s") in _SCALES
    if tokens[start].kind == "number":
        return (int(said[0]) * _SCALES[said[1].removesuffix("s")], 2) if scaled else (0, 0)
    return _cardinal(said, 1 if said[0] == "a" and scaled else 0)


def _cardinal(said: Sequence[str], at: int) -> tuple[int, int]:
    """The value of the number words from `at` on, and how many words were used; (0, 0): none."""
    total = at
    used = 0
    while at < len(said):
        word = said[at]
        value, scale = _numbers().get(word), _SCALES.get(word.removesuffix("s"))
        if scale and total:
            total *= scale
        elif value is not None and (
            not used or total % _HUNDRED == 0 or (total % _TEN == 0 < value < _TEN)
        ):
            if used and total == 0:
                break
            total += value
        elif word == "and" and used and total % _HUNDRED == 0 < total and said[at + 1 : at + 2]:
            if said[at + 1] not in _numbers():
                break
            at += 1
            continue
        else:
            break
        at += 1
        used = at
    return (total, used) if used else (0, 0)
