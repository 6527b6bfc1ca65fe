"""Another full state that a seat may not be able to tell from the true one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from evals.twins import Asked
from games.checks.leaks import exchange_hidden
from games.checks.zones import components, matches, read_path
from games.contract import Game, Json, State, canonical_key
from tools.guest.seeding import reseed

_DRAWS = 6


@dataclass(frozen=True)
class OtherStates:
    """Draws other states by a library module's own sampler, or by what it declares hidden.

    The sampler keeps to all that the seat knows. The exchange follows `ZONES` and `visible` alone,
    so that an observation that shows too much is no part of what it keeps to; it may forget what
    the seat has inferred, which no player is given.

    Attributes:
        reference: The module as the rules say it is, in this process; not the one under test.
        seat: The seat.
        generator: The only source of randomness.
    """

    reference: Game
    seat: int
    generator: np.random.Generator

    def draw(self, asked: Asked, true: State) -> State | None:
        """A state with other hidden contents, by either way in turn; None where none was found."""
        ways = [self._sampled(asked), self._exchanged(true)]
        if self.generator.random() < 0.5:  # noqa: PLR2004
            ways.reverse()
        before = self._hidden(true)
        return next((state for way in ways for state in way if self._hidden(state) != before), None)

    def _sampled(self, asked: Asked) -> Iterator[State]:
        turns = cast("Json", [list(turn) for turn in asked.turns])
        for _ in range(_DRAWS):
            reseed([int(self.generator.integers(2**32))])
            yield cast("State", self.reference.module.call("resample_state", turns, self.seat))

    def _exchanged(self, true: State) -> Iterator[State]:
        zones, seen = self._zones(), self.reference.visible(true, self.seat)
        for _ in range(_DRAWS):
            yield exchange_hidden(true, zones, seen, self.generator)

    def _hidden(self, state: State) -> str:
        """What the seat may not see; the order counts only where the game says that it does."""
        contents: dict[str, Json] = {}
        for path, visibility in self.reference.visible(state, self.seat).items():
            if visibility == "contents":
                continue
            zone = read_path(state, path)
            ordered = any(z.get("ordered") for p, z in self._zones().items() if matches(p, path))
            as_it_is = ordered or not isinstance(zone, list)
            contents[path] = zone if as_it_is else cast("Json", sorted(components(zone)))
        return canonical_key(contents)

    def _zones(self) -> Mapping[str, Mapping[str, Json]]:
        return cast("Mapping[str, Mapping[str, Json]]", self.reference.module.constant("ZONES"))
