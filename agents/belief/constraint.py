"""Constraint-based determinization: hidden components dealt into the zones a module declares.

The population is that of the particle filter, and so are its weights: a state weighs what the
game's own chance (and the opponent model) makes of it, over how likely it was to be proposed. What
differs is the proposal. Wherever a ply puts a component into a zone that is hidden from the seat,
outcomes that evidence rules out are left out; of the others those are preferred that leave the
zone able to satisfy what the log needs of it (see `NeedLikelihood`), or, where the cards of a pack
are dealt, all zones at once (see `Assignment`). While components are dealt, populations are thinned
by weight times that chance, which the weights then lose again. When the effective size has halved
and is below an eighth of the size, a new population is dealt from the first state, or from the last
one in which nothing but a pack was hidden, and verified against the whole log. Before that, where
the old one has died out, a few scouts collect the evidence of the whole log. A module without
declared zones is left to the particle filter, and so is a log that nothing fits which the evidence
allows.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from agents.belief.dealing import Dealing, HiddenDeal
from agents.belief.evidence import Evidence, counterfactual, observe
from agents.belief.filter import CALLS, ROOM, Anchor, Branching, Moves, ParticleFilter
from agents.belief.follow import BeliefCallsError, Branch, Guide
from agents.belief.moves import ActionProposal, Splice
from agents.belief.population import Capacity, Link, Particle, Population, merged, thinned
from agents.belief.zones import Zones
from games.values import CHANCE, Action, State

Where: TypeAlias = tuple[str, int]
"""Path of a zone, and the entries of the log that were read when something came into it."""
DealtComponent: TypeAlias = tuple[str | None, int | None]
"""The component that an action deals, None for none, and the needs that it satisfies, as bits; None
where it is ruled out."""

BREADTH = 2  # particles kept while components are dealt, as a multiple of the size
DEALS = 4  # populations dealt anew in a row, while each dies of something new
POOR = 8  # a population is dealt anew when its effective size falls below its size over this
ALONE = 1.5  # an effective size below it is never enough
SCOUTS = 8  # particles that collect the log's evidence, before a population is dealt
DEAL_CALLS = 120_000  # module calls for dealing one anew
ROUNDS = 4  # moves of a particle: evidence leaves few that are in vain
REVIVAL_CALLS = 10_000  # dealing anew costs less than a long search


class ConstraintSampler:
    """Brings a population up to date by a filter that evidence guides, dealing anew where poor."""

    def __init__(self, guide: Guide, initial: State, zones: Zones, size: int) -> None:
        """Compose the filters of one log.

        Args:
            guide: The log.
            initial: The state before any ply.
            zones: The module's zones.
            size: Particles kept, at least 1.
        """
        follower = guide.follower
        self.guide = guide
        self.evidence = Evidence(follower.rules, zones, follower.seat)
        self.dealing = Dealing(guide, self.evidence)
        self.splice = Splice()
        self.capacity = Capacity(size, breadth=BREADTH)
        self.anchor = Anchor()
        self.dealt = float(size)  # effective size of the newest population when it was dealt
        branching = Branching(guide, ROOM * size)
        unguided = Moves(ActionProposal(guide), ROUNDS, REVIVAL_CALLS)
        plausible = ActionProposal(guide, PlausibleActions(self.dealing))
        moves = replace(unguided, proposal=plausible, splice=self.splice)
        proposal = ConstraintProposal(self.dealing, branching, self.anchor)
        self.filter = ParticleFilter(guide, initial, proposal, moves, self.capacity, self.anchor)
        scouting = ConstraintProposal(self.dealing, branching)
        self.scouts = ParticleFilter(guide, initial, scouting, moves, Capacity(SCOUTS, SCOUTS))
        self.generic = ParticleFilter(guide, initial, branching, unguided, self.capacity)

    def advance(self, before: Population) -> Population:
        """The population at the decision, dealt anew where it has become poor or died out."""
        if not self.capacity.sampled:
            self._scout()
        carried = self.filter.carried_on(before)
        self.splice.checked = 0
        found = self.filter.renew(carried)
        # Moved copies of a few survivors are more alike than their number says.
        effective = min(carried.effective_size, found.effective_size)
        enough = min(self.capacity.room(found) / POOR, max(self.dealt / 2, ALONE))
        if found.particles and (found.is_whole or effective >= enough):
            return found
        dealt = self._dealt_anew(is_lost=not found.particles)
        if dealt.particles and (dealt.is_whole or dealt.effective_size > effective):
            self.dealt = dealt.effective_size
            return dealt
        self.dealt = effective
        return replace(found, is_whole=False) if found.particles else self._unguided()

    def _scout(self) -> None:
        """Collect the evidence of the whole log, by a few particles.

        Where none outlives a ply they go on from a counterfactual state. What kills a population
        shows one piece of evidence; to have it all beforehand spares as many deals.
        """
        with suppress(BeliefCallsError):  # what was found until then is known
            self.scouts.run(self.filter.start(), revive=self._counterfactual)

    def _counterfactual(self, dead: Population) -> Population:
        found = counterfactual(self.evidence, self.guide, dead.particles[0])
        return replace(dead, particles=[] if found is None else [found])

    def _dealt_anew(self, *, is_lost: bool) -> Population:
        """A new population; again where what it died of was not known before."""
        self.guide.cost.allow(DEAL_CALLS)
        for deal in range(DEALS):
            known = len(self.evidence.plies)
            if is_lost and not deal:
                self._scout()
            leap = Leap(self.filter, self.dealing, self.splice)
            try:
                dealt = self.filter.run(self.filter.start(), shortcut=leap)
            except BeliefCallsError:
                break
            if dealt.particles or len(self.evidence.plies) == known:
                return dealt
        return Population([], is_whole=False)

    def _unguided(self) -> Population:
        """The plain particle filter's population, where nothing that evidence allows fits."""
        self.guide.cost.allow(CALLS / 4)
        self.anchor.particle = None  # what was taken for known may be what is wrong
        start = self.generic.start(is_whole=False)
        found = self.generic.renew(self.generic.run(start, revive=self.generic.revive))
        fills = len(self.dealing.slots)
        return replace(found, particles=[replace(p, fills=fills) for p in found.particles])


@dataclass
class ConstraintProposal:
    """Proposes deals to hidden zones by the evidence, and every branch of other plies.

    Attributes:
        dealing: The deals, with the evidence on them.
        branching: Proposes the other plies.
        anchor: Moved along to where all is known; None to move none.
    """

    dealing: Dealing
    branching: Branching
    anchor: Anchor | None = None

    def propose(self, active: Population, capacity: Capacity) -> Population:
        """See `Proposal`; what the plies tell of hidden components is added to the evidence."""
        dealing, guide = self.dealing, self.branching.guide
        if self.anchor is not None:
            self._move(self.anchor, active.particles)
        deals = [dealing.deal(particle) for particle in active.particles]
        others = [p for p, deal in zip(active.particles, deals, strict=True) if deal is None]
        hidden = [deal for deal in deals if deal is not None]
        dealt = self._dealt(replace(active, is_dealing=bool(hidden)), hidden, capacity)
        if not others:
            return dealt
        after = self.branching.propose(replace(dealt, particles=others), capacity)
        observe(dealing.evidence, guide, others, after.particles, dict.fromkeys(dealing.slots))
        return replace(after, particles=[*dealt.particles, *after.particles])

    def _move(self, anchor: Anchor, active: Sequence[Particle]) -> None:
        """Anchor the start of plays where all is known, as before a new deal."""
        evidence, first = self.dealing.evidence, active[0]
        state, read = first.place.state, first.place.read
        if evidence.rules.current_player(state) != CHANCE:
            return
        if anchor.particle is not None and read <= anchor.particle.place.read:
            return
        is_bare = evidence.zones.is_bare(state, evidence.seat)
        if is_bare and all(p.place == first.place for p in active):
            anchor.particle = replace(first, weight=1.0, log_prior=0.0, last=None)

    def _dealt(
        self, active: Population, deals: Sequence[HiddenDeal], capacity: Capacity
    ) -> Population:
        """Particles after a component was dealt, thinned by weight times chance."""
        if not deals:
            return replace(active, particles=[])
        guide, dealing = self.branching.guide, self.dealing
        shared = [dealing.shared(deal) for deal in deals]
        found = [one for one in shared if one is not None]
        room = capacity.room(replace(active, is_dealing=False))
        if len(found) < len(deals):
            found, room = [dealing.judged(deal) for deal in deals], capacity.room(active)
        weight = np.concatenate([one.weights for one in found])
        chance = np.concatenate([one.chances for one in found])
        counts = [len(deal.legal) for deal in deals]
        families = np.repeat(np.arange(len(deals)), counts)
        kept, thin = thinned(weight * chance, room, guide.generator, families=families)
        is_whole = active.is_whole and len(kept) == int(np.count_nonzero(chance))
        ends = np.cumsum(counts)
        children = []
        for index, new in zip(kept.tolist(), (thin / chance[kept]).tolist(), strict=True):
            which = int(families[index])
            particle, _, legal, _ = deals[which]
            action = legal[index - int(ends[which])]
            after = guide.follower.after(particle.place, action)
            guide.cost.tally(after is not None)
            if after is not None:
                branch = Branch(action, float(weight[index]) / particle.weight, after)
                child = particle.moved(branch, share=1.0, is_open=True, fills=1)
                children.append(replace(child, weight=new))
        if is_whole:
            children = merged(children, guide.draw)
        return replace(active, particles=children, is_whole=is_whole)


@dataclass
class Leap:
    """A shortcut from the last deal to the decision: one particle is played, the rest spliced.

    Attributes:
        filter: Plays particles.
        dealing: Knows the deals.
        splice: Gives ends of plays.
        is_done: Whether it was tried; it is tried once.
    """

    filter: ParticleFilter
    dealing: Dealing
    splice: Splice
    is_done: bool = False

    def __call__(self, active: Population) -> Population:
        """The particles at the decision; none where they have to be played."""
        none = replace(active, particles=[])
        if self.is_done or self.splice.is_off or not active.is_dealing:
            return none
        if any(self.dealing.deal(particle) is not None for particle in active.particles):
            return none
        self.is_done = True
        first, found = active.particles[0], list[Particle]()
        ends = self.filter.run(replace(active, particles=[first]))
        none = replace(none, is_whole=ends.is_whole)  # what branches later cannot all be kept
        if len(ends.particles) != 1:
            return none
        played = replace(ends.particles[0], weight=first.weight)
        links = played.links()
        if any(self._is_choice(link) for link in links[first.choices :]):
            return none  # one choice fitted here; elsewhere others may
        last = links[first.choices - 1]
        for particle in active.particles:
            end = self.splice.end(particle, last, played)
            if end is None:
                return none
            if self.splice.is_due(self.filter.guide.draw):
                ends = self.filter.run(replace(active, particles=[particle]))
                is_one = len(ends.particles) == 1
                self.splice.verify(end, ends.particles[0] if is_one else None)
            if self.splice.is_off:
                return none
            found.append(end)
        return replace(active, particles=found, is_dealing=False)

    def _is_choice(self, link: Link) -> bool:
        """True if more than one ply was seen to go on from where a link was made."""
        guide, place = self.filter.guide, link.place
        return guide.is_known_open(place, guide.follower.rules.current_player(place.state))


@dataclass
class PlausibleActions:
    """The actions that evidence allows where a choice deals a component to a hidden zone.

    An action is plausible where no evidence rules its component out, and the zone still holds what
    the log needs of it; where the component was dealt elsewhere, so that the two change places, the
    same must be true there.

    Attributes:
        dealing: The deals, with the evidence on them.
    """

    dealing: Dealing
    _known: dict[Where, dict[Action, DealtComponent]] = field(default_factory=dict)
    _plies: int = 0

    def is_about(self, link: Link) -> bool:
        """True if a choice deals to a hidden zone."""
        return self.dealing.zone_of(link) is not None

    def plausible(
        self, links: Sequence[Link], index: int, actions: Sequence[Action]
    ) -> Sequence[Action]:
        """See `ActionEvidence`."""
        link = links[index]
        zone = self.dealing.zone_of(link)
        if zone is None:
            return actions
        play, known = _OtherDeals(self, links, index), self.known(zone, link.place.read)
        lacks, found = play.lacking(zone), []
        for action in actions:
            if action not in known:
                known[action] = self.dealt_component(link, zone, action)
            component, supports = known[action]
            if component in play.holders:
                if play.may_swap(zone, component, supports):
                    found.append(action)
            elif supports is not None and not lacks & ~supports:
                found.append(action)
        return found

    def known(self, zone: str, since: int) -> dict[Action, DealtComponent]:
        """Earlier answers about a zone.

        What was ruled out stays so; the rest is asked again when there is more evidence.
        """
        plies = len(self.dealing.evidence.plies)
        if self._plies != plies:
            self._plies = plies
            self._known = {
                where: {action: found for action, found in known.items() if found[1] is None}
                for where, known in self._known.items()
            }
        return self._known.setdefault((zone, since), {})

    def dealt_component(self, link: Link, zone: str, action: Action) -> DealtComponent:
        """The component that an action of a choice puts into its zone."""
        component = self.dealing.component(link.place.state, zone, action)
        return component, self.supports(zone, component, link.place.read)

    def supports(self, zone: str, component: str | None, since: int) -> int | None:
        """The needs of a zone that a component satisfies; None where it is ruled out."""
        if component is None:
            return 0
        is_out, supports = self.dealing.evidence.about(zone, component, since)
        return None if is_out else supports


class _OtherDeals:
    """The components that a play deals, but for one choice's.

    Attributes:
        holders: Component dealt later -> its zone and when it was dealt there.
    """

    def __init__(self, plausible: PlausibleActions, links: Sequence[Link], index: int) -> None:
        self.plausible = plausible
        self.dealing = plausible.dealing
        self.since = links[index].place.read
        self.link = links[index]
        self.held: dict[str, list[tuple[str, int, int]]] = {}
        self.holders: dict[str | None, Where] = {}
        for depth, link in enumerate(links):
            zone, state = self.dealing.zone_of(link), link.place.state
            component = None if zone is None else self.dealing.component(state, zone, link.action)
            if zone is None or component is None or depth == index:
                continue
            since = link.place.read
            known = plausible.known(zone, since)
            if link.action not in known:
                known[link.action] = plausible.dealt_component(link, zone, link.action)
            supports = known[link.action][1] or 0
            self.held.setdefault(zone, []).append((component, supports, since))
            if depth > index:
                self.holders[component] = (zone, since)

    def may_swap(self, zone: str, component: str | None, supports: int | None) -> bool:
        """True if a later component may come here, and the one that came here may go there."""
        there, since = self.holders[component]
        if there == zone:
            return True
        if supports is None or self.lacking(zone) & ~supports:
            return False
        known, action = self.plausible.known(there, since), self.link.action
        own = known[action][1] if action in known else self._supports(there, since)
        return own is not None and not self.lacking(there, component) & ~own

    def _supports(self, zone: str, since: int) -> int | None:
        """The needs that what came here would satisfy in another zone; None if it is ruled out."""
        here, state = self.dealing.zone_of(self.link) or "", self.link.place.state
        component = self.dealing.component(state, here, self.link.action)
        return self.plausible.supports(zone, component, since)

    def lacking(self, zone: str, without: str | None = None) -> int:
        """Needs of a zone that nothing dealt to it satisfies, were a component not there."""
        held = self.held.get(zone, [])
        first = min([self.since, *(since for _, _, since in held)])
        lacks = self.dealing.evidence.needs(zone, first)
        for component, supports, _ in held:
            if component != without:
                lacks &= ~supports
        return lacks


def constraint_strategy(
    guide: Guide, initial: State, size: int, *, zones: Zones | None
) -> ParticleFilter | ConstraintSampler:
    """The constraint sampler; the particle filter where a module declares no zones."""
    if zones is not None:
        return ConstraintSampler(guide, initial, zones, size)
    moves = Moves(ActionProposal(guide), ROUNDS, REVIVAL_CALLS)
    return ParticleFilter(guide, initial, Branching(guide, ROOM * size), moves, Capacity(size))
