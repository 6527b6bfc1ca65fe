"""A field of contestants played out: solo games, duels, their journal and their workers."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

from evals.battleship.playing import Contestant, duel, solo
from evals.options import EvalOptions
from evals.results import EvalError
from games.contract import Json
from tools.playtest import InlineExecutor, Journal, JournalError, SandboxRecipe, process_pool

Tell = Callable[[str], None]
Pair = tuple[str, str]
Entry = dict[str, Any]

_AHEAD = 4
_FEWEST = 2  # deals or fleets that an estimate with an interval needs
_TOLD_EVERY = 500


@dataclass(frozen=True)
class Line:
    """One series of games: a contestant alone, or a pair."""

    who: tuple[Contestant] | tuple[Contestant, Contestant]

    @property
    def title(self) -> str:
        """The contestants by name."""
        return " - ".join(one.name for one in self.who)


@dataclass(frozen=True)
class Amount:
    """How many games are played.

    Attributes:
        solos: Fleets sunk by each contestant that does not look.
        duels: Games of each pair in which one looks; even, as seats are exchanged.
        slow_duels: The same for pairs in which one is slow; None for as many.
    """

    solos: int
    duels: int
    slow_duels: int | None = None

    def __post_init__(self) -> None:
        """Refuse what gives no estimate."""
        duels = (self.duels, self.duels if self.slow_duels is None else self.slow_duels)
        if self.solos < _FEWEST or min(duels) < 2 * _FEWEST or any(n % 2 for n in duels):
            raise ValueError(f"{self}; required: at least 2 solos and 4 duels, an even number")

    def of(self, line: Line) -> int:
        """Games of a line."""
        if len(line.who) == 1:
            return self.solos
        slow = self.slow_duels is not None and any(one.slow for one in line.who)
        return self.slow_duels or self.duels if slow else self.duels


@dataclass(frozen=True)
class Field:
    """Contestants that all meet each other.

    Attributes:
        name: Name of its journal in the folder of an evaluation.
        seed: Seed of all its games.
        contestants: Who plays.
        effective: What else a game depends on; a journal of other games is refused.
    """

    name: str
    seed: int
    contestants: tuple[Contestant, ...]
    effective: dict[str, Json]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The series that decide every pair: solo games where they suffice, else duels."""
        blind = [Line((one,)) for one in self.contestants if not one.looks]
        pairs = combinations(self.contestants, 2)
        seeing = [Line(pair) for pair in pairs if pair[0].looks or pair[1].looks]
        return (*blind, *seeing)

    def identity(self) -> dict[str, Json]:
        """What the journal is kept under: everything that a game depends on, but not how many."""
        return {
            "field": self.name,
            "seed": self.seed,
            "lines": [line.title for line in self.lines],
            "contestants": {one.name: dict(one.effective) for one in self.contestants},
            "effective": self.effective,
        }


@dataclass(frozen=True)
class Played:
    """What came of a field.

    Attributes:
        solos: Contestant -> its solo games in order.
        duels: Pair -> its duels in order; both of a deal or none.
    """

    solos: dict[str, list[Entry]]
    duels: dict[Pair, list[Entry]]


def play_field(field: Field, amount: Amount, options: EvalOptions, tell: Tell) -> Played:
    """Play every game of a field that its journal does not hold.

    The games, and the bytes of a finished journal, are the same whatever the workers and however
    often the run was ended and begun again. A journal that was begun with fewer games goes on.

    Raises:
        EvalError: If two contestants share a name, the journal is of other games, or a process
            that played was ended.
    """
    names = [one.name for one in field.contestants]
    if len(set(names)) < len(names):
        raise EvalError(f"contestants {', '.join(names)}; required: different names")
    path = options.folder / f"{field.name}.jsonl" if options.folder else None
    try:
        with ExitStack() as stack:
            book = stack.enter_context(Journal(path, field.identity()) if path else nullcontext())
            entries = dict(book.entries) if book else {}
            executor: Executor = stack.enter_context(
                process_pool(options.workers, SandboxRecipe())
                if options.workers > 1
                else InlineExecutor()
            )
            for index, entry in _play(field, amount, entries, executor, options.workers):
                entries[index] = entry
                if book:
                    book.append(index, entry)
                if len(entries) % _TOLD_EVERY == 0:
                    tell(f"{field.name}: {len(entries)} games")
            if book:
                book.settle(dict(sorted(entries.items())))
    except JournalError as error:
        raise EvalError(str(error)) from error
    except BrokenExecutor as error:
        raise EvalError(
            f"a process that played was ended ({error}); run the evaluation again, in the same "
            "folder if it had one: finished games are kept there"
        ) from error
    return _sorted(field, amount, entries)


def _wanted(lines: Sequence[Line], amount: Amount) -> Iterator[tuple[int, Line, int]]:
    """Every game as (index, line, number), all lines side by side.

    An index is the same whatever the amount.
    """
    games = [amount.of(line) for line in lines]
    for number in range(max(games)):
        for place, line in enumerate(lines):
            if number < games[place]:
                yield number * len(lines) + place, line, number


def _play(
    field: Field, amount: Amount, known: dict[int, Json], executor: Executor, workers: int
) -> Iterator[tuple[int, Json]]:
    ahead = 1 if workers == 1 else _AHEAD * workers
    held = set(known)
    coming = (game for game in _wanted(field.lines, amount) if game[0] not in held)
    running: dict[Future[Json], int] = {}
    try:
        while True:
            while len(running) < ahead and (game := next(coming, None)) is not None:
                index, line, number = game
                running[executor.submit(_game, line, field.seed, number)] = index
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=running.__getitem__):
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


def _game(line: Line, seed: int, number: int) -> Json:
    if len(line.who) == 1:
        return solo(line.who[0], seed, number)
    return duel(*line.who, seed, number)


def _sorted(field: Field, amount: Amount, entries: dict[int, Json]) -> Played:
    played = Played({}, {})
    for line in field.lines:
        if len(line.who) == 1:
            played.solos[line.who[0].name] = []
        else:
            played.duels[line.who[0].name, line.who[1].name] = []
    for index, line, _ in _wanted(field.lines, amount):
        entry = cast("Entry", entries[index])
        if len(line.who) == 1:
            played.solos[line.who[0].name].append(entry)
        else:
            played.duels[line.who[0].name, line.who[1].name].append(entry)
    return played
