"""Retrieved pieces, as the roles take them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agents.protocols import Example

if TYPE_CHECKING:
    from tools.retrieval import Piece, Retrieval


def as_examples(pieces: "Sequence[Piece]") -> list[Example]:
    """Pieces of the store as examples."""
    return [
        Example(id=piece.id, title=piece.title, text=piece.text, distance=piece.distance)
        for piece in pieces
    ]


def mechanics_near(retrieval: "Retrieval", count: int = 5) -> Callable[[str], list[Example]]:
    """A function that gives the mechanics nearest to a phrase."""
    return lambda phrase: as_examples(retrieval.mechanics(phrase, count))
