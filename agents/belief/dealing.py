"""Deals to hidden zones: their outcomes, and the share of each that is worth going on with."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from agents.belief.evidence import Evidence
from agents.belief.follow import Guide
from agents.belief.population import Floats, Link, Particle
from games.values import Action, State


class NeedLikelihood:
    """Likelihood that components still to come satisfy what the log needs of a hidden zone.

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

    def kind(self, is_out: bool, supports: int) -> int:
        """The index of a kind."""
        index = 0 if is_out else self._indices.setdefault(supports, len(self.supports))
        if index == len(self.supports):
            self.supports.append(supports)
            self.counts.append(0)
            self._chances.clear()
        return index

    def chances(self, needs: int, left: int) -> Floats:
        """The likelihood that all needs are satisfied after an outcome of each kind.

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


ROUNDS = 30  # scalings at the most
NEAR = 0.001  # how near a zone's number of places they have to come

Mask: TypeAlias = int
"""Zones that a component may come into, one bit a zone."""
Kinds: TypeAlias = tuple[tuple[Mask, int], ...]
"""How many components of which mask there are."""


class Assignment:
    """Shares of components that are still to be dealt, among the zones they may come into.

    Where each of a pack's cards comes into one zone of several, the deals that the evidence allows
    are the perfect matchings of cards and places, and how often a card comes into a zone in a
    random one of them takes a permanent to tell. Sinkhorn's scaling of the allowed pairs to the
    zones' numbers of places comes near it (Linial, Samorodnitsky & Wigderson 2000), and is exact
    where every card either may come anywhere or has one zone left. It is a proposal: weights
    correct what it misses. What would leave the rest without a matching (Hall's condition) is
    never proposed. Each question is answered once for all particles.

    Attributes:
        evidence: What is known of the components.
    """

    def __init__(self, evidence: Evidence) -> None:
        """Nothing asked yet."""
        self.evidence = evidence
        self._shares: dict[tuple[Kinds, tuple[int, ...]], list[float]] = {}
        self._zones: tuple[str, ...] = ()
        self._when = (0, 0)
        self._masks: dict[str, tuple[Mask, bool]] = {}

    def shares(
        self, components: Sequence[str], ahead: Sequence[str], since: int
    ) -> list[float] | None:
        """The likelihood of each component to come into the zone that is dealt to now.

        Args:
            components: What is still to be dealt, all different.
            ahead: Zones of the deals to come that are hidden, from this one on.
            since: Entries of the log that were read by then.

        Returns:
            `[N]` shares that sum to how often that zone is dealt to from now on; None where
            evidence leaves no way to deal the components.
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
        """Earlier answers about this deal; deals are asked about one after the other."""
        when = since, len(self.evidence.plies)
        if (self._zones, self._when) != (zones, when):
            self._zones, self._when, self._masks = zones, when, {}
        return self._masks

    def _asked(self, component: str, zones: Sequence[str], since: int) -> tuple[Mask, bool]:
        """Where a component may come, and whether the log needs it in a zone."""
        about = [self.evidence.about(zone, component, since) for zone in zones]
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
    """True if the components can fill the places: Hall's condition for every set of zones."""
    if sum(count for _, count in kinds) != sum(places):
        return False
    for some in range(1, 1 << len(places)):
        room = sum(wanted for zone, wanted in enumerate(places) if some >> zone & 1)
        if sum(count for mask, count in kinds if not mask & ~some) > room:
            return False
    return True


class HiddenDeal(NamedTuple):
    """A turn that deals a component to a hidden zone.

    Attributes:
        particle: The particle whose turn it is.
        player: Chance, or another seat.
        legal: Its outcomes.
        zone: Path of the zone.
    """

    particle: Particle
    player: int
    legal: list[Action]
    zone: str


class Outcomes(NamedTuple):
    """The outcomes of a deal.

    Attributes:
        weights: `[outcomes]` the particle's weight times the outcome's probability.
        chances: `[outcomes]` how worthwhile each is beside that; 0 for what evidence rules out.
    """

    weights: Floats
    chances: Floats


@dataclass
class Dealing:
    """The deals of one log to hidden zones.

    Attributes:
        guide: The log.
        evidence: What is known.
        slots: Zones dealt to on the way through the log, one after the other, as far as known.
    """

    guide: Guide
    evidence: Evidence
    slots: list[str] = field(default_factory=list)
    _zones: dict[tuple[int, int, int], str | None] = field(default_factory=dict)
    _components: dict[Action, str | None] = field(default_factory=dict)
    _likelihoods: dict[tuple[str, int, int, int], NeedLikelihood] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Share out by what is known."""
        self.assignment = Assignment(self.evidence)

    def deal(self, particle: Particle) -> HiddenDeal | None:
        """The deal of chance or of another seat to a hidden zone in its turn; None for nothing."""
        rules, state = self.evidence.rules, particle.place.state
        player = rules.current_player(state)
        if self.guide.is_forced(particle.place, player):
            return None
        legal = rules.legal_actions(state)
        if len(legal) < 2:  # noqa: PLR2004 - one outcome tells nothing of what it hides
            return None
        where = (particle.place.read, player, particle.fills)
        if where not in self._zones:
            after = rules.apply_action(state, legal[0])
            filled = self.evidence.zones.filled(state, after, self.evidence.seat)
            self._zones[where] = None if filled is None else filled.zone
        zone = self._zones[where]
        return None if zone is None else HiddenDeal(particle, player, legal, zone)

    def zone_of(self, link: Link) -> str | None:
        """The hidden zone that a choice dealt a component to; None where it dealt none."""
        player = self.evidence.rules.current_player(link.place.state)
        return self._zones.get((link.place.read, player, link.fills))

    def component(self, state: State, zone: str, action: Action) -> str | None:
        """The component that an outcome of a deal puts into the zone; None for nothing."""
        if action not in self._components:
            after = self.evidence.rules.apply_action(state, action)
            filled = self.evidence.zones.filled(state, after, self.evidence.seat)
            self._components[action] = None if filled is None else filled.component
        component = self._components[action]
        if component is not None:
            self.evidence.candidates.setdefault(zone, {})[component] = None
        return component

    def shared(self, deal: HiddenDeal) -> Outcomes | None:
        """The outcomes, judged by all the deals to come at once; None where that cannot be done.

        It can be done for different components that all come out of one pack, once it is known
        from an earlier pass where they go: not where this play deals to a zone that none of that
        pass does. The chances are such that every particle goes on in one
        outcome, drawn by its share, whatever the particle weighs.
        """
        particle, player, legal, zone = deal
        ahead = self.slots[particle.fills :]
        if zone not in ahead or not self.evidence.zones.is_conserved(zone):
            return None
        dealt = [self.component(particle.place.state, zone, action) for action in legal]
        components = [component for component in dealt if component is not None]
        if len(set(components)) < len(legal):
            return None
        shares = self.assignment.shares(components, ahead, particle.place.read)
        weights = self._weights(particle, player, legal)
        if shares is None:
            return Outcomes(weights, np.zeros(len(legal)))
        return Outcomes(weights, np.array(shares) / (weights * ahead.count(zone)))

    def judged(self, deal: HiddenDeal) -> Outcomes:
        """The outcomes, judged by how likely the log's needs of the zone are satisfied then."""
        particle, player, legal, zone = deal
        state, since, evidence = particle.place.state, particle.place.read, self.evidence
        if particle.fills == len(self.slots):
            self.slots.append(zone)
        left = self.slots[particle.fills + 1 :].count(zone)
        likelihood = self._likelihood(zone, since)
        needs = evidence.needs(zone, since)
        for present in evidence.zones.contents(state, zone) if needs else ():
            needs &= ~evidence.about(zone, present, since)[1]
        kinds = likelihood.kinds
        for action in legal:
            if action not in kinds:
                component = self.component(state, zone, action)
                about = (False, 0) if component is None else evidence.about(zone, component, since)
                kinds[action] = likelihood.kind(*about)
        chances = likelihood.chances(needs, left)[[kinds[action] for action in legal]]
        return Outcomes(self._weights(particle, player, legal), chances)

    def _weights(self, particle: Particle, player: int, legal: list[Action]) -> Floats:
        follower = self.guide.follower
        return particle.weight * np.asarray(follower.weights(particle.place.state, player, legal))

    def _likelihood(self, zone: str, since: int) -> NeedLikelihood:
        evidence = self.evidence
        known = evidence.candidates.setdefault(zone, {})
        key = (zone, since, len(evidence.plies), len(known))
        if key not in self._likelihoods:
            about = (evidence.about(zone, component, since) for component in known)
            self._likelihoods[key] = NeedLikelihood(about)
        return self._likelihoods[key]
