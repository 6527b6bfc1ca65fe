"""Shooters, and the two ways to measure them: alone against a fleet, and against each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, cast

from evals.battleship.sea import BITS, CELLS, HEALTH, random_fleet
from games.contract import Json
from games.streams import stream


@dataclass(slots=True)
class View:
    """What a shooter sees when it is to fire.

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


class Shooter(Protocol):
    """One player in one game."""

    @property
    def used(self) -> Mapping[str, float]:
        """What its decisions took so far, summed over the game, by name."""
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


def solo(who: Contestant, seed: int, number: int) -> Json:
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


def duel(one: Contestant, other: Contestant, seed: int, number: int) -> Json:
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
    if not 0 <= cell < CELLS or BITS[cell] & (view.hits | view.misses):
        raise IllegalShotError(
            f"{who.name} fired at cell {cell}; required: 0 to {CELLS - 1}, not fired at before"
        )
    if BITS[cell] & fleet:
        view.hits |= BITS[cell]
    else:
        view.misses |= BITS[cell]
    return cell


def _kept(shooter: Shooter) -> dict[str, Json]:
    return cast("dict[str, Json]", dict(sorted(shooter.used.items())))
