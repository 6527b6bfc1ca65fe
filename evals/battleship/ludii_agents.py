"""The players of the thesis' Ludii tournaments: UCT, MAST, flat Monte Carlo and one step ahead.

They are the players of Ludii 1.3.14 and of the thesis' layer with the constants found in their
programs; a think time is a number of plies here (`ludii_tree.Budget`). Ludii's players place their
ships themselves, by the same search before there is anything to tell one placement from another;
here the game's own chance places them.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from random import Random

from evals.battleship.ludii_playouts import DECAY, EPSILON, AtRandom, MoveAverages
from evals.battleship.ludii_races import race
from evals.battleship.ludii_tree import EXPLORATION, Budget, Tree
from evals.battleship.ludii_worlds import (
    COVERED,
    DESCRIBED,
    EXECUTED,
    NATIVE,
    Copies,
    Regime,
    Solved,
    Solver,
)
from evals.battleship.playing import Contestant, View
from evals.battleship.sea import BITS, CELLS, SEA, SIDE, cells_of
from evals.battleship.shooters import uniform

FLEETS = 32
COSTED = 4
_SEEN = 100.0
_BESIDE = 15.0
_NOISE = 0.1


def _used(solved: Solved, decisions: int, iterations: int) -> dict[str, float]:
    return {
        "decisions": decisions,
        "iterations": iterations,
        "fleets": solved.samples,
        "attempts": solved.attempts,
        "fallbacks": solved.fallbacks,
    }


def _copies(regime: Regime, rng: Random) -> Copies:
    return Copies(regime, rng, FLEETS if regime == DESCRIBED else COSTED)


class TreeShooter:
    """UCT or MAST."""

    def __init__(self, regime: Regime, budget: Budget, rng: Random, *, averages: bool) -> None:
        self._copies = _copies(regime, rng)
        playouts = MoveAverages(rng) if averages else AtRandom(rng)
        self._tree = Tree(self._copies, playouts, budget, rng)
        self._decisions = 0

    @property
    def used(self) -> Mapping[str, float]:
        """Decisions, iterations and what the solver did."""
        return _used(self._copies.solved, self._decisions, self._tree.iterations)

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        self._decisions += 1
        return self._tree.choose(view)


class FlatShooter:
    """Flat Monte Carlo: uniformly drawn first shots, random playouts, the best average.

    A cell never drawn counts as the worst; chance decides ties.
    """

    def __init__(self, regime: Regime, budget: Budget, rng: Random) -> None:
        self._copies, self._budget, self._rng = _copies(regime, rng), budget, rng
        self._decisions = self._iterations = 0

    @property
    def used(self) -> Mapping[str, float]:
        """Decisions, iterations and what the solver did."""
        return _used(self._copies.solved, self._decisions, self._iterations)

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        self._decisions += 1
        self._copies.observe(view)
        fired = view.hits | view.misses
        cells = cells_of(SEA & ~fired)
        sums, counts = [0] * len(cells), [0] * len(cells)
        other = CELLS - view.taken.bit_count(), (view.own & ~view.taken).bit_count()
        draw, spent = self._rng.random, 0.0
        while spent < self._budget.plies:
            self._iterations += 1
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
            total / count if count else -_SEEN for total, count in zip(sums, counts, strict=True)
        ]
        best = [cell for cell, mean in zip(cells, means, strict=True) if mean == max(means)]
        return best[int(draw() * len(best))]


class AheadShooter:
    """One step ahead, as the thesis wrote it for Ludii.

    A fresh copy for every cell: 100 if it shows a ship there, 15 for each known hit beside it,
    and noise below 0.1. No move is applied, and no game is played on.
    """

    def __init__(self, regime: Regime, rng: Random) -> None:
        self._regime, self._rng = regime, rng
        self._solver = Solver(regime, rng, CELLS)
        self._decisions = 0

    @property
    def used(self) -> Mapping[str, float]:
        """Decisions and what the solver did."""
        return _used(self._solver.solved, self._decisions, 0)

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        self._decisions += 1
        if self._regime != DESCRIBED and not view.enemy:
            raise ValueError(
                "these copies show the other fleet; required: an omniscient contestant"
            )
        self._solver.observe(view)
        best, chosen = -1.0, -1
        for cell in cells_of(SEA & ~(view.hits | view.misses)):
            value = self._value(cell, view) + _NOISE * self._rng.random()
            if value > best:
                best, chosen = value, cell
        return chosen

    def _value(self, cell: int, view: View) -> float:
        fleet = self._solver.draw()
        place = cell if self._regime == DESCRIBED else COVERED[view.seat][cell]
        if place < 0:
            return _SEEN if BITS[cell] & view.enemy else 0.0
        seen = _SEEN if BITS[place] & fleet else 0.0
        return seen + _BESIDE * beside(place, self._solver.hits)


def beside(cell: int, hits: int) -> int:
    """How many of these hits lie above, below, left or right of a cell.

    >>> beside(10, 1 << 9 | 1 << 11 | 1 << 20), beside(0, 1 << 1 | 1 << 10)
    (2, 2)
    """
    row, column = divmod(cell, SIDE)
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    near = (SIDE * y + x for y, x in around if 0 <= y < SIDE and 0 <= x < SIDE)
    return sum(1 for place in near if BITS[place] & hits)


def contestants(regime: Regime, budget: Budget, suffix: str = "") -> tuple[Contestant, ...]:
    """Who plays a tournament of this regime; one step ahead was not in the native one.

    All but the random player look at the other's progress. In the regimes that leak they are
    omniscient: they are measured here and enter no ranking.
    """
    leaks = regime != DESCRIBED
    common = {
        "copies": regime,
        "fleets_a_decision_at_most": {NATIVE: 0, EXECUTED: COSTED, DESCRIBED: FLEETS}[regime],
        **asdict(budget),
    }
    tree = {**common, "exploration": EXPLORATION, "tree_reuse": True, "played": "most visited"}
    found = [
        uniform(),
        Contestant(
            f"UCT{suffix}",
            partial(TreeShooter, regime, budget, averages=False),
            {"player": "UCT", **tree, "playouts": "random"},
            looks=True,
            omniscient=leaks,
        ),
        Contestant(
            f"MAST{suffix}",
            partial(TreeShooter, regime, budget, averages=True),
            {"player": "MAST", **tree, "playouts": "MAST", "epsilon": EPSILON, "decay": DECAY},
            looks=True,
            slow=True,
            omniscient=leaks,
        ),
        Contestant(
            f"FlatMC{suffix}",
            partial(FlatShooter, regime, budget),
            {"player": "FlatMC", **common, "playouts": "random"},
            looks=True,
            omniscient=leaks,
        ),
    ]
    if regime != NATIVE:
        found.append(
            Contestant(
                f"OSLA{suffix}",
                partial(AheadShooter, regime),
                {"player": "OSLA", "copies": regime, "ship": _SEEN, "beside": _BESIDE},
                omniscient=leaks,
                looks=regime == EXECUTED,
            )
        )
    return tuple(found)
