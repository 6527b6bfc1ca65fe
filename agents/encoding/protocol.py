"""Protocol of encoders: a turn of a seat's log as an array."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.information import SeatTurn

Array: TypeAlias = NDArray[np.float32]


class LogEncoder(Protocol):
    """Gives an array for each turn of a log; it holds a worker at the most."""

    @property
    def width(self) -> int:
        """Length of an array."""

    def prepare(self, turns: Sequence[SeatTurn]) -> None:
        """Ask for what `encoded` will need of these turns.

        Raises:
            ModuleFault: If a module's own function does not load, hangs, or ends its worker.
        """

    def encoded(self, seat: int, turn: SeatTurn) -> tuple[Array, int]:
        """`[width]` of what a seat knows at a turn, and how many values of it are not known."""

    def close(self) -> None:
        """End the worker, where it holds one."""


@dataclass(frozen=True)
class JoinedEncoder:
    """Several encoders whose arrays stand one behind the other."""

    parts: tuple[LogEncoder, ...]

    @property
    def width(self) -> int:
        """See `LogEncoder.width`."""
        return sum(part.width for part in self.parts)

    def prepare(self, turns: Sequence[SeatTurn]) -> None:
        """See `LogEncoder.prepare`."""
        for part in self.parts:
            part.prepare(turns)

    def encoded(self, seat: int, turn: SeatTurn) -> tuple[Array, int]:
        """See `LogEncoder.encoded`."""
        arrays, unknown = zip(*(part.encoded(seat, turn) for part in self.parts), strict=True)
        return np.concatenate(arrays), sum(unknown)

    def close(self) -> None:
        """See `LogEncoder.close`."""
        for part in self.parts:
            part.close()
