"""What a ply of a population tells of hidden components: the witnesses that facts are asked of."""

from collections.abc import Iterable, Sequence

from agents.belief.facts import Facts
from agents.belief.guide import Guide
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
        facts.imagine(read, actions, told["events"], before[0].place.state)
    elif action is not None:
        states = (particle.place.state for particle in before if particle.place.read == read)
        held = {
            zone: [facts.zones.contents(p.place.state, zone) for p in after[:HEARD]]
            for zone in zones
        }
        facts.witness((read, action, told["events"]), states, held)
