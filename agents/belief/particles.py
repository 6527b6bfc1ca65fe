"""Weighted full states and the open choices that led to each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

from agents.belief.follow import Place, Step
from games.contract import canonical_key


class Link(NamedTuple):
    """A choice that the log left open, on the way to a particle.

    Attributes:
        before: The choice before it, or None.
        place: Where it was made.
        mass: Log of the play's proposal weight until then.
        depth: Choices before it.
    """

    before: "Link | None"
    place: Place
    mass: float
    depth: int


@dataclass(frozen=True, slots=True)
class Particle:
    """One full state that reproduces the log.

    Attributes:
        place: The state, and how much of the log it has reproduced.
        weight: Its importance; a population's weights sum to 1.
        mass: Log of the weight that this play alone would have, proposed from the start.
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

    def moved(self, place: Place, *, factor: float, share: float, is_choice: bool) -> "Particle":
        """This particle one ply later.

        Args:
            place: Where the ply led.
            factor: What the ply multiplies the play's own proposal weight by.
            share: What it multiplies the particle's importance by.
            is_choice: Whether the log left the ply open.
        """
        last = self.last
        if is_choice:
            last = Link(last, self.place, self.mass, self.choices)
        return Particle(place, self.weight * share, self.mass + log(factor), last, self.fills)

    def choice(self, depth: int) -> Link:
        """The open choice with `depth` choices before it.

        Raises:
            LookupError: If there are not so many.
        """
        link = self.last
        while link is not None and link.depth > depth:
            link = link.before
        if link is None:
            raise LookupError(f"there are {self.choices} choices; required: more than {depth}")
        return link


def branched(particle: Particle, steps: Sequence[Step]) -> list[Particle]:
    """The particle after each of the steps, its importance shared out by their weights."""
    fits = sum(step.weight for step in steps)
    return [
        particle.moved(step.place, factor=fits, share=step.weight, is_choice=len(steps) > 1)
        for step in steps
    ]


def merged(particles: Sequence[Particle]) -> list[Particle]:
    """One particle for each distinct place, with the importance of all that met there."""
    met: dict[tuple[int, str], Particle] = {}
    for particle in particles:
        where = (particle.place.read, canonical_key(particle.place.state))
        first = met.get(where)
        if first is not None:
            particle = replace(first, weight=first.weight + particle.weight)  # noqa: PLW2901
        met[where] = particle
    return list(met.values())
