"""What the roles may look up: whole games, functions, mechanics near a phrase."""

from collections.abc import Sequence
from dataclasses import dataclass

from vectorstore.documents import Hit, Kind
from vectorstore.store import Store


@dataclass(frozen=True)
class Piece:
    """One retrieved piece.

    Attributes:
        id: The library's name of a game, "game/function" or "game/rule"; an own game's is
            "own/" and the run.
        title: A short heading.
        text: A rulebook and its source, a function under its rule sentences, or a sentence.
        game: The family it comes from; an own game's run.
        distance: 1 - cosine to the query, from 0 (same) to 2 (opposite).
    """

    id: str
    title: str
    text: str
    game: str
    distance: float


class Retrieval:
    """Reads one store; raises what `Store.search` raises."""

    def __init__(self, store: Store, *, own_games: bool = False) -> None:
        """Read `store`; `own_games` adds accepted games of earlier runs to the examples."""
        self.store = store
        self.own_games = own_games

    def examples(self, query: str, n: int = 3) -> list[Piece]:
        """At most `n` whole games, rulebook and source, nearest first."""
        pieces = self._pieces("games", query, n)
        if self.own_games:
            pieces += self._pieces("own_games", query, n)
        return sorted(pieces, key=lambda piece: (piece.distance, piece.id))[:n]

    def snippets(self, query: str, n: int = 5, *, game: str | None = None) -> list[Piece]:
        """At most `n` functions with the rule sentences they implement, of one family or all."""
        return self._pieces("snippets", query, n, game)

    def mechanics(self, query: str, n: int = 8, *, game: str | None = None) -> list[Piece]:
        """At most `n` parameters and rule sentences, of one family or all."""
        return self._pieces("mechanics", query, n, game)

    def games(self, names: Sequence[str]) -> list[Piece]:
        """Whole library games by name, at distance 0.

        Raises:
            StoreError: If the store has no such game.
        """
        return [_piece("games", hit) for hit in self.store.get("games", names)]

    def _pieces(self, kind: Kind, query: str, n: int, game: str | None = None) -> list[Piece]:
        where = {"game": game} if game is not None else None
        return [_piece(kind, hit) for hit in self.store.search(kind, query, n, where)]


def _piece(kind: Kind, hit: Hit) -> Piece:
    if kind == "own_games":
        return Piece(f"own/{hit.id}", hit.title, hit.text, str(hit.metadata["run"]), hit.distance)
    return Piece(hit.id, hit.title, hit.text, str(hit.metadata["game"]), hit.distance)
