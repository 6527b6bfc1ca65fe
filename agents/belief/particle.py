"""The generic particle filter: nothing of the module but its rules.

A population of full states that reproduce one seat's log, with weights that are, up to a factor,
`P(plies | game) / P(plies were proposed)`. Every ply that the log leaves open is branched on:
chance by its probabilities, other seats by the stated opponent model. While all branches fit into
the population it is the exact posterior; beyond that it is thinned without bias (Fearnhead &
Clifford 2003), and where a place has too many branches to try them all, they are sampled. When the
effective size falls below half, it is drawn anew by weight, and what came twice is moved by
Markov moves that exchange one open choice of its play (resample-move, Gilks & Berzuini 2001; see
`exchange`). Where nothing reproduces the next entry, such moves look for a play that does.

The population is a function of the log, the size and the seed alone: its random numbers are keyed
by the log's content. Brought up to date decision by decision, or built at once after a resume, it
is the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from agents.belief.counting import BeliefCallsError, CallCount, counted_rules
from agents.belief.exchange import MAX_PLIES, exchanged, revived
from agents.belief.follow import Follower, OpponentModel, Place, decisions, uniform_opponent
from agents.belief.guide import SURE, Guide
from agents.belief.particles import Particle, branched, families, merged
from agents.belief.proposals import AnyAction, Proposals
from agents.belief.stepping import stepped
from agents.belief.weights import effective_size, systematic, thinned
from agents.search.rollouts import uniforms
from agents.search.rules import Rules
from games.contract import Json, State, canonical_key
from games.streams import stream

Revived: TypeAlias = Callable[[list[Particle]], list[Particle]]

SIZE = 512  # particles that may be the whole posterior
SAMPLED = 192  # particles that stand for a larger one, at the most
FEWEST = 24  # and at the least, where a play takes many calls
STARTING_CALLS = 20_000  # module calls for the population of the first decision, about
ROOM = 8  # branches tried at once, as a multiple of the population's size
CALLS = 100_000  # module calls for the entries between two decisions
RENEWAL_CALLS = 10_000  # for renewing a population that has become poor
ENOUGH = 4  # a revival stops at the size over this


class ParticleSampler:
    """Samples full states of one seat's log by a particle filter.

    Attributes:
        particles: The population at the last decision that was read; empty where nothing was found.
        complete: Whether the population is the whole posterior, nothing thinned or sampled.
        tried: States that were tried against the log's next entry, of the newest decision's.
        fitted: Those of them that reproduced it.
        spent: Module calls for the entries of the newest decision.
        cost: Module calls of this sampler in all.
    """

    name = "particle"
    revival_calls = 60_000  # for finding plays that outlive a ply that none did
    moves = 16  # of a particle that was drawn twice

    def __init__(
        self,
        rules: Rules,
        seat: int,
        initial: State,
        *,
        size: int = SIZE,
        seed: int = 0,
        opponents: OpponentModel = uniform_opponent,
    ) -> None:
        """Start at the state before any ply.

        Args:
            rules: The module's functions.
            seat: The seat whose log is followed.
            initial: The state before any ply.
            size: Particles kept, at least 1.
            seed: Another population for the same log, where one is wanted.
            opponents: How the other seats are taken to play.
        """
        self.cost = CallCount()
        self.rules = counted_rules(rules, self.cost)
        self.seat = seat
        self.initial = initial
        self.size = size
        self.seed = seed
        self.guide = Guide(Follower(self.rules, seat, [], opponents), lambda: 0.0)
        self.proposals: Proposals = AnyAction(self.guide)
        self.generator = np.random.default_rng(0)  # replaced before it is used
        self.draw: Callable[[], float] = lambda: 0.0
        self.entries: list[dict[str, Json]] = []
        self.content = sha256()
        self.particles: list[Particle] = []
        self.complete = True
        self.tried = self.fitted = self.spent = 0
        self.sampled = 0  # particles that stand for a posterior that is larger; 0 until known
        self.dead = 0  # decisions in a row at which nothing was found

    def update(self, entries: Sequence[dict[str, Json]]) -> None:
        """Read what is new in the log; start over if it is another log than before.

        Args:
            entries: The whole log at a decision of the seat, oldest entry first.
        """
        if entries[: len(self.entries)] != self.entries:
            self._forget()
        for end in decisions(entries, after=len(self.entries)):
            for entry in entries[len(self.entries) : end]:
                self.content.update(canonical_key(entry).encode())
            self.entries = list(entries[:end])
            self._read()

    def effective_samples(self) -> float:
        """Kish's effective size of the population."""
        return effective_size(np.array([particle.weight for particle in self.particles]))

    def _forget(self) -> None:
        """Know of no log."""
        self.entries, self.content, self.particles, self.complete = [], sha256(), [], True
        self.sampled = self.dead = 0
        self.guide.lone.clear()
        self.proposals = AnyAction(self.guide)

    def _read(self) -> None:
        """Bring the population to the decision at which the log now ends."""
        words = int.from_bytes(self.content.digest()[:8], "little")
        self.generator = stream(
            words, "belief", match=self.seed, seat=self.seat, ply=len(self.entries)
        )
        self.draw = uniforms(self.generator).__next__
        self.guide.read_to(self.entries, self.draw)
        self.tried, self.fitted, before = 0, 0, self.cost.calls
        self.cost.allow(CALLS)
        try:
            if self.particles or self.dead.bit_count() < 2:  # noqa: PLR2004 - 0, 1, 2, 4, 8, ...
                self.particles = self._renewed(self._carried_on())
        except BeliefCallsError:
            self.particles = []
        self.dead = 0 if self.particles else self.dead + 1
        self.cost.allow(float("inf"))
        self.complete = self.complete and bool(self.particles)
        self.spent = self.cost.calls - before

    def _carried_on(self) -> list[Particle]:
        """The population at the decision; none where the calls are spent on the way."""
        try:
            return self._run(self.particles or self._started(), self._revived)
        except BeliefCallsError:
            return []

    def _started(self) -> list[Particle]:
        start = self.guide.follower.start(self.initial)
        if start is None:
            return []
        first = Particle(start, 1.0, 0.0, None)
        if not self.sampled:
            self.sampled = self._affordable(first)
        return [first]

    def _affordable(self, first: Particle) -> int:
        """How many particles a population may have, by what one play costs."""
        before, played = self.cost.calls, [first]
        while played and not self.guide.follower.is_present(played[0].place):
            after = self._stepped(played[0])
            played = [] if after is None else [after]
        return max(FEWEST, min(SAMPLED, STARTING_CALLS // (1 + self.cost.calls - before)))

    def _run(self, particles: list[Particle], revived: Revived) -> list[Particle]:
        """Play every particle on, ply by ply, until all are at the decision.

        Args:
            particles: Where to begin.
            revived: What to go on with where no particle outlives a ply.
        """
        follower = self.guide.follower
        for _ in range(MAX_PLIES):
            active = [p for p in particles if not follower.is_present(p.place)]
            if not active:
                return particles
            present = [p for p in particles if follower.is_present(p.place)]
            children = self._leapt(active) or self._children(active)
            if not children and not present:
                children = revived(active)
            if not children and not present:
                return []
            particles = self._fitting(present + children)
        return []

    def _leapt(self, _dealt: list[Particle], /) -> list[Particle]:
        """The particles at the decision, where that can be said without playing; else none."""
        return []

    def _children(self, active: list[Particle]) -> list[Particle]:
        """Where the particles may be a ply later: every branch, or a sample of them."""
        room, children = ROOM * self.size, []
        for index, particle in enumerate(active):
            player = self.rules.current_player(particle.place.state)
            legal = self.rules.legal_actions(particle.place.state)
            is_open = self.guide.is_open(particle.place, player, legal)
            if is_open and (index >= SURE or self.guide.is_known_open(particle.place, player)):
                room -= len(legal)
                if room < len(legal) * (len(active) - index - 1):
                    return self._sampled(active)
            steps = self.guide.steps(particle.place, player, legal)
            self._tally(len(steps))
            children += branched(particle, steps, is_open=is_open)
        return merged(children, self.draw) if len(children) > len(active) else children

    def _sampled(self, active: list[Particle]) -> list[Particle]:
        """One random branch of each of as many particles as are kept, drawn by weight."""
        self.complete = False
        weights, count = np.array([particle.weight for particle in active]), self._room()
        each = float(weights.sum()) / count
        drawn = systematic(weights, count, self.draw())
        after = (self._stepped(replace(active[index], weight=each)) for index in drawn)
        return [particle for particle in after if particle is not None]

    def _stepped(self, particle: Particle) -> Particle | None:
        """The particle a random ply later; None where no ply reproduces the log."""
        after = stepped(particle, self.guide)
        self._tally(after is not None)
        return after

    def _tally(self, fits: int) -> None:
        self.tried += 1
        self.fitted += fits > 0

    def _room(self) -> int:
        """Particles that are kept."""
        return self.size if self.complete else min(self.size, self.sampled)

    def _fitting(self, particles: list[Particle]) -> list[Particle]:
        """As many of the particles as are kept, with weights that sum to 1."""
        weights = np.array([particle.weight for particle in particles])
        if len(particles) > (room := self._room()):
            self.complete = False
            kept, weights = thinned(weights, room, self.generator, families=families(particles))
            particles = [particles[index] for index in kept]
        total = float(weights.sum())
        return [
            replace(p, weight=float(w) / total) for p, w in zip(particles, weights, strict=True)
        ]

    def _renewed(self, particles: list[Particle]) -> list[Particle]:
        """The population; drawn anew and moved where it is worth less than half its size."""
        weights = np.array([particle.weight for particle in particles])
        if self.complete or not particles or effective_size(weights) >= self._room() / 2:
            return particles
        count = self._room()
        drawn = systematic(weights, count, self.draw()).tolist()
        found = [replace(particles[index], weight=1.0 / count) for index in drawn]
        again = [place for place in range(1, count) if drawn[place] == drawn[place - 1]]
        self.cost.allow(RENEWAL_CALLS)
        try:
            for _ in range(self.moves):
                for place in again:
                    found[place] = self._exchanged(found[place]) or found[place]
        except BeliefCallsError:
            pass  # a particle that was not moved stays as right as it was
        return self._fitting(merged(found, self.draw))

    def _exchanged(self, particle: Particle) -> Particle | None:
        """A particle after one move; None where it stays as it is."""
        return exchanged(particle, self.guide, self.guide.follower.is_present, self.proposals)

    def _revived(self, dead: list[Particle]) -> list[Particle]:
        """Particles beyond a ply that no particle outlived."""
        self.cost.allow(self.revival_calls)
        heaviest = max(dead, key=lambda particle: particle.weight)
        read, player = heaviest.place.read, self.rules.current_player(heaviest.place.state)

        def goal(place: Place) -> bool:
            return place.read == read and self.rules.current_player(place.state) == player

        self.complete = False
        before = replace(self.guide.follower, entries=self.entries[:read])
        chains = [replace(p, weight=1.0) for p in dead if goal(p.place)]
        found = list[Particle]()
        revive = revived(chains, (self.guide, before), goal, self.proposals, self._stepped)
        try:
            for particle in revive:
                found.append(particle)
                if len(found) * ENOUGH >= self._room():
                    break
        except BeliefCallsError:
            pass  # what was found until then is what there is
        return found
