"""What a copy of the game shows a player of the thesis' Ludii tournaments of the other fleet.

Three regimes:

* `NATIVE`: the copy is the true game (tournament 1). Whoever plays it is omniscient.
* `DESCRIBED`: the layer as the thesis describes it: every copy holds a fleet that explains the
  hits and misses, and nothing of the true one.
* `EXECUTED`: the layer as its program runs. It overwrites who stands on a cell, but the end of the
  game is judged by Ludii's index of owned pieces, which stays the true one: a search that plays to
  the end sees the true fleet as before, and only pays for a solver whose answer changes nothing.
  And it takes a player's half of the 10 x 20 board for a hundred consecutive cells, while cells
  are numbered in rows of twenty: it covers five rows of both halves, so that one step ahead half
  of the other fleet is true as well.

The last was read in the sources of Ludii 1.3.14 and of the layer; neither was run. Left out is
that the layer also takes the first cells of a player's own ships for misses where its square
covers them.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

from evals.battleship.playing import View
from evals.battleship.sea import BITS, CELLS, SIDE, cells_of
from evals.battleship.tag_worlds import Worlds

Regime = Literal["native", "described", "executed"]

NATIVE: Regime = "native"
DESCRIBED: Regime = "described"
EXECUTED: Regime = "executed"

_COLUMN_FIRST = tuple(-(SIDE * (cell % SIDE) + cell // SIDE) for cell in range(CELLS))


def _covered(cell: int, seat: int) -> int:
    """Where the layer's ten by ten square holds a cell of the other half; -1 if it does not.

    On the joint board a row has twenty cells, the half of the player that fires first to the left.
    The square of the first player is cells 100 to 199, of the second 0 to 99.
    """
    row, column = divmod(cell, SIDE)
    place = 2 * SIDE * row + column + (SIDE - CELLS if seat == 0 else 0)
    return place if 0 <= place < CELLS else -1


COVERED = tuple(tuple(_covered(cell, seat) for cell in range(CELLS)) for seat in (0, 1))
"""Seat -> cell of the other half -> cell of the layer's square, or -1."""


def _moved(bits: int, seat: int) -> int:
    places = (COVERED[seat][cell] for cell in cells_of(bits))
    return sum(BITS[place] for place in places if place >= 0)


@dataclass(frozen=True)
class Solved:
    """What the solver did in one game.

    Attributes:
        samples: Fleets drawn.
        attempts: Attempts they took.
        fallbacks: Fleets that explain nothing, as every attempt failed.
    """

    samples: int
    attempts: int
    fallbacks: int


class Solver:
    """The layer's solver over the square that it takes for the other half.

    It covers the first open hit, column by column, where the other program draws one at random;
    otherwise it is the same (`tag_worlds`).
    """

    def __init__(self, regime: Regime, rng: Random, wanted: int) -> None:
        """Draw for decisions that want about so many fleets each."""
        self._regime = regime
        self._worlds = Worlds("heat map", rng, wanted)
        self.hits = 0

    def observe(self, view: View) -> None:
        """Take in the shots, as far as the square covers them."""
        hits, misses = view.hits, view.misses
        if self._regime == EXECUTED:
            hits, misses = _moved(hits, view.seat), _moved(misses, view.seat)
        self.hits = hits
        self._worlds.observe(View(hits=hits, misses=misses), _COLUMN_FIRST)

    def draw(self) -> int:
        """A fleet in the square."""
        return self._worlds.draw()

    @property
    def solved(self) -> Solved:
        """What it did so far."""
        return Solved(self._worlds.samples, self._worlds.attempts, self._worlds.fallbacks)


class Copies:
    """The other fleet in the copies that a search that plays to the end makes.

    The layer draws a fleet for each copy. To bound its time here, a decision draws so many fleets
    at the most, as its copies ask for them; any further copy holds one of these at random.
    """

    def __init__(self, regime: Regime, rng: Random, most: int) -> None:
        """Draw at most so many fleets a decision, where the regime draws any."""
        self._regime, self._rng, self._most = regime, rng, most
        self._solver = None if regime == NATIVE else Solver(regime, rng, most)
        self._pool: list[int] = []
        self._before = self._enemy = 0

    def observe(self, view: View) -> None:
        """Begin a decision.

        Raises:
            ValueError: If the true fleet is needed and not shown.
        """
        if self._regime != DESCRIBED and not view.enemy:
            raise ValueError(
                f"{self._regime} copies show the other fleet; required: an omniscient contestant"
            )
        self._enemy, self._pool = view.enemy, []
        if self._solver:
            self._before = self._solver.solved.attempts
            self._solver.observe(view)

    def draw(self) -> int:
        """The cells of the other fleet in a new copy."""
        if not self._solver:
            return self._enemy
        if len(self._pool) < self._most:
            self._pool.append(self._solver.draw())
            fleet = self._pool[-1]
        else:
            fleet = self._pool[int(self._rng.random() * self._most)]
        return fleet if self._regime == DESCRIBED else self._enemy

    @property
    def attempts(self) -> float:
        """The mean number of attempts that a copy of this decision took so far."""
        if not self._solver or not self._pool:
            return 0.0
        return (self._solver.solved.attempts - self._before) / len(self._pool)

    @property
    def solved(self) -> Solved:
        """What the solver did so far."""
        return self._solver.solved if self._solver else Solved(0, 0, 0)
