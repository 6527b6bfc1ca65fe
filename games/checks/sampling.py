"""Random matches as the material that checks look at."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from numpy.random import Generator

from games.contract import Game
from games.engine import Decision, Match, Ply, play_match
from games.information import SeatLog
from games.modules import LocalModule
from games.streams import PlyChance, stream
from games.table import GameTable, Position, Table
from games.values import TERMINAL, Action, Json, State

_ENOUGH_TROUBLE = 3
_ENOUGH_MATERIAL = 128 * 2**20  # bytes: long matches with large states are looked at in fewer


@dataclass(frozen=True)
class Subject:
    """A module on trial, with how it is to be started.

    Attributes:
        game: Its functions, one call each.
        table: The same module as a referee's table.
        num_players: Players at the table.
        parameters: Passed to `initial_state`.
        fresh: Gives the module anew, loaded by itself and asked nothing yet, so that no memory of
            earlier calls can stand in for its rules. Raises `ModuleFault` if it does not load.
        anew: The same as a table, asked as a referee asks it.
        weight: About how many bytes its answers took in memory so far.
    """

    game: Game
    table: Table
    num_players: int
    parameters: Mapping[str, Json]
    fresh: Callable[[], contextlib.AbstractContextManager[Game]]
    anew: Callable[[], contextlib.AbstractContextManager[Table]]
    weight: Callable[[], int] = lambda: 0

    def open(self) -> Position:
        """The first position; what one match takes in memory is counted anew from here."""
        return self.table.open(self.num_players, self.parameters)

    def random_match(self, match: int, deal: int, *, seed: int, max_plies: int) -> Match:
        """A match in which every legal action is as likely, on a deal of its own number or not."""
        return play_match(
            self.table,
            [UniformPlayer()] * self.num_players,
            parameters=self.parameters,
            seed=seed,
            match=match,
            chance=PlyChance(seed, deal),
            max_plies=max_plies,
        )


def trusted_subject(
    source: str, num_players: int, parameters: Mapping[str, Json] | None = None
) -> Subject:
    """A source on trial in this process: for the library's own sources, never for generated ones.

    Raises:
        ModuleFault: If it does not load.
    """

    @contextlib.contextmanager
    def fresh() -> Iterator[Game]:
        yield Game(LocalModule(source))

    @contextlib.contextmanager
    def anew() -> Iterator[Table]:
        yield GameTable(Game(LocalModule(source)))

    game = Game(LocalModule(source))
    return Subject(game, GameTable(game), num_players, dict(parameters or {}), fresh, anew)


def another_order(count: int, *, seed: int) -> list[int]:
    """The numbers 0 to `count` - 1 in a seeded order that is not their own, where there is one.

    >>> another_order(4, seed=1) == another_order(4, seed=1) != [0, 1, 2, 3]
    True
    """
    order = [int(index) for index in stream(seed, "another order").permutation(count)]
    return order[::-1] if order == list(range(count)) else order


class UniformPlayer:
    """Plays every legal action with the same probability."""

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        del log
        return Decision(legal[int(generator.integers(len(legal)))])


def random_matches(
    subject: Subject, *, matches: int, seed: int, max_plies: int, first: int = 0
) -> list[Match]:
    """Play up to `matches` random matches from number `first` on; a seed gives the same ones.

    Three that do not finish tell enough: a module that loops for ever costs a deadline each time.
    """
    played: list[Match] = []
    for index in range(first, first + matches):
        played.append(subject.random_match(index, index, seed=seed, max_plies=max_plies))
        if subject.weight() > _ENOUGH_MATERIAL:
            break
        if sum(match.ending != "finished" for match in played) >= _ENOUGH_TROUBLE:
            break
    return played


@dataclass(frozen=True)
class PlayedMatch:
    """A match with all its positions, the last one included."""

    name: str
    match: Match
    positions: tuple[Position, ...]

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The ply at every position but the last."""
        return self.match.plies


class KeptPositions:
    """A table that keeps the positions of every match."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.matches: list[list[Position]] = []

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        self.matches.append([])  # of a match whose start fails too
        self.matches[-1].append(self._table.open(num_players, parameters))
        return self.matches[-1][-1]

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        self.matches[-1].append(self._table.advance(position, action))
        return self.matches[-1][-1]


def played_matches(
    subject: Subject, *, matches: int, seed: int, max_plies: int, first: int = 0
) -> list[PlayedMatch]:
    """As `random_matches`, with every position."""
    table = KeptPositions(subject.table)
    played = random_matches(
        replace(subject, table=table), matches=matches, seed=seed, max_plies=max_plies, first=first
    )
    return [
        PlayedMatch(f"match {number}", match, tuple(positions))
        for number, (match, positions) in enumerate(zip(played, table.matches, strict=True), first)
    ]


@dataclass(frozen=True)
class Sample:
    """A state met in random play, and where."""

    state: State
    player: int
    legal: tuple[Action, ...]
    match: int
    ply: int

    @property
    def place(self) -> str:
        """Where it was met, for evidence."""
        return f"match {self.match}, ply {self.ply}"


def sample_states(matches: Sequence[Match], *, count: int, seed: int) -> list[Sample]:
    """Up to `count` states, first and last ones of each match before random others."""
    ends, inner = [], []
    for index, match in enumerate(matches):
        samples = [
            Sample(ply.state, ply.player, ply.legal, index, number)
            for number, ply in enumerate(match.plies)
        ]
        if match.ending == "finished" and match.final_state is not None:
            ends.append(Sample(match.final_state, TERMINAL, (), index, len(match.plies)))
        ends += samples[:1]
        inner += samples[1:]
    generator = stream(seed, "check samples")
    chosen = generator.permutation(len(inner))[: max(0, count - min(len(ends), count // 4))]
    return ends[: count // 4] + [inner[int(index)] for index in sorted(chosen)]
