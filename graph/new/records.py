"""Records for a validator: matches that differ in ending, in players, and in the rules they met.

Random, greedy and searching players play; where marked rules never fired, more matches are played
by players that lean towards some kinds of action, each match towards others. Of all that finished
the few are taken that show most of what is rare among them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import exp
from statistics import median

import numpy as np

from agents.players.registry import PlayerRoster
from agents.players.specs import PlayerSpecError
from agents.protocols import Design
from games.checks.seats import SeatFact, beginner_varies, seat_facts
from games.engine import Decision, Player, play_match
from games.information import SeatLog
from games.records import MatchRecord
from games.streams import stream
from games.values import Action, ModuleFault
from graph.run.events import MatchPlayed, Tell
from tools.coverage import RuleCoverage, rule_coverage
from tools.pace import PacedTable, is_slow
from tools.playtest.jobs import GameSetup
from tools.playtest.of_run.budget import affordable_simulations
from tools.sandbox import Sandbox, SandboxedModule, SandboxTable

# In a full and in a quick run; counts and no clock, so that the same seed gives the same records.
_RANDOM = {False: 30, True: 12}
_RANDOM_PLIES = {False: 20_000, True: 5_000}  # of them together
_DIRECTED = {False: 6, True: 2}  # further rounds of as many, while rules are missing
_THINKING = {False: 2, True: 1}  # matches of each player that thinks
_THINKING_PLIES = {False: 150_000, True: 20_000}  # that all of these may simulate
_SLOW_S = 60.0  # for the random matches of a slow module, and again for those that think
_GREEDY, _SEARCH = 24, 60  # simulations a move: of one ply ahead, and of a tree
_FEW = 8  # returns of no more kinds than this are told apart as they are
_APART = "seats differ, as a rule may mean (who begins, or has a part of their own):"
_LEANING = 2.0  # standard deviation of the log of a kind's weight


@dataclass(frozen=True)
class Arena:
    """The place and the bounds of play for records.

    Attributes:
        sandbox: Where modules run.
        quick: Fewer matches.
        max_plies: Plies after which a match is left unfinished.
        clock: Seconds, monotonic; asked of slow modules alone.
    """

    sandbox: Sandbox
    quick: bool
    max_plies: int
    clock: Callable[[], float]


@dataclass(frozen=True)
class DiverseRecords:
    """The chosen records, and what all played matches met.

    Attributes:
        records: Finished matches, the most telling first; fewer where fewer finished.
        coverage: Of these records, by their index; but `never` names what no match met that was
            played, chosen or not.
        played: Matches there were to choose from, finished or not.
        seats: What sets seats apart in all of them.
        unread: Who wins in matches that were played and in none that was chosen, in words.
        slow: That the module is too slow to play them all, in words; empty where it is not.
    """

    records: tuple[MatchRecord, ...]
    coverage: RuleCoverage
    played: int
    seats: tuple[SeatFact, ...] = ()
    unread: tuple[str, ...] = ()
    slow: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what no match reached, what sets seats apart, and what was not played."""
        never = ", ".join(self.coverage.never)
        reached = (f"rules that no match reached: {never}",) if never else ()
        apart = "; ".join(map(str, self.seats))
        return (*reached, *([f"{_APART} {apart}"] if apart else []), *filter(None, [self.slow]))


def is_marked_inside(sandbox: Sandbox, source: str, design: Design) -> bool:
    """True if a rule is marked by more than the functions it is in."""
    marked = rule_coverage(sandbox, source, [rule.id for rule in design.rules], [])
    return not set(marked.lines) <= set(marked.whole)


def diverse_records(pool: "RecordPool", count: int = 5) -> DiverseRecords:
    """`count` finished matches of a pool that differ in what they show.

    Raises:
        ModuleFault: If the module does not load.
        SandboxUnavailableError: If there is no sandbox.
    """
    kept = [n for n, record in enumerate(pool.records) if _finished(record)]
    finished = [pool.records[n] for n in kept]
    best = chosen_records(finished, [pool.met[n] for n in kept], count)
    records = tuple(finished[n] for n in best)
    coverage = rule_coverage(pool.arena.sandbox, pool.source, pool.rules, records)
    coverage = replace(coverage, never=pool.missing)
    unread = _unread(finished, records)
    return DiverseRecords(records, coverage, pool.played, pool.seats(), unread, pool.slow)


def played_pool(
    arena: Arena, source: str, design: Design, seed: int = 0, *, tell: Tell = lambda _: None
) -> "RecordPool":
    """Matches of a module to choose records from; the same seed gives the same ones.

    Of a slow module fewer are played than of others, as many as there is time for.

    Args:
        arena: The place and the bounds of play; its sandbox must preload the players.
        source: The module, which passed its checks.
        design: Its rules and its number of players.
        seed: Draws deals and choices.
        tell: Hears of every match that was played.

    Raises:
        ModuleFault: If the module does not load.
        SandboxUnavailableError: If there is no sandbox.
    """
    pool = RecordPool(arena, source, design, seed, tell=tell)
    pool.add(pool.random(_RANDOM[arena.quick]))
    pool.add(pool.thinking())
    for _ in range(_DIRECTED[arena.quick]):
        if pool.missing and not pool.late():
            pool.add(pool.random(_RANDOM[arena.quick], leaning=True))
    return pool


def _unread(finished: Sequence[MatchRecord], chosen: Sequence[MatchRecord]) -> tuple[str, ...]:
    """The value of `DiverseRecords.unread`; nothing for games with many kinds of winners."""
    counts = Counter(map(_winners, finished))
    missed = {who: count for who, count in counts.items() if who not in {*map(_winners, chosen)}}
    if len(counts) > _FEW or not missed:
        return ()
    told = []
    for who, count in sorted(missed.items(), reverse=True):
        seats = [str(seat) for seat, won in enumerate(who, 1) if won]
        names = "all are paid the same" if all(who) else f"player {' and '.join(seats)} did best"
        told.append(f"{names} ({count} of {len(finished)})")
    return (f"of matches with these results the validator read none: {', '.join(told)}",)


def chosen_records(
    records: Sequence[MatchRecord], met: Sequence[frozenset[str]], count: int
) -> list[int]:
    """Indices of up to `count` records, each adding the most of what is not shown yet.

    A trait is worth one over the number of records that have it: an ending, who won, who played, a
    third of the lengths, a rule that fired. Of equals the first is taken.
    """
    traits = [
        _traits(records, n) | {("rule", rule) for rule in met[n]} for n in range(len(records))
    ]
    having = Counter(trait for each in traits for trait in each)
    shown: set[tuple[str, object]] = set()
    best: list[int] = []
    while len(best) < min(count, len(records)):
        rest = [n for n in range(len(records)) if n not in best]
        worth = {
            n: sum(1 / having[trait] for trait in sorted(traits[n] - shown, key=repr)) for n in rest
        }
        best.append(max(rest, key=lambda n: (worth[n], -n)))
        shown |= traits[best[-1]]
    return best


def _traits(records: Sequence[MatchRecord], number: int) -> set[tuple[str, object]]:
    record = records[number]
    returns = record.match.returns or ()
    shorter = sum(len(other.match.plies) < len(record.match.plies) for other in records)
    traits: set[tuple[str, object]] = {
        ("order", _ending(record)),
        ("winners", _winners(record)),
        ("policy", record.players),
        ("length", 3 * shorter // len(records)),
    }
    if len({other.match.returns for other in records}) <= _FEW:
        traits.add(("returns", returns))
    return traits


def _winners(record: MatchRecord) -> tuple[bool, ...]:
    """By seat, whether nobody was paid more."""
    returns = record.match.returns or ()
    return tuple(paid == max(returns) for paid in returns)


def _ending(record: MatchRecord) -> object:
    """The seats' order by what they were paid, with ties, and whether anybody lost anything."""
    returns = record.match.returns
    if returns is None:
        return record.match.ending
    places = sorted(set(returns))
    return tuple(places.index(paid) for paid in returns), places[0] < 0


def _finished(record: MatchRecord) -> bool:
    return record.match.ending == "finished"


@dataclass
class RecordPool:
    """All matches that were kept, and the rules that each of them met."""

    arena: Arena
    source: str
    design: Design
    seed: int
    played: int = 0
    records: list[MatchRecord] = field(default_factory=list)
    met: list[frozenset[str]] = field(default_factory=list)
    marked: tuple[str, ...] = ()
    tell: Tell = field(default=lambda _: None)
    seconds: list[float] = field(default_factory=list)
    cut: bool = False
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        """The clock begins."""
        self.begun = self.arena.clock()

    def late(self) -> bool:
        """True where a slow module has used up its time; a quick one never has."""
        late = is_slow(self.seconds) and self.arena.clock() - self.begun > _SLOW_S
        self.cut |= late
        return late

    @property
    def slow(self) -> str:
        """See `DiverseRecords.slow`."""
        if not self.cut:
            return ""
        return (
            f"a ply takes {median(self.seconds) * 1000:.0f} ms, so no more than {self.played} "
            "matches were there to choose the judged ones from, and players thought less in them"
        )

    @property
    def rules(self) -> list[str]:
        """Ids of the rules."""
        return [rule.id for rule in self.design.rules]

    @property
    def missing(self) -> tuple[str, ...]:
        """Rules that are marked and that nothing met yet."""
        met = frozenset().union(*self.met)
        return tuple(rule for rule in self.marked if rule not in met)

    def add(self, records: Sequence[MatchRecord]) -> None:
        """Keep matches, with what they met."""
        coverage = rule_coverage(self.arena.sandbox, self.source, self.rules, records)
        self.marked = tuple(coverage.lines)
        self.records += records
        self.met += [coverage.of(number) for number in range(len(records))]

    def seats(self) -> tuple[SeatFact, ...]:
        """Facts that set seats apart."""
        with self.arena.sandbox.loaded("records", self.source) as worker:
            zones = SandboxedModule(worker).constant("ZONES")
        matches = [record.match for record in self.records]
        return seat_facts(matches, zones, varies=any(map(beginner_varies, self.design.sentences)))

    def random(self, count: int, *, leaning: bool = False) -> list[MatchRecord]:
        """Matches of random players; those that lean prefer other kinds of action in each match."""
        played: list[MatchRecord] = []
        plies = 0
        while len(played) < count and plies < _RANDOM_PLIES[self.arena.quick]:
            if played and self.late():
                break
            name = "random, with a liking for some kinds of action" if leaning else "random"
            lean = _LEANING if leaning else 0.0
            players = [
                _Leaning(self.seed, self.played, seat, lean)
                for seat in range(self.design.num_players)
            ]
            played.append(self._match([name] * len(players), players))
            plies += len(played[-1].match.plies)
        return played

    def thinking(self) -> list[MatchRecord]:
        """Matches of players that look one ply ahead, and of players that search."""
        finished = [record for record in self.records if _finished(record)]
        matches, plies = _THINKING[self.arena.quick], _THINKING_PLIES[self.arena.quick]
        if not finished:
            return []
        if is_slow(self.seconds):
            self.cut, plies = True, min(plies, int(_SLOW_S / median(self.seconds)))
        most = affordable_simulations(finished, 2 * matches, plies, 1)
        greedy = f"flatmc:simulations={min(_GREEDY, most)}"
        searches = [f"{name}:simulations={min(_SEARCH, most)}" for name in ("uct", "ismcts")]
        return [*self._of((greedy,), matches), *self._of(searches, matches)]

    def _of(self, specs: Sequence[str], matches: int) -> Iterator[MatchRecord]:
        """Matches with the first of these players at every seat that can play the game."""
        roster, seats = PlayerRoster(), self.design.num_players
        setup, sandbox = GameSetup(self.design.title, self.source, seats), self.arena.sandbox
        for spec in specs:
            sit = partial(roster.seat, roster.effective(spec), game=setup, sandbox=sandbox)
            for number in range(matches):
                if number and self.late():
                    return
                with ExitStack() as opened:
                    try:
                        players = (sit(seat=n, match=self.played) for n in range(seats))
                        seated = [opened.enter_context(closing(player)) for player in players]
                    except (PlayerSpecError, ModuleFault):
                        break  # it cannot play this game
                    yield self._match([spec] * seats, seated)
            else:
                return

    def _match(self, names: Sequence[str], players: Sequence[Player]) -> MatchRecord:
        with self.arena.sandbox.loaded("records", self.source) as worker:
            match = play_match(
                PacedTable(SandboxTable(worker), lambda: worker.spent, self.seconds),
                players,
                parameters={},
                seed=self.seed,
                match=self.played,
                max_plies=self.arena.max_plies,
            )
        self.played += 1
        planned = (1 + _DIRECTED[self.arena.quick]) * _RANDOM[self.arena.quick] + 2 * _THINKING[
            self.arena.quick
        ]
        self.tell(
            MatchPlayed(
                node="check",
                series="to choose records from",
                played=self.played,
                of=f"at most {planned}",
            )
        )
        return MatchRecord(
            game=self.design.title,
            parameters={},
            players=tuple(names),
            seed=self.seed,
            match_index=self.played - 1,
            match=match,
        )


@dataclass(frozen=True)
class _Leaning:
    """Draws an action by the weight of its kind, its first word, which the match decides."""

    seed: int
    match: int
    seat: int
    spread: float

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; the log is not looked at."""
        del log
        kinds = [action.partition(" ")[0] for action in legal]
        drawn = [_weight(self.seed, self.match, self.seat, kind) for kind in kinds]
        weights = np.array([weight**self.spread for weight in drawn])
        return Decision(legal[int(generator.choice(len(legal), p=weights / weights.sum()))])


@lru_cache(maxsize=4096)
def _weight(seed: int, match: int, seat: int, kind: str) -> float:
    drawn = stream(seed, f"leaning towards {kind}", match=match, seat=seat)
    return exp(float(drawn.standard_normal()))
