"""The thesis' one-step players in TAG: OSLA, and RMHC as it really ran.

Both are handed one sampled fleet a decision and see it whole. RMHC asks for ten own moves, but in a
game of alternating turns its bookkeeping stays at the first: it draws first shots at random and
keeps the best, and every further shot of a draw is a random playout that counts for nothing but
the budget. So it is OSLA over a few dozen random shots.
"""

from collections.abc import Mapping, Sequence
from random import Random

from evals.battleship.playing import View
from evals.battleship.sea import BITS, HEALTH, SEA, cells_of
from evals.battleship.tag_playouts import Side, playout
from evals.battleship.tag_scores import Heuristic, going_on
from evals.battleship.tag_worlds import Kind, Worlds


class _OneWorld:
    """What both have in common: a fleet a decision, and the value of a shot in it."""

    def __init__(
        self, rng: Random, kind: Kind, heuristic: Heuristic, heat: Sequence[float] | None
    ) -> None:
        """Take the settings.

        Args:
            rng: Draws.
            kind: Determinization.
            heuristic: Values positions.
            heat: The map by which "heat map" orders hits: made once on an empty sea and never
                renewed.
        """
        self._rng, self._heuristic, self._heat = rng, heuristic, heat
        self._worlds = Worlds(kind, rng, 1)
        self._decisions = self._calls = 0

    @property
    def used(self) -> Mapping[str, float]:
        """Decisions, calls of the forward model, and what drawing fleets took."""
        worlds = self._worlds
        return {
            "decisions": self._decisions,
            "calls": self._calls,
            "samples": worlds.samples,
            "attempts": worlds.attempts,
            "fallbacks": worlds.fallbacks,
        }

    def _fleet(self, view: View) -> int:
        self._decisions += 1
        self._worlds.observe(view, self._heat)
        return self._worlds.draw()

    def _value(self, view: View, hit: int) -> float:
        """The value after a shot; `hit` is its bit if it hits and 0 if it does not."""
        found = view.hits.bit_count() + (1 if hit else 0)
        return going_on(view.hits | hit, found, self._heuristic)


class OneStep(_OneWorld):
    """OSLA: tries every shot in the fleet and takes the best, ties at random."""

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        free = SEA & ~(view.hits | view.misses)
        self._calls += free.bit_count()
        ships = self._fleet(view) & free
        if not ships:
            return self._rng.choice(cells_of(free))
        values = {cell: self._value(view, BITS[cell]) for cell in cells_of(ships)}
        best = max(values.values())
        return self._rng.choice([cell for cell, value in values.items() if value == best])


class HillClimber(_OneWorld):
    """RMHC as it ran: random first shots until the calls are spent, the first best one wins."""

    def __init__(
        self,
        rng: Random,
        kind: Kind,
        heuristic: Heuristic,
        heat: Sequence[float] | None,
        calls: int,
    ) -> None:
        """As the other, with the calls of the forward model that a decision may make."""
        super().__init__(rng, kind, heuristic, heat)
        self._budget = calls

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        free = SEA & ~(view.hits | view.misses)
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
            if calls >= self._budget:
                break
        self._calls += calls
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
