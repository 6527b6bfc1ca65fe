"""Tokens of a brief: words with their place in the text, lightly stemmed, and numbers in words.

Stems only have to agree with each other: the lexicons' phrases go through the same function, so
"takes", "taking" and "taken" meet in one stem whatever that stem looks like.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["word", "number", "stop"]


def word_set(*lines: str) -> frozenset[str]:
    """The words of some lines, as a set."""
    return frozenset(word for line in lines for word in line.split())


def stems(words: str) -> frozenset[str]:
    """The stems of a line's words, as a set."""
    return frozenset(stem(word) for word in words.split())


_TOKEN = re.compile(
    r"(?P<number>[-−+]?\d{1,3}(?:,\d{3})+(?!\d)|(?<![\w-])[-−]\d+|\d+)(?:'?s\b|(?:st|nd|rd|th)\b)?"
    r"|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?|&|(?<!\S)\+(?!\S))|(?P<stop>\.\.+(?=\d)|[,.;:!?()\[\]{}\n–—×/]|(?<!\*)\*(?!\*))"
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
        "player": "spieler",
        "and": "& n +",
        "use": "uses used using",
        "attacker": "attacking",
        "defender": "defending",
        "tic": "tick",
        "tac": "tack",
    }.items()
    for form in forms.split()
}
_NOT_PLURAL = word_set("this his its us as yes plus minus bonus")

_KEPT = word_set("handed sided theme themed toe use")

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


_WRAPPED = re.compile(r"(?m)(?<=[^\n]{49}[^\n.!?:;])\n(?!\s*(?:$|[-*•#>–—]|\(?\w{1,2}[.)]\s))")


def unwrapped(text: str) -> str:
    r"""A text of the same length whose long lines go on: a line break at a margin is a space.

    >>> wide = "each heart you pick up on the way round the table costs"
    >>> unwrapped(wide + "\na point\n- two decks")[len(wide):]
    ' a point\n- two decks'
    """
    return _WRAPPED.sub(" ", text)


def tokenise(text: str) -> tuple[Token, ...]:
    """Split a brief into tokens; contractions are opened, hyphens and quotes separate words.

    An accent makes no other word of one: "misère" is "misere".

    >>> [token.norm for token in tokenise("2p: can't play 8s, u dont say!")]
    ['2', 'player', ':', 'can', 'not', 'play', '8', ',', 'you', 'do', 'not', 'say', '!']
    """
    plain = text if text.isascii() else _without_accents(text)
    plain = plain.replace("’", "'").replace("‘", "'").replace("−", "-")
    plain = re.sub(r"(?<=\d)-(?=\d)", "–", plain)
    tokens: list[Token] = []
    for match in _TOKEN.finditer(plain):
        start, end = match.span()
        if match["number"] is not None:
            norm = match["number"].replace(",", "").removeprefix("+")
            tokens.append(Token(text[start:end], start, end, norm, "number"))
        elif match["stop"] is not None:
            tokens.append(_stop(match["stop"], start, end))
        elif match["word"] in ("p", "P") and plain[start - 1 : start].isdigit():
            tokens.append(Token(text[start:end], start, end, "player", "word"))
        else:
            tokens += _open_contraction(text[start:end], match["word"].lower(), start, end)
    return tuple(tokens)


def _without_accents(text: str) -> str:
    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in text)


def _stop(text: str, start: int, end: int) -> Token:
    if text in "×*":
        return Token(text, start, end, "x", "word")
    if text.startswith(".."):
        return Token(text, start, end, "–", "stop")
    return Token(text, start, end, text, "stop")


_IRREGULAR_NOT = {"cannot": "can", "can't": "can", "cant": "can", "won't": "will", "wont": "will"}
_BARE_NOT = word_set(
    "dont doesnt didnt isnt arent wasnt werent hasnt havent couldnt shouldnt wouldnt"
)
_TYPED = {"u": "you", "ur": "your", "uve": "you've", "youve": "you've", "weve": "we've"}
_TYPED |= {"theres": "there's", "theyre": "they're"}


def _open_contraction(text: str, word: str, start: int, end: int) -> list[Token]:
    word = _TYPED.get(word, word)
    if word in _IRREGULAR_NOT:
        parts: tuple[str, ...] = (_IRREGULAR_NOT[word], "not")
    elif word in _BARE_NOT:
        parts = (word[:-2], "not")
    elif word.endswith("n't"):
        parts = (word[:-3], "not")
    elif "'" in word:
        head, tail = word.split("'", 1)
        opened = {"re": "are", "ll": "will", "ve": "have", "d": "would", "m": "am"}
        parts = (head, opened[tail]) if tail in opened else (head,)
    else:
        parts = (word,)
    return [Token(text, start, end, stem(part), "word") for part in parts]


_UNIT_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_UNIT_WORDS.split())}
_SMALL |= {"nil": 0, "deuce": 2, "sixes": 6, "fourty": 40}
_TENS_VALUE = {word: 20 + 10 * index for index, word in enumerate(_TEN_WORDS.split())}
_SCALE = {"hundred": 100, "thousand": 1000, "dozen": 12}
_ARTICLES = frozenset({"a", "an"})
_TEN, _HUNDRED = 10, 100
_BEFORE_PRONOUN = word_set(
    "no the this that any every each which next first last other before until"
)
_AFTER_PRONOUN = word_set(
    "another who that whose must may can cannot should has might could would will needs likes wants"
)


def _with_plurals(table: dict[str, int]) -> dict[str, int]:
    plain = {form: value for word, value in table.items() for form in (word, word + "s")}
    return plain | {word[:-1] + "ies": value for word, value in table.items() if word[-1] == "y"}


_SMALL_FORMS = _with_plurals(_SMALL)
_TENS_FORMS = _with_plurals(_TENS_VALUE)
_SCALE_FORMS = _with_plurals(_SCALE)
_BEGINS = frozenset({"minus", "half", *_ARTICLES, *_SMALL_FORMS, *_TENS_FORMS, *_SCALE_FORMS})


def small_number(word: str) -> int | None:
    """The value of a number word below twenty, or None."""
    return _SMALL_FORMS.get(word)


def merge_numbers(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Replace runs of number words by one number token each.

    >>> words = "twenty-one points, half a dozen cards, a hundred and fifty, eights"
    >>> [t.norm for t in merge_numbers(tokenise(words)) if t.kind == "number"]
    ['21', '6', '150', '8']
    """
    merged: list[Token] = []
    index = 0
    while index < len(tokens):
        value, used = _read(tokens, index)
        if used == 0:
            merged.append(tokens[index])
            index += 1
            continue
        first, last = tokens[index], tokens[index + used - 1]
        text = first.text if used == 1 else f"{first.text} … {last.text}"
        merged.append(Token(text, first.start, last.end, str(value), "number"))
        index += used
    return tuple(merged)


def _read(tokens: Sequence[Token], start: int) -> tuple[int, int]:
    """The number starting at `start` and how many tokens it takes; (0, 0) where none does."""
    if tokens[start].kind != "number" and _plain(tokens[start]) not in _BEGINS:
        return 0, 0
    norms = [_plain(token) for token in tokens[start : start + 8]]
    if norms[0] == "minus":
        below, used = _read(tokens, start + 1) if len(norms) > 1 else (0, 0)
        if not used and len(norms) > 1 and tokens[start + 1].kind == "number":
            below, used = int(tokens[start + 1].norm), 1
        return (-below, used + 1) if used else (0, 0)
    for phrase, value in (("half a dozen", 6), ("half dozen", 6), ("a couple of", 2)):
        words = phrase.split()
        if norms[: len(words)] == words:
            return value, len(words)
    return _read_cardinal(tokens, start, norms)


def _is_pronoun(tokens: Sequence[Token], index: int) -> bool:
    """True where a "one" stands for somebody, as in "no one" or "the one who"."""
    if tokens[index].text.lower() != "one":
        return False
    before = tokens[index - 1].text.lower() if index else ""
    after = tokens[index + 1].text.lower() if index + 1 < len(tokens) else ""
    return before in _BEFORE_PRONOUN or after in _AFTER_PRONOUN


def _plain(token: Token) -> str:
    return token.norm if token.kind == "number" else token.text.lower()


def _read_cardinal(  # noqa: C901 - one small grammar, read in one place
    tokens: Sequence[Token], start: int, norms: Sequence[str]
) -> tuple[int, int]:
    total = group = used = position = 0
    is_digits = tokens[start].kind == "number"
    if (is_digits or norms[0] in _ARTICLES) and len(norms) > 1 and norms[1] in _SCALE_FORMS:
        group, position = int(norms[0]) if is_digits else 1, 1
    if _is_pronoun(tokens, start) or (is_digits and not position):
        return 0, 0
    while position < len(norms):
        word = norms[position]
        if word in _SMALL_FORMS and (
            group % _TEN == 0 and (group % _HUNDRED == 0 or _SMALL_FORMS[word] < _TEN)
        ):
            if group == 0 and used:
                break
            group += _SMALL_FORMS[word]
        elif word in _TENS_FORMS and group % _HUNDRED == 0:
            group += _TENS_FORMS[word]
        elif word in _SCALE_FORMS and 0 < group < _HUNDRED:
            group *= _SCALE_FORMS[word]
            if _SCALE_FORMS[word] == 1000:  # noqa: PLR2004
                total, group = total + group, 0
        elif (
            word == "and"
            and used
            and group % _HUNDRED == 0
            and (group or total)
            and position + 1 < len(norms)
            and norms[position + 1] in (_SMALL_FORMS | _TENS_FORMS)
            and norms[position - 1] in ("hundred", "thousand")
        ):
            position += 1
            continue
        else:
            break
        position += 1
        used = position
    return (total + group, used) if used else (0, 0)
