"""Particle filter with resample-move (Gilks & Berzuini 2001), over the plays of one seat's log.

A population of full states that reproduce the log, with weights that are, up to a factor,
`P(plies | game) / P(plies were proposed)`. Every ply that the log leaves open is branched on:
chance by its probabilities, other seats by the stated opponent model. While all branches fit into
the population and `Guide` tries them all, it is the exact posterior; beyond that it is thinned
without bias (Fearnhead & Clifford 2003), and where a place has too many branches to try them all,
they are sampled. When the effective size falls below half, it is drawn anew by weight, and what
came twice is moved by Markov moves that exchange one open choice of its play (see
`agents.belief.moves`). Where nothing reproduces the next entry, such moves look for a play that
does.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol, TypeAlias

from agents.belief.follow import SURE, BeliefCallsError, Branch, Guide, LogPlace
from agents.belief.moves import MAX_PLIES, ActionProposal, Goal, Splice, metropolis_hastings_step
from agents.belief.population import Capacity, Particle, Population, merged, systematic
from games.engine import sample_index
from games.values import Action, State

SAMPLED = 192  # particles that stand for a larger one, at the most
FEWEST = 24  # and at the least, where a play takes many calls
STARTING_CALLS = 20_000  # module calls for the population of the first decision, about
ROOM = 8  # branches tried at once, as a multiple of the population's size
FEW = 8  # branches that are always all tried
CALLS = 100_000  # module calls for the entries between two decisions
RENEWAL_CALLS = 10_000  # for renewing a population that has become poor
ENOUGH = 4  # a revival stops at the size over this


def propose(particle: Particle, guide: Guide) -> Particle | None:
    """The particle a random ply later; None where no ply reproduces the log.

    Where few plies are open all are tried, one is drawn among those that fit, and the weight is
    multiplied by their probability F. Of many, two are drawn first: if both fit, the first one
    is taken and the weight stays; else all are tried and the factor is `F / (1 + F)`. Its
    expectation is `F^2 + (1 - F^2) F / (1 + F) = F` as well.
    """
    place, follower, draw = particle.place, guide.follower, guide.draw
    player = follower.rules.current_player(place.state)
    legal = follower.rules.legal_actions(place.state)
    is_open = guide.is_open(place, player, legal)
    probing = len(legal) > FEW and is_open
    if probing:
        weights = follower.weights(place.state, player, legal)
        first, second = (sample_index(weights, draw()) for _ in "ab")
        after = follower.after(place, legal[first])
        if after is not None and follower.after(place, legal[second]) is not None:
            guide.cost.tally(1)
            branch = Branch(legal[first], weights[first], after)
            return particle.moved(branch, share=1.0, is_open=True)
    branches = guide.branches(place, player, legal)
    guide.cost.tally(len(branches))
    if not branches:
        return None
    fits = sum(branch.weight for branch in branches)
    branch = branches[sample_index([branch.weight / fits for branch in branches], draw())]
    return particle.moved(branch, share=fits / (1.0 + fits) if probing else fits, is_open=is_open)


class Proposal(Protocol):
    """Takes a population a ply further."""

    def propose(self, active: Population, capacity: Capacity) -> Population:
        """Where particles that are not at the decision may be a ply later; none where they die."""


@dataclass
class Branching:
    """Proposes every branch that reproduces the log, or a sample of them where they are many.

    Attributes:
        guide: The log.
        branches: Branches that are tried at once.
    """

    guide: Guide
    branches: int

    def propose(self, active: Population, capacity: Capacity) -> Population:
        """See `Proposal`."""
        guide, rules = self.guide, self.guide.follower.rules
        particles, room = active.particles, self.branches
        children: list[Particle] = []
        for index, particle in enumerate(particles):
            place = particle.place
            player = rules.current_player(place.state)
            legal = rules.legal_actions(place.state)
            is_open = guide.is_open(place, player, legal)
            if is_open and (index >= SURE or guide.is_known_open(place, player)):
                room -= len(legal)
                if room < len(legal) * (len(particles) - index - 1):
                    return self._sampled(replace(active, is_whole=False), capacity)
            found = guide.branches(place, player, legal)
            guide.cost.tally(len(found))
            children += (
                particle.moved(branch, share=branch.weight, is_open=is_open)
                for branch in found
                if branch.weight > 0
            )
        if len(children) > len(particles):
            children = merged(children, guide.draw)
        return replace(active, particles=children)

    def _sampled(self, active: Population, capacity: Capacity) -> Population:
        """One random branch of each of as many particles as are kept, drawn by weight."""
        weights, room = active.weights, capacity.room(active)
        each = float(weights.sum()) / room
        drawn = systematic(weights, room, self.guide.draw())
        after = (
            propose(replace(active.particles[index], weight=each), self.guide) for index in drawn
        )
        return replace(active, particles=[particle for particle in after if particle is not None])


@dataclass(frozen=True)
class Moves:
    """Moves of a population's particles.

    Attributes:
        proposal: Gives new actions.
        rounds: Moves of a particle that was drawn twice.
        revival_calls: Module calls for finding plays that outlive a ply that none did.
        splice: Gives the ends of plays without playing them.
    """

    proposal: ActionProposal
    rounds: int = 16
    revival_calls: int = 60_000
    splice: Splice | None = None


@dataclass
class Anchor:
    """Where plays begin.

    Attributes:
        particle: The newest place at which all was known; None for the first state.
    """

    particle: Particle | None = None


Advance: TypeAlias = Callable[[Population], Population]


def extinct(dead: Population) -> Population:
    """No particle."""
    return replace(dead, particles=[])


@dataclass(frozen=True)
class ParticleFilter:
    """Follows a log with a population; the filter itself keeps nothing of it.

    Attributes:
        guide: The log, read as far as it is known.
        initial: The state before any ply.
        proposal: Takes particles a ply further.
        moves: Bring variety into a population that has become poor.
        capacity: How many particles are kept; filters of one log may share it.
        anchor: Where plays begin.
    """

    guide: Guide
    initial: State
    proposal: Proposal
    moves: Moves
    capacity: Capacity
    anchor: Anchor = field(default_factory=Anchor)

    def advance(self, before: Population) -> Population:
        """The population at the decision at which the log now ends.

        Args:
            before: That of the decision before; without particles all begins at the first state.

        Raises:
            BeliefCallsError: If renewing it takes more calls than are allowed.
        """
        return self.renew(self.carried_on(before))

    def carried_on(self, before: Population) -> Population:
        """The population at the decision; none where the calls are spent on the way."""
        try:
            first = before if before.particles else self.start(is_whole=before.is_whole)
            return self.run(first, revive=self.revive)
        except BeliefCallsError:
            return Population([], is_whole=False)

    def start(self, *, is_whole: bool = True) -> Population:
        """The particle to begin with; none where the log does not begin like the first state."""
        if self.anchor.particle is not None:
            return Population([self.anchor.particle], is_whole)
        place = self.guide.follower.start(self.initial)
        if place is None:
            return Population([], is_whole)
        first = Particle(place, 1.0, 0.0, None)
        if not self.capacity.sampled:
            self.capacity.sampled = self._affordable(first)
        return Population([first], is_whole)

    def run(
        self, population: Population, *, revive: Advance = extinct, shortcut: Advance = extinct
    ) -> Population:
        """Play every particle on, ply by ply, until all are at the decision.

        Args:
            population: Where to begin.
            revive: What to go on with where no particle outlives a ply, from those that died.
            shortcut: Gives the particles at the decision, where that can be said without playing.

        Raises:
            BeliefCallsError: If the calls are spent on the way.
        """
        is_present = self.guide.follower.is_present
        for _ in range(MAX_PLIES):
            active = [p for p in population.particles if not is_present(p.place)]
            if not active:
                return population
            present = [p for p in population.particles if is_present(p.place)]
            before = replace(population, particles=active)
            after = shortcut(before)
            if not after.particles:
                before = replace(before, is_whole=after.is_whole)
                after = self.proposal.propose(before, self.capacity)
            if not after.particles and not present:
                after = revive(replace(after, particles=active))
            if not after.particles and not present:
                return after
            after = replace(after, particles=[*present, *after.particles])
            population = self.capacity.fit(after, self.guide.generator)
        return Population([], is_whole=False)

    def renew(self, population: Population) -> Population:
        """The population; drawn anew and moved where it is worth less than half its size."""
        room = self.capacity.room(population)
        if population.is_whole or not population.particles:
            return population
        if population.effective_size >= room / 2:
            return population
        guide = self.guide
        drawn = systematic(population.weights, room, guide.draw()).tolist()
        found = [replace(population.particles[index], weight=1.0 / room) for index in drawn]
        again = [place for place in range(1, room) if drawn[place] == drawn[place - 1]]
        goal, moves = guide.follower.is_present, self.moves
        guide.cost.allow(RENEWAL_CALLS)
        try:
            for _ in range(moves.rounds):
                for place in again:
                    moved = metropolis_hastings_step(
                        found[place], guide, goal, moves.proposal, splice=moves.splice
                    )
                    found[place] = moved or found[place]
        except BeliefCallsError:
            pass  # a particle that was not moved stays as right as it was
        renewed = replace(population, particles=merged(found, guide.draw))
        return self.capacity.fit(renewed, guide.generator)

    def revive(self, dead: Population) -> Population:
        """Particles beyond a ply that none of a population outlived.

        Moves leave the posterior before the ply as it is; of the plays that outlive it, those are
        found that one exchange leads to, or a random end from one of the choices on. What led
        beyond the ply in one play is tried in others first. What is found is only near the
        posterior; the moves that follow bring it nearer.
        """
        guide, rules = self.guide, self.guide.follower.rules
        guide.cost.allow(self.moves.revival_calls)
        heaviest = max(dead.particles, key=lambda particle: particle.weight)
        read, player = heaviest.place.read, rules.current_player(heaviest.place.state)

        def goal(place: LogPlace) -> bool:
            return place.read == read and rules.current_player(place.state) == player

        dead = replace(dead, is_whole=False)
        chains = [replace(p, weight=1.0) for p in dead.particles if goal(p.place)]
        found: list[Particle] = []
        with suppress(BeliefCallsError):  # what was found until then is what there is
            self._search(chains, read, goal, found, self.capacity.room(dead))
        return replace(dead, particles=found)

    def _search(
        self, chains: list[Particle], read: int, goal: Goal, found: list[Particle], room: int
    ) -> None:
        """Move chains that reproduce the log before a ply; what outlives it goes to `found`."""
        guide, before = self.guide, self.guide.until(read)
        hints: list[tuple[int, Action]] = []
        for turn in count():
            if not any(chain.choices for chain in chains):
                return
            for index, chain in enumerate(chains):
                at = hints[int(guide.draw() * len(hints))] if hints and turn % 2 else None
                if turn % 3 < 2:  # noqa: PLR2004 - every third time the end is played at random
                    moved = metropolis_hastings_step(
                        chain, before, goal, self.moves.proposal, at=at
                    )
                else:
                    moved = _replayed(chain, before, goal)
                if moved is None:
                    continue
                chains[index] = moved
                after = propose(replace(moved, weight=1.0), guide)
                if after is None:
                    continue
                if at is None:
                    hints.append(_difference(chain, moved))
                found.append(after)
                if len(found) * ENOUGH >= room:
                    return

    def _affordable(self, first: Particle) -> int:
        """The number of particles that a population may have, by what one play costs."""
        guide = self.guide
        before = guide.cost.calls
        play: Particle | None = first
        while play is not None and not guide.follower.is_present(play.place):
            play = propose(play, guide)
        return max(FEWEST, min(SAMPLED, STARTING_CALLS // (1 + guide.cost.calls - before)))


def _replayed(particle: Particle, guide: Guide, goal: Goal) -> Particle | None:
    """A play with a random end from one of its choices on; None where it does not get there."""
    if not particle.choices:
        return None
    link = particle.links()[int(guide.draw() * particle.choices)]
    new: Particle | None = Particle(link.place, 1.0, link.log_prior, link.before, link.fills)
    for _ in range(MAX_PLIES):
        if new is None or goal(new.place):
            return new
        new = propose(new, guide)
    return None


def _difference(old: Particle, new: Particle) -> tuple[int, Action]:
    """The first choice in which two plays differ, by its depth, and what the new one chose."""
    pairs = zip(old.links(), new.links(), strict=False)
    found = ((b.depth, b.action) for a, b in pairs if a.action != b.action)
    return next(found, (new.choices - 1, ""))


def generic_filter(guide: Guide, initial: State, size: int) -> ParticleFilter:
    """The filter that needs nothing of the module but its rules."""
    proposal = Branching(guide, ROOM * size)
    return ParticleFilter(guide, initial, proposal, Moves(ActionProposal(guide)), Capacity(size))
