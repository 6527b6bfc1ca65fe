"""Fleets that explain what was shot: the three determinizations in TAG, as they really drew.

They are faulty on purpose: this is what was measured. The cells of the sampled fleet that the
shooter has fired at play no part, as nothing can fire at them again; the health that is left is
always the true one.

An attempt that fails is forgotten, so attempts are independent and alike, and the fleets of those
that end well follow one another as if they had been made one by one. `_Attempts` therefore makes
many at once. Within an attempt, up to 50 tries of a ship are one draw there: with v of M equally
likely tries possible, none succeeds with probability (1 - v/M)^50, and one that does is uniform
among the v.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from random import Random
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from evals.lechat2026.board import (
    ANYWHERE,
    BITS,
    CELLS,
    HEALTH,
    LENGTHS,
    OVER,
    View,
    cells_of,
    random_fleet,
)

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
FleetKind = Literal["random", "constraint", "heat map"]

ATTEMPTS, TRIES = 10_000, 50
_ORDERS = tuple(permutations(LENGTHS))
_DISTINCT = np.array(sorted(set(_ORDERS)), dtype=np.int64)
_MANY = 200  # attempts of a decision above which they are made many at once
_FEWEST, _MOST = 128, 4096
_AT_ONCE = 16
_DIGIT = 3
_PLACE = {length: index * _DIGIT for index, length in enumerate(sorted(set(LENGTHS)))}
_TOP = 1 << 20

CODES = np.array([1 << _PLACE[n] if n in _PLACE else 0 for n in range(1 + max(LENGTHS))])
"""Length -> what one ship of it counts in the code of a collection of ships."""

ALL = int(CODES[list(LENGTHS)].sum())
"""The code of the whole fleet."""


class Worlds:
    """Draws fleets for one shooter in one game.

    "random" places a fresh fleet and ignores every shot. "constraint" makes up to 10,000 attempts:
    ships in random order, each with up to 50 tries over a random uncovered hit while there is one,
    else anywhere; an attempt ends well when all ships lie, no miss is covered and every hit is;
    after the last attempt a fleet is placed at random, which is a fallback. "heat map" differs
    only in that tries go over the first uncovered hit instead of a random one, in the order of a
    map: hottest first, equal ones by their number.

    Attributes:
        used: Counts of fleets drawn, by the name `drawn`, of the `attempts` they took (none before
            the first shot and none of "random"), and of `fallbacks`: fleets placed at random
            because every attempt failed.
    """

    def __init__(
        self,
        kind: FleetKind,
        rng: Random,
        wanted: int,
        used: dict[str, float] | None = None,
        drawn: str = "samples",
    ) -> None:
        """Draw for decisions that want about so many fleets each, and count in `used`."""
        self._kind, self._rng, self._wanted = kind, rng, wanted
        self._ordered = kind == "heat map"
        self.used = {} if used is None else used
        self._drawn = drawn
        for name in (drawn, "attempts", "fallbacks"):
            self.used[name] = 0
        self._hits: list[int] = []
        self._generator = Generator(np.random.PCG64(rng.getrandbits(64)))
        self._often = 1.0  # attempts that a fleet takes, as last seen
        self._batches: _Attempts | None = None
        self._coming: deque[tuple[int, int]] = deque()
        self._failed = 0
        self._covered = 0
        self._misses = 0
        self._free: dict[int, list[int]] = {}
        self._upon: dict[tuple[int, int], list[int]] = {}

    def observe(self, view: View, heat: Sequence[float] | None = None) -> None:
        """Take in what has been shot, before fleets are drawn for a decision."""
        self._hits = cells_of(view.hits)
        if heat is not None:
            self._hits.sort(key=lambda cell: -heat[cell])
        self._covered, self._misses = view.hits, view.misses
        self._free, self._upon = {}, {}
        self._batches, self._failed = None, 0
        self._coming.clear()

    def draw(self) -> int:
        """The cells of a fleet.

        Before the first shot every kind places a fleet at random, as the programs do.
        """
        self.used[self._drawn] += 1
        if self._kind == "random" or not self._covered | self._misses:
            return random_fleet(self._rng)
        attempts, fleet = self._batched() if self._slow() else self._single()
        self.used["attempts"] += attempts
        self._often += (attempts - self._often) / min(_AT_ONCE, self._wanted)
        if not fleet:
            self.used["fallbacks"] += 1
            return random_fleet(self._rng)
        return fleet

    def _slow(self) -> bool:
        return self._batches is not None or self._often * self._wanted > _MANY

    def _single(self) -> tuple[int, int]:
        """Attempts made one by one, and the fleet; 0 if all failed."""
        for count in range(1, ATTEMPTS + 1):
            fleet = self._attempt()
            if fleet:
                return count, fleet
        return ATTEMPTS, 0

    def _batched(self) -> tuple[int, int]:
        """The same from attempts made many at once; what is left over serves the next fleet."""
        if self._batches is None:
            self._batches = _Attempts(
                self._hits, self._misses, self._generator, ordered=self._ordered
            )
        while not self._coming:
            count = min(_MOST, max(_FEWEST, int(min(_AT_ONCE, self._wanted) * self._often)))
            numbers, fleets = self._batches.make(count)
            last = -1 - self._failed
            for number, fleet in zip(numbers.tolist(), fleets, strict=True):
                self._queue(number - last, fleet)
                last = number
            self._failed = count - 1 - last
            while self._failed >= ATTEMPTS:
                self._failed -= ATTEMPTS
                self._coming.append((ATTEMPTS, 0))
        return self._coming.popleft()

    def _queue(self, attempts: int, fleet: int) -> None:
        while attempts > ATTEMPTS:
            attempts -= ATTEMPTS
            self._coming.append((ATTEMPTS, 0))
        self._coming.append((attempts, fleet))

    def _attempt(self) -> int:
        """A fleet that explains the shots, or 0 if the attempt failed.

        It is given up as soon as more hits are open than the ships to come have cells.
        """
        draw = self._rng.random
        hits, fleet = self._hits, 0
        order = _ORDERS[int(draw() * len(_ORDERS))]
        left = HEALTH
        for length in order:
            if len(hits) > left:
                return 0
            left -= length
            if not hits:
                ship = self._anywhere(length, fleet)
            elif self._ordered:
                ship = self._over(length, hits[:1], fleet)
            else:
                ship = self._over(length, hits, fleet)
            if not ship:
                return 0
            fleet |= ship
            if hits:
                hits = [cell for cell in hits if not BITS[cell] & ship]
        return 0 if hits else fleet

    def _over(self, length: int, hits: Sequence[int], fleet: int) -> int:
        draw, upon, count = self._rng.random, self._upon, len(hits)
        for _ in range(TRIES):
            key = (length, hits[int(draw() * count)])
            ways = upon.get(key)
            if ways is None:
                ways = upon[key] = self._clear(OVER[length][key[1]])
            ship = ways[int(draw() * len(ways))]
            if ship and not ship & fleet:
                return ship
        return 0

    def _anywhere(self, length: int, fleet: int) -> int:
        draw = self._rng.random
        ways = self._free.get(length)
        if ways is None:
            ways = self._free[length] = self._clear(ANYWHERE[length])
        for _ in range(TRIES):
            ship = ways[int(draw() * len(ways))]
            if ship and not ship & fleet:
                return ship
        return 0

    def _clear(self, ships: Sequence[int]) -> list[int]:
        return [0 if ship & self._misses else ship for ship in ships]


def heat_of(worlds: Worlds, samples: int) -> list[float]:
    """For each cell the share of so many drawn fleets that cover it."""
    counts = [0] * CELLS
    for _ in range(samples):
        for cell in cells_of(worlds.draw()):
            counts[cell] += 1
    return [count / samples for count in counts]


@cache
def _cells(ship: int) -> Floats:
    """`[100]` 1 where the ship lies."""
    return np.array([ship >> cell & 1 for cell in range(CELLS)], dtype=np.float32)


class _Ways:
    """The places on which a ship of one length can be laid.

    Attributes:
        ships: The cells of each way that no miss forbids.
        cells: `[C, 100]` the same, 1 where the ship lies.
        covers: `[C, H]` whether a way covers a hit.
        upon: `[C]` the hit that the way was tried over; -1 for a way tried anywhere.
    """

    def __init__(self, ships: Sequence[int], upon: Sequence[int], hits: Sequence[int]) -> None:
        self.ships = list(ships)
        rows = np.array([_cells(ship) for ship in ships], dtype=np.float32)
        self.cells: Floats = rows.reshape(len(ships), CELLS)
        self.covers: Bools = self.cells[:, np.array(hits, dtype=np.int64)] > 0
        self.upon: Ints = np.array(upon, dtype=np.int64)


class _Lanes:
    """Attempts under way, one a row; rows that fail are dropped.

    Attributes:
        number: `[N]` which attempt it is.
        cells: `[N, 100]` 1 where a ship lies.
        open: `[N, H]` hits that no ship covers yet.
        orders: `[N, 5]` lengths in the order in which they are laid.
        laid: `[N, 5]` the way of each ship laid.
        upon: `[N, 5]` whether that is a way over a hit.
    """

    def __init__(self, orders: Ints, hits: int) -> None:
        count = len(orders)
        self.number: Ints = np.arange(count)
        self.cells: Floats = np.zeros((count, CELLS), dtype=np.float32)
        self.open: Bools = np.ones((count, hits), dtype=np.bool_)
        self.orders = orders
        self.laid: Ints = np.zeros_like(orders)
        self.upon: Bools = np.zeros(orders.shape, dtype=np.bool_)

    def keep(self, rows: Bools) -> None:
        """Drop all other rows."""
        for name, values in vars(self).items():
            setattr(self, name, values[rows])


class _Attempts:
    """Attempts to explain one set of shots.

    Args:
        hits: Cells hit, in the order in which open ones are covered where that is `ordered`.
        misses: Cells missed.
        generator: Draws.
        ordered: Whether tries go over the first open hit instead of a random one.
    """

    def __init__(
        self, hits: Sequence[int], misses: int, generator: Generator, *, ordered: bool
    ) -> None:
        self._hits, self._ordered, self._generator = hits, ordered, generator
        self._upon = {length: self._over(length, misses) for length in ANYWHERE}
        self._free = {length: self._anywhere(length, misses) for length in ANYWHERE}
        self._bits: Ints = 1 << np.arange(len(hits))
        covers = {length: ways.covers @ self._bits for length, ways in self._upon.items()}
        self._hopes = Hopes({length: found.tolist() for length, found in covers.items()})

    def make(self, count: int) -> tuple[Ints, list[int]]:
        """So many attempts: the numbers of those that ended well, and their fleets."""
        orders = _DISTINCT[self._generator.integers(len(_DISTINCT), size=count)]
        lanes = _Lanes(orders, len(self._hits))
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
            laid[some] = self._place(lanes, where, step, ways, tries)
            lanes.upon[where, step] = upon
        return laid

    def _place(self, lanes: _Lanes, rows: Ints, step: int, ways: _Ways, tries: Ints) -> Bools:
        """Draw one of the ways that fit for each row, if the tries find one."""
        fits = lanes.cells[rows] @ ways.cells.T == 0
        if self._ordered and ways.upon[0] >= 0:
            fits &= ways.upon == lanes.open[rows].argmax(axis=1)[:, None]
        fitting = np.flatnonzero(fits)
        possible = np.bincount(fitting // len(ways.ships), minlength=len(rows))
        draws = self._generator.random((2, len(rows)))
        laid: Bools = draws[0] >= (1 - possible / tries) ** TRIES
        rank = (draws[1] * possible).astype(np.int64) + possible.cumsum() - possible
        chosen = fitting[rank[laid]] % len(ways.ships)
        placed = rows[laid]
        lanes.cells[placed] += ways.cells[chosen]
        lanes.open[placed] &= ~ways.covers[chosen]
        lanes.laid[placed, step] = chosen
        return laid

    def _over(self, length: int, misses: int) -> _Ways:
        """Ways over a hit: the same ship once for each hit that it was tried over."""
        found = [
            (ship, index)
            for index, cell in enumerate(self._hits)
            for ship in OVER[length][cell]
            if ship and not ship & misses
        ]
        ships, upon = [ship for ship, _ in found], [index for _, index in found]
        return _Ways(ships, upon, self._hits)

    def _anywhere(self, length: int, misses: int) -> _Ways:
        """Ways anywhere; they are drawn only when no hit is open."""
        ships = [ship for ship in ANYWHERE[length] if ship and not ship & misses]
        return _Ways(ships, [-1] * len(ships), self._hits)


class Hopes:
    """The hits that the ships to come can still cover; each answer is worked out once.

    Ignoring that ships must not overlap, hits can only be covered if some choice of ways, one for
    each ship to come at the most, covers them. An attempt for which that fails cannot end well, so
    giving it up early changes nothing but the time.

    Args:
        covers: Length -> the sets of hits, as bits, that a ship of it can cover.
    """

    def __init__(self, covers: Mapping[int, Sequence[int]]) -> None:
        self._covers = {
            length: tuple({cover for cover in found if cover}) for length, found in covers.items()
        }
        self._known: dict[tuple[int, int], bool] = {}

    def left(self, opened: Ints, ships: Ints) -> npt.NDArray[np.bool_]:
        """`[N]` whether the open hits of each row, as bits, may be covered by its ships' code."""
        keys, rows = np.unique(opened * _TOP + ships, return_inverse=True)
        hopes = [self.may(key // _TOP, key % _TOP) for key in keys.tolist()]
        return np.array(hopes, dtype=np.bool_)[rows]

    def may(self, opened: int, ships: int) -> bool:
        """True if the ships of this code may cover these hits."""
        if not opened:
            return True
        key = opened, ships
        if key not in self._known:
            self._known[key] = self._search(opened, ships)
        return self._known[key]

    def _search(self, opened: int, ships: int) -> bool:
        first = opened & -opened
        for length, place in _PLACE.items():
            if not ships >> place & (1 << _DIGIT) - 1:
                continue
            for cover in self._covers[length]:
                if cover & first and self.may(opened & ~cover, ships - (1 << place)):
                    return True
        return False
