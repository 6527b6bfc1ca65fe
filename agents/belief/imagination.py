"""States made up to explain a ply of the log that none of a population outlived."""

from collections.abc import Iterator, Sequence

from agents.belief.facts import CHOKES, Facts, Witness
from agents.search.rules import Rules
from games.contract import Action, Json, State


def imagine(facts: Facts, read: int, actions: Sequence[Action], events: Json, state: State) -> None:
    """Add a ply that no state at hand explains, by a state made up so that it does.

    Two hidden components change places; where no two explain the ply, one zone is filled with
    copies of one component that does, and the copies but one are exchanged for other components as
    long as the ply is perceived as it was.

    Args:
        facts: What is known; a witness is added.
        read: Entries of the log before the ply.
        actions: What the ply may have been; none for whatever is legal then.
        events: What the seat perceived of it.
        state: A state before it.
    """
    if facts.witnesses and read <= facts.witnesses[-1].read:
        return
    for made_up, action in _swapped(facts, state, actions):
        witness = Witness(read, made_up, action, events, {})
        if facts.explains(witness, made_up):
            facts.witnesses.append(witness)
            return
    for made_up, zone, hidden in _filled(facts, state):
        for action in actions or _legal(facts.rules, made_up):
            witness = Witness(read, made_up, action, events, {})
            if facts.explains(witness, made_up):
                facts.witnesses.append(_mixed(facts, witness, zone, hidden))
                return


def _swapped(
    facts: Facts, state: State, actions: Sequence[Action]
) -> Iterator[tuple[State, Action]]:
    """States in which two hidden components changed places, with what they newly allow."""
    zones, seat = facts.zones, facts.seat
    held = {zone: zones.contents(state, zone) for zone in zones.hidden(state, seat)}
    before = set(_legal(facts.rules, state))
    for zone, contents in held.items():
        if not contents or not zones.is_conserved(zone):
            continue
        others = [c for other, theirs in held.items() if other != zone for c in theirs]
        for component in others:
            made_up = zones.exchanged(state, zone, contents[0], component, seat=seat)
            if made_up is not None:
                new = [action for action in _legal(facts.rules, made_up) if action not in before]
                yield from ((made_up, action) for action in actions or new)


def _filled(facts: Facts, state: State) -> Iterator[tuple[State, str, list[str]]]:
    """States in which one zone holds copies of one component; the zone, and what may be in it."""
    zones = facts.zones
    for zone, components in facts.known.items():
        size = len(zones.contents(state, zone))
        hidden = [c for c in components if not zones.is_open(state, zone, c, facts.seat)]
        for component in hidden if size else ():
            yield zones.holding(state, zone, [component] * size), zone, hidden


def _mixed(facts: Facts, witness: Witness, zone: str, hidden: Sequence[str]) -> Witness:
    """The witness with different components in the zone, as far as they go with the ply."""
    contents = facts.zones.contents(witness.state, zone)
    others = iter([c for c in hidden if c != contents[0]])
    for place in range(1, len(contents)):
        for other in others:
            trial = [*contents[:place], other, *contents[place + 1 :]]
            if facts.explains(witness, facts.zones.holding(witness.state, zone, trial)):
                contents = trial
                break
    return witness._replace(state=facts.zones.holding(witness.state, zone, contents))


def _legal(rules: Rules, state: State) -> list[Action]:
    try:
        return rules.legal_actions(state)
    except CHOKES:
        return []
