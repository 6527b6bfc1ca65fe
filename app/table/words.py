"""Words at the table: which action a person means, and events told in few lines."""

import re
from collections.abc import Iterable, Sequence

from games.text import one_line

_SUITS = str.maketrans("♣♦♥♠", "cdhs")
_TEN = re.compile(r"\b10(?=[cdhs]\b)")
_CODE = re.compile(r"(?<![Pp]layer )\b(?:\w*\d\w*|[A-Z]{1,3})\b")
_BETWEEN = re.compile(r"(?<=\w)[\s,.:>-]+(?=\w)")
_NUMBER = re.compile(r"([0-9]{1,9})")
_FEW = 2


def plain_words(text: str) -> str:
    """A text as it is compared: no case, single blanks, cards by their codes.

    >>> plain_words(" Play  10♥ ")
    'play th'
    """
    return _TEN.sub("t", one_line(text).casefold().translate(_SUITS))


def are_numbered(legal: Sequence[str]) -> bool:
    """Whether the actions may be chosen by their number: not where a number is a word of theirs.

    >>> are_numbered(["fire a1", "fire a2"]), are_numbered(["bid 3", "bid 7"])
    (True, False)
    """
    return not any(word.isdigit() for action in legal for word in action.split())


def by_numbers(action: str) -> list[str | int]:
    """What puts actions into the order in which a person looks for one: numbers by their value.

    >>> sorted(["fire a1", "fire a10", "fire a2", "fire b1", "pass"], key=by_numbers)
    ['fire a1', 'fire a2', 'fire a10', 'fire b1', 'pass']
    """
    parts = _NUMBER.split(action)
    return [int(part) if n % 2 else part for n, part in enumerate(parts)]


def meant(typed: str, legal: Sequence[str]) -> list[str]:
    """The actions that a person may mean; exactly one where that is clear.

    Args:
        typed: An action's number, its words, its last words, or beginnings of its words.
        legal: The actions.

    >>> legal = ["play 7C", "play TH", "draw", "b8-c7"]
    >>> [meant(typed, legal) for typed in ("7c", "10♥", "2", "DRA", "b8c7", "p", "x")]
    [['play 7C'], ['play TH'], ['play TH'], ['draw'], ['b8-c7'], ['play 7C', 'play TH'], []]
    >>> meant("3", ["drop 1", "drop 3"]), meant("2", ["drop 1", "drop 3"])
    (['drop 3'], [])
    """
    wanted = plain_words(typed)
    if not wanted:
        return []
    known = [(plain_words(action), action) for action in legal]
    for fits in (_is_same, _is_tail, _is_close, _is_close_tail):
        found = [action for words, action in known if fits(wanted, words)]
        if found:
            return found
    if wanted.isdecimal():
        number = int(wanted[:9]) if wanted.isascii() and are_numbered(legal) else 0
        return [legal[number - 1]] if 1 <= number <= len(legal) else []
    return [action for words, action in known if _begins(wanted, words)]


def folded(events: Iterable[str]) -> list[str]:
    """Events of one stretch of chance, with those that differ in one card or number on one line.

    >>> folded(["You are dealt 7C.", "Player 2 is dealt a card.", "You are dealt 9D.",
    ...         "Player 2 is dealt a card.", "You are dealt TD.", "Player 2 is dealt a card."])
    ['You are dealt 7C 9D TD.', 'Player 2 is dealt a card. (3 times)']
    """
    kinds: dict[str, list[str]] = {}
    for event in events:
        kinds.setdefault(_CODE.sub("#", event), []).append(event)
    lines: list[str] = []
    for told in kinds.values():
        columns = list(zip(*map(_CODE.findall, told), strict=True))
        varied = sum(len(set(codes)) > 1 for codes in columns)
        if len(told) <= _FEW or varied > 1:
            lines += told
        elif varied:
            words = [codes[0] if len(set(codes)) == 1 else " ".join(codes) for codes in columns]
            parts = zip(_CODE.split(told[0]), [*words, ""], strict=True)
            lines.append("".join(before + word for before, word in parts))
        else:
            lines.append(f"{told[0]} ({len(told)} times)")
    return lines


def _is_same(wanted: str, words: str) -> bool:
    return wanted == words


def _is_tail(wanted: str, words: str) -> bool:
    """Whether the last words are meant, as "7c" for "play 7c"."""
    return f" {words}".endswith(f" {wanted}")


def _is_close(wanted: str, words: str) -> bool:
    return _BETWEEN.sub("", wanted) == _BETWEEN.sub("", words)


def _is_close_tail(wanted: str, words: str) -> bool:
    parts = words.split()
    return any(_is_close(wanted, " ".join(parts[start:])) for start in range(1, len(parts)))


def _begins(wanted: str, words: str) -> bool:
    """Whether each word typed begins a word of the action, in their order; numbers are whole."""
    left = iter(words.split())
    return all(
        any(word == start or (word.startswith(start) and not start.isdecimal()) for word in left)
        for start in wanted.split()
    )
