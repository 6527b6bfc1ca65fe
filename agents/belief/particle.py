"""The generic particle filter: nothing of the module but its rules.

A population of full states that reproduce one seat's log, with weights that are, up to a factor,
`P(plies | game) / P(plies were proposed)`. Every ply that the log leaves open is branched on:
chance by its probabilities, other seats by the stated opponent model. While all branches fit into
the population it is the exact posterior; beyond that it is thinned without bias (Fearnhead &
Clifford 2003), and where a place has too many branches to try them all, they are sampled. When the
effective size falls below half, or nothing reproduces the next entry, particles are renewed: from a
random earlier choice the game is played again so that the seat sees what it saw, and the new play
is accepted by the Metropolis-Hastings rule (resample-move, Gilks & Berzuini 2001).

The population is a function of the log, the size and the seed alone: its random numbers are keyed
by the log's content. Brought up to date decision by decision, or built at once after a resume, it
is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from agents.belief.counting import BeliefCallsError, CallCount, counted_rules
from agents.belief.follow import Follower, OpponentModel, Place, uniform_opponent
from agents.belief.guide import SURE, Guide
from agents.belief.particles import Particle, branched, merged
from agents.belief.renewal import MAX_PLIES, renew_all, revive
from agents.belief.weights import effective_size, systematic, thinned
from agents.search.rollouts import uniforms
from agents.search.rules import Rules
from games.contract import TERMINAL, Json, State, canonical_key
from games.engine import sample_index
from games.streams import stream

Revived: TypeAlias = Callable[[list[Particle]], list[Particle]]

SIZE = 512
ROOM = 8  # branches tried at once, as a multiple of the population's size
CALLS = 100_000  # module calls for the entries between two decisions
RENEWAL_CALLS = 30_000  # of these, for renewing a population that has become poor
FEW = 8  # branches that a renewed play always tries all
ATTEMPTS = 200  # renewals a particle, looking for one that outlives a ply, while calls last
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
        self.generator = np.random.default_rng(0)  # replaced before it is used
        self.draw: Callable[[], float] = lambda: 0.0
        self.entries: list[dict[str, Json]] = []
        self.content = sha256()
        self.particles: list[Particle] = []
        self.complete = True
        self.tried = self.fitted = self.spent = 0

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
        self.guide.lone.clear()

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
            particles = self.particles or self._started()
            self.particles = self._renewed(self._run(particles, self._revived))
        except BeliefCallsError:
            self.particles = []
        self.cost.allow(float("inf"))
        self.complete = self.complete and bool(self.particles)
        self.spent = self.cost.calls - before

    def _started(self) -> list[Particle]:
        start = self.guide.follower.start(self.initial)
        return [] if start is None else [Particle(start, 1.0, 0.0, None)]

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
            children = self._children(active)
            if not children and not present:
                children = revived(active)
            if not children and not present:
                return []
            particles = self._fitting(present + children)
        return []

    def _children(self, active: list[Particle]) -> list[Particle]:
        """Where the particles may be a ply later: every branch, or a sample of them."""
        room, children = ROOM * self.size, []
        for index, particle in enumerate(active):
            player = self.rules.current_player(particle.place.state)
            legal = self.rules.legal_actions(particle.place.state)
            if index >= SURE and not self._is_narrow(particle, player):
                room -= len(legal)
                if room < len(legal) * (len(active) - index - 1):
                    return self._sampled(active)
            steps = self.guide.steps(particle.place, player, legal)
            self._tally(len(steps))
            children += branched(particle, steps)
        return merged(children) if len(children) > len(active) else children

    def _is_narrow(self, particle: Particle, player: int) -> bool:
        """Whether one ply alone is taken to go on from here."""
        known = self.guide.lone.get((particle.place.read, player))
        return player in (self.seat, TERMINAL) or (known is not None and known.places >= SURE)

    def _sampled(self, active: list[Particle]) -> list[Particle]:
        """One random branch of each of `size` particles, drawn by weight."""
        self.complete = False
        weights = np.array([particle.weight for particle in active])
        each = float(weights.sum()) / self.size
        drawn = systematic(weights, self.size, self.draw())
        after = (self._stepped(replace(active[index], weight=each)) for index in drawn)
        return [particle for particle in after if particle is not None]

    def _stepped(self, particle: Particle) -> Particle | None:
        """The particle a random ply later; None where no ply reproduces the log.

        Where few plies are open all are tried, one is drawn among those that fit, and the weight is
        multiplied by their probability F. Of many, two are drawn first: if both fit, the first one
        is taken and the weight stays; else all are tried and the factor is `F / (1 + F)`. Its
        expectation is `F^2 + (1 - F^2) F / (1 + F) = F` as well.
        """
        place = particle.place
        player = self.rules.current_player(place.state)
        legal = self.rules.legal_actions(place.state)
        probing = len(legal) > FEW and not self._is_narrow(particle, player)
        if probing:
            follower = self.guide.follower
            weights = follower.weights(place.state, player, legal)
            first, second = (legal[sample_index(weights, self.draw())] for _ in "ab")
            after = follower.after(place, first)
            if after is not None and follower.after(place, second) is not None:
                self._tally(1)
                return particle.moved(after, factor=1.0, share=1.0, is_choice=True)
        steps = self.guide.steps(place, player, legal)
        self._tally(len(steps))
        if not steps:
            return None
        fits = sum(step.weight for step in steps)
        step = steps[sample_index([step.weight / fits for step in steps], self.draw())]
        factor = fits / (1.0 + fits) if probing else fits
        return particle.moved(step.place, factor=factor, share=factor, is_choice=len(steps) > 1)

    def _tally(self, fits: int) -> None:
        self.tried += 1
        self.fitted += fits > 0

    def _room(self) -> int:
        """Particles that are kept."""
        return self.size

    def _fitting(self, particles: list[Particle]) -> list[Particle]:
        """As many of the particles as are kept, with weights that sum to 1."""
        weights = np.array([particle.weight for particle in particles])
        if len(particles) > self._room():
            self.complete = False
            kept, weights = thinned(weights, self._room(), self.generator)
            particles = [particles[index] for index in kept]
        total = float(weights.sum())
        return [
            replace(p, weight=float(w) / total) for p, w in zip(particles, weights, strict=True)
        ]

    def _renewed(self, particles: list[Particle]) -> list[Particle]:
        """The population, with new particles in it where it is worth less than half its size."""
        weights = np.array([particle.weight for particle in particles])
        if self.complete or not particles or effective_size(weights) >= self.size / 2:
            return particles
        goal, found = self.guide.follower.is_present, list[Particle]()
        self.cost.allow(RENEWAL_CALLS)
        try:
            for particle in renew_all(particles, self.size, self._stepped, goal, self.draw):
                found.append(particle)
        except BeliefCallsError:
            # What was renewed before the calls were spent stands for its share of the population.
            share = len(found) / self.size
            found += [replace(p, weight=p.weight * (1.0 - share)) for p in particles]
        return self._fitting(merged(found))

    def _revived(self, dead: list[Particle]) -> list[Particle]:
        """Particles beyond a ply that no particle outlived."""
        heaviest = max(dead, key=lambda particle: particle.weight)
        read, player = heaviest.place.read, self.rules.current_player(heaviest.place.state)

        def goal(place: Place) -> bool:
            return place.read == read and self.rules.current_player(place.state) == player

        def before(particle: Particle) -> Particle | None:
            self.guide.follower = replace(follower, entries=follower.entries[:read])
            try:
                return self._stepped(particle)
            finally:
                self.guide.follower = follower

        self.complete = False
        follower, found = self.guide.follower, list[Particle]()
        there = [particle for particle in dead if goal(particle.place)]
        try:
            for particle in revive(there, ATTEMPTS, (before, self._stepped), goal, self.draw):
                found.append(particle)
                if len(found) * ENOUGH >= self.size:
                    break
        except BeliefCallsError:
            if not found:
                raise
        return found


def decisions(entries: Sequence[Mapping[str, Json]], after: int) -> list[int]:
    """How much of the log had been written at each decision of its seat.

    Args:
        entries: The log at a decision.
        after: Decisions up to this length are left out.

    >>> decisions([{"events": []}, {"action": "a"}, {"events": []}], after=0)
    [1, 3]
    """
    made = [index for index, entry in enumerate(entries) if "action" in entry]
    return [end for end in (*made, len(entries)) if end > after]
