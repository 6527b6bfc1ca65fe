"""Which hits the ships to come can still cover: what lets a hopeless attempt be given up early.

Ignoring that ships must not overlap, hits can only be covered if some choice of ways, one for each
ship to come at the most, covers them. An attempt for which that fails cannot end well, so giving
it up changes nothing but the time.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evals.battleship.sea import LENGTHS

Ints = npt.NDArray[np.int64]

_DIGIT = 3
_PLACE = {length: index * _DIGIT for index, length in enumerate(sorted(set(LENGTHS)))}
_TOP = 1 << 20

CODES = np.array([1 << _PLACE[n] if n in _PLACE else 0 for n in range(1 + max(LENGTHS))])
"""Length -> what one ship of it counts in the code of a collection of ships."""

ALL = int(CODES[list(LENGTHS)].sum())
"""The code of the whole fleet."""


class Hopes:
    """Answers for one set of shots, each worked out once.

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
        """Whether these hits may be covered by the ships of this code."""
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
