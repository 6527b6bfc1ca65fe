"""Board of ten by ten cells as bits, and how shooters are measured: alone, in duels, in a field.

One bit a cell, row by row from the top. The rules are those of the library's `battleship` with its
default parameters: ships of 5, 4, 3, 3 and 2 cells, one shot a turn in strict alternation, hit or
miss announced and nothing else. The tests hold this board against the library game in lockstep.

A shooter that does not look at the other player is measured alone, any other in games with the
seats exchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any, Protocol, TypeAlias

from evals.results import EvalError, EvalOptions
from games.streams import stream
from games.values import Json
from tools.playtest.journal import JournalError, journal_at
from tools.playtest.runner import RunStoppedError, Workers, play_all

Pair = tuple[str, str]
Entry = dict[str, Any]

SIDE = 10
CELLS = SIDE * SIDE
LENGTHS = (5, 4, 3, 3, 2)
HEALTH = sum(LENGTHS)
SEA = (1 << CELLS) - 1
BITS = tuple(1 << cell for cell in range(CELLS))
_LAST_COLUMN = sum(BITS[row * SIDE + SIDE - 1] for row in range(SIDE))
_NOT_LAST = SEA & ~_LAST_COLUMN
_FEWEST = 2  # deals or fleets that an estimate with an interval needs
_TOLD_EVERY = 500


def ship_at(row: int, column: int, length: int, *, across: bool) -> int:
    """The cells of a ship from its first cell to the right or down; 0 if it leaves the sea."""
    end = (column if across else row) + length
    if not (0 <= row < SIDE and 0 <= column < SIDE and end <= SIDE):
        return 0
    step = 1 if across else SIDE
    start = row * SIDE + column
    return sum(BITS[start + step * index] for index in range(length))


def _all_over(cell: int, length: int) -> tuple[int, ...]:
    """Both directions, each offset."""
    row, column = divmod(cell, SIDE)
    right = [ship_at(row, column - offset, length, across=True) for offset in range(length)]
    down = [ship_at(row - offset, column, length, across=False) for offset in range(length)]
    return (*right, *down)


ANYWHERE = {
    n: tuple(
        ship_at(row, column, n, across=across)
        for across in (True, False)
        for row in range(SIDE)
        for column in range(SIDE)
    )
    for n in sorted(set(LENGTHS))
}
"""Length -> the cells of every ship of that length, by its first cell; 0 if it leaves the sea."""

OVER = {n: tuple(_all_over(cell, n) for cell in range(CELLS)) for n in ANYWHERE}
"""Length -> cell -> every ship over that cell; 0 if it leaves the sea."""

PLACES = {n: tuple(ship for ship in ships if ship) for n, ships in ANYWHERE.items()}
"""Length -> the cells of every ship of that length."""


def random_fleet(rng: Random) -> int:
    """The cells of a fleet as the game's own chance places it.

    Ship by ship from the longest, each uniform over the places that are free.
    """
    taken = 0
    for length in LENGTHS:
        places = PLACES[length]
        ship = places[int(rng.random() * len(places))]
        while ship & taken:
            ship = places[int(rng.random() * len(places))]
        taken |= ship
    return taken


def cells_of(bits: int) -> list[int]:
    """The numbers of the cells in a set, ascending.

    >>> cells_of(0b1011)
    [0, 1, 3]
    """
    cells = []
    while bits:
        low = bits & -bits
        cells.append(low.bit_length() - 1)
        bits ^= low
    return cells


def neighbours_in(bits: int) -> int:
    """The number of pairs of neighbouring cells that a set has, across and down.

    >>> neighbours_in(0b111), neighbours_in(1 << 9 | 1 << 10)
    (2, 0)
    """
    across = bits & _NOT_LAST & (bits >> 1)
    return across.bit_count() + (bits & (bits >> SIDE)).bit_count()


@dataclass(slots=True)
class View:
    """The view of a shooter that is to fire.

    Attributes:
        own: Cells of its own fleet.
        taken: Own cells that the other has fired at.
        hits: Cells it fired at and hit.
        misses: Cells it fired at and missed.
        seat: 0 if it fires first in the game, 1 otherwise.
        enemy: Cells of the other fleet, for an omniscient shooter; 0 for every other.
    """

    own: int = 0
    taken: int = 0
    hits: int = 0
    misses: int = 0
    seat: int = 0
    enemy: int = 0

    @property
    def fired(self) -> int:
        """Cells it fired at."""
        return self.hits | self.misses

    def mark(self, cell: int, fleet: int) -> None:
        """Take in a shot at a fleet."""
        if BITS[cell] & fleet:
            self.hits |= BITS[cell]
        else:
            self.misses |= BITS[cell]


class Shooter(Protocol):
    """One player in one game."""

    @property
    def used(self) -> Mapping[str, float]:
        """The use of its decisions so far, summed over the game, by name."""
        ...

    def shoot(self, view: View) -> int:
        """The cell to fire at, 0 to 99, never fired at before."""
        ...


@dataclass(frozen=True)
class Contestant:
    """A player and what it effectively is.

    Attributes:
        name: Unique in its field.
        make: Makes the shooter of one game from its random numbers; it must be picklable.
        effective: Effective parameters: a journal of others is refused.
        looks: Whether its shots depend on what the other player fired at or holds. One that does
            not look needs the same number of shots whoever it plays, so that solo runs suffice.
        omniscient: Whether it is shown the other fleet, as players of leaking programs are.
        slow: Whether its games are so slow that an amount may ask for fewer of them.
    """

    name: str
    make: Callable[[Random], Shooter] = field(compare=False)
    effective: Mapping[str, Json]
    looks: bool = False
    omniscient: bool = False
    slow: bool = False


class IllegalShotError(ValueError):
    """A shooter fired where it may not; nothing is counted of such a game."""


def numbers(seed: int, purpose: str, *, match: int, seat: int = -1) -> Random:
    """Python's generator for one purpose; several times faster here than numpy's scalar draws."""
    return Random(int(stream(seed, purpose, match=match, seat=seat).integers(2**63)))


def play_solo(who: Contestant, seed: int, number: int) -> Json:
    """One fleet sunk by a shooter that nobody shoots at.

    Returns:
        `{"shots": T, "used": {...}}` with T the shots it took, 17 to 100.

    Raises:
        ValueError: If the shooter looks at the other player, who is missing here.
        IllegalShotError: If it fires where it may not.
    """
    if who.looks:
        raise ValueError(f"{who.name} looks at the other player; required: duels")
    fleet = random_fleet(numbers(seed, f"solo fleet of {who.name}", match=number))
    shooter = who.make(numbers(seed, f"solo of {who.name}", match=number))
    view = View(own=0, enemy=fleet if who.omniscient else 0)
    shots = 0
    while view.hits != fleet:
        shots += 1
        _fire(who, shooter, view, fleet)
    return {"shots": shots, "used": _kept(shooter)}


def play_duel(one: Contestant, other: Contestant, seed: int, number: int) -> Json:
    """One game of two shooters; games 2d and 2d + 1 are deal d with the seats exchanged.

    The fleets stay with the seats, so that over both games each has each fleet once.

    Returns:
        `{"won", "first": 0 or 1 (`one` or `other`), "shots", "health", "used": [of each]}`.

    Raises:
        IllegalShotError: If one fires where it may not.
    """
    pair = f"{one.name} and {other.name}"
    first = number % 2
    who = (one, other) if first == 0 else (other, one)
    placing = numbers(seed, f"fleets of {pair}", match=number // 2)
    fleets = random_fleet(placing), random_fleet(placing)
    shooters = [
        player.make(numbers(seed, f"duel of {pair}", match=number, seat=seat))
        for seat, player in enumerate(who)
    ]
    views = [
        View(own=fleets[seat], seat=seat, enemy=fleets[1 - seat] if player.omniscient else 0)
        for seat, player in enumerate(who)
    ]
    shots = [0, 0]
    seat = 1
    while views[seat].hits != fleets[1 - seat]:
        seat = 1 - seat
        shots[seat] += 1
        views[1 - seat].taken |= BITS[
            _fire(who[seat], shooters[seat], views[seat], fleets[1 - seat])
        ]
    order = (0, 1) if first == 0 else (1, 0)
    return {
        "won": order[seat],
        "first": first,
        "shots": [shots[place] for place in order],
        "health": [HEALTH - views[1 - place].hits.bit_count() for place in order],
        "used": [_kept(shooters[place]) for place in order],
    }


def _fire(who: Contestant, shooter: Shooter, view: View, fleet: int) -> int:
    cell = shooter.shoot(view)
    if not 0 <= cell < CELLS or BITS[cell] & view.fired:
        raise IllegalShotError(
            f"{who.name} fired at cell {cell}; required: 0 to {CELLS - 1}, not fired at before"
        )
    view.mark(cell, fleet)
    return cell


def _kept(shooter: Shooter) -> Json:
    return {name: count for name, count in sorted(shooter.used.items())}


class UniformShooter:
    """Fires at a cell drawn uniformly from those not fired at."""

    used: Mapping[str, float] = {}  # it neither samples nor simulates

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        fired, draw = view.fired, self._rng.random
        cell = int(draw() * CELLS)
        while BITS[cell] & fired:
            cell = int(draw() * CELLS)
        return cell


def random_contestant() -> Contestant:
    """The player that fires at random."""
    return Contestant("random", UniformShooter, {"player": "random"})


_Line: TypeAlias = tuple[Contestant, ...]
"""One series of games: a contestant alone, or a pair."""


def _names(line: _Line) -> tuple[str, ...]:
    return tuple(one.name for one in line)


@dataclass(frozen=True)
class GameCounts:
    """The numbers of games to play.

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

    def of(self, line: _Line) -> int:
        """Games of a line."""
        if len(line) == 1:
            return self.solos
        slow = self.slow_duels is not None and any(one.slow for one in line)
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
    def lines(self) -> tuple[_Line, ...]:
        """The series that decide every pair: solo games where they suffice, else duels."""
        blind = ((one,) for one in self.contestants if not one.looks)
        pairs = combinations(self.contestants, 2)
        return (*blind, *(pair for pair in pairs if pair[0].looks or pair[1].looks))

    def identity(self) -> dict[str, Json]:
        """The journal's identity: everything that a game depends on, except the number of games."""
        return {
            "field": self.name,
            "seed": self.seed,
            "lines": [" - ".join(_names(line)) for line in self.lines],
            "contestants": {one.name: dict(one.effective) for one in self.contestants},
            "effective": self.effective,
        }


@dataclass(frozen=True)
class FieldResult:
    """The result of a field.

    Attributes:
        solos: Contestant -> its solo games in order.
        duels: Pair -> its duels in order; both of a deal or none.
    """

    solos: dict[str, list[Entry]]
    duels: dict[Pair, list[Entry]]


def play_field(field: Field, amount: GameCounts, options: EvalOptions) -> FieldResult:
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
    games = (
        (index, (line, field.seed, number)) for index, line, number in _wanted(field.lines, amount)
    )
    entries: dict[int, Any] = {}
    try:
        with (
            journal_at(path, field.identity()) as journal,
            Workers(options.workers).opened() as workers,
        ):
            for index, entry in play_all(games, _game, journal=journal, workers=workers):
                entries[index] = entry
                if len(entries) % _TOLD_EVERY == 0:
                    options.tell(f"{field.name}: {len(entries)} games")
    except JournalError as error:
        raise EvalError(str(error)) from error
    except RunStoppedError as error:
        raise EvalError(
            f"{error}; run the evaluation again, in the same folder if it had one: finished games "
            "are kept there"
        ) from error
    return _sorted(field, amount, entries)


def _wanted(lines: Sequence[_Line], amount: GameCounts) -> Iterator[tuple[int, _Line, int]]:
    """Every game as (index, line, number), all lines side by side.

    An index is the same whatever the amount.
    """
    games = [amount.of(line) for line in lines]
    for number in range(max(games)):
        for place, line in enumerate(lines):
            if number < games[place]:
                yield number * len(lines) + place, line, number


def _game(job: tuple[_Line, int, int]) -> Json:
    line, seed, number = job
    if len(line) == 1:
        return play_solo(line[0], seed, number)
    return play_duel(line[0], line[1], seed, number)


def _sorted(field: Field, amount: GameCounts, entries: dict[int, Entry]) -> FieldResult:
    played: dict[tuple[str, ...], list[Entry]] = {_names(line): [] for line in field.lines}
    for index, line, _ in _wanted(field.lines, amount):
        played[_names(line)].append(entries[index])
    return FieldResult(
        solos={names[0]: games for names, games in played.items() if len(names) == 1},
        duels={(names[0], names[1]): games for names, games in played.items() if len(names) > 1},
    )
