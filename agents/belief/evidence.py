"""Evidence on hidden components, asked of the module's own functions.

A seat's log says things about what is hidden: a miss says that no ship lies there, a hit that some
ship does, a card of another suit that a hand was void. What one component says is found out without
knowing the game: in a state that reproduces the log up to a ply, the zone's contents are exchanged
for others of the same number, and the ply is asked for again. If it would then not be legal, or be
perceived differently, then

- a component that was put in is *ruled out* there at that ply;
- a component that was taken out was *needed*, and those that can stand in for it *support* it.

Evidence guides where a sampler looks; what it finds is still verified against the whole log.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from agents.belief.follow import Guide
from agents.belief.population import Particle
from agents.belief.zones import Zones
from games.information import Did
from games.modules import Rules
from games.values import Action, Json, State

# What a module's functions may raise on a state that they would not have made.
MODULE_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
SPARES = 3  # components that another is put in the place of before it counts as ruled out
OTHERS = 9  # components tried in another's place before it counts as needed


class EvidencePly(NamedTuple):
    """A ply that reproduced an entry of the log.

    Attributes:
        read: Entries of the log before it.
        state: A state before it that the log allows.
        action: The ply.
        events: What the seat perceived of it.
        held: What zones held in states that outlived the ply, a list of contents a zone.
    """

    read: int
    state: State
    action: Action
    events: Json
    held: Mapping[str, Sequence[Sequence[str]]]

    def was_held(self, zone: str, component: str) -> bool:
        """True if the component was in the zone in a state that outlived the ply."""
        return any(component in contents for contents in self.held.get(zone, ()))


@dataclass(frozen=True)
class ExchangeTest:
    """A question that one ply allows about one zone.

    Attributes:
        contents: The zone's contents with which the ply passes.
        spares: Some of them that the ply does not need.
        needed: Those it needs, each with the index of its need in the zone.
    """

    contents: tuple[str, ...]
    spares: tuple[str, ...]
    needed: tuple[tuple[int, str], ...]


@dataclass
class ComponentEvidence:
    """Knowledge of one component in one zone, one bit a ply and one bit a need.

    Attributes:
        asked: Plies asked so far.
        out: Plies that rule the component out.
        supports: Needs of the zone that the component satisfies.
    """

    asked: int = 0
    out: int = 0
    supports: int = 0


@dataclass
class Evidence:
    """Facts that one seat's log gives of hidden components, by zone, in the order of the log.

    Attributes:
        rules: The module's functions.
        zones: Its declared zones.
        seat: The seat whose log it is.
        plies: The plies that it comes from, oldest first.
        candidates: Components that may come into each zone, in the order of their coming up.
    """

    rules: Rules
    zones: Zones
    seat: int
    plies: list[EvidencePly] = field(default_factory=list)
    candidates: dict[str, dict[str, None]] = field(default_factory=dict)
    _tests: dict[tuple[int, str], ExchangeTest | None] = field(default_factory=dict)
    _components: dict[tuple[str, str], ComponentEvidence] = field(default_factory=dict)
    _needs: dict[str, list[int]] = field(default_factory=dict)
    _left: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(
        self,
        ply: tuple[int, Action, Json],
        before: Iterable[State],
        held: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        """Add a ply, unless one for its entry, or a later one, was added before.

        Args:
            ply: Entries of the log before it, the action, and what the seat perceived of it.
            before: States before it; the first in which it is perceived as it was is taken.
            held: What zones hold in states that outlived it, a list of contents a zone.
        """
        read, action, events = ply
        if self.plies and read <= self.plies[-1].read:
            return
        for state in before:
            found = EvidencePly(read, state, action, events, held)
            if self._perceived(found, state):
                self.plies.append(found)
                return

    def about(self, zone: str, component: str, since: int) -> tuple[bool, int]:
        """The knowledge of a component that comes into a zone.

        Args:
            zone: Path of the zone.
            component: What comes in.
            since: Entries of the log read by then.

        Returns:
            Whether it is ruled out there, and the needs of the zone that it satisfies, as bits.
        """
        known = self._components.setdefault((zone, component), ComponentEvidence())
        for index in range(known.asked, len(self.plies)):
            self._ask(index, zone, component, known)
        known.asked = len(self.plies)
        first = bisect_left(self.plies, since, key=lambda ply: ply.read)
        out = known.out >> first
        left = next((at for at in self._left.get((zone, component), ()) if at >= first), None)
        if left is not None:
            out &= (1 << (left - first + 1)) - 1  # it is not there any more afterwards
        return out != 0, known.supports

    def needs(self, zone: str, since: int) -> int:
        """Needs of a zone from an entry of the log on, as bits."""
        for index in range(len(self.plies)):
            self._test(index, zone)
        reads = self._needs.get(zone, [])
        return (1 << len(reads)) - (1 << bisect_left(reads, since))

    def _ask(self, index: int, zone: str, component: str, known: ComponentEvidence) -> None:
        test = self._test(index, zone)
        if test is None:
            return
        if component in test.contents:
            supported = [need for need, needed in test.needed if needed == component]
        else:
            if self._is_out(index, zone, component, test):
                known.out |= 1 << index
            supported = [
                need
                for need, needed in test.needed
                if self._passes(index, zone, (needed, component))
            ]
        known.supports |= sum(1 << need for need in supported)

    def _test(self, index: int, zone: str) -> ExchangeTest | None:
        if (index, zone) not in self._tests:
            self._tests[index, zone] = self._tested(index, zone)
        return self._tests[index, zone]

    def _tested(self, index: int, zone: str) -> ExchangeTest | None:
        """The contents that pass, and which of them are needed; None where nothing can be asked."""
        ply = self.plies[index]
        contents = self.zones.contents(ply.state, zone)
        if not contents:
            return None
        if self.zones.is_single(ply.state, zone):
            return ExchangeTest(tuple(contents), (contents[0],), ())
        needed = [c for c in contents if self._is_needed(index, zone, c, contents)]
        reads = self._needs.setdefault(zone, [])
        numbered = []
        after = self.zones.contents(self.rules.apply_action(ply.state, ply.action), zone)
        for component in needed:
            if component not in after:
                insort(self._left.setdefault((zone, component), []), index)
            elif not self._is_always_met(index, zone, component):
                continue
            numbered.append((len(reads), component))
            reads.append(ply.read)
        spares = [component for component in contents if component not in needed]
        return ExchangeTest(tuple(contents), tuple(spares[:SPARES]), tuple(numbered))

    def _is_out(self, index: int, zone: str, component: str, test: ExchangeTest) -> bool:
        """True if the component does not go with the ply, whichever other one it replaces.

        What it changes places with may be what does not go with the ply where it then is.
        """
        if self.plies[index].was_held(zone, component):
            return False
        failed = False
        for spare in test.spares:
            passed = self._passes(index, zone, (spare, component))
            if passed:
                return False
            failed = failed or passed is False
        return failed

    def _is_always_met(self, index: int, zone: str, component: str) -> bool:
        """True if all states that outlived the ply hold the component, or one that stands in."""
        return all(
            any(c == component or self._passes(index, zone, (component, c)) for c in contents)
            for contents in self.plies[index].held.get(zone, ())
        )

    def _is_needed(self, index: int, zone: str, component: str, contents: list[str]) -> bool:
        """True if most of the components that could be there instead would not do."""
        others = [c for c in self.candidates.get(zone, {}) if c not in contents]
        step = max(1, len(others) // OTHERS)
        spread = (c for first in range(step) for c in others[(index + first) % step :: step])
        answers = (self._passes(index, zone, (component, other)) for other in spread)
        passed = [*islice((answer for answer in answers if answer is not None), OTHERS)]
        return passed.count(False) > passed.count(True)

    def _passes(self, index: int, zone: str, exchange: tuple[str, str]) -> bool | None:
        """True if the ply would look the same, had another component been in the zone.

        Returns:
            None where that cannot be asked: the other component lies open elsewhere, or the module
            chokes on a state that it would not have made.
        """
        ply = self.plies[index]
        state = self.zones.exchanged(ply.state, zone, *exchange, seat=self.seat)
        return None if state is None else self.explains(ply, state)

    def explains(self, ply: EvidencePly, state: State) -> bool | None:
        """True if a ply would look the same, from another state before it.

        Returns:
            None where the module chokes on the state.
        """
        try:
            return self._perceived(ply, state)
        except MODULE_ERRORS:
            return None

    def _perceived(self, ply: EvidencePly, state: State) -> bool:
        if ply.action not in self.rules.legal_actions(state):
            return False
        return self.rules.events(state, ply.action)[self.seat] == ply.events


def add_counterfactual(
    evidence: Evidence, read: int, actions: Sequence[Action], events: Json, state: State
) -> None:
    """Add a ply that no state at hand explains, by a counterfactual state that does.

    Two hidden components change places; where no two explain the ply, one zone is filled with
    copies of one component that does, and the copies but one are exchanged for other components as
    long as the ply is perceived as it was.

    Args:
        evidence: What is known; a ply is added.
        read: Entries of the log before the ply.
        actions: What the ply may have been; none for whatever is legal then.
        events: What the seat perceived of it.
        state: A state before it.
    """
    if evidence.plies and read <= evidence.plies[-1].read:
        return
    for other, action in _exchanges(evidence, state, actions):
        ply = EvidencePly(read, other, action, events, {})
        if evidence.explains(ply, other):
            evidence.plies.append(ply)
            return
    for other, zone, hidden in _copies(evidence, state):
        for action in actions or _legal(evidence.rules, other):
            ply = EvidencePly(read, other, action, events, {})
            if evidence.explains(ply, other):
                evidence.plies.append(_mixed(evidence, ply, zone, hidden))
                return


def _exchanges(
    evidence: Evidence, state: State, actions: Sequence[Action]
) -> Iterator[tuple[State, Action]]:
    """States in which two hidden components changed places, with what they newly allow."""
    zones, seat = evidence.zones, evidence.seat
    held = {zone: zones.contents(state, zone) for zone in zones.hidden(state, seat)}
    before = set(_legal(evidence.rules, state))
    for zone, contents in held.items():
        if not contents or not zones.is_conserved(zone):
            continue
        others = [c for other, theirs in held.items() if other != zone for c in theirs]
        for component in others:
            other = zones.exchanged(state, zone, contents[0], component, seat=seat)
            if other is not None:
                new = [action for action in _legal(evidence.rules, other) if action not in before]
                yield from ((other, action) for action in actions or new)


def _copies(evidence: Evidence, state: State) -> Iterator[tuple[State, str, list[str]]]:
    """States in which one zone holds copies of one component; the zone, and what may be in it."""
    zones = evidence.zones
    for zone, components in evidence.candidates.items():
        size = len(zones.contents(state, zone))
        hidden = [c for c in components if not zones.is_open(state, zone, c, evidence.seat)]
        for component in hidden if size else ():
            yield zones.holding(state, zone, [component] * size), zone, hidden


def _mixed(evidence: Evidence, ply: EvidencePly, zone: str, hidden: Sequence[str]) -> EvidencePly:
    """The ply with different components in the zone, as far as they go with the ply."""
    contents = evidence.zones.contents(ply.state, zone)
    others = iter([c for c in hidden if c != contents[0]])
    for place in range(1, len(contents)):
        for component in others:
            trial = [*contents[:place], component, *contents[place + 1 :]]
            if evidence.explains(ply, evidence.zones.holding(ply.state, zone, trial)):
                contents = trial
                break
    return ply._replace(state=evidence.zones.holding(ply.state, zone, contents))


def _legal(rules: Rules, state: State) -> list[Action]:
    try:
        return rules.legal_actions(state)
    except MODULE_ERRORS:
        return []


HELD = 64  # particles whose states are held against what a ply is said to rule out


def observe(
    evidence: Evidence,
    guide: Guide,
    before: Sequence[Particle],
    after: Sequence[Particle],
    zones: Iterable[str],
) -> None:
    """Add a ply that reproduced an entry of the log, with a state before it.

    Args:
        evidence: What is known; a ply is added.
        guide: The log.
        before: The particles whose ply it is, at least one.
        after: Those that outlived it; where there are none, a counterfactual state does.
        zones: Hidden zones that components are dealt to.
    """
    read, entries = before[0].place.read, guide.follower.entries
    entry = entries[read] if read < len(entries) else None
    action: Action | None
    if isinstance(entry, Did):
        action, told = entry.action, guide.follower.seen_at(read + 1)
    else:
        told = entry
        player = guide.follower.rules.current_player(before[0].place.state)
        forced = guide.forced.get((read, player))
        action = None if forced is None else forced.action
    if told is None:
        return
    events: list[Json] = [*told.events]
    if not after:
        actions = [] if action is None else [action]
        add_counterfactual(evidence, read, actions, events, before[0].place.state)
    elif action is not None:
        states = (particle.place.state for particle in before if particle.place.read == read)
        held = {
            zone: [evidence.zones.contents(p.place.state, zone) for p in after[:HELD]]
            for zone in zones
        }
        evidence.add((read, action, events), states, held)


def counterfactual(evidence: Evidence, guide: Guide, dead: Particle) -> Particle | None:
    """A particle beyond a ply that none outlived, from the state that was found to explain it.

    It reproduces the log no more: it serves to collect the evidence of the rest of the log.

    Args:
        evidence: What is known; its newest ply is this one, if it could be explained.
        guide: The log.
        dead: A particle before the ply.
    """
    if not evidence.plies or evidence.plies[-1].read != dead.place.read:
        return None
    ply = evidence.plies[-1]
    place = dead.place._replace(state=ply.state)
    found = [b for b in guide.follower.branches(place) if b.action == ply.action]
    return replace(dead, place=found[0].place) if found else None
