"""Followers: logs that grow, brought through a model with a row of its cache each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.encoding.protocol import Array
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import MOVE
from agents.observing.model import ObservationModel
from agents.observing.transformer import Cache
from games.information import SeatLog


class LogFollower:
    """Follows logs through a model, a row of its cache each, while they grow.

    What it knows of a log is a function of the log alone, so it remembers no match.
    """

    def __init__(self, model: ObservationModel, rows: int = 16) -> None:
        """Make room for so many logs; it grows."""
        self.model = model
        self.cache = Cache(model.transformer.shape, rows)
        self._kept: dict[int, tuple[SeatLog, LogWriter, int]] = {}
        self._free = [*range(rows)]

    def fits(self, log: SeatLog) -> bool:
        """True where a log, its turn and an action stay within the context."""
        writer, _ = self._place(log)
        return len(writer.write(log.entries)) + 2 <= self.model.transformer.shape.context

    def turns(self, logs: Sequence[SeatLog]) -> tuple[NDArray[np.int64], Array]:
        """Bring logs, of which each stands at its seat's turn, up to that turn.

        Returns:
            `[n]` their rows, and `[n, width]` the last hidden layer, after which an action follows.

        Raises:
            ValueError: If a log is longer than the context.
        """
        rows, added = [], []
        for log in logs:
            writer, row = self._place(log)
            tokens = [*writer.write(log.entries), MOVE]
            if len(tokens) > self.model.transformer.shape.context:
                raise ValueError(
                    f"a log of {len(tokens)} tokens; the model's context holds "
                    f"{self.model.transformer.shape.context}"
                )
            held = int(self.cache.length[row])
            if held >= len(tokens):  # asked again at the same place
                held = len(tokens) - 1
                self.cache.length[row] = held
            rows.append(row)
            added.append(tokens[held:])
        lengths = np.array([*map(len, added)], np.int64)
        filled = np.zeros((len(added), int(lengths.max())), np.int64)
        for place, tokens in enumerate(added):
            filled[place, : len(tokens)] = tokens
        order = np.argsort(rows)
        where = np.array(rows, np.int64)
        last = np.zeros((len(rows), self.model.transformer.shape.width), np.float32)
        last[order] = self.model.transformer.add(
            self.cache, where[order], filled[order], lengths[order]
        )
        return where, last

    def tokens(self, log: SeatLog) -> Sequence[int]:
        """The tokens of a log that `turns` was asked for, without the turn."""
        return self._kept[id(log)][1].tokens

    def _place(self, log: SeatLog) -> tuple[LogWriter, int]:
        found = self._kept.get(id(log))
        if found is not None and found[0] is log:
            return found[1], found[2]
        if not self._free:
            self._grow()
        row = self._free.pop()
        self.cache.length[row] = 0
        writer = LogWriter(self.model.vocabulary)
        self._kept[id(log)] = (log, writer, row)
        return writer, row

    def _grow(self) -> None:
        rows = len(self.cache.length)
        larger = Cache(self.model.transformer.shape, 2 * rows)
        larger.take(rows, self.cache, 0, rows)
        self.cache = larger
        self._free += range(rows, 2 * rows)

    def forget(self, log: SeatLog) -> None:
        """Leave a log that grows no more."""
        if (found := self._kept.pop(id(log), None)) is not None:
            self._free.append(found[2])
