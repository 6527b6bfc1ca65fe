"""Content of a play-test report: plain values, so that it can be written and read anywhere."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue

from games.engine import Ply
from games.mechanics import MechanicGraph
from games.records import MatchRecord
from games.text import one_line
from games.values import CHANCE
from tools.sandbox.backends import Grade

TIMED_OUT = "timed out"
"""How `Play.unfinished` calls matches that the clock ended."""

_TOGETHER = ("ensemble", "scores")
UNSURE: Final = "could not tell"

_ONE = {"matches": "match", "deals": "deal", "seats": "seat", "pairs": "pair"}
LadderVerdict: TypeAlias = Literal["climbs", "falls", "undecided", "unmeasured"]


class Figure(BaseModel, frozen=True, extra="forbid"):
    """One measured number with its interval.

    Attributes:
        name: What was measured.
        meaning: The same in a sentence.
        value: The estimate; None where it could not be made.
        low: Lower end of the 95 % interval.
        high: Upper end.
        n: How many samples it rests on.
        of: What they are; empty where nothing was measured.
        method: How the interval was made.
        problem: Why there is no value; empty where there is one.
    """

    name: str
    meaning: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    of: Literal["", "matches", "deals", "seats", "pairs"] = ""
    method: str = ""
    problem: str = ""

    @property
    def samples(self) -> str:
        """The number and kind of its samples, as a reader is told.

        >>> Figure(name="ties", meaning="", n=18, of="matches").samples
        'n = 18 matches'
        """
        return f"n = {self.n} {self.of if self.n != 1 else _ONE.get(self.of, '')}".rstrip()


class Rung(BaseModel, frozen=True, extra="forbid"):
    """One comparison of the skill ladder: a player against another.

    Attributes:
        stronger: Spec of the player expected to do better.
        weaker: Spec of the players at the other seats.
        measure: "win_share": share of wins of one side, ties shared. "return": mean return at every
            seat less the weaker player's on the same deals (one player, or equal rewards for all).
        figure: The measured value.
        even: The value of equal players.
        verdict: "climbs" or "falls" where the interval leaves `even` out.
        unfinished: Matches without a result, by how they ended.
    """

    stronger: str
    weaker: str
    measure: Literal["win_share", "return"]
    figure: Figure
    even: float
    verdict: LadderVerdict
    unfinished: dict[str, int] = Field(default_factory=dict)

    @property
    def is_told(self) -> bool:
        """True where the interval tells the two players apart."""
        return self.verdict in {"climbs", "falls"}


class Play(BaseModel, frozen=True, extra="forbid"):
    """One player at every seat, and what its matches showed.

    Attributes:
        player: Its spec.
        figures: Measures by key, as `tools.playtest.report.measure_all` names them.
        lengths: Decisions of every finished match.
        branching: Mean number of legal actions at the n-th decision of a match.
        unfinished: Matches without a result, by how they ended.
    """

    player: str
    figures: dict[str, Figure]
    lengths: tuple[int, ...] = ()
    branching: tuple[float, ...] = ()
    unfinished: dict[str, int] = Field(default_factory=dict)


class Fairness(BaseModel, frozen=True, extra="forbid"):
    """The evenness of the wins over the sides, where one player has every seat.

    Attributes:
        player: Its spec.
        players: Seats.
        answer: "yes": every side's interval lies within the margin; "nearly" where besides one
            leaves an even share out; "no" where one leaves it out and they do not.
        share: Of the side that is furthest from an even share, with the interval that the answer
            rests on.
        even: The share of equals.
        margin: The distance from it that is fair.
        looks: Matches after which it was looked, in order; the last is what the answer rests on.
        needed: Matches that would decide it, if shares stay as they are; 0 where it is decided.
    """

    player: str
    players: int
    answer: Literal["yes", "nearly", "no", "could not tell"]
    share: Figure
    even: float
    margin: float
    looks: tuple[int, ...]
    needed: int = 0


class Evaluation(BaseModel, frozen=True, extra="forbid"):
    """The results of playing the game.

    Attributes:
        plays: Random play first, then more competent play.
        shared: Every match paid all seats the same: a team, or one player.
        sides: Seats, from 0, by side; one a seat where nobody has partners. Found from play.
        best_score: The best that a team can have, where it is known; see `best_declared`.
        best_declared: Whether the game declares it; otherwise the best match seen, a lower bound.
        cut: By series, the matches that were played and planned, where the wall limit ended it.
        limit: The same in words; empty where nothing was cut.
        ladder: Comparisons of players, in the order in which they were played.
        players: Specs from weak to strong, as measured; before them who was not measured.
        settings: Every setting of a player, by its spec.
        span: The strongest player against random play; None where it is the only one.
        fairness: Of good players; None where nobody wins, or it was not measured.
        by_players: The fairness of random play, by the number of players that the game takes.
        unreached: Goals, rules and ends that no match reached, a sentence each.
        silent: Ids of mechanics whose code no match ran that was followed.
        followed: The matches that were.
        never: Actions that good players had and never chose.
        always: Actions that they chose whenever they had a choice.
        notes: What a reader must know about these numbers.
        not_audited: Why it is not known if seats were told what is hidden; empty where it is.
        sandbox: What the matches were played in; None where that was not kept.
    """

    plays: tuple[Play, ...]
    shared: bool
    sides: tuple[tuple[int, ...], ...] = ()
    best_score: float | None = None
    best_declared: bool = False
    cut: dict[str, tuple[int, int]] = Field(default_factory=dict)
    limit: str = ""
    ladder: tuple[Rung, ...]
    players: tuple[str, ...]
    settings: dict[str, str] = Field(default_factory=dict)
    span: Rung | None = None
    fairness: Fairness | None = None
    by_players: tuple[Fairness, ...] = ()
    unreached: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    followed: int = 0
    never: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_audited: str = ""
    sandbox: Grade | None = None

    @property
    def has_teams(self) -> bool:
        """True where several sides of partners play against each other."""
        return 1 < len(self.sides) < sum(map(len, self.sides))

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Players whose every comparison measured nothing; random play is where the ladder begins.

        They are none of the strongest, and none of `apart`.
        """
        tried = {rung.stronger for rung in self.ladder}
        for rung in self.ladder:
            if rung.verdict != "unmeasured":
                tried -= {rung.stronger, rung.weaker}
        return tuple(player for player in self.players if player in tried)

    @property
    def apart(self) -> tuple[tuple[str, ...], ...]:
        """Players from weak to strong; those in one group could not be told from a neighbour."""
        told = {frozenset((rung.stronger, rung.weaker)) for rung in self.ladder if rung.is_told}
        groups: list[tuple[str, ...]] = []
        for player in self.players:
            if player in self.unmeasured:
                continue
            if groups and frozenset((groups[-1][-1], player)) not in told:
                groups[-1] += (player,)
            else:
                groups.append((player,))
        return tuple(groups)

    @property
    def unfinished(self) -> dict[str, int]:
        """Random matches without a result, by how they ended."""
        return self.plays[0].unfinished

    @property
    def measured(self) -> list[Play]:
        """Plays from weak to strong of whom two matches, and so intervals, were measured."""
        found = [p for p in self.plays if p.lengths[1:] and p.player not in self.unmeasured]
        return sorted(found, key=lambda play: self.players.index(play.player))

    @property
    def best(self) -> Play:
        """The play of the strongest player who was measured; else random play."""
        return (self.measured or self.plays[:1])[-1]

    def beside(self, before: "Evaluation") -> tuple[Play, Play]:
        """The strongest player measured here and there, before and now; else the best of each."""
        old = {play.player: play for play in before.measured}
        both = [(old[new.player], new) for new in self.measured if new.player in old]
        return both[-1] if both else (before.best, self.best)

    @property
    def best_are_told(self) -> bool:
        """True where the ladder tells the strongest player from the one below it."""
        return len(self.apart) > 1 and len(self.apart[-1]) == 1


class ReportLine(BaseModel, frozen=True, extra="forbid"):
    """A line of a table: a word, a state, an explanation."""

    name: str
    state: str
    text: str = ""


class Report(BaseModel, frozen=True, extra="forbid"):
    """Everything the page shows.

    Attributes:
        changes: Of a revision: the rules and settings that differ from the game before it.
        before: Of a revision: the play-test of the game before it.
        graph: Its mechanics; None where it has none that can be drawn.
        links: Name and place, relative to the page, of what lies beside it.
    """

    title: str
    summary: str
    players: int
    made_by: str
    facts: tuple[tuple[str, str], ...]
    clauses: tuple[ReportLine, ...]
    assumptions: tuple[str, ...]
    checks: tuple[ReportLine, ...]
    heuristics: tuple[ReportLine, ...]
    evaluation: Evaluation | None
    choiceless: str = ""
    rulebook: str = ""
    record: str
    settings: dict[str, JsonValue]
    problem: str = ""
    changes: tuple[ReportLine, ...] = ()
    before: Evaluation | None = None
    graph: MechanicGraph | None = None
    links: tuple[tuple[str, str], ...] = ()


def short_name(spec: str) -> str:
    """A player's name for people.

    >>> short_name("uct:simulations=50"), short_name("greedy:heuristic=ensemble")
    ('uct 50', 'greedy')
    >>> short_name("greedy:heuristic=keep_high")
    'keep_high'
    """
    name, _, settings = spec.partition(":")
    pairs = dict(pair.partition("=")[::2] for pair in settings.split(","))
    if name == "greedy" and pairs.get("heuristic") not in (None, *_TOGETHER):
        return pairs["heuristic"]
    return f"{name} {pairs['simulations']}" if "simulations" in pairs else name


def match_story(record: MatchRecord) -> str:
    """One line a ply, after the result; an empty line before each further deal.

    Players are counted from 1, and everything that happened is told.
    """
    match = record.match
    lines = [f"Match {record.match_index + 1}, seed {record.seed}"]
    lines += [
        f"Player {n}: {one_line(short_name(name))}" for n, name in enumerate(record.players, 1)
    ]
    if match.returns is None:
        lines.append(f"No result: {match.ending} ({one_line(match.reason)})")
    else:
        paid = ", ".join(f"player {n}: {paid:g}" for n, paid in enumerate(match.returns, 1))
        lines.append(f"Result: {paid}")
    begun = _further_deals(match.plies, len(record.players))
    for n, ply in enumerate(match.plies):
        lines += [*[""] * (n in begun), f"{n + 1}. {_told(ply)}"]
    return "\n".join(lines) + "\n"


def _further_deals(plies: Sequence[Ply], seats: int) -> set[int]:
    """Plies at which chance begins to act about as often in a row as at the last deal."""
    begun, dealt, start = set[int](), 0, 0
    for is_chance, run in groupby(plies, key=lambda ply: ply.player == CHANCE):
        length = len(list(run))
        if is_chance and length >= max(2, seats, dealt / 2):
            begun |= {start} if dealt else set()
            dealt = length
        start += length
    return begun


def _told(ply: Ply) -> str:
    """The event that everybody perceived; where that differs, the actor and the action."""
    heard = {" ".join(events) for events in ply.events}
    chance = ply.player == CHANCE
    text = f"{'Chance' if chance else f'Player {ply.player + 1}'}: {ply.action}"
    if len(heard) == 1 and (shared := heard.pop()):
        text = shared
    if not chance and len(ply.legal) > 1:
        text += f" [one of {len(ply.legal)} choices]"
    return one_line(text)
