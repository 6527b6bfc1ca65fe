"""What a deal to a hidden zone may be, and which outcomes of it are worth going on with."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agents.belief.assignment import Assignment
from agents.belief.facts import Facts
from agents.belief.guide import Guide
from agents.belief.outlook import Outlook
from agents.belief.particles import Link, Particle
from agents.belief.weights import Floats
from games.contract import Action


class Turn(NamedTuple):
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
    """The outcomes of a turn.

    Attributes:
        weights: `[outcomes]` the particle's weight times the outcome's probability.
        chances: `[outcomes]` how worthwhile each is beside that; 0 for what facts rule out.
    """

    weights: Floats
    chances: Floats


@dataclass
class Dealing:
    """The deals of one log to hidden zones.

    Attributes:
        guide: The log.
        facts: What is known.
        slots: Zones dealt to on the way through the log, one after the other, as far as known.
    """

    guide: Guide
    facts: Facts
    slots: list[str] = field(default_factory=list)
    _zones: dict[tuple[int, int, int], str | None] = field(default_factory=dict)
    _components: dict[Action, str | None] = field(default_factory=dict)
    _outlooks: dict[tuple[str, int, int, int], Outlook] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Share out by what is known."""
        self.assignment = Assignment(self.facts)

    def turn(self, particle: Particle) -> Turn | None:
        """The turn of chance or of another seat that deals a component to a hidden zone, if so."""
        rules, state = self.facts.rules, particle.place.state
        player = rules.current_player(state)
        if self.guide.is_narrow(particle.place, player):
            return None
        legal = rules.legal_actions(state)
        if len(legal) < 2:  # noqa: PLR2004 - one outcome tells nothing of what it hides
            return None
        where = (particle.place.read, player, particle.fills)
        if where not in self._zones:
            after = rules.apply_action(state, legal[0])
            filled = self.facts.zones.filled(state, after, self.facts.seat)
            self._zones[where] = None if filled is None else filled.zone
        zone = self._zones[where]
        return None if zone is None else Turn(particle, player, legal, zone)

    def zone_of(self, link: Link) -> str | None:
        """The hidden zone that a choice dealt a component to; None where it dealt none."""
        player = self.facts.rules.current_player(link.place.state)
        return self._zones.get((link.place.read, player, link.fills))

    def component(self, where: Turn | Link, zone: str, action: Action) -> str | None:
        """What an outcome of a turn puts into the zone; None where it puts nothing."""
        if action not in self._components:
            state = where.particle.place.state if isinstance(where, Turn) else where.place.state
            after = self.facts.rules.apply_action(state, action)
            filled = self.facts.zones.filled(state, after, self.facts.seat)
            self._components[action] = None if filled is None else filled.component
        component = self._components[action]
        if component is not None:
            self.facts.known.setdefault(zone, {})[component] = None
        return component

    def shared(self, turn: Turn) -> Outcomes | None:
        """The outcomes, judged by all the deals to come at once; None where that cannot be done.

        It can be done for different components that all come out of one pack, once it is known
        from an earlier pass where they go. The chances are such that every particle goes on in one
        outcome, drawn by its share, whatever the particle weighs.
        """
        particle, player, legal, zone = turn
        ahead = self.slots[particle.fills :]
        if not ahead or not self.facts.zones.is_conserved(zone):
            return None
        dealt = [self.component(turn, zone, action) for action in legal]
        components = [component for component in dealt if component is not None]
        if len(set(components)) < len(legal):
            return None
        shares = self.assignment.shares(components, ahead, particle.place.read)
        weights = self._weights(particle, player, legal)
        if shares is None:
            return Outcomes(weights, np.zeros(len(legal)))
        return Outcomes(weights, np.array(shares) / (weights * ahead.count(zone)))

    def judged(self, turn: Turn) -> Outcomes:
        """The outcomes, judged by how likely the log's needs of the zone are satisfied then."""
        particle, player, legal, zone = turn
        state, since, facts = particle.place.state, particle.place.read, self.facts
        if particle.fills == len(self.slots):
            self.slots.append(zone)
        left = self.slots[particle.fills + 1 :].count(zone)
        outlook = self._outlook(zone, since)
        needs = facts.needs(zone, since)
        for present in facts.zones.contents(state, zone) if needs else ():
            needs &= ~facts.about(zone, present, since)[1]
        kinds = outlook.kinds
        for action in legal:
            if action not in kinds:
                component = self.component(turn, zone, action)
                about = (False, 0) if component is None else facts.about(zone, component, since)
                kinds[action] = outlook.kind(*about)
        chances = outlook.chances(needs, left)[[kinds[action] for action in legal]]
        return Outcomes(self._weights(particle, player, legal), chances)

    def _weights(self, particle: Particle, player: int, legal: list[Action]) -> Floats:
        follower = self.guide.follower
        return particle.weight * np.asarray(follower.weights(particle.place.state, player, legal))

    def _outlook(self, zone: str, since: int) -> Outlook:
        facts = self.facts
        known = facts.known.setdefault(zone, {})
        key = (zone, since, len(facts.witnesses), len(known))
        if key not in self._outlooks:
            about = (facts.about(zone, component, since) for component in known)
            self._outlooks[key] = Outlook(about)
        return self._outlooks[key]
