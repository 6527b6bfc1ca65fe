"""A play a random ply later, in few module calls where many plies are open."""

from agents.belief.follow import Step
from agents.belief.guide import Guide
from agents.belief.particles import Particle
from games.engine import sample_index

FEW = 8  # branches that are always all tried


def stepped(particle: Particle, guide: Guide) -> Particle | None:
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
            step = Step(legal[first], weights[first], after)
            return particle.moved(step, share=1.0, is_open=True)
    steps = guide.steps(place, player, legal)
    if not steps:
        return None
    fits = sum(step.weight for step in steps)
    step = steps[sample_index([step.weight / fits for step in steps], draw())]
    return particle.moved(step, share=fits / (1.0 + fits) if probing else fits, is_open=is_open)
