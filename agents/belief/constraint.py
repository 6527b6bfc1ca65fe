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
from agents.belief.facts import Facts
from agents.belief.follow import OpponentModel, uniform_opponent
from agents.belief.outlook import Outlook
from agents.belief.particle import CALLS, SIZE, ParticleSampler
from agents.belief.particles import Particle, merged
from agents.belief.weights import Floats, effective_size, thinned
from agents.belief.zones import Zones
from agents.search.rules import Rules
from games.contract import Action, State

BREADTH = 2  # particles kept while components are dealt, as a multiple of the size
HEARD = 64  # particles whose states are held against what a ply is said to rule out
POOR = 8  # a population is dealt anew when its effective size falls below its size over this
DEALS = 4  # populations dealt anew in a row, while each dies of something new
DEAL_CALLS = 600_000  # module calls for dealing one anew


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
        self.is_dealing = False  # whether a component was dealt in this ply
        self.dealt = float(self.size)  # effective size of the newest population when it was dealt

    def _forget(self) -> None:
        super()._forget()
        self._forget_facts()

    def _renewed(self, particles: list[Particle]) -> list[Particle]:
        """The population, dealt anew where it has become poor."""
        if self.facts is None:
            return super()._renewed(particles)
        effective = _effective(particles)
        if (self.complete and particles) or effective >= min(self.size / POOR, self.dealt / 2):
            return particles
        self.cost.allow(DEAL_CALLS)
        dealt = self._dealt_anew(self.facts)
        if dealt and (self.complete or _effective(dealt) > effective):
            self.dealt = _effective(dealt)
            return dealt
        self.complete = False
        return particles or self._unguided()

    def _dealt_anew(self, facts: Facts) -> list[Particle]:
        """A new population; again where what it died of was not known before."""
        for _ in range(DEALS):
            known, self.complete = len(facts.witnesses), True
            try:
                dealt = self._run(self._started(), lambda _: [])
            except BeliefCallsError:
                return []
            if dealt or len(facts.witnesses) == known:
                return dealt
        return []

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
            self._testify(self.facts, others, after)
            children += after
        return children

    def _room(self) -> int:
        return self.size * BREADTH if self.is_dealing else self.size

    def _turn(self, zones: Zones, particle: Particle) -> Turn | None:
        """The turn of chance or of another seat that deals a component to a hidden zone, if so."""
        state = particle.place.state
        player = self.rules.current_player(state)
        if self._is_narrow(particle, player):
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
        kept, thin = thinned(weight * chance, self.size * BREADTH, self.generator)
        self.complete = self.complete and len(kept) == int(np.count_nonzero(chance))
        ends = np.cumsum([len(prior) for prior in weights[1:]])
        children = []
        for index, new in zip(kept.tolist(), (thin / chance[kept]).tolist(), strict=True):
            which = int(np.searchsorted(ends, index, side="right"))
            particle, _, legal, _ = turns[which]
            after = self.guide.follower.after(particle.place, legal[index - int(ends[which])])
            self._tally(after is not None)
            if after is not None:
                fills = particle.fills + 1
                children.append(replace(particle, place=after, weight=new, fills=fills))
        return merged(children) if self.complete else children

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
                component = self._component(facts, turn, action)
                about = (False, 0) if component is None else facts.about(zone, component, since)
                kinds[action] = outlook.kind(*about)
        chances = outlook.chances(needs, left)[[kinds[action] for action in legal]]
        weights = self.guide.follower.weights(state, player, legal)
        return particle.weight * np.asarray(weights), chances

    def _component(self, facts: Facts, turn: Turn, action: Action) -> str | None:
        """What an outcome of a turn puts into the zone; None where it puts nothing."""
        if action not in self.components:
            state = turn.particle.place.state
            filled = facts.zones.filled(state, self.rules.apply_action(state, action), self.seat)
            self.components[action] = None if filled is None else filled.component
        component = self.components[action]
        if component is not None:
            facts.known.setdefault(turn.zone, {})[component] = None
        return component

    def _outlook(self, facts: Facts, zone: str, since: int) -> Outlook:
        known = facts.known.setdefault(zone, {})
        key = (zone, since, len(facts.witnesses), len(known))
        if key not in self.outlooks:
            about = (facts.about(zone, component, since) for component in known)
            self.outlooks[key] = Outlook(about)
        return self.outlooks[key]

    def _testify(self, facts: Facts, before: Sequence[Particle], after: Sequence[Particle]) -> None:
        """Remember a ply that reproduced an entry of the log, with a state before it."""
        read = before[0].place.read
        entry = self.entries[read] if read < len(self.entries) else {}
        action, told = entry.get("action"), entry
        if isinstance(action, str):
            told = self.entries[read + 1] if read + 1 < len(self.entries) else {}
        else:
            lone = self.guide.lone.get((read, self.rules.current_player(before[0].place.state)))
            action = None if lone is None else lone.action
        if "events" not in told:
            return
        if not after:
            actions = [] if action is None else [action]
            facts.imagine(read, actions, told["events"], before[0].place.state)
        elif action is not None:
            states = (particle.place.state for particle in before if particle.place.read == read)
            held = {
                zone: [facts.zones.contents(p.place.state, zone) for p in after[:HEARD]]
                for zone in dict.fromkeys(self.slots)
            }
            facts.witness((read, action, told["events"]), states, held)


def _effective(particles: Sequence[Particle]) -> float:
    return effective_size(np.array([particle.weight for particle in particles]))
