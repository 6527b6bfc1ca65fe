"""Weighted full states and the open choices that led to each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.belief.follow import Place, Step
from games.contract import Action, canonical_key


class Link(NamedTuple):
    """A choice that the log left open, on the way to a particle.

    Attributes:
        before: The choice before it, or None.
        place: Where it was made.
        action: What was chosen.
        after: Where it led.
        depth: Choices before it.
        fills: Components that had come into hidden zones by then, where they are counted.
        mass: The particle's mass before it.
        chance: Its probability, before the log was read.
    """

    before: "Link | None"
    place: Place
    action: Action
    after: Place
    depth: int
    fills: int
    mass: float
    chance: float


@dataclass(frozen=True, slots=True)
class Particle:
    """One full state that reproduces the log, and the play that led to it.

    Attributes:
        place: The state, and how much of the log it has reproduced.
        weight: Its importance; a population's weights sum to 1.
        mass: Log of the probability of the plies of chance and of other seats in this play.
        last: The last open choice on the way here, or None.
        fills: Components that came into hidden zones on the way here, where they are counted.
    """

    place: Place
    weight: float
    mass: float
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

    def moved(self, step: Step, *, share: float, is_open: bool, fills: int = 0) -> "Particle":
        """This particle one ply later.

        Args:
            step: The ply, with its probability and where it led.
            share: What it multiplies the particle's importance by.
            is_open: Whether the log left the ply open.
            fills: Components that it put into hidden zones.
        """
        last = self.last
        if is_open:
            here, depth = self.place, self.choices
            last = Link(
                last, here, step.action, step.place, depth, self.fills, self.mass, step.weight
            )
        mass = self.mass + log(step.weight)
        return Particle(step.place, self.weight * share, mass, last, self.fills + fills)


def branched(particle: Particle, steps: Sequence[Step], *, is_open: bool) -> list[Particle]:
    """The particle after each of the steps, its importance shared out by their weights."""
    return [
        particle.moved(step, share=step.weight, is_open=is_open)
        for step in steps
        if step.weight > 0
    ]


def families(particles: Sequence[Particle]) -> NDArray[np.int64]:
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
