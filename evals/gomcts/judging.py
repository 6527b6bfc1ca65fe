"""Probabilities that a model of observations gives to a tree of sights, beside the exact ones."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from agents.encoding.tokens import LogReader, LogWriter
from agents.encoding.vocabulary import END, MOVE, TokenError
from agents.learning.settings import LearningError
from agents.observing.model import ObservationModel
from agents.observing.transformer import Cache, Reals
from agents.solving.form import Floats
from evals.gomcts.sights import SightTree
from evals.results import Row
from games.information import Did, LogEntry, Seen
from games.values import Action, Observation

_TINY = 1e-30
_TRIED = 1e-3  # probability from which a token is tried: may a log go on with it?
_ROW, _ONE = np.zeros(1, np.int64), np.ones(1, np.int64)
BINS = 10


class _Place(NamedTuple):
    """A log in the model: the last hidden layer, and what was read of it."""

    last: Reals
    reader: LogReader


class JudgedTree:
    """A tree of sights as a model sees it.

    Attributes:
        tree: The tree.
        logs: `[nodes]` log-probability of each own action after its turn; of each turn and end, of
            all that is seen since the own action before; 0 of what lies between. It is told by its
            own tokens: the same told otherwise is not counted, so it is a lower bound.
        refused: `[nodes]` probability that what is seen after a log stands for no log, as far as
            tokens of 0.001 and more tell.
        worth: `[nodes]` value by the outcome head.
    """

    def __init__(
        self, model: ObservationModel, tree: SightTree, before: Sequence[LogEntry]
    ) -> None:
        """Judge a tree whose first log has these entries.

        Raises:
            LearningError: If a log is longer than the model's context.
        """
        self.model, self.tree = model, tree
        self.logs, self.refused, self.worth = np.zeros((3, len(tree.nodes)))
        self._cache = Cache(model.transformer.shape, 1)
        self._sights: dict[int, list[int]] = {}
        reader = LogReader(model.vocabulary)
        last = np.zeros((1, 1), np.float32)
        acts = [place for place, entry in enumerate(before) if isinstance(entry, Did)]
        settled = acts[-1] + 1 if acts else 0
        for token in LogWriter(model.vocabulary).write(before[:settled]):
            last = self._added(token)
            reader.feed(token)
        self._visit(0, _Place(last, reader), before[settled:])

    def _added(self, token: int) -> Reals:
        """The last hidden layer after one more token."""
        if self._cache.length[0] >= (most := self.model.transformer.shape.context):
            raise LearningError(
                f"a log has more tokens than the model's context holds, which is {most}; train "
                f"with context={most + most // 2}"
            )
        tokens = np.array([[token]], np.int64)
        return self.model.transformer.add(self._cache, _ROW, tokens, _ONE)

    def _visit(self, number: int, at: "_Place", since: Sequence[LogEntry] = ()) -> None:
        """Judge what may follow a log: own actions at a turn, else all that is seen until one.

        What is seen between two turns is told together, as its tokens are.
        """
        below = self.tree.nodes[number].below
        if not below:
            return
        if self.tree.nodes[below[0]].acts:
            steps = {one: self._act(one) for one in below}
        else:
            seen, acted = at.reader.seen, at.reader.acted
            tokens: list[int] = []
            for entry in since:
                tokens += self.model.vocabulary.tokens_of(seen, entry, acted)
                seen, acted = entry.observation if isinstance(entry, Seen) else seen, None
            steps = dict(self._told(number, seen, acted, tokens))
            self._sights[number] = [*steps]
        self._walk(number, steps, -self._given(since, at) if since else 0.0, at)

    def _given(self, since: Sequence[LogEntry], at: "_Place") -> float:
        """Log-probability of the tokens that may tell what is given, of which the first is asked.

        A run may tell what is given together with what comes after it.
        """
        chances = self.model.transformer.next(at.last)[0].astype(np.float64)
        told = 0.0
        for token in range(len(chances)):
            reader = at.reader.copy()
            with suppress(TokenError):
                entries = reader.feed(token)
                if token not in (MOVE, END) and [*entries[: len(since)]] == [
                    *since[: len(entries)]
                ]:
                    told += float(chances[token])
        return float(np.log(max(told, _TINY)))

    def _act(self, number: int) -> list[int]:
        step = self.tree.nodes[number].step
        if not isinstance(step, Did):
            raise TypeError("a turn is followed by own actions alone")
        return self.model.vocabulary.tokens_of({}, step, None)[1:]  # the turn is a step of its own

    def _told(
        self, number: int, seen: Observation, acted: Action | None, tokens: Sequence[int]
    ) -> Iterator[tuple[int, list[int]]]:
        """Turns and ends below a log, with the tokens of all that is seen until then."""
        for one in self.tree.nodes[number].below:
            step = self.tree.nodes[one].step
            if isinstance(step, str):
                last = MOVE if step == "turn" else END
                yield one, [*self.model.vocabulary.shortened(tokens), last]
            elif isinstance(step, Seen):
                more = self.model.vocabulary.tokens_of(seen, step, acted)
                yield from self._told(one, step.observation, None, [*tokens, *more])

    def _walk(
        self,
        number: int,
        steps: dict[int, list[int]],
        so_far: float,
        at: "_Place",
    ) -> None:
        """Judge the next token of some steps that have begun alike."""
        last, reader = at
        acts = any(self.tree.nodes[one].acts for one in steps)
        while True:
            chances = self.model.transformer.next(last)[0].astype(np.float64)
            following: dict[int, dict[int, list[int]]] = defaultdict(dict)
            for one, (token, *rest) in steps.items():
                following[token][one] = rest
            if not acts:
                self.refused[number] += np.exp(so_far) * _refused(reader, chances, following)
            (token, rests), *others = following.items()
            if others or not all(rests.values()):
                break
            so_far += float(np.log(max(chances[token], _TINY)))
            last, steps = self._added(token), rests
            reader.feed(token)
        held = int(self._cache.length[0])
        for token, rests in following.items():
            log = so_far + float(np.log(max(chances[token], _TINY)))
            after, added = reader.copy(), self._added(token)
            after.feed(token)
            whole = next((one for one, rest in rests.items() if not rest), None)
            if whole is None:
                self._walk(number, rests, log, _Place(added, after))
            else:  # no step is told by the beginning of another's tokens
                self.logs[whole] = log
                self.worth[whole] = self.model.values(added)[0]
                self._visit(whole, _Place(added, after))
            self._cache.length[0] = held

    def figures(self, shares: Floats) -> Row:
        """Entropy and cross-entropy of what comes next, in nats a match, and where the rest lies.

        Args:
            shares: From `SightTree.shares`; logs count by their probability.

        Returns:
            Sights, entropy, cross-entropy; and over the sights, the probability of what cannot be,
            and of what stands for no log.
        """
        reaches, logs = self.tree.reaches(shares), self._since_begin()
        found = np.zeros(5)
        for number, ends in self._sights.items():
            if reaches[number] > 0:
                true, told = reaches[ends] / reaches[number], logs[ends] - logs[number]
                entropy = -true @ np.log(np.maximum(true, _TINY))
                missing = 1 - np.exp(told).sum()
                row = 1.0, entropy, -true @ told, missing, self.refused[number]
                found += reaches[number] * np.array(row)
        names = "sights", "entropy", "cross-entropy", "impossible", "no log"
        return dict(zip(names, found.tolist(), strict=True))

    def _since_begin(self) -> Floats:
        """`[nodes]` log-probability of each log after the first."""
        found = self.logs.copy()
        for number, node in enumerate(self.tree.nodes):  # a parent stands before its children
            if node.parent >= 0:
                found[number] += found[node.parent]
        return found

    def distance(self, shares: Floats) -> float:
        """Total variation between the exact probabilities of the tree's ends and the model's."""
        exact, told = self.tree.reaches(shares), self.tree.reaches(np.exp(self.logs))
        ends = [number for number, node in enumerate(self.tree.nodes) if not node.below]
        apart = float(np.abs(exact[ends] - told[ends]).sum())
        return (apart + 1 - float(told[ends].sum())) / 2

    def valued(self, reached: Floats, played: Floats) -> Iterator[tuple[float, float, float]]:
        """Predicted and exact worth of each own action, and how often it comes up.

        Args:
            reached: Shares by which the seat comes to its logs.
            played: Shares by which it plays on.
        """
        exact, reaches = self.tree.values(played), self.tree.reaches(reached)
        for number, node in enumerate(self.tree.nodes):
            if node.acts and reaches[number] > 0:
                yield float(self.worth[number]), float(exact[number]), float(reaches[number])


def _refused(reader: LogReader, chances: Floats, known: dict[int, dict[int, list[int]]]) -> float:
    """The probability of tokens after which a sequence stands for no log."""
    found = 0.0
    for token in np.flatnonzero(chances > _TRIED).tolist():
        if token not in known:
            try:
                reader.copy().feed(token)
            except TokenError:
                found += float(chances[token])
    return found


def reliability(valued: Sequence[tuple[float, float, float]], bins: int = BINS) -> list[Row]:
    """Bins of predicted values from -1 to 1, with the exact mean of each.

    Args:
        valued: Predicted, exact, weight.
        bins: As many, equally wide.

    Returns:
        A row for each bin that has a position: predicted and exact means, the least and the largest
        exact value in it, its share of the weight, and its positions.
    """
    rows: list[Row] = []
    told = np.array(valued)
    places = np.clip(((told[:, 0] + 1) / 2 * bins).astype(int), 0, bins - 1)
    for place in np.unique(places):
        here = told[places == place]
        predicted, exact = np.average(here[:, :2], axis=0, weights=here[:, 2])
        row = {"predicted": predicted, "exact": exact, "least": here[:, 1].min()}
        row |= {"largest": here[:, 1].max(), "share": here[:, 2].sum() / told[:, 2].sum()}
        rows.append({**{key: float(one) for key, one in row.items()}, "positions": len(here)})
    return rows
