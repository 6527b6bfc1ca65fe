"""How Ludii's tree search plays a game to its end: at random, or by move averages (MAST)."""

import math
from dataclasses import dataclass
from random import Random
from typing import Protocol

from evals.battleship.ludii_races import race
from evals.battleship.sea import BITS, CELLS

EPSILON = 0.1
DECAY = 0.6
_NEW = 1.0
_TIE = 1e-9
_RUN = 1 / math.log(1 - EPSILON)


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
    """How a playout ended.

    Attributes:
        winner: 0 or 1.
        plies: Shots it took, expected ones where they are not played.
        shots: What each fired at; None where the shots were not played.
    """

    winner: int
    plies: float
    shots: tuple[list[int], list[int]] | None = None


class Playouts(Protocol):
    """A way to play on, with what it remembers over a game."""

    def begin(self) -> None:
        """A decision begins."""
        ...

    def play(self, leaf: Leaf) -> End:
        """Play one game to its end."""
        ...

    def learn(self, player: int, cells: list[int], value: float) -> None:
        """Remember that a player fired at these cells in a game worth `value` to it."""
        ...


class AtRandom:
    """Both fire at random; only the winner is drawn, which is the same distribution."""

    def __init__(self, rng: Random) -> None:
        self._draw = rng.random

    def begin(self) -> None:
        """See `Playouts`; it remembers nothing."""

    def play(self, leaf: Leaf) -> End:
        """See `Playouts`."""
        mover, other = leaf.mover, 1 - leaf.mover
        chance = race(*_left(leaf, mover), *_left(leaf, other))
        return End(mover if self._draw() < chance.first else other, chance.plies)

    def learn(self, player: int, cells: list[int], value: float) -> None:
        """See `Playouts`; it remembers nothing."""


def _left(leaf: Leaf, player: int) -> tuple[int, int]:
    fired, fleet = leaf.fired[player], leaf.fleets[player]
    return CELLS - fired.bit_count(), (fleet & ~fired).bit_count()


class MoveAverages:
    """Each fires at the cell whose average result is best, and with probability 0.1 at random.

    Result +1 or -1 for the player that fired, over all playouts and tree moves of the game; a cell
    without any counts as +1; what was remembered counts 0.6 times as much in the next decision.
    Noise far below any difference, drawn anew with each result, decides ties. (Finnsson and
    Björnsson 2008, as Ludii has it.)
    """

    def __init__(self, rng: Random) -> None:
        self._draw = rng.random
        self._sums = [[0.0] * CELLS for _ in range(2)]
        self._counts = [[0.0] * CELLS for _ in range(2)]
        self._averages = [[_NEW + _TIE * self._draw() for _ in range(CELLS)] for _ in range(2)]
        self._orders = [list(range(CELLS)) for _ in range(2)]

    def begin(self) -> None:
        """See `Playouts`."""
        self._sums = [[DECAY * value for value in row] for row in self._sums]
        self._counts = [[DECAY * value for value in row] for row in self._counts]

    def learn(self, player: int, cells: list[int], value: float) -> None:
        """See `Playouts`."""
        sums, counts = self._sums[player], self._counts[player]
        averages, draw = self._averages[player], self._draw
        for cell in cells:
            total, count = sums[cell] + value, counts[cell] + 1
            sums[cell], counts[cell] = total, count
            averages[cell] = total / count + _TIE * draw()

    def play(self, leaf: Leaf) -> End:
        """See `Playouts`.

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
        """What one player fires at until nothing is left to hit, at most so many cells.

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
