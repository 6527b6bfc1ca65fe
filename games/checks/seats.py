"""Seat symmetry: what sets seats apart in many matches, by more than chance can.

The rules may mean it: whoever begins holds a card more, a dealer never bids. So a difference is a
fact that has to be held against the rules, and no verdict.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from math import comb, prod

from games.checks.zones import components, concrete_paths, read_path
from games.engine import Match
from games.information import Seen
from games.text import plain_text
from games.values import Json, ModuleFault, type_of

LEVEL = 0.01
"""Chance that a game whose seats are alike is said to have any that differ."""
_MOST = 8  # facts that are told, the surest first
_WORDS = 3  # of a sentence, that tell its kind
_SEAT = re.compile(r"\b(?:player|seat) (\d)\b", re.IGNORECASE)
_BEGINS = re.compile(r"\b(begins?|starts?|first (turn|move)|(moves?|goes|acts?) first)\b")
_VARIES = re.compile(
    r"\b(random(ly)?|by lot|chance|winner|loser|highest|lowest|alternat\w+|rotat\w+)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(players?|seat|who|winner|loser)\b", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(dealers?|leaders?|roles?|teams?|sides?|attackers?|defenders?|white|black|"
    r"one (of the (\w+ )?)?players?|(first|second|third|fourth|last|starting) player)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SeatFact:
    """A kind of thing that some seats have in matches, and the others never, or seldom.

    Attributes:
        seats: Who has it.
        kind: What they have, as the end of a sentence; a module's words may stand in it.
        counts: Matches in which it was so, by seat.
        matches: Matches in which it was so of any seat.
        bound: Chance of so much, or more, were the seats alike; over all kinds together.
        whole: Whether no turn order explains it: see `seat_facts`.
    """

    seats: tuple[int, ...]
    kind: str
    counts: tuple[int, ...]
    matches: int
    bound: float
    whole: bool = False

    def __str__(self) -> str:
        """The fact with its counts.

        >>> print(SeatFact((0,), "may choose 'draw'", (26, 0), 26, 1e-6))
        may choose 'draw': only seat 0 (in 26 and 0 matches, by seat)
        """
        who = f"seat{'s' * (len(self.seats) > 1)} {' and '.join(map(str, self.seats))}"
        counts = " and ".join(map(str, self.counts))
        return f"{self.kind}: only {who} (in {counts} matches, by seat)"


def even_handed(rules: Sequence[str], seats: int) -> bool:
    """True where no rule gives a seat anything of its own but the first turn.

    A sentence that names every seat, or none, is the same for all of them.

    >>> even_handed(["Player 1 has the first turn.", "Then Player 2, then Player 1."], 2)
    True
    >>> even_handed(["Player 2 may swap."], 2), even_handed(["The dealer draws."], 2)
    (False, False)
    """
    for rule in rules:
        named = set(_SEAT.findall(rule))
        apart = 0 < len(named) < seats and not _BEGINS.search(rule)
        if apart or _ROLE.search(rule):
            return False
    return True


def beginner_varies(rule: str) -> bool:
    """True where chance, or an earlier result, says who begins.

    >>> beginner_varies("The winner of a round leads the next, and starts it.")
    True
    >>> beginner_varies("Player 1 has the first turn; tiles are drawn at random.")
    False
    """
    fixed = _SEAT.search(rule) or not _WHO.search(rule)
    return bool(not fixed and _BEGINS.search(rule) and _VARIES.search(rule))


def seat_facts(
    matches: Sequence[Match], zones: Json, *, varies: bool = False
) -> tuple[SeatFact, ...]:
    """Differences between seats that chance does not explain, the surest first.

    Alike means: turning the table by any number of seats leaves every match as likely as it was.
    Then, of the `n` turns of a match in which the seats `H` have a kind, as many fit into a set `S`
    of seats as there are `r` with `H + r` inside `S`. For the smallest `S` that holds `H` of every
    match, chosen among at most `2^n - 2`, the chance that it holds them all is at most

        (2^n - 2) * product over matches of |{r : H + r inside S}| / n.

    Numbers of turns (decisions in a row are one) are compared too: at most one seat of a match has
    over one turn less than each other seat, or more, so that `k` of `m` such matches for one seat
    have at most the chance

        n * sum over j >= k of C(m, j) (1/n)^j (1 - 1/n)^(m - j).

    Each bound is multiplied by the number of kinds that the matches show, which turning the table
    does not change; what stays at most `LEVEL` is told, so that over all kinds chance tells
    anything with at most that probability. All players of a match must be of one kind, each drawing
    for itself.

    A fact is `whole` where turn order cannot explain it: a field stands in every observation of the
    one seats and in none of the others; a seat never decides though all others do so twice in
    every match; a seat is told nothing of any match in which others are.

    Args:
        matches: Matches of one module, with states and logs.
        zones: Its `ZONES`.
        varies: Whether who begins is to vary; then that is a kind as well.
    """
    finished = [match for match in matches if match.ending == "finished"]
    seats = len(finished[0].final_observations) if finished else 0
    if seats < 2:  # noqa: PLR2004 - a seat alone is like no other
        return ()
    met: dict[str, list[frozenset[int]]] = defaultdict(list)
    for match in finished:
        having: dict[str, set[int]] = defaultdict(set)
        for kind, seat in _kinds(match, zones, seats):
            having[kind].add(seat)
        for kind, those in having.items():
            met[kind].append(frozenset(those))
    if not varies:
        met.pop(_FIRST, None)
    tested = len(met) + len(_apart([], seats))
    facts = [_never(kind, sets, seats) for kind, sets in met.items()]
    facts += [_seldom(kind, alone, seats) for kind, alone in _apart(finished, seats).items()]
    certain = [
        replace(f, bound=f.bound * tested, whole=_is_whole(f, finished))
        for f in facts
        if f.bound * tested <= LEVEL
    ]
    return tuple(sorted(certain, key=lambda f: (not f.whole, f.bound, f.kind))[:_MOST])


_FIRST = "makes the first decision of a match"
_DECIDES = "ever has to decide anything"
_TOLD = "is told of anything that happens"
_FIELD = "is shown the field "


def _kinds(match: Match, zones: Json, seats: int) -> Iterator[tuple[str, int]]:
    """Each seat's quantities in a match, by kind."""
    deciding = [ply for ply in match.plies if ply.player >= 0]
    for ply in deciding:
        yield _DECIDES, ply.player
        yield from ((f"may choose '{_kind_of(a, 1)}'", ply.player) for a in ply.legal)
    told = [(seat, e) for ply in match.plies for seat, es in enumerate(ply.events) for e in es]
    for seat, event in told:
        yield _TOLD, seat
        yield f"is told '{_kind_of(event, _WORDS)} ...'", seat
    for log in match.logs:
        shown = set().union(*_fields(match, log.seat))
        yield from ((f"{_FIELD}'{name}'", log.seat) for name in shown)
    for seat, paid in enumerate(match.returns or ()):
        yield f"is paid {'more than ' * (paid > 0)}{'less than ' * (paid < 0)}0", seat
    if deciding:
        yield _FIRST, deciding[0].player
        for (pattern, seat), count in _held(deciding[0].state, zones, seats).items():
            yield f"has {count} in {pattern} at the first decision", seat


def _kind_of(said: str, words: int) -> str:
    return " ".join(type_of(plain_text(said)).split()[:words])


def _fields(match: Match, seat: int) -> Iterator[set[str]]:
    """Names of the fields of each observation that a seat was sent; a number in one is no name."""
    for entry in match.logs[seat].entries:
        if isinstance(entry, Seen):
            yield {type_of(plain_text(name)) for name in entry.observation}


def _held(state: Json, zones: Json, seats: int) -> Counter[tuple[str, int]]:
    """Components in each zone that every seat has one of; the first `*` is the seat."""
    held: Counter[tuple[str, int]] = Counter()
    declared = zones.items() if isinstance(zones, dict) and isinstance(state, dict) else ()
    for pattern, zone in declared:
        steps = pattern.split(".")
        if not isinstance(zone, dict) or zone.get("owner") != "each" or "*" not in steps:
            continue
        assert isinstance(state, dict)
        with suppress(ModuleFault):  # too many to tell anything of them
            for path in [*concrete_paths(state, pattern)]:
                seat = path.split(".")[steps.index("*")]
                if seat.isdecimal() and int(seat) < seats:
                    count = sum(1 for _ in components(read_path(state, path)))
                    held[pattern, int(seat)] += count
    return held


def _never(kind: str, sets: Sequence[frozenset[int]], seats: int) -> SeatFact:
    """A kind that some seats never have, with the bound that `seat_facts` gives first."""
    counts = tuple(sum(seat in those for those in sets) for seat in range(seats))
    inside = frozenset().union(*sets)
    fitting = (
        sum(frozenset((s + r) % seats for s in those) <= inside for r in range(seats))
        for those in sets
    )
    chance = prod(fit / seats for fit in fitting)
    bound = min(1.0, (2**seats - 2) * chance)
    return SeatFact(tuple(sorted(inside)), kind, counts, len(sets), bound)


def _apart(matches: Sequence[Match], seats: int) -> dict[str, list[int]]:
    """The seat of each match that has less turns, or more, than every other, by over one."""
    less: list[int] = []
    more: list[int] = []
    for match in matches:
        turns = Counter(seat for seat, _ in groupby(p.player for p in match.plies if p.player >= 0))
        counts = sorted((turns[seat], seat) for seat in range(seats))
        less += [counts[0][1]] if counts[0][0] + 1 < counts[1][0] else []
        more += [counts[-1][1]] if counts[-2][0] + 1 < counts[-1][0] else []
    return {
        f"has over one turn {which} than every other": alone
        for which, alone in (("less", less), ("more", more))
    }


def _seldom(kind: str, alone: Sequence[int], seats: int) -> SeatFact:
    """A kind that one seat of a match has, with the bound that `seat_facts` gives second."""
    counts = tuple(alone.count(seat) for seat in range(seats))
    matches, most = len(alone), max(counts)
    tail = sum(
        comb(matches, j) * seats**-j * (1 - 1 / seats) ** (matches - j)
        for j in range(most, matches + 1)
    )
    return SeatFact((counts.index(most),), kind, counts, matches, min(1.0, seats * tail))


def _is_whole(fact: SeatFact, matches: Sequence[Match]) -> bool:
    """True for a fact that turn order cannot explain."""
    if any(fact.counts[seat] < len(matches) for seat in fact.seats):
        return False
    if fact.kind == _DECIDES:
        counts = [Counter(ply.player for ply in match.plies) for match in matches]
        return all(decided[seat] > 1 for decided in counts for seat in fact.seats)
    if fact.kind.startswith(_FIELD):
        name = fact.kind.removeprefix(_FIELD).strip("'")
        shown = [fields for m in matches for seat in fact.seats for fields in _fields(m, seat)]
        return all(name in fields for fields in shown)
    return fact.kind == _TOLD
