"""Proposals: other settings of a game, near those at hand, by a walk over what each may be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from games.library.settings import GameParameter
from games.values import Json, canonical_key

_TOGETHER = 3  # settings that a twist changes at most
_FEW = 6  # values of a range that are all tried
_STEP = 6  # a value changes by this part of itself at least
_TRIES = 200  # in a row that give nothing new

Twist = dict[str, Json]
"""The settings that a variant changes, with their new values."""


@dataclass(frozen=True)
class SettingSpace:
    """The settings of a game that may change.

    Attributes:
        fields: Its declarations by name.
        base: The settings at hand, all of them.
        held: Names that stay as they are.
        presets: Whole settings that have a name.
        objection: Why changed settings are no other game; empty where they are one.
    """

    fields: Mapping[str, GameParameter]
    base: Mapping[str, Json]
    held: frozenset[str]
    presets: Sequence[Mapping[str, Json]]
    objection: Callable[[Twist], str]

    @property
    def free(self) -> dict[str, list[Json]]:
        """The values that each setting can be changed to; of those that can."""
        steps = {
            name: _steps(field, self.base[name])
            for name, field in self.fields.items()
            if name not in self.held
        }
        return {name: values for name, values in steps.items() if values}

    @property
    def unranged(self) -> list[str]:
        """Settings that declare neither choices nor a range: they are not varied."""
        fields = self.fields.items()
        return [name for name, one in fields if one.choices is None and one.range is None]

    def proposals(self, count: int, generator: np.random.Generator) -> list[Twist]:
        """So many twists at most, each another game: presets, one setting, then several at once.

        Single settings are at most half of them. The same generator gives the same twists.
        """
        free, found = self.free, dict[str, Twist]()

        def take(twist: Twist) -> None:
            plain = {name: v for name, v in twist.items() if v != self.base[name]}
            if plain and not self.objection(plain):
                found.setdefault(canonical_key(plain), plain)

        for preset in self.presets:
            take({name: v for name, v in preset.items() if name not in self.held})
        singles = [{name: value} for name, values in free.items() for value in values]
        for at in generator.permutation(len(singles)):
            if len(found) >= (count + 1) // 2:
                break
            take(singles[int(at)])
        names, vain = list(free), 0
        while len(names) > 1 and len(found) < count and vain < _TRIES:
            several = int(generator.integers(2, min(_TOGETHER, len(names)) + 1))
            before, chosen = len(found), generator.choice(len(names), several, replace=False)
            of = {names[i]: free[names[i]] for i in map(int, chosen)}
            take(
                {name: values[int(generator.integers(len(values)))] for name, values in of.items()}
            )
            vain = vain + 1 if len(found) == before else 0
        for at in generator.permutation(len(singles)):
            if len(found) < count:
                take(singles[int(at)])
        return list(found.values())[:count]


def _steps(field: GameParameter, value: Json) -> list[Json]:
    """Other values near one: all of a few, else neighbours, the half, the double, the default.

    >>> _steps(GameParameter(default=6, range=(2, 19)), 6)
    [7, 5, 8, 4, 12, 3, 9]
    >>> _steps(GameParameter(default=300, range=(10, 1000)), 300)
    [350, 250, 400, 200, 600, 150, 450]
    >>> _steps(GameParameter(default=0, range=(0, 2)), 1)
    [0, 2]
    """
    if field.choices is not None:
        return [one for one in field.choices if one != value]
    if field.range is None or type(value) is not int:
        return []
    least, most = field.range
    if most - least < _FEW:
        return [n for n in range(least, most + 1) if n != value]
    step = max(1, abs(value) // _STEP)
    near = [value + step, value - step, value + 2 * step, value - 2 * step]
    near += [2 * value, value // 2, value + value // 2]
    near += [field.default] if type(field.default) is int else []
    return [n for n in dict.fromkeys(near) if least <= n <= most and n != value]
