"""New particles from old ones: the game is played again from a random earlier choice.

A renewal of a play with n open choices picks one of them uniformly and proposes new plies from
there on, ply by ply among those that reproduce the log. With W the product over the plies of the
probability that any ply fitted, the new play with W' and n' is accepted with probability
`min(1, (W' / n') / (W / n))`: the Metropolis-Hastings rule for an independent suffix, under which
the posterior stays as it is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import exp, log
from typing import TypeAlias

import numpy as np

from agents.belief.follow import Place
from agents.belief.particles import Particle
from agents.belief.weights import systematic

Stepped: TypeAlias = Callable[[Particle], Particle | None]
Goal: TypeAlias = Callable[[Place], bool]
MAX_PLIES = 2000


def renewed(
    particle: Particle, stepped: Stepped, goal: Goal, draw: Callable[[], float]
) -> Particle | None:
    """One renewal of a play that is at its goal.

    Args:
        particle: The play.
        stepped: Gives a play a random ply later, None where nothing reproduces the log.
        goal: Whether a play is as far as it is to go.
        draw: Gives the next uniform number in [0, 1).

    Returns:
        The new play, with the old one's importance; None where it was not accepted.
    """
    count = particle.choices
    if not count:
        return None
    link = particle.choice(int(draw() * count))
    proposal: Particle | None = Particle(link.place, particle.weight, link.mass, link.before)
    for _ in range(MAX_PLIES):
        if proposal is None:
            return None
        if goal(proposal.place):
            break
        proposal = stepped(proposal)
    else:
        return None
    if not proposal.choices:
        return None
    gain = proposal.mass - particle.mass + log(count / proposal.choices)
    return replace(proposal, weight=particle.weight) if draw() < exp(min(0.0, gain)) else None


def renew_all(
    particles: Sequence[Particle],
    count: int,
    stepped: Stepped,
    goal: Goal,
    draw: Callable[[], float],
) -> Iterator[Particle]:
    """`count` equally weighted particles drawn from a population, each renewed once."""
    weights = np.array([particle.weight for particle in particles])
    for index in systematic(weights, count, draw()):
        particle = replace(particles[index], weight=1.0 / count)
        yield renewed(particle, stepped, goal, draw) or particle


def revive(
    particles: Sequence[Particle],
    attempts: int,
    stepped: tuple[Stepped, Stepped],
    goal: Goal,
    draw: Callable[[], float],
) -> Iterator[Particle]:
    """Particles beyond a ply that none of a population outlived.

    Renewals leave the posterior before that ply as it is; what outlives the ply among them is drawn
    from the posterior after it.

    Args:
        particles: The population before the ply, all at `goal`.
        attempts: Renewals in a row, a particle on average.
        stepped: A random ply later, in the log before the ply and in the log with it.
        goal: Whether a play is where the population died.
        draw: Gives the next uniform number in [0, 1).
    """
    before, beyond = stepped
    chains = list(particles)
    weights = np.array([particle.weight for particle in particles])
    for _ in range(attempts):
        for index in systematic(weights, len(chains), draw()):
            moved = renewed(chains[index], before, goal, draw)
            if moved is None:
                continue
            chains[index] = moved
            after = beyond(replace(moved, weight=1.0))
            if after is not None:
                yield after
