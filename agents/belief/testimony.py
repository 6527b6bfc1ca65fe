"""What a ply of a population tells of hidden components: the witnesses that facts are asked of."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agents.belief.facts import Facts
from agents.belief.guide import Guide
from agents.belief.imagination import imagine
from agents.belief.particles import Particle

HEARD = 64  # particles whose states are held against what a ply is said to rule out


def testify(
    facts: Facts,
    guide: Guide,
    before: Sequence[Particle],
    after: Sequence[Particle],
    zones: Iterable[str],
) -> None:
    """Remember a ply that reproduced an entry of the log, with a state before it.

    Args:
        facts: What is known; a witness is added.
        guide: The log.
        before: The particles whose ply it is, at least one.
        after: Those that outlived it; where there are none, a state is made up that would have.
        zones: Hidden zones that components are dealt to.
    """
    read, entries = before[0].place.read, guide.follower.entries
    entry = entries[read] if read < len(entries) else {}
    action, told = entry.get("action"), entry
    if isinstance(action, str):
        told = entries[read + 1] if read + 1 < len(entries) else {}
    else:
        player = guide.follower.rules.current_player(before[0].place.state)
        lone = guide.lone.get((read, player))
        action = None if lone is None else lone.action
    if "events" not in told:
        return
    if not after:
        actions = [] if action is None else [action]
        imagine(facts, read, actions, told["events"], before[0].place.state)
    elif action is not None:
        states = (particle.place.state for particle in before if particle.place.read == read)
        held = {
            zone: [facts.zones.contents(p.place.state, zone) for p in after[:HEARD]]
            for zone in zones
        }
        facts.witness((read, action, told["events"]), states, held)


def imagined(facts: Facts, guide: Guide, dead: Particle) -> Particle | None:
    """A particle beyond a ply that none outlived, in the state made up to explain the ply.

    It reproduces the log no more: it serves to hear what the rest of the log tells.

    Args:
        facts: What is known; its newest witness is of the ply, if it could be explained.
        guide: The log.
        dead: A particle before the ply.
    """
    if not facts.witnesses or facts.witnesses[-1].read != dead.place.read:
        return None
    witness = facts.witnesses[-1]
    place = dead.place._replace(state=witness.state)
    steps = [step for step in guide.follower.steps(place) if step.action == witness.action]
    return replace(dead, place=steps[0].place) if steps else None
