"""The constraint determinization's attempts, many at once.

An attempt that fails is forgotten, so attempts are independent and alike, and the fleets of those
that end well follow one another as if they had been made one by one. Within an attempt, up to 50
tries of a ship are one draw here: with v of M equally likely tries possible, none succeeds with
probability (1 - v/M)^50, and one that does is uniform among the v.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from evals.battleship.sea import BITS, LENGTHS, SEA, cells_of
from evals.battleship.tag_hopes import ALL, CODES, Hopes
from evals.battleship.tag_ways import ANYWHERE, OVER, TRIES

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_ORDERS = np.array(sorted(set(permutations(LENGTHS))), dtype=np.int64)
_WORD = 64


class _Ways:
    """What a ship of one length can be laid on.

    Attributes:
        ships: The cells of each way that no miss forbids.
        words: `[W, C]` the same as bits over the cells that are no miss, 64 a word.
        covers: `[C, H]` whether a way covers a hit.
        upon: `[C]` the hit that the way was tried over; -1 for a way tried anywhere.
    """

    def __init__(
        self, ships: Sequence[int], upon: Sequence[int], hits: Sequence[int], sea: Sequence[int]
    ) -> None:
        self.ships = list(ships)
        place = {cell: index for index, cell in enumerate(sea)}
        bits = [sum(1 << place[cell] for cell in cells_of(ship)) for ship in ships]
        count = -(-len(sea) // _WORD)
        cut = [[word >> _WORD * part & (1 << _WORD) - 1 for word in bits] for part in range(count)]
        self.words: Words = np.array(cut, dtype=np.uint64).reshape(count, len(ships))
        covers = [[bool(ship & BITS[cell]) for cell in hits] for ship in ships]
        self.covers: Bools = np.array(covers, dtype=np.bool_).reshape(len(ships), len(hits))
        self.upon: Ints = np.array(upon, dtype=np.int64)


class _Lanes:
    """Attempts under way, one a row; rows that fail are dropped.

    Attributes:
        number: `[N]` which attempt it is.
        words: `[W, N]` cells taken, as in `_Ways.words`.
        open: `[N, H]` hits that no ship covers yet.
        orders: `[N, 5]` lengths in the order in which they are laid.
        laid: `[N, 5]` the way of each ship laid.
        upon: `[N, 5]` whether that is a way over a hit.
    """

    def __init__(self, orders: Ints, hits: int, words: int) -> None:
        count = len(orders)
        self.number: Ints = np.arange(count)
        self.words: Words = np.zeros((words, count), dtype=np.uint64)
        self.open: Bools = np.ones((count, hits), dtype=np.bool_)
        self.orders = orders
        self.laid: Ints = np.zeros_like(orders)
        self.upon: Bools = np.zeros(orders.shape, dtype=np.bool_)

    def keep(self, rows: Bools) -> None:
        """Drop all other rows."""
        self.words = self.words[:, rows]
        for name in ("number", "open", "orders", "laid", "upon"):
            setattr(self, name, getattr(self, name)[rows])


class Attempts:
    """Attempts to explain one set of shots.

    Args:
        hits: Cells hit, in the order in which open ones are covered where that is `ordered`.
        misses: Cells missed.
        generator: Draws.
        ordered: Whether tries go over the first open hit instead of a random one.
    """

    def __init__(
        self, hits: Sequence[int], misses: int, generator: np.random.Generator, *, ordered: bool
    ) -> None:
        self._hits, self._ordered, self._generator = hits, ordered, generator
        self._sea = cells_of(SEA & ~misses)
        self._upon = {length: self._over(length, misses) for length in ANYWHERE}
        self._free = {length: self._anywhere(length, misses) for length in ANYWHERE}
        self._bits: Ints = 1 << np.arange(len(hits))
        covers = {length: ways.covers @ self._bits for length, ways in self._upon.items()}
        self._hopes = Hopes({length: found.tolist() for length, found in covers.items()})

    def make(self, count: int) -> tuple[Ints, list[int]]:
        """So many attempts: the numbers of those that ended well, and their fleets."""
        orders = _ORDERS[self._generator.integers(len(_ORDERS), size=count)]
        lanes = _Lanes(orders, len(self._hits), -(-len(self._sea) // _WORD))
        for step in range(len(LENGTHS)):
            lengths = lanes.orders[:, step]
            alive = np.zeros(len(lengths), dtype=np.bool_)
            for length in ANYWHERE:
                rows = np.flatnonzero(lengths == length)
                if len(rows):
                    alive[rows] = self._lay(lanes, rows, step, length)
            ships = ALL - CODES[lanes.orders[:, : step + 1]].sum(axis=1)
            lanes.keep(alive & self._hopes.left(lanes.open @ self._bits, ships))
            if not len(lanes.number):
                break
        return lanes.number, [self._fleet(lanes, row) for row in range(len(lanes.number))]

    def _fleet(self, lanes: _Lanes, row: int) -> int:
        fleet = 0
        for length, way, upon in zip(
            lanes.orders[row].tolist(), lanes.laid[row].tolist(), lanes.upon[row], strict=True
        ):
            fleet |= (self._upon if upon else self._free)[length].ships[way]
        return fleet

    def _lay(self, lanes: _Lanes, rows: Ints, step: int, length: int) -> Bools:
        """Lay a ship in these rows; whether it could be, by row."""
        laid = np.zeros(len(rows), dtype=np.bool_)
        opened = lanes.open[rows].sum(axis=1)
        for upon in (True, False):
            some = (opened > 0) == upon
            where, ways = rows[some], (self._upon if upon else self._free)[length]
            if not len(where) or not ways.ships:
                continue
            tries = np.full(len(where), 2 * length if upon else len(ANYWHERE[length]))
            if upon and not self._ordered:
                tries *= opened[some]
            place = self._place if step else self._first
            laid[some] = place(lanes, where, step, ways, tries)
            lanes.upon[where, step] = upon
        return laid

    def _first(self, lanes: _Lanes, rows: Ints, step: int, ways: _Ways, tries: Ints) -> Bools:
        """The same as `_place` for the first ship, which nothing stands in the way of."""
        possible = len(ways.ships)
        if self._ordered and ways.upon[0] >= 0:
            possible = int((ways.upon == 0).sum())
        draws = self._generator.random((2, len(rows)))
        laid: Bools = draws[0] >= (1 - possible / tries) ** TRIES
        chosen = (draws[1][laid] * possible).astype(np.int64)
        self._take(lanes, rows[laid], step, ways, chosen)
        return laid

    def _place(self, lanes: _Lanes, rows: Ints, step: int, ways: _Ways, tries: Ints) -> Bools:
        """Draw one of the ways that fit for each row, if the tries find one."""
        fits = (lanes.words[0, rows, None] & ways.words[0]) == 0
        for word in range(1, len(ways.words)):
            fits &= (lanes.words[word, rows, None] & ways.words[word]) == 0
        if self._ordered and ways.upon[0] >= 0:
            fits &= ways.upon == lanes.open[rows].argmax(axis=1)[:, None]
        fitting = np.flatnonzero(fits)
        possible = np.bincount(fitting // len(ways.ships), minlength=len(rows))
        draws = self._generator.random((2, len(rows)))
        laid: Bools = draws[0] >= (1 - possible / tries) ** TRIES
        rank = (draws[1] * possible).astype(np.int64) + possible.cumsum() - possible
        chosen = fitting[rank[laid]] % len(ways.ships)
        self._take(lanes, rows[laid], step, ways, chosen)
        return laid

    def _take(self, lanes: _Lanes, rows: Ints, step: int, ways: _Ways, chosen: Ints) -> None:
        lanes.words[:, rows] |= ways.words[:, chosen]
        lanes.open[rows] &= ~ways.covers[chosen]
        lanes.laid[rows, step] = chosen

    def _over(self, length: int, misses: int) -> _Ways:
        """Ways over a hit: the same ship once for each hit that it was tried over."""
        found = [
            (ship, index)
            for index, cell in enumerate(self._hits)
            for ship in OVER[length][cell]
            if ship and not ship & misses
        ]
        ships, upon = [ship for ship, _ in found], [index for _, index in found]
        return _Ways(ships, upon, self._hits, self._sea)

    def _anywhere(self, length: int, misses: int) -> _Ways:
        """Ways anywhere; they are drawn only when no hit is open."""
        ships = [ship for ship in ANYWHERE[length] if ship and not ship & misses]
        return _Ways(ships, [-1] * len(ships), self._hits, self._sea)
