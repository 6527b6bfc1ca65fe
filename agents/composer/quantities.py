"""Numbers in words: "twenty-one", "half a dozen", "a hundred and fifty", "eights"."""

from collections.abc import Sequence

from agents.composer.words import Token, word_set

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
_BEFORE_PRONOUN = word_set("no the this that any every each which next other before until")
_AFTER_PRONOUN = word_set(
    "another who that whose must may can cannot should has might could would will needs likes wants"
)


def _with_plurals(table: dict[str, int]) -> dict[str, int]:
    plain = {form: value for word, value in table.items() for form in (word, word + "s")}
    return plain | {word[:-1] + "ies": value for word, value in table.items() if word[-1] == "y"}


_SMALL_FORMS = _with_plurals(_SMALL)
_TENS_FORMS = _with_plurals(_TENS_VALUE)
_SCALE_FORMS = _with_plurals(_SCALE)


def small_number(word: str) -> int | None:
    """The value of a number word below twenty, or None."""
    return _SMALL_FORMS.get(word)


def merge_numbers(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Replace runs of number words by one number token each.

    >>> from agents.composer.words import tokenise
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
    norms = [_plain(token) for token in tokens[start : start + 8]]
    for phrase, value in (
        (("half", "a", "dozen"), 6),
        (("half", "dozen"), 6),
        (("a", "couple", "of"), 2),
        (("minus",), 0),
    ):
        if tuple(norms[: len(phrase)]) == phrase:
            if phrase == ("minus",):
                below, used = _read(tokens, start + 1) if len(norms) > 1 else (0, 0)
                if not used and len(norms) > 1 and tokens[start + 1].kind == "number":
                    below, used = int(tokens[start + 1].norm), 1
                return (-below, used + 1) if used else (0, 0)
            return value, len(phrase)
    return _read_cardinal(tokens, start, norms)


def _is_pronoun(tokens: Sequence[Token], index: int) -> bool:
    """Whether a "one" stands for somebody, as in "no one" or "the one who"."""
    if tokens[index].text.lower() != "one":
        return False
    before = tokens[index - 1].text.lower() if index else ""
    after = tokens[index + 1].text.lower() if index + 1 < len(tokens) else ""
    return before in _BEFORE_PRONOUN or after in _AFTER_PRONOUN


def _plain(token: Token) -> str:
    return token.norm if token.kind == "number" else token.text.lower()


def _read_cardinal(  # noqa: C901, PLR0912 - one small grammar, read in one place
    tokens: Sequence[Token], start: int, norms: Sequence[str]
) -> tuple[int, int]:
    total = group = used = 0
    position = 0
    if _is_pronoun(tokens, start):
        return 0, 0
    if norms and norms[0] in _ARTICLES and len(norms) > 1 and norms[1] in _SCALE_FORMS:
        group, position = 1, 1
    elif norms and tokens[start].kind == "number":
        if len(norms) > 1 and norms[1] in _SCALE_FORMS:
            group, position = int(norms[0]), 1
        else:
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
