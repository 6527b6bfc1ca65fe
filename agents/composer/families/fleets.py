"""Words for the ships of a fleet: how many of which length."""

from agents.composer.lexicon import Phrase, Settings, always
from agents.composer.patterns import Match

CRAFT = (
    "(ship|boat|vessel|submarine|sub|destroyer|carrier|cruiser|frigate|warship|battleship"
    "|patrol boat|gunboat|aircraft carrier|dreadnought|corvette|minesweeper|torpedo boat|one)"
)
_UNIT = "(cell|square|space|field|place|unit|long|length|hole)"
_OF = "(of|with|be|that be|which be|at|take|cover|occupy|long)"
_ITEM = (
    f"<an> (single)? {CRAFT}? {_OF}? (length|size)? (of)? <n> {_UNIT}? (long|in length)? {CRAFT}?"
)
_SEP = "(,|and|, and|;|plus|, plus)"
_SHIPS = "(ship|boat|vessel|warship)"
_HEAD = (
    "((hide|place|position|have|sink|with|of)? (hide|secretly)? <n>? (hidden)? "
    f"{_SHIPS} (:|,|be)?)?"
)
_FLEET = (
    "((the|a|their|each|every)? fleet (for|of|on)? (each|every|a)? (side|player)? (be|have|:"
    "|consist|consist of|contain|hold)?)?"
)
_MOST, _KINDS = 10, 6


def lengths(*numbers: int) -> Settings:
    """Ships by their lengths, longest first, so that one fleet has one spelling."""
    return {"ships": ",".join(str(length) for length in sorted(numbers, reverse=True))}


def groups(*counted: int) -> Settings:
    """Ships given as how many of which length, by turns; a number before them is their count."""
    pairs = counted[len(counted) % 2 :]
    by_turns = zip(pairs[::2], pairs[1::2], strict=True)
    return lengths(*(length for count, length in by_turns for _ in range(min(count, _MOST))))


def _grouped(match: Match) -> Settings:
    return groups(*match.numbers)


def _announced(match: Match) -> Settings:
    return lengths(*match.numbers[1:])


def _several(count: int) -> str:
    more = " ".join(f"({_SEP} {_ITEM})?" for _ in range(count - 2))
    return f"{_FLEET} {_HEAD} {_ITEM} {_SEP} {_ITEM} {more}"


def _listed(count: int) -> str:
    return f"{_SEP} <n> " + " ".join(f"({_SEP} <n>)?" for _ in range(count - 2))


FLEETS: tuple[Phrase, ...] = (
    Phrase(_several(_KINDS), _grouped),
    Phrase(
        f"(hide|place|have)? <n> (hidden)? {CRAFT} {_OF}? (length|size)? (of|:)? <n> "
        f"{_listed(_KINDS)} {_UNIT}?",
        _announced,
    ),
    *always(
        "ships are placed at random, hidden, and shots are called at cells",
        f"(secretly|hidden) (hide|place|position|put) (your|their|the|a)? {CRAFT}?",
        "(take|fire|make) shot (at)? (each other|one another|other|the (enemy|opponent))?",
    ),
)
