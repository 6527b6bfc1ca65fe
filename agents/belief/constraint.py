"""Constraint-based determinization: hidden components dealt into the zones a module declares.

The population is that of the particle filter, and so are its weights: a state weighs what the
game's own chance (and the opponent model) makes of it, over how likely it was to be proposed. What
differs is where it looks. Wherever a ply puts a component into a zone that is hidden from the seat,
outcomes that a known fact rules out are left out; of the others those are preferred that leave the
zone able to satisfy what the log needs of it (see `Outlook`), or, where the cards of a pack are
dealt, all zones at once (see `Assignment`). While components are dealt, populations are thinned by
weight times that chance, which the weights then lose again. When the effective size has halved and
is below an eighth of the size, a new population is dealt from the first state, or from the last
one in which nothing but a pack was hidden, and verified against the whole log. Before that, where
the old one has died out, a few scouts hear what the log tells. A module without declared zones is
left to the particle filter, and so is a log that nothing fits which the facts allow.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agents.belief.counting import BeliefCallsError
from agents.belief.dealing import Dealing, Turn
from agents.belief.exchange import MAX_PLIES, exchanged
from agents.belief.facts import Facts
from agents.belief.follow import OpponentModel, Step, uniform_opponent
from agents.belief.guided import KnownToFit
from agents.belief.particle import CALLS, SIZE, ParticleSampler
from agents.belief.particles import Particle, merged
from agents.belief.proposals import AnyAction
from agents.belief.splice import Splice
from agents.belief.testimony import imagined, testify
from agents.belief.weights import effective_size, thinned
from agents.belief.zones import Zones
from agents.search.rules import Rules
from games.contract import CHANCE, State

BREADTH = 2  # particles kept while components are dealt, as a multiple of the size
DEALS = 4  # populations dealt anew in a row, while each dies of something new
POOR = 8  # a population is dealt anew when its effective size falls below its size over this
ALONE = 1.5  # an effective size below it is never enough
SCOUTS = 8  # particles that hear what the log tells, before a population is dealt
DEAL_CALLS = 120_000  # module calls for dealing one anew


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
        self.dealing: Dealing | None = None  # without zones the filter is the generic one
        self.splice = Splice()
        if self.zones is not None:
            dealing = Dealing(self.guide, Facts(self.rules, self.zones, self.seat))
            self.proposals = KnownToFit(
                self.guide,
                facts=dealing.facts,
                zone_of=dealing.zone_of,
                component_of=dealing.component,
            )
            self.dealing = dealing
        self.can_leap = False  # whether a population is being dealt anew
        self.dealt = float(self.size)  # effective size of the newest population when it was dealt
        self.anchor: Particle | None = None  # where all was known last
        self.is_lost = True  # whether the log may tell more than is known of it
        self.is_scouting = False
        self.is_dealing = False  # whether a component was dealt in this ply

    def _forget(self) -> None:
        super()._forget()
        self._forget_facts()

    def _renewed(self, particles: list[Particle]) -> list[Particle]:
        """The population, dealt anew where it has died out."""
        if self.dealing is None:
            return super()._renewed(particles)
        self.splice.checked = 0
        found = super()._renewed(particles)
        # Moved copies of a few survivors are more alike than their number says.
        effective = min(_effective(particles), _effective(found))
        enough = min(self._room() / POOR, max(self.dealt / 2, ALONE))
        if found and (self.complete or effective >= enough):
            return found
        self.is_lost = not found
        dealt = self._dealt_anew(self.dealing.facts)
        if dealt and (self.complete or _effective(dealt) > effective):
            self.dealt = _effective(dealt)
            return dealt
        self.complete, self.dealt = False, effective
        return found or self._unguided()

    def _exchanged(self, particle: Particle) -> Particle | None:
        goal = self.guide.follower.is_present
        return exchanged(particle, self.guide, goal, self.proposals, splice=self.splice)

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

    def _scout(self, facts: Facts) -> None:
        """Hear what the whole log tells, by a few particles that go on from made-up states.

        What kills a population teaches one fact; knowing them all beforehand spares as many deals.
        """
        self.is_lost, self.is_scouting, is_complete = False, True, self.complete
        scouts = self._started()
        try:
            for _ in range(MAX_PLIES):
                active = [p for p in scouts if not self.guide.follower.is_present(p.place)]
                if not active:
                    break
                beyond = self._children(active)
                made_up = None if beyond else imagined(facts, self.guide, active[0])
                scouts = self._fitting(beyond) if made_up is None else [made_up]
        except BeliefCallsError:
            pass  # what was heard until then is known
        finally:
            self.is_scouting, self.complete = False, is_complete

    def _started(self) -> list[Particle]:
        if self.is_lost and self.dealing is not None:
            self._scout(self.dealing.facts)
        return [self.anchor] if self.anchor is not None else super()._started()

    def _leapt(self, dealt: list[Particle], /) -> list[Particle]:
        """A population that was dealt, at the decision: one is played, the others are spliced."""
        dealing = self.dealing
        if not self.can_leap or self.splice.is_off or dealing is None or not self.is_dealing:
            return []
        if any(dealing.turn(particle) is not None for particle in dealt):
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
        dealing, proposals = self.dealing, self.proposals
        # What was taken for known may be what is wrong.
        self.dealing, self.proposals, self.anchor = None, AnyAction(self.guide), None
        try:
            found = super()._renewed(self._run(self._started(), self._revived))
        finally:
            self.dealing, self.proposals = dealing, proposals
        fills = len(dealing.slots) if dealing is not None else 0
        return [replace(particle, fills=fills) for particle in found]

    def _children(self, active: list[Particle]) -> list[Particle]:
        """Where the particles may be a ply later; components are dealt by what is known."""
        dealing = self.dealing
        if dealing is None:
            return super()._children(active)
        self._anchored(dealing.facts.zones, active)
        turns = [dealing.turn(particle) for particle in active]
        self.is_dealing = any(turns)
        others = [p for p, turn in zip(active, turns, strict=True) if turn is None]
        children = self._dealt(dealing, [turn for turn in turns if turn is not None])
        if others:
            after = super()._children(others)
            testify(dealing.facts, self.guide, others, after, dict.fromkeys(dealing.slots))
            children += after
        return children

    def _anchored(self, zones: Zones, active: Sequence[Particle]) -> None:
        """Remember a place where all is known, as before a new deal: plays may begin there."""
        first = active[0]
        state, read = first.place.state, first.place.read
        if self.is_scouting or self.rules.current_player(state) != CHANCE:
            return
        if self.anchor is not None and read <= self.anchor.place.read:
            return
        if zones.is_bare(state, self.seat) and all(p.place == first.place for p in active):
            self.anchor = replace(first, weight=1.0, mass=0.0, last=None)

    def _room(self) -> int:
        if self.is_scouting:
            return SCOUTS
        return super()._room() * (BREADTH if self.is_dealing else 1)

    def _dealt(self, dealing: Dealing, turns: Sequence[Turn]) -> list[Particle]:
        """Particles after a component was dealt, thinned by weight times chance."""
        if not turns:
            return []
        shared = [dealing.shared(turn) for turn in turns]
        found = [one for one in shared if one is not None]
        room = SCOUTS if self.is_scouting else super()._room()
        if len(found) < len(turns):
            found, room = [dealing.judged(turn) for turn in turns], self._room()
        weight = np.concatenate([one.weights for one in found])
        chance = np.concatenate([one.chances for one in found])
        counts = [len(turn.legal) for turn in turns]
        families = np.repeat(np.arange(len(turns)), counts)
        kept, thin = thinned(weight * chance, room, self.generator, families=families)
        self.complete = self.complete and len(kept) == int(np.count_nonzero(chance))
        ends = np.cumsum(counts)
        children = []
        for index, new in zip(kept.tolist(), (thin / chance[kept]).tolist(), strict=True):
            which = int(families[index])
            particle, _, legal, _ = turns[which]
            action = legal[index - int(ends[which])]
            after = self.guide.follower.after(particle.place, action)
            self._tally(after is not None)
            if after is not None:
                step = Step(action, float(weight[index]) / particle.weight, after)
                child = particle.moved(step, share=1.0, is_open=True, fills=1)
                children.append(replace(child, weight=new))
        return merged(children, self.draw) if self.complete else children


def _effective(particles: Sequence[Particle]) -> float:
    return effective_size(np.array([particle.weight for particle in particles]))
