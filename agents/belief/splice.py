"""The end of a play whose hidden beginning was changed, without playing it again.

Where a fleet is placed once and then shot at, a play in which one ship lies elsewhere ends in the
old play's state with that ship exchanged. So what the change has done to the state by the last open
choice is done to the old play's last state, wherever that still holds what it held then. Whether
that is the truth depends on the game: the first `SURE` of a round, and a share `CHECKED` of the
others, are played all the same, and once one of them ends otherwise none is believed any more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isclose, log
from typing import TypeAlias, cast

from agents.belief.guide import CHECKED, SURE
from agents.belief.particles import Link, Particle
from games.contract import Json, State

Path: TypeAlias = tuple[str | int, ...]
Change: TypeAlias = tuple[Path, Json, Json]
"""Where in a state, what was there, and what is there instead."""


@dataclass
class Splice:
    """Gives ends of plays, and holds some of them against plays.

    Attributes:
        is_off: Whether an end was wrong, so that no more are given.
        checked: Ends held against plays in this round.
    """

    is_off: bool = False
    checked: int = 0

    def end(self, new: Particle, last: Link, old: Particle) -> Particle | None:
        """The new play's end; None where it has to be played.

        Args:
            new: The new play after its last open choice.
            last: The old play's last open choice.
            old: The old play at its end.
        """
        if self.is_off:
            return None
        changes = list(differences(last.after.state, new.place.state))
        state = changed(old.place.state, changes)
        if state is None:
            return None
        place = old.place._replace(state=cast("State", state))
        mass = new.mass + old.mass - last.mass - log(last.chance)
        return Particle(place, new.weight, mass, new.last, new.fills)

    def is_due(self, draw: Callable[[], float]) -> bool:
        """Whether the next end is to be held against a play."""
        return self.checked < SURE or draw() < CHECKED

    def tell(self, end: Particle, played: Particle | None) -> None:
        """Learn what an end would have been, had it been played; None for no end at all."""
        self.checked += 1
        if (
            played is None
            or played.place != end.place
            or not isclose(played.mass, end.mass, abs_tol=1e-9)
        ):
            self.is_off = True


def differences(first: Json, second: Json, path: Path = ()) -> Iterator[Change]:
    """The smallest parts in which two values of the same shape differ.

    >>> list(differences({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3}))
    [(('a', 1), 2, 4)]
    """
    if first is second or first == second:
        return
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        for key, value in first.items():
            yield from differences(value, second[key], (*path, key))
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, (*path, index))
    else:
        yield path, first, second


def changed(value: Json, changes: Sequence[Change]) -> Json | None:
    """A value with some of its parts changed; None where it holds something else there.

    >>> changed({"a": [1, 2]}, [(("a", 1), 2, 4)])
    {'a': [1, 4]}
    """
    for path, before, after in changes:
        found = _with(value, path, before, after)
        if found is None:
            return None
        value = found
    return value


def _with(value: Json, path: Path, before: Json, after: Json) -> Json | None:
    if not path:
        return after if value == before else None
    key = path[0]
    if isinstance(value, dict) and isinstance(key, str) and key in value:
        inner = _with(value[key], path[1:], before, after)
        return None if inner is None else {**value, key: inner}
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        inner = _with(value[key], path[1:], before, after)
        return None if inner is None else [*value[:key], inner, *value[key + 1 :]]
    return None
