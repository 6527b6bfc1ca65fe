"""Retrieval for the roles: whole games, functions and mechanics near a phrase."""

from collections.abc import Sequence
from dataclasses import replace

from vectorstore.documents import KINDS, LIBRARY_KINDS, Example, Kind
from vectorstore.store import Store


class Retrieval:
    """Reads one store; raises what `Store.search` raises."""

    def __init__(self, store: Store, *, own_games: bool = False) -> None:
        """Read `store`; `own_games` adds accepted games of earlier runs to the examples."""
        self.store = store
        self.own_games = own_games

    def examples(self, query: str, n: int = 3) -> list[Example]:
        """At most `n` whole games, rulebook and source, nearest first."""
        pieces = self._pieces("games", query, n)
        if self.own_games:
            pieces += self._pieces("own_games", query, n)
        return sorted(pieces, key=lambda piece: (piece.distance, piece.id))[:n]

    def snippets(self, query: str, n: int = 5, *, game: str | None = None) -> list[Example]:
        """At most `n` functions with the rule sentences they implement, of one family or all."""
        return self._pieces("snippets", query, n, game)

    def mechanics(self, query: str, n: int = 5, *, game: str | None = None) -> list[Example]:
        """At most `n` parameters and rule sentences, of one family or all."""
        return self._pieces("mechanics", query, n, game)

    def games(self, names: Sequence[str]) -> list[Example]:
        """Whole library games by name, at distance 0.

        Raises:
            StoreError: If the store has no such game.
        """
        return self.store.get("games", names)

    def snapshot_id(self) -> str:
        """Content id of what it sees: the library, and the own games where asked for."""
        return self.store.snapshot_id(KINDS if self.own_games else LIBRARY_KINDS)

    def _pieces(self, kind: Kind, query: str, n: int, game: str | None = None) -> list[Example]:
        found = self.store.search(kind, query, n, {"game": game} if game is not None else None)
        return [replace(own, id=f"own/{own.id}") for own in found] if kind == "own_games" else found
