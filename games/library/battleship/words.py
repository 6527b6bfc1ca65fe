"""Arithmetic of battleship words: the fleet as lengths of its ships."""

from collections.abc import Mapping, Sequence

from games.values import Json

Settings = Mapping[str, Json]

_USUAL = (5, 4, 3, 3, 2)
_MOST = 10


def ships(numbers: Sequence[int]) -> Settings:
    """Ships by their lengths, longest first, so that one fleet has one spelling."""
    return {"ships": ",".join(str(length) for length in sorted(numbers, reverse=True))}


def announced(numbers: Sequence[int]) -> Settings:
    """Ships by their lengths, after how many they are."""
    return ships(numbers[1:])


def equal_ships(numbers: Sequence[int]) -> Settings:
    """So many ships of one length."""
    count, length = numbers[0], numbers[1]
    return ships([length] * max(1, min(count, _MOST)))


def groups(numbers: Sequence[int]) -> Settings:
    """How many of which length, by turns; a number before them is their count."""
    pairs = numbers[len(numbers) % 2 :]
    by_turns = zip(pairs[::2], pairs[1::2], strict=True)
    return ships([length for count, length in by_turns for _ in range(min(count, _MOST))])


def counted(numbers: Sequence[int]) -> Settings:
    """The usual fleet; another number of ships has no setting without their lengths."""
    count = numbers[0] if numbers else len(_USUAL)
    return ships(_USUAL) if count == len(_USUAL) else {"ships": f"{count} ships"}
