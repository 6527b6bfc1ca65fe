"""Shooters of the thesis that build no tree, and the heuristics of its programs in TAG.

In TAG, OSLA and RMHC are handed one sampled fleet a decision and see it whole. RMHC asks for ten
own moves, but in a game of alternating turns its bookkeeping stays at the first: it draws first
shots at random and keeps the best, and every further shot of a draw is a random playout that counts
for nothing but the budget. So it is OSLA over a few dozen random shots. The heuristics say how good
a position is for the player that fired:

    score   = 1 if it won, 0 if it lost, else hits / 17
    cluster = min(pairs of adjacent hits, 5) / 5
    value   = score                                    ("score", with the random determinization)
    value   = score + 0.5 cluster                      ("cluster", with the other two)

The heat map's own term, the mean heat of the cells hit, is 0 in every position that OSLA and RMHC
evaluate, because full copies lose the map. Only the tree search adds it.

Flat Monte Carlo and one step ahead are those of Ludii 1.3.14 and of the thesis' layer, with the
constants found in their programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from evals.lechat2026.board import (
    BITS,
    CELLS,
    HEALTH,
    SEA,
    SIDE,
    View,
    cells_of,
    neighbours_in,
    random_fleet,
)
from evals.lechat2026.fleets import FleetKind, Worlds
from evals.lechat2026.playouts import (
    COVERED,
    DESCRIBED,
    Copies,
    LayerSolver,
    PlyBudget,
    Regime,
    Side,
    counts_of_ludii,
    playout,
    race,
)

Heuristic = Literal["score", "cluster"]

SEEN, BESIDE = 100.0, 15.0
_NOISE = 0.1
CALLS = 4000
_PAIRS = 5
_WEIGHT = 0.5


def bonus(hits: int, heuristic: Heuristic) -> float:
    """The heuristic's addition to the score.

    >>> bonus(0b111, "cluster"), bonus(0b111, "score")
    (0.2, 0.0)
    """
    if heuristic == "score":
        return 0.0
    return _WEIGHT * min(neighbours_in(hits), _PAIRS) / _PAIRS


def is_full(hits: int, heuristic: Heuristic) -> bool:
    """True if no further hit can add to the bonus."""
    return heuristic == "score" or neighbours_in(hits) >= _PAIRS


def position_value(hits: int, found: int, heuristic: Heuristic) -> float:
    """The value of a position in which nobody has won.

    Args:
        hits: Cells hit.
        found: How many cells were hit, as the health of the other fleet counts them.
        heuristic: Which.
    """
    return found / HEALTH + bonus(hits, heuristic)


@dataclass(frozen=True)
class Condition:
    """Conditions that all players of a tournament share.

    Attributes:
        kind: Determinization.
        heuristic: Values positions.
        heat: The one map of a tournament with heat maps: of an empty sea, never renewed.
        calls: Calls of the forward model that a decision may make.
    """

    kind: FleetKind
    heuristic: Heuristic
    heat: tuple[float, ...] | None = None
    calls: int = CALLS


class _OneWorld:
    """Parts that both share: a fleet a decision, and the value of a shot in it.

    Attributes:
        used: Decisions, calls of the forward model, and what drawing fleets took.
    """

    def __init__(self, rng: Random, under: Condition) -> None:
        self._rng, self._under = rng, under
        self.used: dict[str, float] = {"decisions": 0, "calls": 0}
        self._worlds = Worlds(under.kind, rng, 1, self.used)

    def _fleet(self, view: View) -> int:
        self.used["decisions"] += 1
        self._worlds.observe(view, self._under.heat)
        return self._worlds.draw()

    def _value(self, view: View, hit: int) -> float:
        """The value after a shot; `hit` is its bit if it hits and 0 if it does not."""
        found = view.hits.bit_count() + (1 if hit else 0)
        return position_value(view.hits | hit, found, self._under.heuristic)


class OneStep(_OneWorld):
    """OSLA: tries every shot in the fleet and takes the best, ties at random."""

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        free = SEA & ~view.fired
        self.used["calls"] += free.bit_count()
        ships = self._fleet(view) & free
        if not ships:
            return self._rng.choice(cells_of(free))
        values = {cell: self._value(view, BITS[cell]) for cell in cells_of(ships)}
        best = max(values.values())
        return self._rng.choice([cell for cell, value in values.items() if value == best])


class HillClimber(_OneWorld):
    """RMHC as it ran: random first shots until the calls are spent, the first best one wins."""

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        free = SEA & ~view.fired
        cells, ships, missed = cells_of(free), self._fleet(view) & free, self._value(view, 0)
        values = {cell: self._value(view, BITS[cell]) for cell in cells_of(ships)}
        draw, count = self._rng.random, len(cells)
        chosen = cells[int(draw() * count)]
        best = values.get(chosen, missed)
        calls = 1  # the first plan's playout is made, but only its length of one is counted
        while True:
            cell = cells[int(draw() * count)]
            calls += self._length(view, count, ships, hit=cell in values)
            value = values.get(cell, missed)
            if value > best:
                best, chosen = value, cell
            if calls >= self._under.calls:
                break
        self.used["calls"] += calls
        return chosen

    def _length(self, view: View, cells: int, ships: int, *, hit: bool) -> int:
        """Calls that a plan takes: its first shot and the playout behind it."""
        need = HEALTH - view.hits.bit_count() - hit
        if not need:
            return 1
        mine = Side(cells - 1, ships.bit_count() - hit, need)
        left = view.own & ~view.taken
        sound = left.bit_count()
        other = Side((SEA & ~view.taken).bit_count(), sound, sound)
        return 1 + playout(other, mine, self._rng).plies


class FlatShooter:
    """Flat Monte Carlo: uniformly drawn first shots, random playouts, the best average.

    A cell never drawn counts as the worst; chance decides ties.
    """

    def __init__(self, regime: Regime, budget: PlyBudget, rng: Random) -> None:
        self._copies, self._budget, self._rng = Copies(regime, rng), budget, rng
        self.used: Mapping[str, float] = self._copies.used

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        self._copies.used["decisions"] += 1
        self._copies.observe(view)
        fired = view.fired
        cells = cells_of(SEA & ~fired)
        sums, counts = [0] * len(cells), [0] * len(cells)
        other = CELLS - view.taken.bit_count(), (view.own & ~view.taken).bit_count()
        draw, spent = self._rng.random, 0.0
        while spent < self._budget.plies:
            self._copies.used["iterations"] += 1
            index = int(draw() * len(cells))
            counts[index] += 1
            left = self._copies.draw() & ~fired & ~BITS[cells[index]]
            spent += 1 + self._budget.copy(self._copies.attempts)
            if not left:
                sums[index] += 1
                continue
            chance = race(*other, len(cells) - 1, left.bit_count())
            spent += chance.plies
            sums[index] += -1 if draw() < chance.first else 1
        means = [
            total / count if count else -SEEN for total, count in zip(sums, counts, strict=True)
        ]
        best = [cell for cell, mean in zip(cells, means, strict=True) if mean == max(means)]
        return best[int(draw() * len(best))]


class AheadShooter:
    """One step ahead, as the thesis wrote it for Ludii.

    A fresh copy for every cell: 100 if it shows a ship there, 15 for each known hit beside it,
    and noise below 0.1. No move is applied, and no game is played on.
    """

    def __init__(self, regime: Regime, rng: Random) -> None:
        self._regime, self._rng, self.used = regime, rng, counts_of_ludii()
        self._solver = LayerSolver(regime, rng, CELLS, self.used)

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        self.used["decisions"] += 1
        if self._regime != DESCRIBED and not view.enemy:
            raise ValueError(
                "these copies show the other fleet; required: an omniscient contestant"
            )
        self._solver.observe(view)
        best, chosen = -1.0, -1
        for cell in cells_of(SEA & ~view.fired):
            value = self._value(cell, view) + _NOISE * self._rng.random()
            if value > best:
                best, chosen = value, cell
        return chosen

    def _value(self, cell: int, view: View) -> float:
        fleet = self._solver.worlds.draw()
        place = cell if self._regime == DESCRIBED else COVERED[view.seat][cell]
        if place < 0:
            return SEEN if BITS[cell] & view.enemy else 0.0
        seen = SEEN if BITS[place] & fleet else 0.0
        return seen + BESIDE * hits_beside(place, self._solver.hits)


def hits_beside(cell: int, hits: int) -> int:
    """The number of these hits above, below, left or right of a cell.

    >>> hits_beside(10, 1 << 9 | 1 << 11 | 1 << 20), hits_beside(0, 1 << 1 | 1 << 10)
    (2, 2)
    """
    row, column = divmod(cell, SIDE)
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    near = (SIDE * y + x for y, x in around if 0 <= y < SIDE and 0 <= x < SIDE)
    return sum(1 for place in near if BITS[place] & hits)


class MapShooter:
    """Fires where most of some fleets lie that were drawn once, before any shot: a stale map."""

    used: Mapping[str, float] = {}  # it drew before the game

    def __init__(self, fleets: int, rng: Random) -> None:
        drawn = [random_fleet(rng) for _ in range(fleets)]
        heat = [sum(fleet >> cell & 1 for fleet in drawn) for cell in range(CELLS)]
        self._order = sorted(range(CELLS), key=lambda cell: (-heat[cell], rng.random()))

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        return next(cell for cell in self._order if not BITS[cell] & view.fired)
