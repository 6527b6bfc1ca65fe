"""Imagined logs: a model of observations continues a seat's log, many times side by side."""

from collections.abc import Sequence

import numpy as np

from agents.encoding.protocol import Array
from agents.encoding.tokens import LogReader
from agents.encoding.vocabulary import END, MOVE, TokenError
from agents.observing.following import LogFollower
from agents.observing.model import ObservationModel
from agents.observing.transformer import Cache
from agents.search.observation import ImaginedStanding, Kind
from games.information import SeatLog
from games.values import Action

_RARE = 0.001  # below it, an action of an imagined turn is no choice
_AGAIN = 4  # draws in place of a token that cannot stand


class ImaginedLogs:
    """Logs that begin at one position: `agents.search.observation.Imagined`."""

    def __init__(
        self,
        model: ObservationModel,
        follower: LogFollower,
        log: SeatLog,
        generator: np.random.Generator,
        *,
        redraw: bool,
        most: int,
    ) -> None:
        """Begin at a log that stands at its seat's turn.

        Args:
            model: The model.
            follower: Holds the log.
            log: The log.
            generator: Draws.
            redraw: Whether a token that cannot stand is drawn again.
            most: Logs at the same time.

        Raises:
            ValueError: If the log is longer than the context.
        """
        self.model, self.generator, self.redraw = model, generator, redraw
        rows, self.root = follower.turns([log])
        self._source, self._row = follower.cache, int(rows[0])
        self._reader = LogReader(model.vocabulary)
        for token in follower.tokens(log):
            self._reader.feed(token)
        self._reader.feed(MOVE)
        self.cache = Cache(model.transformer.shape, most)
        self.passes = self.drawn_again = 0
        self._last = np.zeros((most, model.transformer.shape.width), np.float32)
        self._readers: list[LogReader] = []
        self._histories: list[list[int]] = []

    def begin(self, count: int) -> None:
        """See `Imagined.begin`."""
        self.cache.take(count, self._source, self._row, 1)
        self._last[:count] = self.root
        self._readers = [self._reader.copy() for _ in range(count)]
        self._histories = [[] for _ in range(count)]

    def act(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[ImaginedStanding]:
        """See `Imagined.act`."""
        known = self.model.vocabulary.action_number
        stood: dict[int, ImaginedStanding] = {}
        tokens: dict[int, int] = {}
        for number, action in zip(numbers, actions, strict=True):
            tokens[number] = known[action]
            self._readers[number].feed(known[action])
        while tokens:
            tokens = self._imagined(tokens, stood)
        return [stood[number] for number in numbers]

    def _imagined(
        self, tokens: dict[int, int], stood: dict[int, ImaginedStanding]
    ) -> dict[int, int]:
        """Add a token to each log; the next token of those that go on."""
        numbers = sorted(tokens)
        full = self.cache.length[numbers] >= self.model.transformer.shape.context
        for number, is_full in zip(numbers, full.tolist(), strict=True):
            if is_full:
                stood[number] = self._stand("cut", number)
        numbers = [number for number in numbers if number not in stood]
        if not numbers:
            return {}
        self._add(numbers, [tokens[number] for number in numbers])
        going: list[int] = []
        for number in numbers:
            self._histories[number].append(tokens[number])
            if tokens[number] in (MOVE, END):
                stood[number] = self._stand("turn" if tokens[number] == MOVE else "end", number)
            else:
                going.append(number)
        if not going:
            return {}
        chances = self.model.transformer.next(self._last[going])
        chosen: dict[int, int] = {}
        for number, row in zip(going, chances, strict=True):
            token = self._next(number, row)
            if token is None:
                stood[number] = self._stand("impossible", number)
            else:
                chosen[number] = token
        return chosen

    def _next(self, number: int, chances: Array) -> int | None:
        """A token that can stand, drawn; None where what was drawn cannot."""
        for _ in range(_AGAIN if self.redraw else 1):
            bound = np.cumsum(chances, dtype=np.float64)
            token = int(np.searchsorted(bound, self.generator.random() * bound[-1], "right"))
            token = min(token, len(chances) - 1)
            reader = self._readers[number].copy() if self.redraw else self._readers[number]
            try:
                reader.feed(token)
            except TokenError:
                self.drawn_again += self.redraw
                chances[token] = 0
                continue
            self._readers[number] = reader
            return token
        return None

    def _add(self, numbers: Sequence[int], tokens: Sequence[int]) -> None:
        rows = np.array(numbers, np.int64)
        added = np.array(tokens, np.int64)[:, None]
        ones = np.ones(len(rows), np.int64)
        self._last[rows] = self.model.transformer.add(self.cache, rows, added, ones)
        self.passes += 1

    def _stand(self, kind: Kind, number: int) -> ImaginedStanding:
        return ImaginedStanding(kind, tuple(self._histories[number]))

    def choices(self, numbers: Sequence[int]) -> list[dict[Action, float]]:
        """See `Imagined.choices`."""
        known = self.model.vocabulary
        acts = slice(known.first_action, known.first_run)
        chances = self.model.transformer.next(self._last[[*numbers]])[:, acts]
        chances = chances / np.maximum(chances.sum(-1, keepdims=True), 1e-9)
        return [self._possible(number, row) for number, row in zip(numbers, chances, strict=True)]

    def _possible(self, number: int, chances: Array) -> dict[Action, float]:
        """The actions that nothing is known against, with their probabilities."""
        known, seen = self.model.vocabulary, self._readers[number].seen
        found = {
            known.actions[int(place)]: float(chances[place])
            for place in np.flatnonzero(chances > _RARE)
        }
        if self.redraw:
            found = {action: p for action, p in found.items() if known.needs.met(action, seen)}
        total = sum(found.values())
        return {action: chance / total for action, chance in found.items()}

    def outcomes(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[float]:
        """See `Imagined.outcomes`."""
        known = self.model.vocabulary.action_number
        rows = np.array(numbers, np.int64)
        tokens = np.array([known[action] for action in actions], np.int64)
        if int(self.cache.length[rows].max()) >= self.model.transformer.shape.context:
            return self.values(numbers)
        self.passes += 1
        last = self.model.transformer.peek(self.cache, rows, tokens)
        return [float(value) for value in self.model.values(last)]

    def values(self, numbers: Sequence[int]) -> list[float]:
        """See `Imagined.values`."""
        return [float(value) for value in self.model.values(self._last[[*numbers]])]

    def drawn(self, number: int, choices: dict[Action, float]) -> Action:
        """See `Imagined.drawn`."""
        del number
        actions = [*choices]
        bound = np.cumsum([choices[action] for action in actions])
        place = int(np.searchsorted(bound, self.generator.random() * bound[-1], "right"))
        return actions[min(place, len(actions) - 1)]
