"""The lean referee: many matches at once, a message a round, and nothing asked that nobody reads.

A round takes one action for each running match and brings back the next position of each. Of a
position come the seat to move, its legal actions, what was paid, and what players read of it: the
mover's observation, or all that a seat sees and perceives. There are no records and no check of
states: finished matches are made again in full afterwards, see `tools.replaying`.

Only what is clean counts here. A match in which anything failed is handed back, and is played alone
by `games.engine.play_match`, which says what was wrong and whose fault it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import fsum
from typing import Literal, NamedTuple, Protocol, TypeAlias

from numpy.random import Generator

from games.contract import (
    read_actions,
    read_events,
    read_player,
    read_probabilities,
    read_rewards,
    read_state,
)
from games.engine import Decision, Effort, PlayerFault, sample_index, uniform_index
from games.information import SeatLog, Seen
from games.streams import Uniforms, stream
from games.values import (
    CHANCE,
    TERMINAL,
    Action,
    Json,
    ModuleFault,
    Observation,
    canonical_value,
)

Reads: TypeAlias = Literal["nothing", "newest", "all"]
Move: TypeAlias = tuple[int, Action | None]  # a slot and its action; None begins a match there
Draw: TypeAlias = Callable[[int], float]  # a uniform number of a ply

_KNOWN = 4096  # lists of legal actions that are kept in order
_NOTHING = (0, None, None, None)  # nobody is paid, and nothing more is told


class Columns(NamedTuple):
    """The positions of a round, raw, one a move.

    Attributes:
        players: The seat to move, `CHANCE` or `TERMINAL`; None where the match failed.
        legal: For each the number of a text.
        texts: Legal actions, a line each; why it failed.
        more: For some, by row: the rewards (0 where nobody is paid), the probabilities of chance
            where the module gives them, the observation of a sighted seat that moves, and three
            for each seat that is followed: the numbers of the parts of its observation that changed
            since the last one, by name, the names of those that are gone, and its events of the
            move.
        parts: Of observations, in their one form; what many seats see is told once.
    """

    players: Sequence[Json]
    legal: Sequence[int]
    texts: Sequence[str]
    more: Mapping[int, Sequence[Json]]
    parts: Sequence[Json]

    @classmethod
    def of(cls, reply: Json, moves: int) -> "Columns":
        """Those of a worker's reply.

        Raises:
            ModuleFault: If it is of another form.
        """
        match reply:
            case [list(players), list(legal), list(texts), list(more), list(parts)]:
                numbers = [number for number in legal if type(number) is int]
                lines = [text for text in texts if isinstance(text, str)]
                within = not numbers or (min(numbers) >= 0 and max(numbers) < len(lines))
                if len(players) == len(numbers) == moves and len(lines) == len(texts) and within:
                    own = [canonical_value(part) for part in parts]
                    return cls(players, numbers, lines, _by_row(more), own)
        raise ModuleFault("killed", "round", "the worker did not tell each match's position")


def _by_row(more: Sequence[Json]) -> dict[int, Sequence[Json]]:
    found: dict[int, Sequence[Json]] = {}
    for one in more:
        match one:
            case [int() as row, paid, chances, seen, told]:
                found[row] = paid, chances, seen, told
            case _:
                raise ModuleFault("killed", "round", "the worker told a position in another form")
    return found


class SeatView(NamedTuple):
    """One position that a player is asked about.

    Attributes:
        log: The seat's log; its newest observation alone where the player reads no more.
        legal: Legal actions, at least one, in alphabetical order.
        generator: Makes the stream of this seat at this ply, where it is needed.
    """

    log: SeatLog
    legal: Sequence[Action]
    generator: Callable[[], Generator]


class LockstepPlayer(Protocol):
    """A player of one seat in many matches at once, which remembers none of them.

    Attributes:
        reads: What it reads of its seat's log. One that reads nothing draws uniformly, on the host.
        effort: Of its every decision; None where each tells its own.
    """

    @property
    def reads(self) -> Reads:
        """The part of its seat's log that it reads; with nothing, the host draws uniformly."""

    @property
    def effort(self) -> Effort | None:
        """The effort of every decision, where it is always the same."""

    def choose_many(self, views: Sequence[SeatView]) -> Sequence[Decision]:
        """A legal action for each of the seat's positions of a round.

        Raises:
            PlayerFault: If any of them failed.
        """


class Rounds(Protocol):
    """Where the matches are: it holds their states by slot."""

    def advance(
        self, moves: Sequence[Move], sighted: Sequence[int], followed: Sequence[int]
    ) -> Columns:
        """Do the moves, and tell the positions they lead to.

        Args:
            moves: In the order of the rows.
            sighted: Seats whose observation is told where they move.
            followed: Seats of which all is told that changed.

        Raises:
            ModuleFault: If the module failed as a whole.
        """


class Entry(NamedTuple):
    """A match to play in lockstep.

    Attributes:
        match: Its index, which keys the players' streams.
        deal: Index of its deal, which keys chance.
        players: By seat; one object may sit in many matches.
    """

    match: int
    deal: int
    players: tuple[LockstepPlayer, ...]


class Outcome(NamedTuple):
    """A clean match.

    Attributes:
        match: Its index.
        returns: By seat; None where it met the limit of plies.
        actions: Every decision and chance outcome, in order.
        decisions: By seat.
        forced: Decisions with one legal action, over all seats.
        options: Legal actions, summed over all decisions.
        efforts: By seat, of each decision of a player whose efforts differ.
        logs: Of the seats whose players read all of it, to the end.
    """

    match: int
    returns: tuple[float, ...] | None
    actions: list[Action]
    decisions: tuple[int, ...]
    forced: int
    options: int
    efforts: list[list[Effort]]
    logs: Mapping[int, SeatLog]


class _Options:
    """Legal actions, as the module lists them and, once asked for, in alphabetical order."""

    __slots__ = ("as_given", "sorted")

    def __init__(self, as_given: list[Action]) -> None:
        self.as_given = as_given
        self.sorted: tuple[Action, ...] = ()

    def in_order(self) -> tuple[Action, ...]:
        self.sorted = self.sorted or tuple(sorted(self.as_given))
        return self.sorted


class _Running:
    """A match under way in a slot."""

    __slots__ = (
        *("actions", "chance", "decisions", "draws", "efforts", "entry", "forced", "logs"),
        *("mover", "options", "paid", "shown"),
    )

    def __init__(self, entry: Entry, key: int) -> None:
        seats = len(entry.players)
        self.entry = entry
        self.actions: list[Action] = []
        self.paid: list[list[float]] = []
        self.decisions = [0] * seats
        self.efforts: list[list[Effort]] = [[] for _ in range(seats)]
        self.forced = self.options = 0
        self.mover = CHANCE
        self.logs: dict[int, SeatLog] = {}
        self.draws: list[Draw | None] = [None] * seats
        for seat, player in enumerate(entry.players):
            if player.reads == "nothing":
                self.draws[seat] = Uniforms.of(key, "player", match=entry.match, seat=seat).at
            elif player.reads == "all":
                self.logs[seat] = SeatLog(seat)
        self.shown: dict[int, Observation] = dict.fromkeys(self.logs, {})
        self.chance = Uniforms.of(key, "chance", match=entry.deal)


@dataclass
class MatchBatch:
    """A batch of matches of one game.

    Attributes:
        rounds: Where they are.
        seats: Seats at the table.
        key: Of the run's streams.
        max_plies: Plies after which a match is left unfinished.
        width: Matches at the same time.
        stop: Asked before every round; True gives all running matches up.
        unclean: Indices of matches in which something failed.
    """

    rounds: Rounds
    seats: int
    key: int
    max_plies: int
    width: int
    stop: Callable[[], bool] = lambda: False
    unclean: list[int] = field(default_factory=list)
    _known: dict[str, _Options] = field(default_factory=dict)

    def play(self, entries: Sequence[Entry]) -> Iterator[Outcome]:
        """Play them, and yield those that are clean as they end.

        Raises:
            ModuleFault: If the module failed as a whole: those that are neither yielded nor in
                `unclean` are lost.
            PlayerFault: If a player did, likewise.
        """
        coming = iter(entries)
        running = {slot: _Running(e, self.key) for slot, e in enumerate(islice(coming, self.width))}
        readers = {(p.reads, seat) for e in entries for seat, p in enumerate(e.players)}
        sighted, followed = (
            sorted(seat for reads, seat in readers if reads == one) for one in ("newest", "all")
        )
        moves: list[Move] = [(slot, None) for slot in running]
        while moves and not self.stop():
            told = self.rounds.advance(moves, sighted, followed)
            options = self._options(told.texts)
            asked: dict[int, list[tuple[int, SeatView]]] = {}
            after: list[Move] = []
            more_of, parts = told.more.get, told.parts
            rows = zip(moves, told.players, told.legal, strict=True)
            for row, ((slot, action), seat, number) in enumerate(rows):
                run = running[slot]
                if action is not None:
                    run.actions.append(action)
                    if run.mover in run.logs:
                        run.logs[run.mover].act(action)
                more = more_of(row)
                found = self._next(run, seat, options[number], more, followed, parts)
                if isinstance(found, str):
                    after.append((slot, found))
                elif isinstance(found, SeatView):
                    asked.setdefault(id(run.entry.players[found.log.seat]), []).append(
                        (slot, found)
                    )
                else:
                    if found is not None:
                        yield found
                    if (entry := next(coming, None)) is not None:
                        running[slot] = _Running(entry, self.key)
                        after.append((slot, None))
            for views in asked.values():
                after += _chosen(running, views)
            moves = after

    def _next(
        self,
        run: _Running,
        player: Json,
        options: _Options | None,
        more: Sequence[Json] | None,
        followed: Sequence[int],
        parts: Sequence[Json],
    ) -> Outcome | Action | SeatView | None:
        """The consequence of a position: the end, an action drawn here, or the question to a seat.

        None where something failed, which puts the match among the unclean.
        """
        try:
            chances = seen = None
            if more is not None or followed:
                paid, chances, seen, told = more or _NOTHING
                if paid != 0:
                    run.paid.append(read_rewards(paid, self.seats))
                if followed:
                    _tell(run, followed, told, parts)
            if (
                options is not None
                and type(player) is int  # True is no seat
                and 0 <= player < self.seats
                and len(run.actions) < self.max_plies
            ):
                return self._turn(run, player, options.sorted or options.in_order(), seen)
            run.mover = CHANCE
            return self._other(run, read_player(player), options, chances)
        except ModuleFault:
            self.unclean.append(run.entry.match)
            return None

    def _turn(
        self, run: _Running, player: int, legal: tuple[Action, ...], seen: Json
    ) -> Action | SeatView:
        """The draw of a seat that draws here, or what the seat is asked."""
        ply, count = len(run.actions), len(legal)
        run.mover = player
        run.decisions[player] += 1
        run.options += count
        run.forced += count == 1
        draws = run.draws[player]
        if draws is not None:
            return legal[int(draws(ply) * count)]
        log, match = run.logs.get(player), run.entry.match
        if log is None:
            log = SeatLog(player, [Seen.of(read_state("get_observations", seen))])

        def generator() -> Generator:
            return stream(self.key, "player", match=match, seat=player, ply=ply)

        return SeatView(log, legal, generator)

    def _other(
        self, run: _Running, player: int, options: _Options | None, chances: Json
    ) -> Outcome | Action:
        """The end of a match, or an outcome of chance.

        Raises:
            ModuleFault: If it is neither.
        """
        if player == TERMINAL:
            if options is not None:
                raise ModuleFault("bad_value", "get_legal_actions", "must be empty at the end")
            return self._ended(run, finished=True)
        if options is None or player >= self.seats:
            raise ModuleFault("bad_value", "get_legal_actions", "is empty, or of no seat")
        if len(run.actions) >= self.max_plies:
            return self._ended(run, finished=False)
        outcomes, drawn = options.as_given, run.chance.at(len(run.actions))
        if chances is None:
            return outcomes[uniform_index(len(outcomes), drawn)]
        return outcomes[sample_index(read_probabilities(chances, len(outcomes)), drawn)]

    def _options(self, texts: Sequence[str]) -> list[_Options | None]:
        """Legal actions, held against the contract; None where there are none, or they do not."""
        known, found = self._known, list[_Options | None]()
        for text in texts:
            options = known.get(text)
            if options is None and text:
                with suppress(ModuleFault):
                    options = _Options(read_actions([*text.split("\n")]))
                    if len(known) >= _KNOWN:
                        known.clear()
                    known[text] = options
            found.append(options)
        return found

    def _ended(self, run: _Running, *, finished: bool) -> Outcome:
        returns = tuple(map(fsum, zip(*run.paid, strict=True))) or (0.0,) * self.seats
        return Outcome(
            match=run.entry.match,
            returns=returns if finished else None,
            actions=run.actions,
            decisions=tuple(run.decisions),
            forced=run.forced,
            options=run.options,
            efforts=run.efforts,
            logs=run.logs,
        )


def _tell(run: _Running, followed: Sequence[int], told: Json, parts: Sequence[Json]) -> None:
    """Write down what the seats that are followed see and perceive.

    Raises:
        ModuleFault: If it breaks the contract.
    """
    rows = told if isinstance(told, list) else []
    if len(rows) != len(followed):
        raise ModuleFault("bad_value", "get_observations", "must have one a seat")
    for seat, row in zip(followed, rows, strict=True):
        match row:
            case [dict(numbers), list(gone), events]:
                perceived = read_events([events], 1)[0]
                changed = {name: _part(number, parts) for name, number in numbers.items()}
            case _:
                raise ModuleFault("bad_value", "get_observations", "must have one a seat")
        if seat in run.logs:
            run.shown[seat] = seen = _seen(run.shown[seat], changed, gone)
            run.logs[seat].add(Seen(seen, tuple(perceived)))


def _part(number: Json, parts: Sequence[Json]) -> Json:
    if type(number) is int and 0 <= number < len(parts):
        return parts[number]
    raise ModuleFault("killed", "round", "the worker told no part of an observation")


def _seen(before: Observation, changed: Observation, gone: Sequence[Json]) -> Observation:
    """An observation in its one form; parts that did not change are those of the one before."""
    if not changed and not gone:
        return before
    seen = {**before, **changed}
    for name in gone:
        seen.pop(str(name), None)
    return seen if len(seen) == len(before) and not gone else dict(sorted(seen.items()))


def _chosen(
    running: Mapping[int, _Running], views: Sequence[tuple[int, SeatView]]
) -> Iterator[Move]:
    """The moves of a player at its positions.

    Raises:
        PlayerFault: If one is not legal.
    """
    slot, view = views[0]
    player = running[slot].entry.players[view.log.seat]
    decisions = player.choose_many([view for _, view in views])
    for (slot, view), decision in zip(views, decisions, strict=True):
        if decision.action not in view.legal:
            raise PlayerFault(f"{decision.action!r:.80} is not a legal action")
        if player.effort is None:
            running[slot].efforts[view.log.seat].append(decision.effort)
        yield slot, decision.action
