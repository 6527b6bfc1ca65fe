"""Leduc poker's symmetry: the two cards of a rank may change places, each rank for itself.

No rule of the game tells the cards of a rank apart. A search therefore decides alike, in
distribution, at all information states that such exchanges turn into one another: it is asked at
one of them, and the others copy what it did there.
"""

import re
from functools import partial

from agents.solving import SequenceForm
from games.contract import canonical_key

RANKS, SUITS = "JQK", "HS"
_CARD = re.compile(f"\\b([{RANKS}])([{SUITS}])\\b")


def classes(game: SequenceForm, seat: int) -> list[int]:
    """The first of a seat's information states that each is an exchange of cards away from.

    Args:
        game: Leduc poker.
        seat: The seat.

    Returns:
        `[I]`: a number of an information state for each, itself where it is the first.
    """
    first = dict[str, int]()
    numbers = list[int]()
    for number in range(len(game.seats[seat].states)):
        told = canonical_key([*game.log(seat, number).entries])
        numbers.append(first.setdefault(min(_exchanged(told)), number))
    return numbers


def alone(game: SequenceForm, seat: int) -> list[int]:
    """Every information state in a class of its own, for games without such a symmetry."""
    return list(range(len(game.seats[seat].states)))


def _exchanged(told: str) -> list[str]:
    """A log's text with the cards of some ranks exchanged, in every way."""
    texts = [told]
    for rank in RANKS:
        texts += [_CARD.sub(partial(_exchange, rank), text) for text in texts]
    return texts


def _exchange(rank: str, card: re.Match[str]) -> str:
    suit = SUITS[1 - SUITS.index(card[2])] if card[1] == rank else card[2]
    return f"{card[1]}{suit}"
