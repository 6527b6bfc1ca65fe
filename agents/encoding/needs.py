"""Needs of actions: words that must stand in what a seat sees, or it cannot act so.

Self-play shows them: a card that is played was in the hand in every position where that was legal.
They tell imagined turns apart, where no rules are asked. A position may meet them and still forbid
the action: then the model alone knows.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from agents.encoding.skeletons import named_words
from games.values import Action, Json, Observation

Kind: TypeAlias = tuple[int, str]
Place: TypeAlias = tuple[int, str]


def _kind(words: tuple[str | int, ...]) -> Kind:
    """The number of its words, and the first of several."""
    return len(words), str(words[0]) if len(words) > 1 else ""


@dataclass
class ActionNeeds:
    """For each kind of action, words that stood in a part of what was seen wherever it was legal.

    Attributes:
        places: By kind, numbers of words and names of parts of an observation.
    """

    places: dict[Kind, frozenset[Place]] = field(default_factory=dict)

    def learn(self, seen: Observation, legal: Iterable[Action]) -> None:
        """Take a position into account."""
        for action in legal:
            words = named_words(action)
            kind = _kind(words)
            kept = self.places.get(kind)
            if kept is None:
                kept = frozenset((number, name) for number in range(len(words)) for name in seen)
            if kept:
                met = (place for place in kept if _stands(words, place, seen))
                self.places[kind] = frozenset(met)

    def met(self, action: Action, seen: Observation) -> bool:
        """False where it cannot be legal; True where nothing is known against it."""
        words = named_words(action)
        return all(_stands(words, place, seen) for place in self.places.get(_kind(words), ()))

    def as_json(self) -> list[Json]:
        """Rows of all of it, for a file; `action_needs_of` reads them."""
        return [
            [*kind, *place] for kind in sorted(self.places) for place in sorted(self.places[kind])
        ]


def action_needs_of(rows: Iterable[Json]) -> ActionNeeds:
    """The needs that a file tells of.

    Raises:
        ValueError: If it tells of none.
    """
    found: dict[Kind, frozenset[Place]] = {}
    for row in rows:
        match row:
            case [int(count), str(first), int(number), str(name)] if 0 <= number < count:
                kind = count, first
                found[kind] = found.get(kind, frozenset()) | {(number, name)}
            case _:
                raise ValueError("a row of needs is none")
    return ActionNeeds(found)


def _stands(words: tuple[str | int, ...], place: Place, seen: Mapping[str, Json]) -> bool:
    number, name = place
    part = seen.get(name)
    return isinstance(part, list | dict) and words[number] in part
