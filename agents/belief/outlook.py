"""What components still to come can do for what the log needs of a hidden zone."""

from collections.abc import Iterable

import numpy as np

from agents.belief.weights import Floats
from games.contract import Action


class Outlook:
    """The components that may come into a zone, by which of its needs they satisfy.

    Attributes:
        kinds: Outcome -> index of its kind, for the outcomes that were asked about.
        supports: `[kinds]` the needs that a component of each kind satisfies, as bits; the first
            kind is that of the components that are ruled out.
        counts: `[kinds]` components of each kind, of all that may come into the zone.
    """

    def __init__(self, known: Iterable[tuple[bool, int]]) -> None:
        """Take stock.

        Args:
            known: Of every component that may come in, whether it is ruled out and the needs that
                it satisfies.
        """
        self.kinds: dict[Action, int] = {}
        self.supports: list[int] = [0]
        self.counts: list[int] = [0]
        self._indices: dict[int, int] = {}
        self._chances: dict[tuple[int, int], Floats] = {}
        for about in known:
            self.counts[self.kind(*about)] += 1

    def kind(self, is_out: bool, supports: int) -> int:  # noqa: FBT001 - what is known, as a pair
        """The index of a kind."""
        index = 0 if is_out else self._indices.setdefault(supports, len(self.supports))
        if index == len(self.supports):
            self.supports.append(supports)
            self.counts.append(0)
            self._chances.clear()
        return index

    def chances(self, needs: int, left: int) -> Floats:
        """How likely all needs are taken to be satisfied after an outcome of each kind.

        The product over the needs e that the outcome leaves of `1 - (1 - f_e)^left`, with `f_e`
        the share of the components not ruled out that satisfy e.

        Args:
            needs: Needs of the zone, as bits.
            left: Components that come into it after the outcome.

        Returns:
            `[kinds]`; 0 for what is ruled out, and where not even the best could satisfy the rest.
        """
        if (needs, left) not in self._chances:
            rest = [self._chance(needs & ~supports, left) for supports in self.supports]
            self._chances[needs, left] = np.array([0.0, *rest[1:]])
        return self._chances[needs, left]

    def _chance(self, needs: int, left: int) -> float:
        if not needs:
            return 1.0
        kinds = list(zip(self.supports[1:], self.counts[1:], strict=True))
        most = max(((supports & needs).bit_count() for supports, _ in kinds), default=0)
        if needs.bit_count() > left * most:
            return 0.0
        chance, total = 1.0, sum(self.counts[1:])
        for need in range(needs.bit_length()):
            if needs >> need & 1:
                fitting = sum(count for supports, count in kinds if supports >> need & 1)
                chance *= 1.0 - (1.0 - fitting / total) ** left
        return chance
