"""Check: nobody is told what the rules hide (the leak audit).

A recorded match is played once more with another outcome at one ply, as nearly the same as the
rules allow. As long as the two matches differ only in what `visible` hides from a seat, that seat
must be told the same: its log (observations, events), whether it is to move, and its legal actions.
Where `visible` shows a difference, the two logs must differ too: else it shows what nobody is told.
What else a state holds and play can change must lie in a zone or be declared open. An action that
leaves no trace in the state, such as a clue, may be told: then one action is compared in both. A
zone may show what a hidden component did only where a component moved or was shown. What chance
tells the seat may depend on hidden components only where it moves them.

No copy of the module meets both matches of a pair: one that remembers the first could answer the
second alike. What could not be compared has not passed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np

from games.checks.contract import failed, judged
from games.checks.findings import Finding
from games.checks.odds import unlike_odds, unlike_outcomes
from games.checks.sampling import PlayedMatch, Subject
from games.checks.zones import (
    Sight,
    concrete_paths,
    exchanged_components,
    moved_components,
    pattern_of,
    sight_of,
)
from games.contract import CHANCE, TERMINAL, Action, Json, ModuleFault, State, canonical_key
from games.streams import stream
from games.table import Position, Table
from games.values import are_texts, as_object, show

CHECK = "leak_audit"
_TRIES = 6  # outcomes tried in the place of one
_LONGEST = 90  # plies that two matches are followed, and on to parts that few pairs reached
_PARTS, _OFTEN = 10, 6  # parts of a match; pairs that are to reach each
_BEYOND = 6000  # plies beyond `_LONGEST` in all
_FEWEST = 12  # pairs a seat
_SHARE = 2  # times the pairs asked for are shared among the seats: each pair tests one seat alone
_PLIES = 10  # to compare a pair, or else
_PATIENCE = 4  # times as many pairs; so too where a hidden zone was not compared yet


def check_leaks(
    subject: Subject, played: Sequence[PlayedMatch], *, pairs: int, seed: int
) -> list[Finding]:
    """Compare pairs of matches, `_SHARE * pairs` among the seats; see the module's docstring."""
    audits: list[_Audit] = []

    def body() -> Iterator[Finding]:
        zones = _declared(subject)
        if isinstance(zones, Finding):
            yield zones
            return
        for seat in range(subject.num_players):
            audits.append(_Audit(subject, played, seat, *zones))
            each = max(_FEWEST, _SHARE * pairs // subject.num_players)
            found = audits[-1].run(each, stream(seed, "leak audit", seat=seat))
            if found is not None:
                yield found
                return

    found = judged(CHECK, body)
    if [finding.outcome for finding in found] != ["passed"]:
        return found
    hidden, alone = (
        ", ".join(sorted(set().union(*names))) or "nothing"
        for names in zip(*((audit.hiding, audit.announced) for audit in audits), strict=True)
    )
    alike, unlike = (sum(counts) for counts in zip(*(a.counts for a in audits), strict=True))
    evidence = (
        f"hidden from some seat: {hidden}; told to all by open values alone: {alone}; "
        f"{alike} plies that differ only in what is hidden were told alike, {unlike} others not"
    )
    return [found[0].model_copy(update={"evidence": evidence})]


def _declared(subject: Subject) -> "tuple[dict[str, Json], list[str], set[str]] | Finding":
    """Zones, paths that are open to all, and kinds of component of which none comes or goes."""
    zones = subject.game.module.constant("ZONES")
    if not zones and subject.game.info.get("learned") is True:
        told = "a learned module declares no zones: what its rules hide from whom is not known"
        return Finding(check=CHECK, outcome="could_not_judge", evidence=told)
    if not isinstance(zones, dict):
        return failed(CHECK, "ZONES", "ZONES must be a dict of path pattern -> declaration")
    opened, kinds = (subject.game.info.get(name, []) for name in ("open", "conserved"))
    if not are_texts(opened):
        required = "a list of state paths that are open to all, such as ['scores', 'bids.*']"
        return failed(CHECK, "GAME", f"open is {show(opened)}; required: {required}")
    return zones, opened, set(kinds) if are_texts(kinds) else set()


@dataclass
class _Audit:
    """One seat's audit."""

    subject: Subject
    played: Sequence[PlayedMatch]
    seat: int
    zones: Mapping[str, Json]
    opened: Sequence[str]
    conserved: set[str]
    compared: int = 0
    differed: int = 0
    hiding: set[str] = field(default_factory=set)
    exchanged: set[str] = field(default_factory=set)
    announced: set[str] = field(default_factory=set)  # open values that changed alone
    seen: dict[tuple[str, int], Sight] = field(default_factory=dict)
    reached: Counter[int] = field(default_factory=Counter)  # pairs by part of their match
    beyond: int = 0
    left: tuple[int, int] = (0, 0)  # where a pair was left, and how long its match was
    asked: Counter[tuple[int, str]] = field(default_factory=Counter)  # of odds, by part and kind

    def run(self, pairs: int, generator: np.random.Generator) -> Finding | None:
        """What was found; None where everything that could be compared was the same."""
        places = self._places(generator)
        rounds = max((len(of_match) for of_match in places), default=0)
        done = 0
        for number in range(rounds):
            row = [of_match[number] for of_match in places if number < len(of_match)]
            with self.subject.anew() as table:  # it meets no match twice
                for match, ply in row:
                    if done >= pairs * (1 if self._has_enough(pairs) else _PATIENCE):
                        return self._doubt()
                    done += 1
                    found = self._from(table, self.played[match], ply, generator)
                    if found is not None:
                        return found
        return self._doubt() if rounds else None

    @property
    def counts(self) -> tuple[int, int]:
        """Plies that were told alike, and that the rules themselves tell apart."""
        return self.compared, self.differed

    def _has_enough(self, pairs: int) -> bool:
        return self.hiding <= self.exchanged and sum(self.counts) >= _PLIES * pairs

    def _places(self, generator: np.random.Generator) -> list[list[tuple[int, int]]]:
        """By match, the plies at which another seat or chance could have done something else.

        Every second one is a ply that not all seats were told the same of, while there are any. Of
        both, kinds of action take turns: what is told of one kind may be told of few plies.
        """
        places = []
        for number, match in enumerate(self.played):
            kinds: dict[bool, dict[str, list[int]]] = {True: {}, False: {}}
            for ply in map(int, generator.permutation(len(match.plies))):
                before, after = match.positions[ply : ply + 2]
                if before.player != self.seat and len(before.legal) > 1:
                    kind = match.plies[ply].action.partition(" ")[0]
                    kinds[len(set(after.events)) > 1].setdefault(kind, []).append(ply)
            secret, others = (_in_turn(*by_kind.values()) for by_kind in kinds.values())
            places.append([(number, ply) for ply in _in_turn(secret, others)])
        return places

    def _from(
        self, table: Table, match: PlayedMatch, first: int, generator: np.random.Generator
    ) -> Finding | None:
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
            recorded = _Step(before, match.plies[step].action, after, seen)
            for action in _choices(match, step, here, first=step == first, generator=generator):
                other = self._step(table, here, action)
                found, alike = self._compare(at, recorded, other)
                if alike:
                    here, last, part = other.after, part, step * _PARTS // length
                    self.reached[part] += part != last
                    found = self._odds(table, (part, at), after, here, generator)
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
        self,
        table: Table,
        at: tuple[int, str],
        one: Position,
        other: Position,
        rng: np.random.Generator,
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
        told = unlike_odds(
            places, self.zones, lambda here: canonical_key({**_told(here, self.seat)}), rng
        )
        if not told:
            return None
        same = {*one.legal} == {*other.legal}
        return failed(
            CHECK,
            "get_chance_probabilities" if same else "get_legal_actions",
            f"after {at[1]} the outcomes of chance are {told} where only what is hidden from seat "
            f"{self.seat} differs, and it is told the outcome; let what seats are told of chance "
            "depend only on hidden components that the outcome itself moves",
        )

    def _step(self, table: Table, before: Position, action: Action) -> "_Step":
        after = table.advance(before, action)
        return _Step(before, action, after, self._sight(after.state))

    def _traceless(self, *steps: "_Step") -> bool:
        """Whether nothing that is hidden from the seat was changed."""
        return all(self._sight(s.before.state).hidden == s.sight.hidden for s in steps)

    def _compare(self, at: str, one: "_Step", other: "_Step") -> tuple[Finding | None, bool]:
        """What is wrong, and whether to follow: the rules show the seat the same of two states."""
        seen, sight = one.sight, other.sight
        told = _told(one.after, self.seat), _told(other.after, self.seat)
        different = next((name for name in told[0] if told[0][name] != told[1][name]), None)
        if seen.shown != sight.shown:
            self.differed += 1
            if not different:
                return self._overclaimed(seen, sight, at), False
            return self._consequence(one, other, different, at), False
        if canonical_key(seen.rest) != canonical_key(sight.rest):
            return self._undeclared(_first_difference(seen.rest, sight.rest), at), False
        if different is not None:
            if one.action == other.action or not self._traceless(one, other):
                return self._leak(different, one.after, other.after, at), False
            if one.before is other.before or other.action not in one.before.legal:
                return None, False
            same = self._step(self.subject.table, one.before, other.action)
            return self._compare(at, same, other)
        changed = {p for p in seen.hidden if seen.hidden[p] != sight.hidden.get(p)}
        self.compared += bool(changed)
        self.exchanged |= {pattern_of(path, self.zones) for path in changed}
        return None, bool(changed)

    def _consequence(self, one: "_Step", other: "_Step", told: str, at: str) -> Finding | None:
        """What the rules tell of hidden components that were neither moved nor shown is named."""
        shown = one.sight.shown, other.sight.shown
        paths = {p for p in {*shown[0], *shown[1]} if shown[0].get(p) != shown[1].get(p)}
        changed = {pattern_of(path, (*self.zones, *self.opened)) for path in paths}
        if changed <= set(self.opened) or self._untouched(one, other, paths):
            self.announced |= changed
            if one.before.player == CHANCE and not changed & set(self.opened):
                return self._leak(told, one.after, other.after, at)
        return None

    def _untouched(self, one: "_Step", other: "_Step", paths: set[str]) -> bool:
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
        self.hiding |= self._unknown(sight)
        return sight

    def _unknown(self, sight: Sight) -> set[str]:
        """Zones whose contents the seat cannot tell; those of the one hidden pack it can."""
        by_kind: dict[str, list[str]] = {}
        for path in sight.hidden:
            pattern = pattern_of(path, self.zones)
            declared = as_object(self.zones.get(pattern, {}))
            pack = declared.get("component") if not declared.get("ordered") else None
            by_kind.setdefault(str(pack), []).append(pattern)
        known = {kind for kind in self.conserved if len(by_kind.get(kind, ())) == 1}
        return {p for kind, patterns in by_kind.items() if kind not in known for p in patterns}

    def _doubt(self) -> Finding | None:
        """What was not compared, after all pairs."""
        if missing := sorted(self.hiding - self.exchanged):
            return _doubted(
                f"`visible` hides {', '.join(missing)} from seat {self.seat}, but no two matches "
                "were met that differ there alone: nothing was compared; see that these zones "
                "hold the hidden components themselves, and that no open value tells them"
            )
        step, length = self.left
        if length and not all(self.reached[p] for p in range(step * _PARTS // length, _PARTS)):
            return _doubted(
                f"a match has {length} plies, and for seat {self.seat} nothing was compared after "
                f"ply {step}: two matches were followed no further; play that is so long after "
                "what sets them apart is not judged; let matches end sooner"
            )
        if not any(self.counts):
            return _doubted(
                f"no two matches were met that differ for or from seat {self.seat}: nothing was "
                "compared"
            )
        return None

    def _undeclared(self, path: str, at: str) -> Finding:
        return _doubted(
            f"at {at} the state's {path} changes with what `visible` does not show seat "
            f"{self.seat}: it lies in no zone and is not declared open; put it into ZONES and "
            'visible, or, if every seat may always know it, name it in GAME["open"]'
        )

    def _overclaimed(self, one: Sight, other: Sight, at: str) -> Finding:
        path = next(
            p for p in {**one.shown, **other.shown} if one.shown.get(p) != other.shown.get(p)
        )
        return failed(
            CHECK,
            "visible",
            f"shows seat {self.seat} a difference in {path} at {at} that neither its observation "
            "nor its events tell it; tell it there, or do not show it",
        )

    def _leak(self, function: str, one: Position, other: Position, at: str) -> Finding:
        """The finding of a seat that was told of a difference hidden from it."""
        who = f"seat {self.seat} after {at}"
        if function == "get_observations":
            names = _difference(one.observations[self.seat], other.observations[self.seat])
            why = f"sees hidden contents: its observation changes in {names}"
        elif function == "get_events":
            events = [list(position.events[self.seat]) for position in (one, other)]
            why = f"is told {show(events[0])} or {show(events[1])}"
        elif function == "get_legal_actions":
            why = "has other legal actions"
        else:
            why = "is to move, or at the end, in one of them alone"
        told = f"{who} {why} where only what is hidden from it differs; do not tell it; or, where "
        told += 'the rules tell it (a clue), keep what was told at a path that GAME["open"] names'
        return failed(CHECK, function, told)


@dataclass(frozen=True)
class _Step:
    """An action, the positions around it, and what the audit's seat may see of the second."""

    before: Position
    action: Action
    after: Position
    sight: Sight


def _in_turn(*lists: Sequence[int]) -> list[int]:
    """One of each list, then the next of each, as long as there are any.

    >>> _in_turn([1, 2, 3], [7])
    [1, 7, 2, 3]
    """
    mixed = chain.from_iterable(zip_longest(*lists))
    return [item for item in mixed if item is not None]


def _told(position: Position, seat: int) -> dict[str, str]:
    """All that a seat is told when a position is reached, by the function that tells it."""
    mine = position.player in (seat, TERMINAL)
    return {
        "get_observations": canonical_key(position.observations[seat]),
        "get_events": canonical_key([*position.events[seat]]),
        "get_current_player": str(position.player if mine else None),
        "get_legal_actions": canonical_key([*position.legal] if position.player == seat else []),
    }


def _choices(
    match: PlayedMatch, step: int, here: Position, *, first: bool, generator: np.random.Generator
) -> list[Action]:
    """What to try in a match that is to stay near a recorded one, the nearest first.

    Such as a card that was dealt elsewhere: what the recorded match could not do here. To begin
    with, what it does not do later on: two matches that differ in that are alike for longer.
    """
    taken, later = match.plies[step].action, match.plies[step + 1 :]
    could = {ply.action for ply in later} if first else set(match.positions[step].legal)
    others = [here.legal[int(i)] for i in generator.permutation(len(here.legal))]
    others = sorted((a for a in others if a != taken), key=lambda action: action in could)
    same = [taken] if taken in here.legal and not first else []
    return [*same, *others][:_TRIES]


def _doubted(evidence: str) -> Finding:
    return Finding(check=CHECK, outcome="could_not_judge", rule="contract", evidence=evidence)


def _first_difference(one: Json, other: Json) -> str:
    """The path of the first value in which two states differ.

    >>> _first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a.1.b'
    """
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = ({str(i): item for i, item in enumerate(part)} for part in (one, other))
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return ""
    key = next(k for k in one if canonical_key(one[k]) != canonical_key(other[k]))
    return f"{key}.{_first_difference(one[key], other[key])}".rstrip(".")


def _difference(before: Mapping[str, Json], after: Mapping[str, Json]) -> str:
    keys = sorted(
        key
        for key in before.keys() | after.keys()
        if canonical_key(before.get(key)) != canonical_key(after.get(key))
    )
    return ", ".join(repr(key) for key in keys)
