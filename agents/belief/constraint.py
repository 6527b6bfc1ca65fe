"""Constraint-based determinization: hidden components dealt into the zones a module declares.

The population is that of the particle filter, and so are its weights: a state weighs what the
game's own chance (and the opponent model) makes of it, over how likely it was to be proposed. What
differs is where it looks. Wherever a ply puts a component into a zone that is hidden from the seat,
outcomes that a known fact rules out are left out; of the others those are preferred that leave the
zone able to satisfy what the log needs of it (see `Outlook`). While components are dealt,
populations are thinned by weight times that chance, which the weights then lose again. When the
effective size has halved and is below an eighth of the size, a new population is dealt from the
first state, and verified against the whole log. A module without declared zones is left to the
particle filter, and so is a log that nothing fits which the facts allow.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agents.belief.counting import BeliefCallsError
from agents.belief.exchange import exchanged
from agents.belief.facts import Facts
from agents.belief.follow import OpponentModel, Step, uniform_opponent
from agents.belief.guided import KnownToFit
from agents.belief.outlook import Outlook
from agents.belief.particle import CALLS, SIZE, ParticleSampler
from agents.belief.particles import Link, Particle, merged
from agents.belief.splice import Splice
from agents.belief.testimony import testify
from agents.belief.weights import Floats, effective_size, thinned
from agents.belief.zones import Zones
from agents.search.rules import Rules
from games.contract import Action, State

BREADTH = 2  # particles kept while components are dealt, as a multiple of the size
DEALS = 4  # populations dealt anew in a row, while each dies of something new
POOR = 8  # a population is dealt anew when its effective size falls below its size over this
DEAL_CALLS = 60_000  # module calls for dealing one anew


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


class ConstraintSampler(ParticleSampler):
    """Samples full states of one seat's log, guided by zones, counts and known facts."""

    name = "constraint"
    moves = 4  # facts leave few that are in vain
    revival_calls = 10_000  # dealing anew costs less than a long search

    def __init__(
        self,
        rules: Rules,
        seat: int,
        initial: State,
        zones: Zones | None,
        *,
        size: int = SIZE,
        seed: int = 0,
        opponents: OpponentModel = uniform_opponent,
    ) -> None:
        """See `ParticleSampler`; `zones` are the module's, None where it declares none."""
        super().__init__(rules, seat, initial, size=size, seed=seed, opponents=opponents)
        self.zones = zones
        self._forget_facts()

    def _forget_facts(self) -> None:
        # Zones is needed by facts alone; without it the filter is the generic one.
        self.facts = None if self.zones is None else Facts(self.rules, self.zones, self.seat)
        self.components: dict[Action, str | None] = {}  # what an outcome deals
        self.slots: list[str] = []  # zones dealt to on the way here, one after the other
        self.dealt_to: dict[tuple[int, int, int], str | None] = {}
        self.outlooks: dict[tuple[str, int, int, int], Outlook] = {}
        self.splice = Splice()
        if self.facts is not None:
            self.proposals = KnownToFit(
                self.guide,
                facts=self.facts,
                zone_of=self._zone_of,
                component_of=self._component,
            )
        self.can_leap = False  # whether a population is being dealt anew
        self.dealt = float(self.size)  # effective size of the newest population when it was dealt
        self.is_dealing = False  # whether a component was dealt in this ply

    def _forget(self) -> None:
        super()._forget()
        self._forget_facts()

    def _renewed(self, particles: list[Particle]) -> list[Particle]:
        """The population, dealt anew where it has died out."""
        if self.facts is None:
            return super()._renewed(particles)
        self.splice.checked = 0
        found = super()._renewed(particles)
        effective = _effective(found)
        if found and (self.complete or effective >= min(self._room() / POOR, self.dealt / 2)):
            return found
        dealt = self._dealt_anew(self.facts)
        if dealt and (self.complete or _effective(dealt) > effective):
            self.dealt = _effective(dealt)
            return dealt
        self.complete, self.dealt = False, effective
        return found or self._unguided()

    def _exchanged(self, particle: Particle) -> Particle | None:
        goal = self.guide.follower.is_present
        return exchanged(particle, self.guide, goal, self.proposals, splice=self.splice)

    def _zone_of(self, link: Link) -> str | None:
        """The hidden zone that a choice dealt a component to; None where it dealt none."""
        player = self.rules.current_player(link.place.state)
        return self.dealt_to.get((link.place.read, player, link.fills))

    def _dealt_anew(self, facts: Facts) -> list[Particle]:
        """A new population; again where what it died of was not known before."""
        self.cost.allow(DEAL_CALLS)
        for _ in range(DEALS):
            known, self.complete, self.can_leap = len(facts.witnesses), True, True
            try:
                dealt = self._run(self._started(), lambda _: [])
            except BeliefCallsError:
                return []
            finally:
                self.can_leap = False
            if dealt or len(facts.witnesses) == known:
                return dealt
        return []

    def _leapt(self, dealt: list[Particle], /) -> list[Particle]:
        """A population that was dealt, at the decision: one is played, the others are spliced."""
        facts = self.facts
        if not self.can_leap or self.splice.is_off or facts is None or not self.is_dealing:
            return []
        if any(self._turn(facts.zones, particle) is not None for particle in dealt):
            return []
        self.can_leap = False
        played = self._played_on(dealt[0])
        if played is None:
            return []
        last, found = played.links()[dealt[0].choices - 1], []
        for particle in dealt:
            end = self.splice.end(particle, last, played)
            if end is None:
                return []
            if self.splice.is_due(self.draw):
                self.splice.tell(end, self._played_on(particle))
            if self.splice.is_off:
                return []
            found.append(end)
        return found

    def _played_on(self, particle: Particle) -> Particle | None:
        """A particle at the decision, by play; None where it does not get there."""
        ends = super()._run([particle], lambda _: [])
        return replace(ends[0], weight=particle.weight) if len(ends) == 1 else None

    def _unguided(self) -> list[Particle]:
        """What the particle filter alone finds, where nothing that the facts allow fits the log."""
        self.cost.allow(CALLS / 4)
        facts, self.facts = self.facts, None
        try:
            found = super()._renewed(self._run(self._started(), self._revived))
        finally:
            self.facts = facts
        return [replace(particle, fills=len(self.slots)) for particle in found]

    def _children(self, active: list[Particle]) -> list[Particle]:
        """Where the particles may be a ply later; components are dealt by what is known."""
        if self.facts is None:
            return super()._children(active)
        turns = [self._turn(self.facts.zones, particle) for particle in active]
        self.is_dealing = any(turns)
        others = [p for p, turn in zip(active, turns, strict=True) if turn is None]
        children = self._dealt(self.facts, [turn for turn in turns if turn is not None])
        if others:
            after = super()._children(others)
            testify(self.facts, self.guide, others, after, dict.fromkeys(self.slots))
            children += after
        return children

    def _room(self) -> int:
        return super()._room() * (BREADTH if self.is_dealing else 1)

    def _turn(self, zones: Zones, particle: Particle) -> Turn | None:
        """The turn of chance or of another seat that deals a component to a hidden zone, if so."""
        state = particle.place.state
        player = self.rules.current_player(state)
        if self.guide.is_narrow(particle.place, player):
            return None
        legal = self.rules.legal_actions(state)
        if len(legal) < 2:  # noqa: PLR2004 - one outcome tells nothing of what it hides
            return None
        where = (particle.place.read, player, particle.fills)
        if where not in self.dealt_to:
            after = self.rules.apply_action(state, legal[0])
            filled = zones.filled(state, after, self.seat)
            self.dealt_to[where] = None if filled is None else filled.zone
        zone = self.dealt_to[where]
        return None if zone is None else Turn(particle, player, legal, zone)

    def _dealt(self, facts: Facts, turns: Sequence[Turn]) -> list[Particle]:
        """Particles after a component was dealt, thinned by weight times chance."""
        weights, chances = [np.empty(0)], [np.empty(0)]
        for turn in turns:
            prior, chance = self._deals(facts, turn)
            weights.append(prior)
            chances.append(chance)
        weight, chance = np.concatenate(weights), np.concatenate(chances)
        kept, thin = thinned(weight * chance, self._room(), self.generator)
        self.complete = self.complete and len(kept) == int(np.count_nonzero(chance))
        ends = np.cumsum([len(prior) for prior in weights[1:]])
        children = []
        for index, new in zip(kept.tolist(), (thin / chance[kept]).tolist(), strict=True):
            which = int(np.searchsorted(ends, index, side="right"))
            particle, _, legal, _ = turns[which]
            action = legal[index - int(ends[which])]
            after = self.guide.follower.after(particle.place, action)
            self._tally(after is not None)
            if after is not None:
                step = Step(action, float(weight[index]) / particle.weight, after)
                child = particle.moved(step, share=1.0, is_open=True, fills=1)
                children.append(replace(child, weight=new))
        return merged(children, self.draw) if self.complete else children

    def _deals(self, facts: Facts, turn: Turn) -> tuple[Floats, Floats]:
        """The outcomes of one turn.

        Returns:
            `[outcomes]` the particle's weight times the outcome's probability, and how likely the
            log's needs of the zone are satisfied then; 0 for outcomes that a fact rules out.
        """
        particle, player, legal, zone = turn
        state, since = particle.place.state, particle.place.read
        if particle.fills == len(self.slots):
            self.slots.append(zone)
        left = self.slots[particle.fills + 1 :].count(zone)
        outlook = self._outlook(facts, zone, since)
        needs = facts.needs(zone, since)
        for present in facts.zones.contents(state, zone) if needs else ():
            needs &= ~facts.about(zone, present, since)[1]
        kinds = outlook.kinds
        for action in legal:
            if action not in kinds:
                component = self._component(turn, zone, action)
                about = (False, 0) if component is None else facts.about(zone, component, since)
                kinds[action] = outlook.kind(*about)
        chances = outlook.chances(needs, left)[[kinds[action] for action in legal]]
        weights = self.guide.follower.weights(state, player, legal)
        return particle.weight * np.asarray(weights), chances

    def _component(self, where: Turn | Link, zone: str, action: Action) -> str | None:
        """What an outcome of a turn puts into the zone; None where it puts nothing."""
        if self.facts is None:
            return None
        if action not in self.components:
            state = where.particle.place.state if isinstance(where, Turn) else where.place.state
            after = self.rules.apply_action(state, action)
            filled = self.facts.zones.filled(state, after, self.seat)
            self.components[action] = None if filled is None else filled.component
        component = self.components[action]
        if component is not None:
            self.facts.known.setdefault(zone, {})[component] = None
        return component

    def _outlook(self, facts: Facts, zone: str, since: int) -> Outlook:
        known = facts.known.setdefault(zone, {})
        key = (zone, since, len(facts.witnesses), len(known))
        if key not in self.outlooks:
            about = (facts.about(zone, component, since) for component in known)
            self.outlooks[key] = Outlook(about)
        return self.outlooks[key]


def _effective(particles: Sequence[Particle]) -> float:
    return effective_size(np.array([particle.weight for particle in particles]))
