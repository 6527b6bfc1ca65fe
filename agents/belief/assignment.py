"""How components that are still to be dealt are shared out among the zones they may come into.

Where each of a pack's cards comes into one zone of several, the deals that facts allow are the
perfect matchings of cards and places, and how often a card comes into a zone in a random one of
them takes a permanent to tell. Sinkhorn's scaling of the allowed pairs to the zones' numbers of
places comes near it (Linial, Samorodnitsky & Wigderson 2000), and is exact where every card either
may come anywhere or has one zone left. It is a proposal: weights correct what it misses. What would
leave the rest without a matching (Hall's condition) is never proposed.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from agents.belief.facts import Facts

ROUNDS = 30  # scalings at the most
NEAR = 0.001  # how near a zone's number of places they have to come

Mask: TypeAlias = int
"""Zones that a component may come into, one bit a zone."""
Kinds: TypeAlias = tuple[tuple[Mask, int], ...]
"""How many components of which mask there are."""


class Assignment:
    """Shares by zone; each question is answered once for all particles.

    Attributes:
        facts: What is known of the components.
    """

    def __init__(self, facts: Facts) -> None:
        """Nothing asked yet."""
        self.facts = facts
        self._shares: dict[tuple[Kinds, tuple[int, ...]], list[float]] = {}
        self._zones: tuple[str, ...] = ()
        self._when = (0, 0)
        self._masks: dict[str, tuple[Mask, bool]] = {}

    def shares(
        self, components: Sequence[str], ahead: Sequence[str], since: int
    ) -> list[float] | None:
        """How likely each component is to come into the zone that is dealt to now.

        Args:
            components: What is still to be dealt, all different.
            ahead: Zones of the deals to come that are hidden, from this one on.
            since: Entries of the log that were read by then.

        Returns:
            `[N]` shares that sum to how often that zone is dealt to from now on; None where facts
            leave no way to deal the components.
        """
        zones = tuple(dict.fromkeys(ahead))
        places = [ahead.count(zone) for zone in zones]
        known = self._known(zones, since)
        for component in components:
            if component not in known:
                known[component] = self._asked(component, zones, since)
        found = [known[component] for component in components]
        left = sum(mask > 0 for mask, _ in found) - sum(places)
        if left < 0:
            return None
        if not left:
            return self._among([mask for mask, _ in found], places)
        # What is not dealt here stays where it was, or is dealt last, as all that is left: what
        # the log needs in a zone comes into it by the deals to come, unless there are too few.
        rest, places = 1 << len(zones), [*places, left]
        strict = [mask | rest if mask and not need else mask for mask, need in found]
        loose = [mask | rest if mask else mask for mask, _ in found]
        return self._among(strict, places) or self._among(loose, places)

    def _known(self, zones: tuple[str, ...], since: int) -> dict[str, tuple[Mask, bool]]:
        """What was asked of this deal before; deals are asked about one after the other."""
        when = since, len(self.facts.witnesses)
        if (self._zones, self._when) != (zones, when):
            self._zones, self._when, self._masks = zones, when, {}
        return self._masks

    def _asked(self, component: str, zones: Sequence[str], since: int) -> tuple[Mask, bool]:
        """Where a component may come, and whether the log needs it in a zone."""
        about = [self.facts.about(zone, component, since) for zone in zones]
        mask = sum(1 << place for place, (is_out, _) in enumerate(about) if not is_out)
        return mask, any(supports for is_out, supports in about if not is_out)

    def _among(self, masks: Sequence[Mask], places: Sequence[int]) -> list[float] | None:
        kinds = tuple(sorted(Counter(mask for mask in masks if mask).items()))
        key = kinds, tuple(places)
        if key not in self._shares:
            self._shares[key] = _scaled(kinds, places)
        if not self._shares[key]:
            return None
        share = {mask: part for (mask, _), part in zip(kinds, self._shares[key], strict=True)}
        return [share.get(mask, 0.0) for mask in masks]


def _scaled(kinds: Sequence[tuple[Mask, int]], places: Sequence[int]) -> list[float]:
    """The first zone's share of a component of each kind; empty where they do not fit.

    >>> [round(share, 2) for share in _scaled(((0b01, 1), (0b11, 3)), (2, 2))]
    [1.0, 0.33]
    """
    if not _fit(kinds, places):
        return []
    zones_of = [[zone for zone in range(len(places)) if mask >> zone & 1] for mask, _ in kinds]
    column = [float(wanted > 0) for wanted in places]
    row = [1.0] * len(kinds)
    for _ in range(ROUNDS):
        row = [1.0 / sum(column[zone] for zone in zones) for zones in zones_of]
        sums = [0.0] * len(places)
        for (_, count), zones, scale in zip(kinds, zones_of, row, strict=True):
            for zone in zones:
                sums[zone] += count * scale * column[zone]
        column = [
            scale * wanted / total if wanted else 0.0
            for scale, wanted, total in zip(column, places, sums, strict=True)
        ]
        if all(
            abs(total - wanted) <= NEAR * wanted for total, wanted in zip(sums, places, strict=True)
        ):
            break
    left = [places[0] - 1, *places[1:]]
    return [
        scale * column[0] if 0 in zones and _fit(_without(kinds, kind), left) else 0.0
        for kind, (zones, scale) in enumerate(zip(zones_of, row, strict=True))
    ]


def _without(kinds: Sequence[tuple[Mask, int]], kind: int) -> list[tuple[Mask, int]]:
    """The components that are left when one of a kind is dealt."""
    return [(mask, count - (index == kind)) for index, (mask, count) in enumerate(kinds)]


def _fit(kinds: Sequence[tuple[Mask, int]], places: Sequence[int]) -> bool:
    """Whether the components fill the places: Hall's condition for every set of zones."""
    if sum(count for _, count in kinds) != sum(places):
        return False
    for some in range(1, 1 << len(places)):
        room = sum(wanted for zone, wanted in enumerate(places) if some >> zone & 1)
        if sum(count for mask, count in kinds if not mask & ~some) > room:
            return False
    return True
