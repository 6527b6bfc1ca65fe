"""Wish of a person in a conversation: variants of the game at hand, or targets for its play."""

import re
from dataclasses import dataclass

from tools.balancing.targets import SPELT, TargetError, parse_targets, seat_words

_TOLERANCE = 5  # percent, of a share that is called fair
_USUAL, _MOST = 3, 16  # variants in one answer
_VARIANTS = frozenset({"twists", "variants", "variations", "versions"})
_FAIR = frozenset({"fair", "fairer", "balance", "balanced", "even"})
_AROUND = frozenset(
    {"a", "all", "and", "be", "can", "could", "for", "game", "get", "give", "i", "in", "is", "it"}
    | {"like", "make", "me", "more", "my", "new", "of", "on", "other", "our", "please", "s", "see"}
    | {"show", "so", "some", "that", "the", "this", "to", "us", "want", "we", "with", "would"}
    | {"you", "between", "players", "seats", "everybody", "everyone", "d"}
)


@dataclass(frozen=True)
class Wish:
    """A wish that a search answers, and no single change of a rule.

    Attributes:
        variants: How many are wanted; 0 for none.
        target: As `balance` takes it; empty for none.
    """

    variants: int = 0
    target: str = ""


def wish_of(message: str, seats: int) -> Wish | None:
    """The wish of a message that asks for nothing else; None where it names a change of its own.

    A fair share of the wins is as much as there are seats, 5 % to either side.

    >>> wish_of("Give me five twists of this!", 2), wish_of("make it fairer for the last player", 2)
    (Wish(variants=5, target=''), Wish(variants=0, target='last player 50±5 %'))
    >>> wish_of("balance it: first seat 48 to 52 %, ties under 5 %", 2)
    Wish(variants=0, target='first seat 48 to 52 %, ties under 5 %')
    >>> wish_of("make it fairer: the last player gets two points", 2), wish_of("is it fair?", 2)
    (None, None)
    """
    head, parted, tail = message.lower().partition(":")
    words = _words(head)
    asks_fair = bool(words & _FAIR) and words <= _FAIR | _AROUND
    is_said = asks_fair and bool(parted)
    target = (tail if is_said else message.lower()).strip()
    if _is_target(target, seats, shares=not is_said):
        return Wish(target=target)
    if parted or "?" in message:
        return None
    counts = {word for word in words if word in SPELT or word.isdecimal()}
    said = " ".join(counts)
    if words & _VARIANTS and words <= _VARIANTS | _AROUND | {said}:
        wanted = SPELT.index(said) + 1 if said in SPELT else int(said or _USUAL)
        return Wish(variants=min(wanted, _MOST) or _USUAL)
    named = seat_words(head)
    others = _words(head.replace(named, " ") if named else head)
    if others & _FAIR and others <= _FAIR | _AROUND:
        return Wish(target=f"{named or 'every seat'} {100 / seats:.3g}±{_TOLERANCE} %")
    return None


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w+", text)}


def _is_target(text: str, seats: int, *, shares: bool) -> bool:
    """True for targets; of shares in percent alone where a rule may have the same words."""
    try:
        found = parse_targets(text, seats)
    except TargetError:
        return False
    return not shares or all(one.is_share for one in found)
