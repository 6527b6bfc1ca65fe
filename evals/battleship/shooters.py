"""Shooters that every field may use."""

from collections.abc import Mapping
from random import Random

from evals.battleship.playing import Contestant, View
from evals.battleship.sea import BITS, CELLS


class Uniform:
    """Fires at a cell drawn uniformly from those not fired at."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    @property
    def used(self) -> Mapping[str, float]:
        """Nothing: it neither samples nor simulates."""
        return {}

    def shoot(self, view: View) -> int:
        """See `evals.battleship.playing.Shooter`."""
        fired, draw = view.hits | view.misses, self._rng.random
        cell = int(draw() * CELLS)
        while BITS[cell] & fired:
            cell = int(draw() * CELLS)
        return cell


def uniform() -> Contestant:
    """The player that fires at random."""
    return Contestant("random", Uniform, {"player": "random"})
