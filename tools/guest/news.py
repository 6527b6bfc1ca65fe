"""News of a round: of each seat's observation, what is not as it was told before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from games.values import Json


@dataclass
class SeatNews:
    """Observations as they were told to seats in running matches.

    Attributes:
        parts: Of observations, that a round tells; what many seats see is told once.
    """

    parts: list[Json] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _shown: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)

    def begin_round(self) -> Self:
        """Forget the parts that were told."""
        self.parts, self._numbers = [], {}
        return self

    def begin_match(self, slot: int, seats: Iterable[int]) -> None:
        """Begin a match, in which nobody was told anything."""
        self._shown.update({(slot, seat): {} for seat in seats})

    def of(self, slot: int, seat: int, seen: Mapping[str, Json]) -> tuple[Json, Json]:
        """The numbers of the parts that changed, by name, and the names of those that are gone.

        The text of a part tells whether it changed: a module may change a list in place.
        """
        shown, now = self._shown[slot, seat], {name: repr(part) for name, part in seen.items()}
        self._shown[slot, seat] = now
        changed: dict[str, Json] = {
            name: self._number(text, seen[name])
            for name, text in now.items()
            if shown.get(name) != text
        }
        return changed, [name for name in shown if name not in now]

    def _number(self, text: str, value: Json) -> int:
        number = self._numbers.setdefault(text, len(self.parts))
        if number == len(self.parts):
            self.parts.append(value)
        return number
