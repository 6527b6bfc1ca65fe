"""Playouts of a copy of the game to its end, as TAG and Ludii made them, and Ludii's copies.

Two players that fire at random do not meet: each fires at the cells left to it in uniformly random
order, so the ship cells left fall on random places of that order, drawn without repeats. How long
the playout lasts, who wins and what the loser has hit by then follow from those places. `playout`
draws them (TAG); `race` works the outcome out (Ludii). The tests hold both against shots played.

What a copy of the game shows a player of the other fleet, by regime:

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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evals.lechat2026.board import BITS, CELLS, SIDE, View, cells_of
from evals.lechat2026.fleets import Worlds

Floats = npt.NDArray[np.float64]
Regime = Literal["native", "described", "executed"]

NATIVE: Regime = "native"
DESCRIBED: Regime = "described"
EXECUTED: Regime = "executed"
EPSILON, DECAY = 0.1, 0.6

_FLEETS, _COSTED = 32, 4
FLEETS: dict[Regime, int] = {NATIVE: 0, DESCRIBED: _FLEETS, EXECUTED: _COSTED}
"""Regime -> fleets that a decision draws at the most."""

_NEW, _TIE = 1.0, 1e-9
_RUN = 1 / math.log(1 - EPSILON)
_RANGES = tuple(range(cells) for cells in range(101))
_NEVER = 1000
_COLUMN_FIRST = tuple(-(SIDE * (cell % SIDE) + cell // SIDE) for cell in range(CELLS))


class Side(NamedTuple):
    """One player at the start of a playout.

    Attributes:
        cells: Cells left to fire at.
        ships: How many of them hold ships.
        need: Hits that it lacks to win; may be more or fewer than `ships` in a fleet that does
            not explain the shots.
    """

    cells: int
    ships: int
    need: int


class Playout(NamedTuple):
    """The course of a playout.

    Attributes:
        won: Whether the player that fires first won.
        plies: Shots of both together.
        fired: Shots of the first and of the second.
        places: Of each, the place in its order of every ship cell left, from 0; in a random order.
    """

    won: bool
    plies: int
    fired: tuple[int, int]
    places: tuple[Sequence[int], Sequence[int]]


def playout(first: Side, second: Side, rng: Random) -> Playout:
    """Draw one.

    Raises:
        ValueError: If neither can ever win.
    """
    one = rng.sample(_RANGES[first.cells], first.ships)
    two = rng.sample(_RANGES[second.cells], second.ships)
    end_one = _end(one, first.need)
    end_two = _end(two, second.need)
    if end_one <= end_two:
        if end_one == _NEVER:
            raise ValueError(f"neither {first} nor {second} can win; required: ships for one")
        return Playout(True, 2 * end_one - 1, (end_one, end_one - 1), (one, two))
    return Playout(False, 2 * end_two, (end_two, end_two), (one, two))


def _end(places: Sequence[int], need: int) -> int:
    """The shot that wins, from 1."""
    if need == len(places):
        return max(places) + 1
    return sorted(places)[need - 1] + 1 if need < len(places) else _NEVER


class Race(NamedTuple):
    """The result of random play.

    Attributes:
        first: Probability that the player that is to fire wins.
        plies: Expected number of shots of both together.
    """

    first: float
    plies: float


@lru_cache(maxsize=1 << 12)
def _ends(cells: int, ships: int) -> Floats:
    """`[cells + 1]` the probability that shot t is the last that is needed.

    Who needs none wins on the next shot all the same: a game ends only when somebody fires.
    """
    if not ships:
        ends: Floats = np.eye(1, cells + 1, 1)[0]
        return ends
    ways = [math.comb(shot, ships) for shot in range(cells + 1)]
    return np.diff(np.array(ways, dtype=np.float64) / ways[-1], prepend=0.0)


@lru_cache(maxsize=1 << 16)
def race(cells: int, ships: int, other_cells: int, other_ships: int) -> Race:
    """The outcome where the first player fires next at `cells` left, `ships` of them ships.

    Raises:
        ValueError: If a player has fewer cells left than ships, or none.
    """
    if not (ships <= cells and other_ships <= other_cells and cells and other_cells):
        raise ValueError(
            f"{ships} ships in {cells} cells and {other_ships} in {other_cells}; required: at "
            "least as many cells as ships, and one"
        )
    one, two = _ends(cells, ships), _ends(other_cells, other_ships)
    size = max(len(one), len(two))
    one = np.pad(one, (0, size - len(one)))
    two = np.pad(two, (0, size - len(two)))
    shot = np.arange(size)
    later_two = two[::-1].cumsum()[::-1]
    later_one = one[::-1].cumsum()[::-1] - one
    first = one * later_two
    second = two * later_one
    plies = float((first * (2 * shot - 1)).sum() + (second * 2 * shot).sum())
    return Race(float(first.sum()), plies)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Where a playout begins. Player 0 is the searcher, 1 the other.

    Attributes:
        mover: Who fires next.
        fired: Cells that each has fired at.
        fleets: Cells of the fleet that each fires at.
    """

    mover: int
    fired: tuple[int, int]
    fleets: tuple[int, int]


@dataclass(frozen=True, slots=True)
class End:
    """The end of a playout.

    Attributes:
        winner: 0 or 1.
        plies: Shots it took, expected ones where they are not played.
        shots: What each fired at; None where the shots were not played.
    """

    winner: int
    plies: float
    shots: tuple[list[int], list[int]] | None = None


class AtRandom:
    """Both fire at random; only the winner is drawn, which is the same distribution."""

    def __init__(self, rng: Random) -> None:
        self._draw = rng.random

    def begin(self) -> None:
        """A decision begins; nothing is remembered."""

    def play(self, leaf: Leaf) -> End:
        """Play one game to its end."""
        mover, other = leaf.mover, 1 - leaf.mover
        chance = race(*_left(leaf, mover), *_left(leaf, other))
        return End(mover if self._draw() < chance.first else other, chance.plies)

    def learn(self, player: int, cells: list[int], value: float) -> None:
        """A player fired at these cells in a game worth `value` to it; nothing is remembered."""


def _left(leaf: Leaf, player: int) -> tuple[int, int]:
    fired, fleet = leaf.fired[player], leaf.fleets[player]
    return CELLS - fired.bit_count(), (fleet & ~fired).bit_count()


class MoveAverages(AtRandom):
    """Each fires at the cell whose average result is best, and with probability 0.1 at random.

    Result +1 or -1 for the player that fired, over all playouts and tree moves of the game; a cell
    without any counts as +1; what was remembered counts 0.6 times as much in the next decision.
    Noise far below any difference, drawn anew with each result, decides ties. (Finnsson and
    Björnsson 2008, as Ludii has it.)
    """

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._sums = [[0.0] * CELLS for _ in range(2)]
        self._counts = [[0.0] * CELLS for _ in range(2)]
        self._averages = [[_NEW + _TIE * self._draw() for _ in range(CELLS)] for _ in range(2)]
        self._orders = [list(range(CELLS)) for _ in range(2)]

    def begin(self) -> None:
        """See `AtRandom`."""
        self._sums = [[DECAY * value for value in row] for row in self._sums]
        self._counts = [[DECAY * value for value in row] for row in self._counts]

    def learn(self, player: int, cells: list[int], value: float) -> None:
        """See `AtRandom`."""
        sums, counts = self._sums[player], self._counts[player]
        averages, draw = self._averages[player], self._draw
        for cell in cells:
            total, count = sums[cell] + value, counts[cell] + 1
            sums[cell], counts[cell] = total, count
            averages[cell] = total / count + _TIE * draw()

    def play(self, leaf: Leaf) -> End:
        """See `AtRandom`.

        The players do not meet, so each is played alone: first who fires next, then the other
        until it wins earlier or has lost.
        """
        mover, other = leaf.mover, 1 - leaf.mover
        shots: list[list[int]] = [[], []]
        shots[mover] = self._run(leaf, mover, CELLS)
        need = len(shots[mover])
        shots[other] = self._run(leaf, other, need)
        if len(shots[other]) < need:
            winner = other
            del shots[mover][len(shots[other]) :]
        else:
            winner = mover
            del shots[other][need - 1 :]
        return End(winner, len(shots[0]) + len(shots[1]), (shots[0], shots[1]))

    def _run(self, leaf: Leaf, player: int, most: int) -> list[int]:
        """The cells at which one player fires until nothing is left to hit, up to a limit.

        `line[place:]` are the cells left to it, best first, `last` is where the last ship cell
        stands. Greedy shots up to the next random one are taken together: their number is
        geometric.
        """
        averages, fired, bits, draw = self._averages[player], leaf.fired[player], BITS, self._draw
        order = self._orders[player]
        order.sort(key=averages.__getitem__, reverse=True)
        line = [cell for cell in order if not bits[cell] & fired]
        ships = leaf.fleets[player] & ~fired
        last = _last(line, ships, len(line) - 1, 0)
        if last < 0:
            return line[:1]
        place, shots = 0, list[int]()
        while place <= last and len(shots) < most:
            greedy = int(math.log(1 - draw()) * _RUN)
            end = min(place + greedy, last + 1, place + most - len(shots))
            shots += line[place:end]
            place = end
            if place > last or len(shots) >= most:
                break
            chosen = place + int(draw() * (len(line) - place))
            shots.append(line.pop(chosen))
            if chosen <= last:
                last = _last(line, ships, last - 1, place)
        return shots


def _last(line: list[int], ships: int, start: int, first: int) -> int:
    """The last place from `first` to `start` with a ship; `first - 1` if there is none."""
    while start >= first and not BITS[line[start]] & ships:
        start -= 1
    return max(start, first - 1)


@dataclass(frozen=True)
class PlyBudget:
    """The cost that a decision may have, in plies: a fixed time where every ply takes as long.

    Attributes:
        plies: Plies of playouts, moves in the tree and copies together.
        copying: What a copy of the game costs.
        attempt: What an attempt of the solver in a copy costs.
    """

    plies: int
    copying: float = 5.0
    attempt: float = 0.25

    def copy(self, attempts: float) -> float:
        """The cost of a copy whose solver takes so many attempts."""
        return self.copying + self.attempt * attempts


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


def counts_of_ludii() -> dict[str, float]:
    """Costs of a shooter's decisions in Ludii, by name; empty so far."""
    return dict.fromkeys(("decisions", "iterations", "fleets", "attempts", "fallbacks"), 0)


class LayerSolver:
    """The layer's solver over the square that it takes for the other half.

    It covers the first open hit, column by column, where the other program draws one at random;
    otherwise it is the same (`fleets.Worlds`).
    """

    def __init__(
        self, regime: Regime, rng: Random, wanted: int, used: dict[str, float] | None = None
    ) -> None:
        """Draw for decisions that want about so many fleets each; see `Worlds` for `used`."""
        self._regime = regime
        self.worlds = Worlds("heat map", rng, wanted, used, "fleets")
        self.hits = 0

    def observe(self, view: View) -> None:
        """Take in the shots, as far as the square covers them."""
        hits, misses = view.hits, view.misses
        if self._regime == EXECUTED:
            hits, misses = _moved(hits, view.seat), _moved(misses, view.seat)
        self.hits = hits
        self.worlds.observe(View(hits=hits, misses=misses), _COLUMN_FIRST)


class Copies:
    """The other fleet in the copies that a search that plays to the end makes.

    The layer draws a fleet for each copy. To bound its time here, a decision draws so many fleets
    at the most, as its copies ask for them; any further copy holds one of these at random.

    Attributes:
        used: Counts of decisions and iterations of who asks, and of what the solver did.
    """

    def __init__(self, regime: Regime, rng: Random) -> None:
        """Draw as many fleets a decision as `FLEETS` allows the regime."""
        self.used = counts_of_ludii()
        self._regime, self._rng, self._most = regime, rng, FLEETS[regime]
        self._solver = LayerSolver(regime, rng, self._most, self.used) if self._most else None
        self._pool: list[int] = []
        self._before, self._enemy = 0.0, 0

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
            self._before = self.used["attempts"]
            self._solver.observe(view)

    def draw(self) -> int:
        """The cells of the other fleet in a new copy."""
        if not self._solver:
            return self._enemy
        if len(self._pool) < self._most:
            self._pool.append(self._solver.worlds.draw())
            fleet = self._pool[-1]
        else:
            fleet = self._pool[int(self._rng.random() * self._most)]
        return fleet if self._regime == DESCRIBED else self._enemy

    @property
    def attempts(self) -> float:
        """The mean number of attempts that a copy of this decision took so far."""
        if not self._solver or not self._pool:
            return 0.0
        return (self.used["attempts"] - self._before) / len(self._pool)
