"""Weighted particles: full states, the open choices that led to each, resampling and draws."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.belief.follow import Branch, LogPlace
from games.values import Action, State, canonical_key

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def effective_size(weights: Floats) -> float:
    """The number of equal weights that are as good: `(sum w)^2 / sum w^2` (Kish 1965).

    Args:
        weights: `[N]`, at least 0, unnormalised.

    Returns:
        From 1 to N; 0 where all weights are 0 or there are none.

    >>> effective_size(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    squares = float(np.sum(weights**2))
    return 0.0 if squares == 0.0 else float(np.sum(weights)) ** 2 / squares


def systematic(weights: Floats, count: int, uniform: float) -> Ints:
    """Indices drawn by systematic resampling: index i comes `count * w_i` times, rounded.

    Positions `(uniform + k) / count` for k = 0..count-1 are looked up in the cumulated
    normalised weights (Kitagawa 1996), so every index is drawn within one of its expectation.

    Args:
        weights: `[N]`, at least 0, unnormalised, not all 0.
        count: Draws, at least 1.
        uniform: A uniform number in [0, 1).

    Returns:
        `[count]`, ascending.
    """
    reached = np.cumsum(weights)
    places = (uniform + np.arange(count)) * (reached[-1] / count)
    found: Ints = np.searchsorted(reached, places, side="right")
    last = np.flatnonzero(weights)[-1]  # rounding left the last sliver uncovered
    return np.where(found < last, found, last)


def thinned(
    weights: Floats, count: int, generator: np.random.Generator, *, families: Ints | None = None
) -> tuple[Ints, Floats]:
    """At most `count` of the samples, with new weights whose expectation is the old ones.

    The optimal resampling of Fearnhead & Clifford (2003, §4): with the threshold k that solves
    `sum min(1, w_i / k) = count`, samples of weight at least k are kept as they are; the others
    are kept with probability `w_i / k`, by systematic draws in random order, and then weigh k. No
    sample comes twice, which suits states that can be enumerated.

    Args:
        weights: `[N]`, at least 0.
        count: Samples to keep, at least 1.
        generator: The only source of randomness.
        families: `[N]` which samples branched from the same one. The draws then go through family
            after family, in random order within each, so that families of equal weight keep
            equally many: drawn in a random order of all, of N equal families each time one in e
            would die out, and after N times nearly all samples would have one ancestor.

    Returns:
        Indices kept, ascending, and their weights; all of positive weight where they are no more
        than `count`.
    """
    positive = np.flatnonzero(weights)
    if len(positive) <= count:
        return positive, weights[positive]
    order = positive[np.argsort(-weights[positive], kind="stable")]
    ranked = weights[order]
    rest = np.cumsum(ranked[::-1])[::-1]
    thresholds = rest[:count] / (count - np.arange(count))
    heavy = int(np.argmax(ranked[:count] < thresholds))
    threshold = thresholds[heavy]
    # In their own order draws would fall into step with children that come in equal numbers.
    light = generator.permutation(order[heavy:])
    if families is not None:
        light = light[np.argsort(families[light], kind="stable")]
    drawn = np.unique(light[systematic(weights[light], count - heavy, float(generator.random()))])
    kept = np.concatenate((order[:heavy], drawn))
    new = np.concatenate((ranked[:heavy], np.full(len(drawn), threshold)))
    ascending = np.argsort(kept)
    return kept[ascending], new[ascending]


class Link(NamedTuple):
    """A choice that the log left open, on the way to a particle.

    Attributes:
        before: The choice before it, or None.
        place: Where it was made.
        action: What was chosen.
        after: Where it led.
        depth: Choices before it.
        fills: Components that had come into hidden zones by then, where they are counted.
        log_prior: The particle's log-probability before it.
        chance: Its probability, before the log was read.
    """

    before: "Link | None"
    place: LogPlace
    action: Action
    after: LogPlace
    depth: int
    fills: int
    log_prior: float
    chance: float


@dataclass(frozen=True, slots=True)
class Particle:
    """One full state that reproduces the log, and the play that led to it.

    Attributes:
        place: The state, and how much of the log it has reproduced.
        weight: Its importance; a population's weights sum to 1.
        log_prior: Log of the probability of the plies of chance and of other seats in this play.
        last: The last open choice on the way here, or None.
        fills: Components that came into hidden zones on the way here, where they are counted.
    """

    place: LogPlace
    weight: float
    log_prior: float
    last: Link | None
    fills: int = 0

    @property
    def choices(self) -> int:
        """Open choices on the way here."""
        return 0 if self.last is None else self.last.depth + 1

    def links(self) -> list[Link]:
        """The open choices on the way here, oldest first."""
        found, link = [], self.last
        while link is not None:
            found.append(link)
            link = link.before
        return found[::-1]

    def moved(self, branch: Branch, *, share: float, is_open: bool, fills: int = 0) -> "Particle":
        """This particle one ply later.

        Args:
            branch: The ply, with its probability and where it led.
            share: What it multiplies the particle's importance by.
            is_open: Whether the log left the ply open.
            fills: Components that it put into hidden zones.
        """
        last = self.last
        if is_open:
            here, depth = self.place, self.choices
            last = Link(
                last,
                here,
                branch.action,
                branch.place,
                depth,
                self.fills,
                self.log_prior,
                branch.weight,
            )
        log_prior = self.log_prior + log(branch.weight)
        return Particle(branch.place, self.weight * share, log_prior, last, self.fills + fills)


def _siblings(particles: Sequence[Particle]) -> NDArray[np.int64]:
    """`[N]` the same number for particles whose last open choice was made at the same place."""
    numbers: dict[int, int] = {}
    places = (particle.last.place if particle.last else particle.place for particle in particles)
    return np.array([numbers.setdefault(id(place), len(numbers)) for place in places])


def merged(particles: Sequence[Particle], draw: Callable[[], float]) -> list[Particle]:
    """One particle for each distinct place, with the importance of all that met there.

    Its play is that of one of them, drawn by weight.
    """
    met: dict[tuple[int, str], Particle] = {}
    for particle in particles:
        where = (particle.place.read, canonical_key(particle.place.state))
        first = met.get(where)
        if first is None:
            met[where] = particle
            continue
        weight = first.weight + particle.weight
        chosen = particle if draw() * weight < particle.weight else first
        met[where] = replace(chosen, weight=weight)
    return list(met.values())


@dataclass(frozen=True)
class Population:
    """The particles of one log, all as far as the same ply or at the decision.

    Attributes:
        particles: The particles; after a ply their weights need not sum to 1.
        is_whole: Whether they are the whole posterior: nothing was thinned or sampled.
        is_dealing: Whether the newest ply dealt components to hidden zones.
    """

    particles: Sequence[Particle]
    is_whole: bool
    is_dealing: bool = False

    @property
    def weights(self) -> Floats:
        """`[N]` the particles' weights."""
        return np.array([particle.weight for particle in self.particles])

    @property
    def effective_size(self) -> float:
        """See `effective_size`."""
        return effective_size(self.weights)


@dataclass
class Capacity:
    """The number of particles that are kept.

    Attributes:
        whole: While they may be the whole posterior.
        sampled: Where they stand for a larger one; 0 until known.
        breadth: Multiple of these that is kept while components are dealt.
    """

    whole: int
    sampled: int = 0
    breadth: int = 1

    def room(self, population: Population) -> int:
        """The number of a population's particles that are kept."""
        room = self.whole if population.is_whole else min(self.whole, self.sampled)
        return room * self.breadth if population.is_dealing else room

    def fit(self, population: Population, generator: np.random.Generator) -> Population:
        """As many of the particles as are kept, with weights that sum to 1."""
        particles, weights = population.particles, population.weights
        if len(particles) > (room := self.room(population)):
            kept, weights = thinned(weights, room, generator, families=_siblings(particles))
            particles = [particles[index] for index in kept]
            population = replace(population, is_whole=False)
        total = float(weights.sum())
        fitting = [
            replace(p, weight=float(w) / total) for p, w in zip(particles, weights, strict=True)
        ]
        return replace(population, particles=fitting)


BLOCK = 1024  # draws made at once


def systematic_draws(
    states: Sequence[State], weights: Floats, generator: np.random.Generator
) -> Iterator[State]:
    """Draws of states by weight without end, in shuffled blocks of systematic draws.

    Over a block a state comes within one of its expected number of times; `BLOCK` independent draws
    would miss it by its square root.

    Args:
        states: `[N]` distinct states; of none there are no draws.
        weights: `[N]` their weights, at least 0, unnormalised.
        generator: The only source of randomness.
    """
    while states:
        block = systematic(weights, BLOCK, float(generator.random()))
        for index in reversed(generator.permutation(block).tolist()):
            yield states[index]
