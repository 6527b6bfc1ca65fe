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

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from games.checks import Finding, verdict
from games.checks.contract import failed, judged
from games.checks.pairs import (
    how_to_compare,
    listed,
    near_choices,
    near_places,
    unlike_odds,
    unlike_outcomes,
)
from games.checks.sampling import PlayedMatch, Subject
from games.checks.traces import CHECK, Claims, Trace, compare_steps, doubted
from games.checks.zones import declared_zones
from games.streams import stream
from games.table import Position, Table
from games.values import Action

NO_SECRET = "hidden from some seat: nothing;"
"""The beginning of a pass's evidence where the module hides nothing from anybody."""
_LONGEST = 90  # plies that two matches are followed, and on to parts that few pairs reached
_PARTS, _OFTEN = 10, 6  # parts of a match; pairs that are to reach each
_BEYOND = 6000  # plies beyond `_LONGEST` in all
_FEWEST = 12  # pairs a seat
_SHARE = 2  # times the pairs asked for are shared among the seats: each pair tests one seat alone
_PLIES = 10  # to compare a pair, or else
_FIELDS, _NUMBER, _HEAD = re.compile(r"changes in .*? where"), re.compile(r"\d+"), 60
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
    audited: list[tuple[Trace, Claims]] = []

    def body() -> Iterator[Finding]:
        if isinstance(zones := declared_zones(CHECK, subject.game), Finding):
            yield zones
            return
        most = max(_FEWEST, _SHARE * pairs // subject.num_players)
        for seat in range(subject.num_players):
            trace = Trace(subject, seat, stream(seed, "leak audit", seat=seat), *zones)
            reach = _Reach(subject.num_players)
            found, claims = audit(trace, reach, played, most, Claims())
            is_doubted = bool(found) and verdict(found) == "could_not_judge"
            if is_doubted and claims.missing(trace.hiding) and (further := more()):
                found, claims = audit(trace, reach, further, most, claims)
            audited.append((trace, claims))
            yield from (one for one in found if _kind(one) not in told)
            told.update(map(_kind, found))

    told: set[tuple[str | None, str]] = set()
    found = judged(CHECK, body)
    if [finding.outcome for finding in found] != ["passed"]:
        return found
    return [found[0].model_copy(update={"evidence": _evidence(audited)})]


def _kind(found: Finding) -> tuple[str | None, str]:
    """The kind of a finding: of leaks, the function that tells, and the fields that do.

    What is told in sentences differs from ply to ply, and is one kind.
    """
    fields = _FIELDS.search(found.evidence)
    return found.function, fields[0] if fields else _NUMBER.sub("", found.evidence)[:_HEAD]


def _evidence(audited: Sequence[tuple[Trace, Claims]]) -> str:
    """The words of a pass, over all seats."""
    claims = sum((claims for _, claims in audited), Claims())
    public = {zone for trace, mine in audited for zone in mine.public(trace.hiding)}
    hidden = {zone for trace, mine in audited for zone in trace.hiding - mine.public(trace.hiding)}
    evidence = (
        f"hidden from some seat: {listed(hidden)}; told to all by open values alone: "
        f"{listed(claims.announced - hidden)}; {claims.alike} plies that differ only in what is "
        f"hidden were told alike, {claims.unlike} others not"
    )
    if public:
        evidence += f"; dealt face up, so that nothing can be told of it: {listed(public)}"
    return evidence


@dataclass
class _Reach:
    """The parts of matches that pairs reached, and the effort that is left to reach more.

    Attributes:
        seats: Seats, which share the effort.
        pairs: Pairs by part of their match.
        beyond: Plies that were followed beyond `_LONGEST`.
        left: Where a pair was left last, and how long its match was.
        asked: Odds that were asked for, by part and kind of outcome.
    """

    seats: int
    pairs: Counter[int] = field(default_factory=Counter)
    beyond: int = 0
    left: tuple[int, int] = (0, 0)
    asked: Counter[tuple[int, str]] = field(default_factory=Counter)

    def is_known_from(self, step: int, length: int) -> bool:
        """True where pairs reached all parts of a match from a ply on."""
        return all(self.pairs[p] >= _OFTEN for p in range(step * _PARTS // length, _PARTS))

    def goes_on(self, step: int, length: int) -> bool:
        """True where a pair is followed for longer than usual, as few were compared so late."""
        if self.is_known_from(step, length):
            return False
        self.beyond += 1
        if self.beyond * self.seats <= _BEYOND:
            return True
        self.left = max(self.left, (step, length))
        return False

    def asks(self, part: int, outcome: Action) -> bool:
        """True where odds of this kind of outcome were not asked for often enough yet."""
        kind = part, outcome.partition(" ")[0]
        self.asked[kind] += 1
        return self.asked[kind] <= _OFTEN


def audit(
    trace: Trace, reach: _Reach, played: Sequence[PlayedMatch], pairs: int, claims: Claims
) -> tuple[Sequence[Finding], Claims]:
    """Compare pairs of matches for one seat.

    Args:
        trace: Of the seat.
        reach: The parts of matches that earlier pairs reached; more are noted.
        played: Matches to differ from.
        pairs: Pairs that are enough where they compared enough.
        claims: Of earlier pairs.

    Returns:
        What was found, one of each kind; nothing where everything that could be compared was the
        same; and all claims.
    """
    places = near_places(played, trace.seat, trace.generator)
    rounds, done = max(map(len, places), default=0), 0
    kinds: dict[tuple[str | None, str], Finding] = {}
    for number in range(rounds):
        row = [of_match[number] for of_match in places if number < len(of_match)]
        with trace.subject.anew() as table:  # it meets no match twice
            for match, ply in row:
                is_enough = trace.hiding <= claims.exchanged
                is_enough &= claims.alike + claims.unlike >= _PLIES * pairs
                if done >= pairs * (1 if is_enough or kinds else _PATIENCE):
                    return _ended(kinds.values(), trace, reach, claims), claims
                done += 1
                found, shown = _follow(trace, reach, table, played[match], ply)
                claims += shown
                for one in found:
                    kinds.setdefault(_kind(one), one)
    return _ended(kinds.values(), trace, reach, claims) if rounds else [], claims


def _ended(
    found: Collection[Finding], trace: Trace, reach: _Reach, claims: Claims
) -> list[Finding]:
    """The findings of a seat, else the doubt of what could not be compared."""
    doubt = None if found else _doubt(trace, reach, claims)
    return [*found, *([doubt] if doubt else [])]


def _follow(
    trace: Trace, reach: _Reach, table: Table, match: PlayedMatch, first: int
) -> tuple[Sequence[Finding], Claims]:
    """Follow a match that differs from a recorded one from ply `first` on."""
    here, part, length, claims = match.positions[first], -1, len(match.plies), Claims()
    found: list[Finding] = []
    table.open(trace.subject.num_players, trace.subject.parameters)  # memory is counted anew
    for step in range(first, length):
        if step >= first + _LONGEST and not reach.goes_on(step, length):
            break
        at, recorded = f"{match.name}, ply {step}", trace.recorded(match, step)
        for action in near_choices(match, step, here, trace.generator, parts=step == first):
            other = trace.step(table, here, action)
            said, follows, shown = compare_steps(trace, at, recorded, other)
            claims += shown
            found += said
            if follows:
                here, last, part = other.after, part, step * _PARTS // length
                reach.pairs[part] += part != last
                after = recorded.after
                if any(unlike_outcomes(after, here)) and reach.asks(part, after.legal[0]):
                    found += _odds(trace, table, at, after, here)
            if said and not follows:
                return found, claims
            if follows:
                break
        else:
            break
    return found, claims


def _odds(
    trace: Trace, table: Table, at: str, one: Position, other: Position
) -> tuple[Finding, ...]:
    """The finding of chance that tells the seat of hidden components that it does not move."""
    trace.subject.open()  # memory is counted anew
    places = (trace.subject.table, one), (table, other)
    odds = unlike_odds(places, trace.zones, trace.seat, trace.generator)
    if not odds:
        return ()
    same = {*one.legal} == {*other.legal}
    found = failed(
        CHECK,
        "get_chance_probabilities" if same else "get_legal_actions",
        f"after {at} the outcomes of chance are {odds} where only what is hidden from seat "
        f"{trace.seat} differs, and it is told the outcome; let what seats are told of chance "
        "depend only on hidden components that the outcome itself moves",
    )
    return (found,)


def _doubt(trace: Trace, reach: _Reach, claims: Claims) -> Finding | None:
    """The finding of what was not compared, after all pairs; None where nothing is missing."""
    seat, missing = trace.seat, claims.missing(trace.hiding)
    if strange := missing - trace.zones.keys():
        return doubted(
            f"`visible` hides {listed(strange)} from seat {seat}, which no pattern in "
            f"ZONES fits: nothing was compared; there are {listed(trace.zones)}; declare it there"
        )
    if missing:
        beside = {told for zone in missing for told in claims.along.get(zone, ())}
        return doubted(
            f"`visible` hides {listed(missing)} from seat {seat}, but no two matches "
            "were met that differ there alone: nothing was compared; "
            + how_to_compare(seat, beside - {*trace.zones})
        )
    step, length = reach.left
    if length and not reach.is_known_from(step, length):
        return doubted(
            f"a match has {length} plies, and for seat {seat} nothing was compared after "
            f"ply {step}: two matches were followed no further; play that is so long after "
            "what sets them apart is not judged; let matches end sooner"
        )
    if not (claims.alike or claims.unlike):
        told = f"no two matches were met that differ for or from seat {seat}"
        return doubted(
            f"{told}: nothing was compared; keep in the state what its players did, at a path "
            'that GAME["open"] names or in a zone'
        )
    return None
