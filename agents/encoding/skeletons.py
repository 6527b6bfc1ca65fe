"""Skeletons of log entries: their event texts and changes, with a slot for each scalar."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, cast

from agents.encoding.changes import Change, Kind, Path, applied
from games.values import Json, Observation

_WORDS = re.compile(r"\w+|\W")
_NAMED = 16  # words of an action, and parts of a value, that are referred to
_SCALARS = 64  # of an observation, likewise
_WRITTEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Told(NamedTuple):
    """An entry or a part of one, cut into a skeleton and the words of its slots.

    Attributes:
        skeleton: JSON text of `[events, changes]`; `{"slot": n}` stands for the n-th word.
        words: Of the slots, as JSON texts.
    """

    skeleton: str
    words: tuple[str, ...]

    def row(self) -> Json:
        """All of it as JSON."""
        return [self.skeleton, [json.loads(word) for word in self.words]]


@dataclass(frozen=True)
class Skeleton:
    """A skeleton that was read.

    Attributes:
        events: Of each event text, its parts.
        changes: Kind, path and value of each change.
    """

    events: Sequence[Json]
    changes: Sequence[Json]

    @classmethod
    def of(cls, text: str) -> "Skeleton":
        """Read one.

        Raises:
            ValueError: If it is none.
        """
        match json.loads(text):
            case [list() as events, list() as changes]:
                return cls(events, changes)
        raise ValueError("no skeleton")

    def applied(self, seen: Observation, words: Sequence[Json]) -> tuple[Observation, list[str]]:
        """The observation after the changes, and the event texts.

        Raises:
            LookupError: If a slot or a place is missing.
            TypeError: If a value cannot change so.
            ValueError: If it is no skeleton.
        """
        changes: list[Change] = []
        for one in self.changes:
            match one:
                case [str(kind), list(path), value]:
                    where = cast(list[str | int], [_filled(key, words) for key in path])
                    changes.append(Change(cast(Kind, kind), tuple(where), _filled(value, words)))
                case _:
                    raise ValueError("no change")
        texts = [
            "".join(part if isinstance(part, str) else str(_filled(part, words)) for part in parts)
            for parts in self.events
            if isinstance(parts, list)
        ]
        return applied(seen, changes), texts


def told_by(changes: Sequence[Change], events: Sequence[str]) -> Told:
    """An entry, told by what it adds to the observation before it."""
    names = frozenset(name for change in changes for name in _texts(change.value))
    slots = _Slots()
    told: list[Json] = [slots.event(text, names) for text in events]
    changed: list[Json] = [
        [one.kind, [slots.slot(key) for key in one.path], slots.cut(one.value)] for one in changes
    ]
    return _told(told, changed, slots.words)


def known_words(seen: Observation, acted: str | None) -> dict[str, str]:
    """Words that are known before an entry is told, by a reference that `word_at` takes.

    They are those of the own action that the entry follows, and those of the observation before.

    >>> known_words({"hand": ["2C", "9C"]}, "play 5C")
    {'@0': '"play"', '@1': '"5C"', '@["hand",0]': '"2C"', '@["hand",1]': '"9C"'}
    """
    known = {f"@{place}": _word(word) for place, word in enumerate(named_words(acted))}
    for path, word in islice(_scalars((), seen), _SCALARS):
        known[_reference(path)] = _word(word)
    return known


def known_word(reference: str, seen: Observation, acted: str | None) -> str | None:
    """The word of a reference as JSON text; None where there is none."""
    try:
        return _WRITTEN.encode(word_at(reference, seen, acted))
    except (LookupError, TypeError):
        return None


@lru_cache(2**14, typed=True)
def _word(value: str | float | None) -> str:
    return _WRITTEN.encode(value)


@lru_cache(2**14)
def _reference(path: Path) -> str:
    return f"@{_WRITTEN.encode(path)}"


def word_at(reference: str, seen: Observation, acted: str | None) -> Json:
    """The word that a reference of `known_words` stands for.

    Raises:
        LookupError: If there is none.
        TypeError: If it leads through what holds nothing.
    """
    place = referred_place(reference)
    return named_words(acted)[place] if isinstance(place, int) else _value_at(seen, place)


@lru_cache(2**14)
def referred_place(reference: str) -> int | Path:
    """The place that a reference names: a word of the own action, or a path in what was seen.

    Raises:
        ValueError: If it is none.
    """
    match json.loads(reference[1:]):
        case int(number):
            return number
        case list(path):
            return tuple(key for key in path if isinstance(key, str | int))
    raise ValueError(f"{reference!r:.80} is no reference")


@lru_cache(2**12)
def named_words(action: str | None) -> tuple[str | int, ...]:
    """The words of an action, whole numbers as such.

    >>> named_words("play 5C on pile 2")
    ('play', '5C', 'on', 'pile', 2)
    """
    words = (word for word in _WORDS.findall(action or "") if word.isalnum())
    return tuple(_number(word) for word in islice(words, _NAMED))


def _number(word: str) -> str | int:
    return int(word) if word.isdecimal() and word.isascii() and str(int(word)) == word else word


def _value_at(value: Json, path: Sequence[Json]) -> Json:
    for key in path:
        match value, key:
            case dict(), str(name):
                value = value[name]
            case list(), int(place):
                value = value[place]
            case _:
                raise TypeError("there is no such place")
    return value


def _scalars(path: Path, value: Json) -> Iterator[tuple[Path, str | float | None]]:
    if isinstance(value, dict):
        for name, part in islice(value.items(), _NAMED):
            yield from _scalars((*path, name), part)
    elif isinstance(value, list):
        for place, part in enumerate(value[:_NAMED]):
            yield from _scalars((*path, place), part)
    else:
        yield path, value


def parts_of(told: Told) -> Iterator[Told]:
    """Each event and each change on its own."""
    whole = Skeleton.of(told.skeleton)
    for event in whole.events:
        slots = _Slots()
        yield _told([slots.again(event, told.words)], [], slots.words)
    for change in whole.changes:
        slots = _Slots()
        yield _told([], [slots.again(change, told.words)], slots.words)


def _told(events: Sequence[Json], changes: Sequence[Json], words: Sequence[str]) -> Told:
    return Told(_WRITTEN.encode([events, changes]), tuple(words))


class _Slots:
    """The words of an entry, in the order in which they are met."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._texts: dict[str, int] = {}

    def slot(self, value: Json) -> Json:
        """The slot of a scalar; one text has one slot, wherever it stands."""
        return self._slot(_WRITTEN.encode(value))

    def _slot(self, word: str) -> Json:
        number = self._texts.get(word)
        if number is None:
            number = len(self.words)
            self.words.append(word)
            if word.startswith('"'):
                self._texts[word] = number
        return {"slot": number}

    def cut(self, value: Json) -> Json:
        """A value with a slot for each of its scalars."""
        if isinstance(value, list):
            return [self.cut(part) for part in value]
        if isinstance(value, dict):
            return {"of": [[self.slot(key), self.cut(value[key])] for key in sorted(value)]}
        return self.slot(value)

    def event(self, text: str, names: frozenset[str]) -> Json:
        """The parts of an event text: as they are, and slots for names and whole numbers."""
        parts: list[Json] = []
        for part in _WORDS.findall(text):
            if part.isdecimal() and part.isascii() and str(int(part)) == part:
                parts.append(self.slot(int(part)))
            elif part in names:
                parts.append(self.slot(part))
            elif parts and isinstance(parts[-1], str):
                parts[-1] += part
            else:
                parts.append(part)
        return parts

    def again(self, value: Json, words: Sequence[str]) -> Json:
        """A part of a skeleton, with slots of its own for the same words."""
        match value:
            case {"slot": int(number)}:
                return self._slot(words[number])
            case {"of": pairs}:
                return {"of": self.again(pairs, words)}
            case list():
                return [self.again(part, words) for part in value]
        return value


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)


def _filled(value: Json, words: Sequence[Json]) -> Json:
    if isinstance(value, list):
        return [_filled(part, words) for part in value]
    match value:
        case {"slot": int(number)}:
            return words[number]
        case {"of": list(pairs)}:
            return {str(_filled(key, words)): _filled(part, words) for key, part in _pairs(pairs)}
    raise TypeError("a skeleton holds slots alone")


def _pairs(pairs: Sequence[Json]) -> Iterator[tuple[Json, Json]]:
    for pair in pairs:
        match pair:
            case [key, value]:
                yield key, value
            case _:
                raise TypeError("an object holds pairs")
