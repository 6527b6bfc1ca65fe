"""Encoder: JSON as an array of fixed size and back, by the paths and values that play has shown.

It is general: every scalar of an observation lies at a path, each value seen there has a slot of
its own, and each path has one more for values never seen. A path with many numbers has a slot that
holds the number; a text of many forms is told letter by letter.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np

from agents.encoding.protocol import Array
from games.information import SeatTurn
from games.values import Json, is_number

Path: TypeAlias = tuple[str | int, ...]
"""Keys, places in a list from 0, and letters of a text: -1 is the first."""

_MANY = 32  # values of one path, from which on numbers and texts are told otherwise
_MOST = 8192  # slots of values; of more, those that were seen most often
_LONGEST = 64  # letters that are told of a text
_HUGE = 1e30  # of a number that is told by its amount


@dataclass(frozen=True)
class Encoder:
    """An array for each JSON object, and the object for each array.

    Attributes:
        values: The values of each path, as `_atom` writes them.
        scales: A power of two for each path that holds numbers.
        spelled: Paths of texts that are told letter by letter.
    """

    values: Mapping[Path, tuple[str, ...]]
    scales: Mapping[Path, float]
    spelled: frozenset[Path]

    @cached_property
    def _slots(self) -> dict[tuple[Path, str | None], int]:
        """Of a value; of None, the unknown one. A number's slot follows its path's "number"."""
        slots: dict[tuple[Path, str | None], int] = {}
        free = 1
        for path, values in self.values.items():
            numbers = ("number", "amount") if path in self.scales else ()
            for value in (None, *values, *numbers):
                slots[path, value] = free
                free += 1
        return slots

    @property
    def width(self) -> int:
        """Length of an array; its first slot says that a path is unknown."""
        return len(self._slots) + 1

    def encoded(self, value: Json) -> tuple[Array, int]:
        """The array, and how many scalars in it are not known.

        Returns:
            `[width]`; what is unknown fills its path's slot, or the first one.
        """
        array, slots, unknown = np.zeros(self.width, np.float32), self._slots, 0
        for path, scalar in _leaves(value, self.spelled):
            slot = slots.get((path, _atom(scalar)))
            if slot is not None:
                array[slot] = 1.0
            elif path in self.scales and _is_number(scalar):
                slot = slots[path, "number"]
                array[slot], array[slot + 1] = 1.0, scalar / self.scales[path]
            else:
                array[slots.get((path, None), 0)] = 1.0
                unknown += 1
        return array, unknown

    def decoded(self, array: Array) -> Json:
        """The value of an array of `encoded`, without what was unknown."""
        root: list[Any] = [{}]
        for (path, atom), slot in self._slots.items():
            if array[slot] == 0 or atom in (None, "amount"):
                continue
            scalar = _scalar(atom)
            if atom == "number":
                amount = float(array[slot + 1]) * self.scales[path]
                scalar = int(amount) if amount.is_integer() else amount
            _put(root, path, scalar)
        return _closed(root[0])

    def as_json(self) -> Json:
        """All of it, for a file."""
        rows: list[Json] = [
            [[*path], [*values], self.scales.get(path)] for path, values in self.values.items()
        ]
        return {"paths": rows, "spelled": [[*path] for path in sorted(self.spelled, key=repr)]}


def turn_view(seat: int, turn: SeatTurn, *, recurrent: bool, whole: bool = True) -> dict[str, Json]:
    """A turn as a network is told it.

    Args:
        seat: Whose turn it is.
        turn: The turn.
        recurrent: Whether the network remembers: it is told all that is new since its last turn,
            else the newest observation alone.
        whole: Whether the observation is told.

    >>> turn_view(1, SeatTurn("go", ("x", "x"), {"a": 1}, None, 5), recurrent=True)
    {'seat': 1, 'observation': {'a': 1}, 'events': {'x': 2}, 'own': 'go'}
    """
    seen: Json = turn.observation if whole else None
    if not recurrent:
        return {"seat": seat, "seen": seen}
    events: dict[str, Json] = dict[str, Json](Counter(turn.events))
    return {"seat": seat, "observation": seen, "events": events, "own": turn.before or ""}


@dataclass(frozen=True)
class TurnEncoder:
    """The general `LogEncoder`: `turn_view` by the paths and values that play has shown."""

    encoder: Encoder
    recurrent: bool
    whole: bool = True

    @property
    def width(self) -> int:
        """See `LogEncoder.width`."""
        return self.encoder.width

    def prepare(self, turns: Sequence[SeatTurn]) -> None:
        """Nothing to prepare."""

    def encoded(self, seat: int, turn: SeatTurn) -> tuple[Array, int]:
        """See `LogEncoder.encoded`."""
        return self.encoder.encoded(
            turn_view(seat, turn, recurrent=self.recurrent, whole=self.whole)
        )

    def close(self) -> None:
        """Nothing to release."""


def encoder_of(saved: Any) -> Encoder:  # noqa: ANN401 - JSON of a file, whose reader catches
    """The encoder that `Encoder.as_json` wrote; raises as Python does where it is another thing."""
    rows = [(tuple(path), tuple(values), scale) for path, values, scale in saved["paths"]]
    return Encoder(
        {path: tuple(map(str, values)) for path, values, _ in rows},
        {path: float(scale) for path, _, scale in rows if scale is not None},
        frozenset(tuple(path) for path in saved["spelled"]),
    )


def fitted_encoder(seen: Iterable[Json]) -> Encoder:
    """The encoder of what was seen; the same for the same, in any order."""
    values = list(seen)
    found = _found(values, frozenset())
    spelled = frozenset(
        path for path, counts in found.items() if sum(a[0] == '"' for a in counts) > _MANY
    )
    found = _found(values, spelled)
    scales: dict[Path, float] = {}
    for path, counts in found.items():
        numbers = [abs(float(atom)) for atom in counts if _is_number(_scalar(atom))]
        if len(numbers) > _MANY:
            scales[path] = 2.0 ** np.ceil(np.log2(max(numbers)))
    rows = [
        (count, path, atom)
        for path, counts in found.items()
        for atom, count in counts.items()
        if path not in scales or not _is_number(_scalar(atom))
    ]
    rows.sort(key=lambda row: (-row[0], repr(row[1]), row[2]))
    kept: dict[Path, list[str]] = {path: [] for path in sorted(scales, key=repr)}
    for _, path, atom in rows[:_MOST]:
        kept.setdefault(path, []).append(atom)
    ordered = sorted(kept, key=repr)
    return Encoder({path: tuple(sorted(kept[path])) for path in ordered}, scales, spelled)


def _found(values: Iterable[Json], spelled: frozenset[Path]) -> dict[Path, Counter[str]]:
    found: dict[Path, Counter[str]] = defaultdict(Counter)
    for value in values:
        for path, scalar in _leaves(value, spelled):
            found[path][_atom(scalar)] += 1
    return found


def _leaves(value: Json, spelled: frozenset[Path]) -> list[tuple[Path, Any]]:
    """Scalars, empty containers and spelled letters, each with its path."""
    found: list[tuple[Path, Any]] = []
    rest: list[tuple[Path, Json]] = [((), value)]
    while rest:
        path, item = rest.pop()
        if item and isinstance(item, dict):
            rest += [((*path, key), part) for key, part in item.items()]
        elif item and isinstance(item, list):
            rest += [((*path, place), part) for place, part in enumerate(item)]
        elif item and isinstance(item, str) and path in spelled:
            found += [((*path, -1 - at), letter) for at, letter in enumerate(item[:_LONGEST])]
        else:
            found.append((path, item))
    return found


def _is_number(value: object) -> bool:
    return is_number(value) and abs(value) < _HUGE


def _atom(scalar: Json) -> str:
    return f'"{scalar}' if isinstance(scalar, str) else repr(scalar)


@cache
def _scalar(atom: str) -> Any:  # noqa: ANN401 - any JSON scalar
    return atom[1:] if atom[0] == '"' else None if atom == "number" else ast.literal_eval(atom)


def _put(root: list[Any], path: Path, scalar: Json) -> None:
    """Set a scalar in a tree of dictionaries, whose places and letters are still numbered keys."""
    if not path:
        root[0] = scalar
        return
    node = root[0]
    for key in path[:-1]:
        node = node.setdefault(key, {})
    node[path[-1]] = scalar


def _closed(node: Any) -> Json:  # noqa: ANN401 - a tree of `_put`
    """The tree as JSON: numbered keys are a list's places, or below 0 a text's letters."""
    if not isinstance(node, dict) or not node:
        return node
    items = {key: _closed(item) for key, item in node.items()}
    numbers = sorted((key for key in items if isinstance(key, int)), key=abs)
    if not numbers:
        return items
    parts = [items[number] for number in numbers]
    return "".join(map(str, parts)) if numbers[0] < 0 else parts
