"""Known facts about hidden components, asked of the module's own functions.

A seat's log says things about what is hidden: a miss says that no ship lies there, a hit that some
ship does, a card of another suit that a hand was void. What one component says is found out without
knowing the game: in a state that reproduces the log up to a ply, the zone's contents are exchanged
for others of the same number, and the ply is asked for again. If it would then not be legal, or be
perceived differently, then

- a component that was put in is *ruled out* there at that ply;
- a component that was taken out was *needed*, and those that can stand in for it *support* it.

Facts guide where a sampler looks; what it finds is still verified against the whole log.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from agents.belief.zones import Zones
from agents.search.rules import Rules
from games.contract import Action, Json, State

# What a module's functions may raise on a state that they would not have made.
CHOKES = (
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


class Witness(NamedTuple):
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
        """Whether the component was in the zone in a state that outlived the ply."""
        return any(component in contents for contents in self.held.get(zone, ()))


@dataclass(frozen=True)
class Test:
    """What one witness lets be asked of one zone.

    Attributes:
        contents: The zone's contents with which the ply passes.
        spares: Some of them that the ply does not need.
        needed: Those it needs, each with the index of its need in the zone.
    """

    contents: tuple[str, ...]
    spares: tuple[str, ...]
    needed: tuple[tuple[int, str], ...]


@dataclass
class Learnt:
    """What is known of one component in one zone, one bit a witness and one bit a need.

    Attributes:
        asked: Witnesses asked so far.
        out: Witnesses that rule the component out.
        supports: Needs of the zone that the component satisfies.
    """

    asked: int = 0
    out: int = 0
    supports: int = 0


@dataclass
class Facts:
    """Facts about hidden components, by zone, in the order of the log.

    Attributes:
        rules: The module's functions.
        zones: Its declared zones.
        seat: The seat that knows the facts.
        witnesses: What was asked so far, oldest first.
        known: Components that may come into each zone, in the order in which they became known.
    """

    rules: Rules
    zones: Zones
    seat: int
    witnesses: list[Witness] = field(default_factory=list)
    known: dict[str, dict[str, None]] = field(default_factory=dict)
    _tests: dict[tuple[int, str], Test | None] = field(default_factory=dict)
    _learnt: dict[tuple[str, str], Learnt] = field(default_factory=dict)
    _needs: dict[str, list[int]] = field(default_factory=dict)
    _left: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def witness(
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
        if self.witnesses and read <= self.witnesses[-1].read:
            return
        for state in before:
            witness = Witness(read, state, action, events, held)
            if self._perceived(witness, state):
                self.witnesses.append(witness)
                return

    def about(self, zone: str, component: str, since: int) -> tuple[bool, int]:
        """What is known of a component that comes into a zone.

        Args:
            zone: Path of the zone.
            component: What comes in.
            since: Entries of the log read by then.

        Returns:
            Whether it is ruled out there, and the needs of the zone that it satisfies, as bits.
        """
        learnt = self._learnt.setdefault((zone, component), Learnt())
        for index in range(learnt.asked, len(self.witnesses)):
            self._ask(index, zone, component, learnt)
        learnt.asked = len(self.witnesses)
        first = bisect_left(self.witnesses, since, key=lambda witness: witness.read)
        out = learnt.out >> first
        left = next((at for at in self._left.get((zone, component), ()) if at >= first), None)
        if left is not None:
            out &= (1 << (left - first + 1)) - 1  # it is not there any more afterwards
        return out != 0, learnt.supports

    def needs(self, zone: str, since: int) -> int:
        """Needs of a zone from an entry of the log on, as bits."""
        for index in range(len(self.witnesses)):
            self._test(index, zone)
        reads = self._needs.get(zone, [])
        return (1 << len(reads)) - (1 << bisect_left(reads, since))

    def _ask(self, index: int, zone: str, component: str, learnt: Learnt) -> None:
        test = self._test(index, zone)
        if test is None:
            return
        if component in test.contents:
            supported = [need for need, needed in test.needed if needed == component]
        else:
            if self._is_out(index, zone, component, test):
                learnt.out |= 1 << index
            supported = [
                need
                for need, needed in test.needed
                if self._passes(index, zone, (needed, component))
            ]
        learnt.supports |= sum(1 << need for need in supported)

    def _test(self, index: int, zone: str) -> Test | None:
        if (index, zone) not in self._tests:
            self._tests[index, zone] = self._tested(index, zone)
        return self._tests[index, zone]

    def _tested(self, index: int, zone: str) -> Test | None:
        """The contents that pass, and which of them are needed; None where nothing can be asked."""
        witness = self.witnesses[index]
        contents = self.zones.contents(witness.state, zone)
        if not contents:
            return None
        if self.zones.is_single(witness.state, zone):
            return Test(tuple(contents), (contents[0],), ())
        needed = [c for c in contents if self._is_needed(index, zone, c, contents)]
        reads = self._needs.setdefault(zone, [])
        numbered = []
        after = self.zones.contents(self.rules.apply_action(witness.state, witness.action), zone)
        for component in needed:
            if component not in after:
                insort(self._left.setdefault((zone, component), []), index)
            elif not self._is_always_met(index, zone, component):
                continue
            numbered.append((len(reads), component))
            reads.append(witness.read)
        spares = [component for component in contents if component not in needed]
        return Test(tuple(contents), tuple(spares[:SPARES]), tuple(numbered))

    def _is_out(self, index: int, zone: str, component: str, test: Test) -> bool:
        """Whether the component does not go with the ply, whatever it is put in the place of.

        What it changes places with may be what does not go with the ply where it then is.
        """
        if self.witnesses[index].was_held(zone, component):
            return False
        failed = False
        for spare in test.spares:
            passed = self._passes(index, zone, (spare, component))
            if passed:
                return False
            failed = failed or passed is False
        return failed

    def _is_always_met(self, index: int, zone: str, component: str) -> bool:
        """Whether all states that outlived the ply hold the component, or one that stands in."""
        return all(
            any(c == component or self._passes(index, zone, (component, c)) for c in contents)
            for contents in self.witnesses[index].held.get(zone, ())
        )

    def _is_needed(self, index: int, zone: str, component: str, contents: list[str]) -> bool:
        """Whether most of the components that could be there instead would not do."""
        others = [c for c in self.known.get(zone, {}) if c not in contents]
        step = max(1, len(others) // OTHERS)
        spread = (c for first in range(step) for c in others[(index + first) % step :: step])
        answers = (self._passes(index, zone, (component, other)) for other in spread)
        passed = [*islice((answer for answer in answers if answer is not None), OTHERS)]
        return passed.count(False) > passed.count(True)

    def _passes(self, index: int, zone: str, exchange: tuple[str, str]) -> bool | None:
        """Whether the ply would be perceived as it was, had another component been in the zone.

        Returns:
            None where that cannot be asked: the other component lies open elsewhere, or the module
            chokes on a state that it would not have made.
        """
        witness = self.witnesses[index]
        state = self.zones.exchanged(witness.state, zone, *exchange, seat=self.seat)
        return None if state is None else self.explains(witness, state)

    def explains(self, witness: Witness, state: State) -> bool | None:
        """Whether a ply would be perceived as a witness says, from another state before it.

        Returns:
            None where the module chokes on the state.
        """
        try:
            return self._perceived(witness, state)
        except CHOKES:
            return None

    def _perceived(self, witness: Witness, state: State) -> bool:
        if witness.action not in self.rules.legal_actions(state):
            return False
        return self.rules.events(state, witness.action)[self.seat] == witness.events
