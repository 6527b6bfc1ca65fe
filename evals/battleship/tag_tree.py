"""IS-MCTS as the thesis' programs ran it in TAG, which is also what ran as "MAST".

What was asked for (budgets of 100 to 5,000 ms, MAST statistics, the most visited move) never
reached the player, which took its defaults: 4,000 calls of the forward model a decision, at most
4,000 iterations, one tree for both players, a fresh fleet an iteration, random playouts of both to
the end, the move of the best mean. At a node

    value(a) = (mean(a) - low) / (high - low) + sqrt(ln N / n(a))

with N the node's visits, the lowest and highest returns of the whole search so far, and no
constant K (TAG left it out); an untried action comes first, in random order. A tie of means falls
by TAG's noise of one part in a million, and an action never tried has mean 0.
"""

from collections.abc import Mapping, Sequence
from math import log, sqrt
from random import Random

from evals.battleship.playing import View
from evals.battleship.sea import BITS, CELLS, HEALTH, SEA, cells_of
from evals.battleship.tag_playouts import Side, playout
from evals.battleship.tag_scores import Heuristic, bonus, full
from evals.battleship.tag_worlds import Kind, Worlds, heat_of

CALLS = 4000
_NOISE = 1e-6
_FLEETS = 40  # about as many iterations as a decision has
_ME, _OTHER = 0, 1


class _Node:
    """A position of the tree; statistics by action.

    Attributes:
        visits: Iterations through it.
        counts: Action -> iterations.
        totals: Action -> the returns of the player to move, summed.
        untried: Actions not tried; None until they are asked for.
        children: Action -> the node behind it.
    """

    __slots__ = ("children", "counts", "totals", "untried", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.counts: dict[int, int] = {}
        self.totals: dict[int, float] = {}
        self.untried: list[int] | None = None
        self.children: dict[int, _Node] = {}


class _Position:
    """One iteration's position: index 0 is the searching player, 1 the other."""

    __slots__ = ("fleets", "free", "hits", "mover", "need")

    def __init__(self, view: View, fleet: int) -> None:
        self.free = [SEA & ~(view.hits | view.misses), SEA & ~view.taken]
        self.hits = [view.hits, view.own & view.taken]
        self.fleets = (fleet, view.own)
        self.need = [HEALTH - hits.bit_count() for hits in self.hits]
        self.mover = _ME

    def fire(self, cell: int) -> bool:
        """Apply a shot; whether it won."""
        who, bit = self.mover, BITS[cell]
        self.free[who] ^= bit
        if self.fleets[who] & bit:
            self.hits[who] |= bit
            self.need[who] -= 1
            if not self.need[who]:
                return True
        self.mover = 1 - who
        return False


class TreeSearch:
    """The shooter of one game."""

    def __init__(
        self, rng: Random, kind: Kind, heuristic: Heuristic, calls: int, map_samples: int
    ) -> None:
        self._rng, self._heuristic, self._budget = rng, heuristic, calls
        self._mapped = map_samples if kind == "heat map" else 0
        self._worlds = Worlds(kind, rng, _FLEETS)
        self._heat: Sequence[float] | None = None
        self._low = self._high = 0.0
        self._used = {"decisions": 0, "calls": 0, "iterations": 0, "map_samples": 0}

    @property
    def used(self) -> Mapping[str, float]:
        """Decisions, calls of the forward model, iterations; what drawing fleets took."""
        worlds = self._worlds
        return {
            **self._used,
            "samples": worlds.samples,
            "attempts": worlds.attempts,
            "fallbacks": worlds.fallbacks,
        }

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        self._observe(view)
        self._low, self._high = float("inf"), float("-inf")
        root = _Node()
        calls = iterations = 0
        while calls <= self._budget and iterations <= self._budget:
            calls += self._iterate(root, _Position(view, self._worlds.draw()))
            iterations += 1
        self._used["decisions"] += 1
        self._used["calls"] += calls
        self._used["iterations"] += iterations
        return self._best(root, SEA & ~(view.hits | view.misses))

    def _observe(self, view: View) -> None:
        """A full copy at the root has lost the map, so that each decision draws a fresh one."""
        self._worlds.observe(view)
        if self._mapped:
            self._heat = heat_of(self._worlds, self._mapped)
            self._used["map_samples"] += self._mapped
            self._worlds.observe(view, self._heat)

    def _iterate(self, root: _Node, position: _Position) -> int:
        """One iteration; returns its calls of the forward model."""
        node, path = root, []
        while True:
            mover = position.mover
            cell = self._choose(node, position.free[mover])
            path.append((node, cell, mover))
            if position.fire(cell):
                returns, calls = self._won(position, mover), 0
                break
            child = node.children.get(cell)
            if child is None:
                node.children[cell] = _Node()
                returns, calls = self._played(position)
                break
            node = child
        self._low, self._high = min(self._low, *returns), max(self._high, *returns)
        for node, cell, mover in path:
            node.visits += 1
            node.counts[cell] = node.counts.get(cell, 0) + 1
            node.totals[cell] = node.totals.get(cell, 0.0) + returns[mover]
        return len(path) + calls

    def _choose(self, node: _Node, free: int) -> int:
        if node.untried is None:
            node.untried = cells_of(free)
        if node.untried:
            place = int(self._rng.random() * len(node.untried))
            node.untried[place], node.untried[-1] = node.untried[-1], node.untried[place]
            return node.untried.pop()
        return self._upper(node)

    def _upper(self, node: _Node) -> int:
        """The action of the highest upper bound, ties at random."""
        spread = self._high - self._low
        scale, low, logged = (1 / spread if spread > 0 else 0.0), self._low, log(node.visits)
        best, chosen = float("-inf"), []
        for cell, count in node.counts.items():
            value = (node.totals[cell] / count - low) * scale + sqrt(logged / count)
            if value > best:
                best, chosen = value, [cell]
            elif value == best:
                chosen.append(cell)
        return chosen[int(self._rng.random() * len(chosen))]

    def _played(self, position: _Position) -> tuple[tuple[float, float], int]:
        """A random playout: the returns, and the calls it took."""
        first = position.mover
        sides = [
            Side(free.bit_count(), (free & fleet).bit_count(), need)
            for free, fleet, need in zip(position.free, position.fleets, position.need, strict=True)
        ]
        ended = playout(sides[first], sides[1 - first], self._rng)
        winner = first if ended.won else 1 - first
        for place, who in enumerate((first, 1 - first)):
            if self._matters(position.hits[who]):
                left = cells_of(position.free[who] & position.fleets[who])
                fired = ended.fired[place]
                for cell, order in zip(left, ended.places[place], strict=True):
                    if order < fired:
                        position.hits[who] |= BITS[cell]
        return self._won(position, winner), ended.plies

    def _matters(self, hits: int) -> bool:
        """Whether the value of the end depends on which cells are hit by then."""
        return self._heat is not None or not full(hits, self._heuristic)

    def _won(self, position: _Position, winner: int) -> tuple[float, float]:
        values = [self._extra(hits) for hits in position.hits]
        values[winner] += 1.0
        return values[_ME], values[_OTHER]

    def _extra(self, hits: int) -> float:
        """What the end is worth beyond the win; the map is the same for both players' hits."""
        value = bonus(hits, self._heuristic)
        if self._heat is not None and hits:
            cells = cells_of(hits)
            value += sum(self._heat[cell] for cell in cells) / len(cells)
        return value

    def _best(self, root: _Node, free: int) -> int:
        """The action of the best mean, as TAG's noise breaks ties."""
        best, chosen, draw = float("-inf"), -1, self._rng.random
        for cell in range(CELLS):
            if not BITS[cell] & free:
                continue
            count = root.counts.get(cell, 0)
            mean = root.totals.get(cell, 0.0) / (count + _NOISE)
            value = (mean + _NOISE) * (1 + _NOISE * (draw() - 0.5))
            if value > best:
                best, chosen = value, cell
        return chosen
