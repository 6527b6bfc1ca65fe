"""Check: nobody is told what the rules hide (the leak audit).

A recorded match is played once more with another outcome at one ply, as nearly the same as the
rules allow. As long as the two matches differ only in what `visible` hides from a seat, that seat
must be told the same: its log (observations, events), whether it is to move, and its legal actions.
Where `visible` shows a difference, the two logs must differ too: else it shows what nobody is told.
What else a state holds and play can change must lie in a zone or be declared open. An action that
leaves no trace in the state, such as a clue, may be told: then one action is compared in both. So
is one that sets the two no further apart, such as a guess; what a seat does itself it knows. A
zone may show what a hidden component did only where a component moved or was shown. What chance
tells the seat may depend on hidden components only where it moves them. A zone from which all is
seen to be dealt face up hides nothing.

No copy of the module meets both matches of a pair: one that remembers the first could answer the
second alike. What could not be compared has not passed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from numpy.random import Generator

from games.checks import Finding
from games.checks.contract import failed, judged
from games.checks.pairs import (
    Step,
    all_told,
    first_difference,
    how_to_compare,
    how_to_mend,
    how_told,
    listed,
    near_choices,
    near_places,
    unlike_odds,
    unlike_outcomes,
)
from games.checks.sampling import PlayedMatch, Subject
from games.checks.zones import (
    Sight,
    apart,
    beside_hidden,
    concrete_paths,
    declared_zones,
    exchanged_components,
    moved_components,
    pattern_of,
    sight_of,
    untold_zones,
)
from games.streams import stream
from games.table import Position, Table
from games.values import CHANCE, Action, Json, ModuleFault, State, canonical_key

CHECK = "leak_audit"
_LONGEST = 90  # plies that two matches are followed, and on to parts that few pairs reached
_PARTS, _OFTEN = 10, 6  # parts of a match; pairs that are to reach each
_BEYOND = 6000  # plies beyond `_LONGEST` in all
_FEWEST = 12  # pairs a seat
_SHARE = 2  # times the pairs asked for are shared among the seats: each pair tests one seat alone
_PLIES = 10  # to compare a pair, or else
_PATIENCE = 4  # times as many pairs; so too where a hidden zone was not compared yet


def check_leaks(
    subject: Subject,
    played: Sequence[PlayedMatch],
    *,
    pairs: int,
    seed: int,
    more: Callable[[], Sequence[PlayedMatch]] = tuple,
) -> list[Finding]:
    """Compare pairs of matches, `_SHARE * pairs` among the seats; see the module's docstring.

    Args:
        subject: The module.
        played: Matches of it.
        pairs: Pairs to compare.
        seed: Chooses them.
        more: Further matches, for a seat from which a zone is hidden that was not compared yet.
    """
    audits: list[_Audit] = []

    def body() -> Iterator[Finding]:
        if isinstance(zones := declared_zones(CHECK, subject.game), Finding):
            yield zones
            return
        for seat in range(subject.num_players):
            generator = stream(seed, "leak audit", seat=seat)
            audits.append(_Audit(subject, played, seat, generator, *zones))
            most = max(_FEWEST, _SHARE * pairs // subject.num_players)
            found = audits[-1].run(most)
            doubted = found is not None and found.outcome == "could_not_judge"
            if doubted and audits[-1].missing and (further := more()):
                audits[-1].played = further
                found = audits[-1].run(most)
            if found is not None:
                yield found
                return

    found = judged(CHECK, body)
    if [finding.outcome for finding in found] != ["passed"]:
        return found
    named = ((audit.hiding - audit.public, audit.announced, audit.public) for audit in audits)
    hidden, alone, public = (set[str]().union(*names) for names in zip(*named, strict=True))
    alike, unlike = (sum(counts) for counts in zip(*(a.counts for a in audits), strict=True))
    evidence = (
        f"hidden from some seat: {listed(hidden)}; told to all by open values alone: "
        f"{listed(alone - hidden)}; {alike} plies that differ only in what is hidden were told "
        f"alike, {unlike} others not"
    )
    if public:
        evidence += f"; dealt face up, so that nothing can be told of it: {listed(public)}"
    return [found[0].model_copy(update={"evidence": evidence})]


@dataclass
class _Audit:
    """One seat's audit."""

    subject: Subject
    played: Sequence[PlayedMatch]
    seat: int
    generator: Generator
    zones: Mapping[str, Json]
    opened: Sequence[str]
    conserved: set[str]
    compared: int = 0
    differed: int = 0
    hiding: set[str] = field(default_factory=set)
    exchanged: set[str] = field(default_factory=set)
    announced: set[str] = field(default_factory=set)  # open values that changed alone
    along: dict[str, set[str]] = field(default_factory=dict)  # see `beside_hidden`
    seen: dict[tuple[str, int], Sight] = field(default_factory=dict)
    reached: Counter[int] = field(default_factory=Counter)  # pairs by part of their match
    beyond: int = 0
    left: tuple[int, int] = (0, 0)  # where a pair was left, and how long its match was
    asked: Counter[tuple[int, str]] = field(default_factory=Counter)  # of odds, by part and kind

    def run(self, pairs: int) -> Finding | None:
        """What was found; None where everything that could be compared was the same."""
        places = near_places(self.played, self.seat, self.generator)
        rounds, done = max(map(len, places), default=0), 0
        for number in range(rounds):
            row = [of_match[number] for of_match in places if number < len(of_match)]
            with self.subject.anew() as table:  # it meets no match twice
                for match, ply in row:
                    if done >= pairs * (1 if self._has_enough(pairs) else _PATIENCE):
                        return self._doubt()
                    done += 1
                    found = self._from(table, self.played[match], ply)
                    if found is not None:
                        return found
        return self._doubt() if rounds else None

    @property
    def counts(self) -> tuple[int, int]:
        """Plies that were told alike, and that the rules themselves tell apart."""
        return self.compared, self.differed

    @property
    def public(self) -> set[str]:
        """Zones whose contents every difference met shows the seat, as what left them lies open."""
        return {zone for zone in self.hiding - self.exchanged if self.along.get(zone) == set()}

    @property
    def missing(self) -> set[str]:
        """Zones hidden from the seat in which no two matches differed yet."""
        return self.hiding - self.exchanged - self.public

    def _has_enough(self, pairs: int) -> bool:
        return self.hiding <= self.exchanged and sum(self.counts) >= _PLIES * pairs

    def _from(self, table: Table, match: PlayedMatch, first: int) -> Finding | None:
        """Follow a match that differs from a recorded one from ply `first` on."""
        here, part, length = match.positions[first], -1, len(match.plies)
        table.open(self.subject.num_players, self.subject.parameters)  # memory is counted anew
        for step in range(first, length):
            if step >= first + _LONGEST and not self._goes_on(step, length):
                return None
            at, (before, after) = f"{match.name}, ply {step}", match.positions[step : step + 2]
            if (match.name, step) not in self.seen:
                self.seen[match.name, step] = self._sight(after.state)
            seen = self.seen[match.name, step]
            recorded = Step(before, match.plies[step].action, after, seen)
            for action in near_choices(match, step, here, step == first, self.generator):
                other = self._step(table, here, action)
                found, alike = self._compare(at, recorded, other)
                if alike:
                    here, last, part = other.after, part, step * _PARTS // length
                    self.reached[part] += part != last
                    found = self._odds(table, (part, at), after, here)
                if found is not None:
                    return found
                if alike:
                    break
            else:
                return None
        return None

    def _goes_on(self, step: int, length: int) -> bool:
        """Whether a pair is followed for longer than usual: few were compared as late as this."""
        if all(self.reached[part] >= _OFTEN for part in range(step * _PARTS // length, _PARTS)):
            return False
        self.beyond += 1
        if self.beyond * self.subject.num_players <= _BEYOND:
            return True
        self.left = max(self.left, (step, length))
        return False

    def _odds(
        self, table: Table, at: tuple[int, str], one: Position, other: Position
    ) -> Finding | None:
        """Whether chance tells the seat of hidden components that it does not move."""
        if not any(unlike_outcomes(one, other)):
            return None
        kind = at[0], one.legal[0].partition(" ")[0]
        self.asked[kind] += 1
        if self.asked[kind] > _OFTEN:
            return None
        self.subject.open()  # as above
        places = (self.subject.table, one), (table, other)
        odds = unlike_odds(places, self.zones, self.seat, self.generator)
        if not odds:
            return None
        same = {*one.legal} == {*other.legal}
        return failed(
            CHECK,
            "get_chance_probabilities" if same else "get_legal_actions",
            f"after {at[1]} the outcomes of chance are {odds} where only what is hidden from seat "
            f"{self.seat} differs, and it is told the outcome; let what seats are told of chance "
            "depend only on hidden components that the outcome itself moves",
        )

    def _step(self, table: Table, before: Position, action: Action) -> Step:
        after = table.advance(before, action)
        return Step(before, action, after, self._sight(after.state))

    def _traceless(self, one: Step, other: Step, same: Step) -> bool:
        """Whether two actions, both done in one match as well, left nothing hidden apart."""
        sides = one.before.state, other.before.state, one.after.state, other.after.state
        if same is not other and apart(*sides[:2], self.zones) == apart(*sides[2:], self.zones):
            return True
        ends = (canonical_key(step.after.state) for step in (same, other))
        unmoved = (self._sight(s.before.state).hidden == s.sight.hidden for s in (one, other))
        return canonical_key(one.after.state) in ends or all(unmoved)

    def _compare(self, at: str, one: Step, other: Step) -> tuple[Finding | None, bool]:
        """What is wrong, and whether to follow: the rules show the seat the same of two states."""
        if one.action != other.action and one.before.player == self.seat:
            return None, False  # it knows what it did
        seen, sight = one.sight, other.sight
        told = all_told(one.after, self.seat), all_told(other.after, self.seat)
        different = next((name for name in told[0] if told[0][name] != told[1][name]), None)
        if seen.shown != sight.shown:
            self.differed += 1
            sides = [(step.after.state, step.sight) for step in (one, other)]
            for zone, along in beside_hidden(self.zones, self.opened, *sides).items():
                self.along.setdefault(zone, set()).update(along)
                self.announced |= along if one.before.player == CHANCE else set()
            if not different:
                return self._overclaimed(seen, sight, at), False
            return self._consequence(one, other, different, at), False
        if canonical_key(seen.rest) != canonical_key(sight.rest):
            return self._undeclared(first_difference(seen.rest, sight.rest), at), False
        if different is not None:
            same = other
            if one.before is not other.before and other.action in one.before.legal:
                same = self._step(self.subject.table, one.before, other.action)
            if one.action == other.action or not self._traceless(one, other, same):
                return self._leak(different, one, other, at), False
            return (None, False) if same is other else self._compare(at, same, other)
        changed = {p for p in seen.hidden if seen.hidden[p] != sight.hidden.get(p)}
        self.compared += bool(changed)
        self.exchanged |= {pattern_of(path, self.zones) for path in changed}
        # The order of a deck that has none hides nothing, and yet may be told later.
        return None, canonical_key(one.after.state) != canonical_key(other.after.state)

    def _consequence(self, one: Step, other: Step, told: str, at: str) -> Finding | None:
        """What the rules tell of hidden components that were neither moved nor shown is named."""
        shown = one.sight.shown, other.sight.shown
        paths = {p for p in {*shown[0], *shown[1]} if shown[0].get(p) != shown[1].get(p)}
        changed = {pattern_of(path, (*self.zones, *self.opened)) for path in paths}
        if changed <= set(self.opened) or self._untouched(one, other, paths):
            self.announced |= changed
            if one.before.player == CHANCE and not changed & set(self.opened):
                return self._leak(told, one, other, at)
        return None

    def _untouched(self, one: Step, other: Step, paths: set[str]) -> bool:
        """Whether no hidden component that sets two positions apart moved or came to light."""
        states = one.before.state, other.before.state
        hidden = exchanged_components(*states, self.zones)
        if one.action != other.action or not hidden:
            return False
        return not any(
            hidden & moved_components(step.before.state, step.after.state, self.zones)
            or paths & self._sight(step.before.state).hidden.keys() - step.sight.hidden.keys()
            for step in (one, other)
        )

    def _sight(self, state: State) -> Sight:
        seen = self.subject.game.visible(state, self.seat)
        for pattern in self.zones:
            for path in concrete_paths(state, pattern):
                if path not in seen:
                    raise ModuleFault("bad_value", "visible", f"says nothing of the zone {path}")
        opened = [path for pattern in self.opened for path in concrete_paths(state, pattern)]
        try:
            sight = sight_of(state, {**dict.fromkeys(opened, "contents"), **seen}, self.zones)
        except KeyError as error:
            raise ModuleFault(
                "bad_value", "visible", f"names {error.args[0]}, which the state does not have"
            ) from error
        self.hiding |= untold_zones(sight, self.zones, self.conserved)
        return sight

    def _doubt(self) -> Finding | None:
        """What was not compared, after all pairs."""
        if strange := self.missing - self.zones.keys():
            return _doubted(
                f"`visible` hides {listed(strange)} from seat {self.seat}, which no pattern in "
                f"ZONES fits: nothing was compared; there are {listed(self.zones)}"
            )
        if missing := sorted(self.missing):
            beside = {told for zone in missing for told in self.along.get(zone, ())}
            return _doubted(
                f"`visible` hides {', '.join(missing)} from seat {self.seat}, but no two matches "
                "were met that differ there alone: nothing was compared; "
                + how_to_compare(beside - {*self.zones})
            )
        step, length = self.left
        if length and not all(self.reached[p] for p in range(step * _PARTS // length, _PARTS)):
            return _doubted(
                f"a match has {length} plies, and for seat {self.seat} nothing was compared after "
                f"ply {step}: two matches were followed no further; play that is so long after "
                "what sets them apart is not judged; let matches end sooner"
            )
        if not any(self.counts):
            told = f"no two matches were met that differ for or from seat {self.seat}"
            return _doubted(f"{told}: nothing was compared")
        return None

    def _undeclared(self, path: str, at: str) -> Finding:
        return _doubted(
            f"at {at} the state's {path} changes with what `visible` does not show seat "
            f"{self.seat}: it lies in no zone and is not declared open; put it into ZONES and "
            'visible, or, if every seat may always know it, name it in GAME["open"]'
        )

    def _overclaimed(self, one: Sight, other: Sight, at: str) -> Finding:
        paths = {**one.shown, **other.shown}
        path = next(p for p in paths if one.shown.get(p) != other.shown.get(p))
        return failed(
            CHECK,
            "visible",
            f"shows seat {self.seat} a difference in {path} at {at} that neither its observation "
            "nor its events tell it; tell it there, or do not show it",
        )

    def _leak(self, function: str, one: Step, other: Step, at: str) -> Finding:
        """The finding of a seat that was told of a difference hidden from it."""
        why = how_told(function, one.after, other.after, self.seat)
        told = f"seat {self.seat} after {at} {why} where only what is hidden from it differs; "
        return failed(CHECK, function, told + how_to_mend(one))


def _doubted(evidence: str) -> Finding:
    return Finding(check=CHECK, outcome="could_not_judge", rule="contract", evidence=evidence)
