"""The thesis' three determinizations in TAG, as its programs really drew them.

They are faulty on purpose: this is what was measured. The cells of the sampled fleet that the
shooter has fired at play no part, as nothing can fire at them again; the health that is left is
always the true one.
"""

from collections import deque
from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Literal

import numpy as np

from evals.battleship.playing import View
from evals.battleship.sea import BITS, CELLS, HEALTH, LENGTHS, cells_of, random_fleet
from evals.battleship.tag_batches import Attempts
from evals.battleship.tag_ways import ANYWHERE, ATTEMPTS, OVER, TRIES

Kind = Literal["random", "constraint", "heat map"]

_ORDERS = tuple(permutations(LENGTHS))
_MANY = 200  # attempts of a decision above which they are made many at once
_FEWEST, _MOST = 128, 4096
_AT_ONCE = 16


class Worlds:
    """Draws fleets for one shooter in one game.

    "random" places a fresh fleet and ignores every shot. "constraint" makes up to 10,000 attempts:
    ships in random order, each with up to 50 tries over a random uncovered hit while there is one,
    else anywhere; an attempt ends well when all ships lie, no miss is covered and every hit is;
    after the last attempt a fleet is placed at random, which is a fallback. "heat map" differs
    only in that tries go over the first uncovered hit instead of a random one, in the order of a
    map: hottest first, equal ones by their number.

    Attributes:
        samples: Fleets drawn.
        attempts: Attempts they took; none before the first shot and none of "random".
        fallbacks: Fleets placed at random because every attempt failed.
        consistent: Whether the last fleet explains every shot.
    """

    def __init__(self, kind: Kind, rng: Random, wanted: int) -> None:
        """Draw for decisions that want about so many fleets each."""
        self._kind, self._rng, self._wanted = kind, rng, wanted
        self._ordered = kind == "heat map"
        self.samples = self.attempts = self.fallbacks = 0
        self.consistent = True
        self._hits: list[int] = []
        self._generator = np.random.Generator(np.random.PCG64(rng.getrandbits(64)))
        self._often = 1.0  # attempts that a fleet takes, as last seen
        self._batches: Attempts | None = None
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
        self.samples += 1
        if self._kind == "random" or not self._covered | self._misses:
            self.consistent = not self._covered | self._misses
            return random_fleet(self._rng)
        attempts, fleet = self._batched() if self._slow() else self._single()
        self.attempts += attempts
        self._often += (attempts - self._often) / min(_AT_ONCE, self._wanted)
        self.consistent = fleet > 0
        if not fleet:
            self.fallbacks += 1
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
            self._batches = Attempts(
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
