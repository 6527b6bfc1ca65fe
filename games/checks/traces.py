"""One seat's trace of states and steps in the leak audit, and the claims that pairs support."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numpy.random import Generator

from games.checks import Finding
from games.checks.contract import failed
from games.checks.pairs import Step, all_told, first_difference, how_to_mend, how_told
from games.checks.sampling import PlayedMatch, Subject
from games.checks.zones import (
    Sight,
    apart,
    as_pattern,
    beside_hidden,
    concrete_paths,
    exchanged_components,
    moved_components,
    pattern_of,
    sight_of,
    untold_zones,
)
from games.table import Position, Table
from games.values import CHANCE, Action, Json, ModuleFault, State, canonical_key

CHECK = "leak_audit"


@dataclass(frozen=True)
class Trace:
    """The states of a module as one seat may see them.

    Attributes:
        subject: The module.
        seat: Whose trace it is.
        generator: Chooses pairs.
        zones: The module's `ZONES`.
        opened: State paths that are open to all.
        conserved: Kinds of component of which none comes or goes.
        hiding: Zones whose contents some state did not tell the seat, as far as states were seen.
    """

    subject: Subject
    seat: int
    generator: Generator
    zones: Mapping[str, Json]
    opened: Sequence[str]
    conserved: set[str]
    hiding: set[str] = field(default_factory=set)
    _recorded: dict[tuple[str, int], Sight] = field(default_factory=dict)

    def sight(self, state: State) -> Sight:
        """A state as the seat is shown it.

        Raises:
            ModuleFault: If `visible` leaves a zone out, or names what the state does not have.
        """
        seen = self.subject.game.visible(state, self.seat)
        for path in concrete_paths(state, *self.zones):
            if path not in seen:
                raise ModuleFault("bad_value", "visible", f"says nothing of the zone {path}")
        opened = [*concrete_paths(state, *self.opened)]
        try:
            sight = sight_of(state, {**dict.fromkeys(opened, "contents"), **seen}, self.zones)
        except KeyError as error:
            raise ModuleFault(
                "bad_value", "visible", f"names {error.args[0]}, which the state does not have"
            ) from error
        self.hiding.update(untold_zones(sight, self.zones, self.conserved))
        return sight

    def step(self, table: Table, before: Position, action: Action) -> Step:
        """Take an action at a table."""
        after = table.advance(before, action)
        return Step(before, action, after, self.sight(after.state))

    def recorded(self, match: PlayedMatch, ply: int) -> Step:
        """A step of a recorded match; its sight is taken once."""
        before, after = match.positions[ply : ply + 2]
        if (match.name, ply) not in self._recorded:
            self._recorded[match.name, ply] = self.sight(after.state)
        return Step(before, match.plies[ply].action, after, self._recorded[match.name, ply])


@dataclass(frozen=True)
class Claims:
    """Pairs' support for what a seat may be told; claims of several pairs are added.

    Attributes:
        alike: Plies that differ only in what is hidden, and were told alike.
        unlike: Plies that the rules themselves tell apart.
        exchanged: Zones that differed where nothing else did.
        announced: Open values that changed alone.
        along: By hidden zone, what was seen to differ beside it; see `beside_hidden`.
    """

    alike: int = 0
    unlike: int = 0
    exchanged: frozenset[str] = frozenset()
    announced: frozenset[str] = frozenset()
    along: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __add__(self, other: "Claims") -> "Claims":
        """The claims of both."""
        return Claims(
            self.alike + other.alike,
            self.unlike + other.unlike,
            self.exchanged | other.exchanged,
            self.announced | other.announced,
            {
                zone: self.along.get(zone, frozenset()) | other.along.get(zone, frozenset())
                for zone in (*self.along, *other.along)
            },
        )

    def public(self, hiding: Iterable[str]) -> set[str]:
        """Zones of `hiding` whose contents every difference met shows the seat.

        What left them lies open.
        """
        return {zone for zone in {*hiding} - self.exchanged if self.along.get(zone) == frozenset()}

    def missing(self, hiding: Iterable[str]) -> set[str]:
        """Zones of `hiding` in which no two matches differed yet."""
        return {*hiding} - self.exchanged - self.public(hiding)


class Compared(NamedTuple):
    """One ply of two matches, compared.

    Attributes:
        found: Findings, where the seat is told too much or shown too little.
        follows: True where the two matches still differ, in hidden values alone.
        claims: What the ply supports.
    """

    found: tuple[Finding, ...] = ()
    follows: bool = False
    claims: Claims = Claims()


def compare_steps(trace: Trace, at: str, one: Step, other: Step) -> Compared:
    """Compare a recorded step with another one, by all that the trace's seat is told.

    Args:
        trace: Of the seat.
        at: The place, for evidence.
        one: The recorded step.
        other: The step of the match that differs.
    """
    if one.action != other.action and one.before.player == trace.seat:
        return Compared()  # it knows what it did
    told = all_told(one.after, trace.seat), all_told(other.after, trace.seat)
    different = [name for name in told[0] if told[0][name] != told[1][name]]
    if one.sight.shown != other.sight.shown:
        return _compare_shown(trace, at, one, other, different)
    rests = one.sight.rest, other.sight.rest
    if canonical_key(rests[0]) != canonical_key(rests[1]):
        path = first_difference(*rests)
        place = as_pattern(one.sight.rest, path, trace.subject.num_players)
        return Compared((_undeclared(trace.seat, path, place, at),))
    if different:
        same = other
        if one.before is not other.before and other.action in one.before.legal:
            same = trace.step(trace.subject.table, one.before, other.action)
        if one.action == other.action or not _is_traceless(trace, one, other, same):
            # Further leaks may show where the two are followed on.
            return Compared(_leaks(trace.seat, different, one, other, at), follows=True)
        return Compared() if same is other else compare_steps(trace, at, same, other)
    hidden = one.sight.hidden, other.sight.hidden
    changed = {path for path in hidden[0] if hidden[0][path] != hidden[1].get(path)}
    exchanged = frozenset(pattern_of(path, trace.zones) for path in changed)
    # The order of a deck that has none hides nothing, and yet may be told later.
    follows = canonical_key(one.after.state) != canonical_key(other.after.state)
    return Compared((), follows, Claims(alike=bool(changed), exchanged=exchanged))


def _compare_shown(trace: Trace, at: str, one: Step, other: Step, told: Sequence[str]) -> Compared:
    """Compare two steps that the rules tell apart; `told` names the functions that do."""
    sides = [(step.after.state, step.sight) for step in (one, other)]
    along = beside_hidden(trace.zones, trace.opened, *sides)
    dealt = along.values() if one.before.player == CHANCE else ()
    announced = frozenset[str]().union(*dealt)
    found: tuple[Finding, ...] = ()
    if not told:
        found = (_overclaimed(trace, one.sight, other.sight, at),)
    else:
        changed, is_consequence = _consequence(trace, one, other)
        if is_consequence:
            announced |= changed
            if one.before.player == CHANCE and not changed & set(trace.opened):
                found = _leaks(trace.seat, told, one, other, at)
    beside = {zone: frozenset(values) for zone, values in along.items()}
    return Compared(found, claims=Claims(unlike=1, announced=announced, along=beside))


def _consequence(trace: Trace, one: Step, other: Step) -> tuple[set[str], bool]:
    """Shown paths that changed, by pattern; True where no hidden component moved or was shown."""
    shown = one.sight.shown, other.sight.shown
    paths = {p for p in {*shown[0], *shown[1]} if shown[0].get(p) != shown[1].get(p)}
    changed = {pattern_of(path, (*trace.zones, *trace.opened)) for path in paths}
    return changed, changed <= set(trace.opened) or _untouched(trace, one, other, paths)


def _untouched(trace: Trace, one: Step, other: Step, paths: set[str]) -> bool:
    """True where no hidden component that sets two positions apart moved or came to light."""
    if one.action != other.action:
        return False
    hidden = exchanged_components(one.before.state, other.before.state, trace.zones)
    return bool(hidden) and not any(
        hidden & moved_components(step.before.state, step.after.state, trace.zones)
        or paths & trace.sight(step.before.state).hidden.keys() - step.sight.hidden.keys()
        for step in (one, other)
    )


def _is_traceless(trace: Trace, one: Step, other: Step, same: Step) -> bool:
    """True where two actions, both done in one match as well, left nothing hidden apart."""
    sides = one.before.state, other.before.state, one.after.state, other.after.state
    if same is not other and apart(*sides[:2], trace.zones) == apart(*sides[2:], trace.zones):
        return True
    ends = (canonical_key(step.after.state) for step in (same, other))
    unmoved = (trace.sight(s.before.state).hidden == s.sight.hidden for s in (one, other))
    return canonical_key(one.after.state) in ends or all(unmoved)


def doubted(evidence: str) -> Finding:
    """The finding of an audit that could not compare something."""
    return Finding(check=CHECK, outcome="could_not_judge", rule="contract", evidence=evidence)


def _undeclared(seat: int, path: str, place: str, at: str) -> Finding:
    return doubted(
        f"at {at} the state's {path} changes with what `visible` does not show seat "
        f'{seat}: it lies in no zone and is not declared open; put "{place}" into ZONES and '
        "visible, or, if every seat may always know it, tell it in the observations and put "
        f'"{place}" into GAME["open"]'
    )


def _overclaimed(trace: Trace, one: Sight, other: Sight, at: str) -> Finding:
    paths = {**one.shown, **other.shown}
    path = next(p for p in paths if one.shown.get(p) != other.shown.get(p))
    place = pattern_of(path, (*trace.zones, *trace.opened))
    shows = ("GAME", "open shows") if place in trace.opened else ("visible", "shows")
    return failed(
        CHECK,
        shows[0],
        f"{shows[1]} seat {trace.seat} a difference in {path} at {at} that neither its observation "
        "nor its events tell it; tell it there, or do not show it",
    )


def _leaks(
    seat: int, functions: Sequence[str], one: Step, other: Step, at: str
) -> tuple[Finding, ...]:
    """The findings of a seat that was told of a difference hidden from it, one a function."""
    found = []
    for function in functions:
        why = how_told(function, one.after, other.after, seat)
        told = f"seat {seat} after {at} {why} where only what is hidden from it differs; "
        found.append(failed(CHECK, function, told + how_to_mend(one)))
    return tuple(found)
