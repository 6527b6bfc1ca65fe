"""Changes of an observation: the shortest way from one JSON object to the next."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from games.values import Json, Observation

Kind: TypeAlias = Literal["set", "drop", "add", "append", "insert", "remove", "letter"]
_NESTED = (dict, list)
_LETTERS = 4  # of a text that are changed one by one
Path: TypeAlias = tuple[str | int, ...]


class Change(NamedTuple):
    """One change of an observation.

    Attributes:
        kind: "set" a value, "drop" a key, "add" to a whole number, "append" to a list, "insert" at
            a place, which is the first of two values, "remove" the first part that is equal, put a
            "letter" into a text at a place, likewise.
        path: Where: keys of objects and places in lists.
        value: The value, the number, the part; None of a key that is dropped.
    """

    kind: Kind
    path: Path
    value: Json


def changes_between(old: Observation, new: Observation) -> list[Change]:
    """The changes, in the order of their paths, that lead from one observation to another.

    >>> for change in changes_between({"hand": [], "left": 9}, {"hand": ["AH"], "left": 8}):
    ...     print(change.kind, change.path, change.value)
    append ('hand',) AH
    add ('left',) -1
    """
    return [*_changes((), old, new)]


class KnownChanges:
    """Changes of the parts of observations that were met: many seats see the same parts."""

    def __init__(self, most: int) -> None:
        """Keep at most so many parts."""
        self._most = most
        self._kept: dict[tuple[str, int, int], tuple[Json, Json, list[Change]]] = {}

    def between(self, old: Observation, new: Observation) -> list[Change]:
        """See `changes_between`."""
        same = {key for key, part in old.items() if key in new and new[key] is part}
        found: list[Change] = []
        for key in sorted({*old, *new} - same):
            if key in old and key in new and isinstance(new[key], _NESTED):
                found += self._of_part(key, old[key], new[key])
            else:
                found += _of_key((), key, old, new)
        return found

    def _of_part(self, key: str, old: Json, new: Json) -> list[Change]:
        number = key, id(old), id(new)
        kept = self._kept.get(number)
        if kept is None:
            if len(self._kept) >= self._most:
                self._kept.clear()
            kept = self._kept[number] = old, new, [*_changes((key,), old, new)]
        return kept[2]


def _changes(path: Path, old: Json, new: Json) -> Iterator[Change]:
    if old is new or (old == new and _alike(old, new)):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        same = {key for key, part in old.items() if key in new and new[key] is part}
        for key in sorted({*old, *new} - same):
            yield from _of_key(path, key, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _listed(path, old, new)
    elif type(old) is int and type(new) is int:
        yield Change("add", path, new - old)
    elif isinstance(old, str) and isinstance(new, str) and 1 < len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        letters = [(place, other) for place, (one, other) in pairs if one != other]
        if len(letters) <= _LETTERS:
            yield from (Change("letter", path, [place, letter]) for place, letter in letters)
        else:
            yield Change("set", path, new)
    else:
        yield Change("set", path, new)


def _of_key(path: Path, key: str, old: Observation, new: Observation) -> Iterator[Change]:
    if key not in new:
        yield Change("drop", (*path, key), None)
    elif key not in old:
        yield Change("set", (*path, key), new[key])
    else:
        yield from _changes((*path, key), old[key], new[key])


def _alike(old: Json, new: Json) -> bool:
    """True where equal values are of equal types all through: 1 is not 1.0, nor True."""
    return type(old) is type(new) and (type(old) not in _NESTED or repr(old) == repr(new))


def _listed(path: Path, old: Sequence[Json], new: Sequence[Json]) -> Iterator[Change]:
    same = next((n for n, pair in enumerate(zip(old, new, strict=False)) if _differ(*pair)), None)
    if len(new) == len(old) + 1:
        place = len(old) if same is None else same
        if not _differ([*new[:place], *new[place + 1 :]], [*old]):
            part = new[place]
            yield (
                Change("append", path, part)
                if place == len(old)
                else Change("insert", path, [place, part])
            )
            return
    if len(new) == len(old) - 1:
        place = len(new) if same is None else same
        part = old[place]
        first = next(n for n, other in enumerate(old) if not _differ(other, part))
        if not _differ([*old[:first], *old[first + 1 :]], [*new]):
            yield Change("remove", path, part)
            return
    if len(new) == len(old):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            if one is not other:
                yield from _changes((*path, place), one, other)
        return
    yield Change("set", path, [*new])


def _differ(one: Json, other: Json) -> bool:
    return one is not other and (one != other or not _alike(one, other))


def applied(old: Observation, changes: Iterable[Change]) -> Observation:
    """The observation after the changes; the old one stays as it is.

    Raises:
        LookupError: If there is no such place.
        TypeError: If a value there cannot change so.
        ValueError: If a list holds no such part.

    >>> applied({"hand": ["7S", "AH"]}, [Change("remove", ("hand",), "7S")])
    {'hand': ['AH']}
    """
    new: Json = old
    for change in changes:
        new = _at(new, change.path, change)
    if not isinstance(new, dict):
        raise TypeError("an observation is an object")
    return new


def _at(value: Json, path: Path, change: Change) -> Json:
    if not path:
        return _changed(value, change)
    key, deeper = path[0], path[1:]
    if isinstance(value, dict) and isinstance(key, str):
        if not deeper and change.kind == "drop":
            return {name: part for name, part in value.items() if name != key}
        if not deeper and change.kind == "set":
            return {**value, key: change.value}
        return {**value, key: _at(value[key], deeper, change)}
    if isinstance(value, list) and isinstance(key, int):
        if not -len(value) <= key < len(value):
            raise LookupError(key)
        return [*value[:key], _at(value[key], deeper, change), *value[key + 1 :]]
    raise TypeError("there is no such place")


def _changed(value: Json, change: Change) -> Json:
    match change.kind, value, change.value:
        case "set", _, given:
            return given
        case "add", int(old), int(more) if not isinstance(old, bool):
            return old + more
        case "letter", str(old), [int(place), str(letter)] if 0 <= place < len(old):
            return old[:place] + letter + old[place + 1 :]
        case "append", list(old), part:
            return [*old, part]
        case "insert", list(old), [int(place), part] if 0 <= place <= len(old):
            return [*old[:place], part, *old[place:]]
        case "remove", list(old), part:
            first = next((n for n, other in enumerate(old) if not _differ(other, part)), None)
            if first is None:
                raise ValueError("the list holds no such part")
            return [*old[:first], *old[first + 1 :]]
    raise TypeError(f"{change.kind} does not fit")
