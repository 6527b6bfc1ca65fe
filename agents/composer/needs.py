"""What a phrase cannot do without: words of which a line must hold some for the phrase to match.

Most phrases of the lexicons have no word in common with a brief. Asking for their words first
spares compiling their regular expressions, which costs a thousand times as much.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

Needs: TypeAlias = list[frozenset[str]]
"""Of each set, a matching line holds at least one word."""


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
        raise ValueError(f"a phrase closes a group that it did not open: {' '.join(items)}")
    return found


def are_met(wanted: Needs, line: str) -> bool:
    """Whether a line of words, each with a space behind it, holds one of every set."""
    return all(any(f"{word} " in line for word in need) for need in wanted)


def _alternatives(
    items: Sequence[str], at: int, words: Callable[[str], frozenset[str]]
) -> tuple[Needs, int]:
    """The needs of `a|b|...` from `at` on, and where it ends."""
    branches: list[Needs] = []
    while True:
        branch, at = _sequence(items, at, words)
        branches.append(branch)
        if at == len(items) or items[at] == ")":
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
