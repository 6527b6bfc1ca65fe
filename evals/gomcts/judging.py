"""Probabilities that a model of observations gives to a tree of sights, beside the exact ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from agents.encoding.tokens import END, MOVE, LogReader, LogWriter, TokenError
from agents.learning.settings import LearningError
from agents.observing.model import ObservationModel
from agents.observing.transformer import Cache
from agents.solving.form import Floats
from evals.gomcts.sights import SightTree
from evals.results import Row
from games.information import Did, LogEntry, Seen
from games.values import Observation

_BESIDE = 256  # sequences
_TINY = 1e-30
_TRIED = 1e-3  # probability from which a token is tried: may a log go on with it?
BINS = 10


@dataclass
class _Trie:
    """Tokens of all logs of a tree; place 0 stands behind the first log.

    Attributes:
        parents: By place.
        tokens: By place, the one that leads to it.
        owners: By place, the newest node of the tree that is told whole.
        at: By node of the tree, its place.
    """

    parents: list[int]
    tokens: list[int]
    owners: list[int]
    at: list[int]

    @classmethod
    def of(cls, model: ObservationModel, tree: SightTree, seen: Observation) -> "_Trie":
        """The tokens of a tree whose first log ends with an observation."""
        trie = cls([-1], [-1], [0], [0])
        known: dict[tuple[int, int], int] = {}
        newest = [seen]
        for number, node in enumerate(tree.nodes[1:], 1):
            before = newest[node.parent]
            place = trie.at[node.parent]
            for token in _tokens(model, before, node.step):
                following = known.setdefault((place, token), len(trie.parents))
                if following == len(trie.parents):
                    trie.parents.append(place)
                    trie.tokens.append(token)
                    trie.owners.append(node.parent)
                place = following
            trie.owners[place] = number
            trie.at.append(place)
            newest.append(node.step.observation if isinstance(node.step, Seen) else before)
        return trie

    def paths(self) -> list[list[int]]:
        """Places from behind the first log to each place that nothing follows."""
        inner = {*self.parents}
        found = []
        for place in range(len(self.parents)):
            if place not in inner and place:
                path = [place]
                while path[-1]:
                    path.append(self.parents[path[-1]])
                found.append(path[-2::-1])
        return found


def _tokens(model: ObservationModel, before: Observation, step: LogEntry | str) -> list[int]:
    if isinstance(step, str):
        return [MOVE if step == "turn" else END]
    found = model.vocabulary.tokens_of(before, step)
    return found[1:] if isinstance(step, Did) else found


@dataclass(frozen=True)
class JudgedTree:
    """A tree of sights as a model sees it.

    Attributes:
        tree: The tree.
        logs: `[nodes]` log-probability of each step after the log before it, told by its own
            tokens: the same told otherwise is not counted, so it is a lower bound.
        refused: `[nodes]` probability that what comes next stands for no log.
        worth: `[nodes]` value by the outcome head.
    """

    tree: SightTree
    logs: Floats
    refused: Floats
    worth: Floats

    @classmethod
    def of(
        cls, model: ObservationModel, tree: SightTree, before: Sequence[LogEntry] = ()
    ) -> "JudgedTree":
        """A tree whose first log has these entries.

        Raises:
            LearningError: If a log is longer than the model's context.
        """
        seen = next((one.observation for one in reversed(before) if isinstance(one, Seen)), {})
        trie = _Trie.of(model, tree, seen)
        prefix = [*LogWriter(model.vocabulary).write(before)]
        longest = len(prefix) + max(map(len, trie.paths()), default=0)
        if longest > model.transformer.shape.context:
            raise LearningError(
                f"a log has {longest} tokens, and the model's context holds "
                f"{model.transformer.shape.context}; train it with context={longest}"
            )
        size = len(trie.parents)
        logs, refused, worth = np.zeros(size), np.zeros(size), np.zeros(size)
        below: list[dict[int, int]] = [{} for _ in range(size)]
        for place in range(1, size):
            below[trie.parents[place]][trie.tokens[place]] = place
        for place, reader, chances, value in _visited(model, trie, prefix):
            worth[place] = value
            for token, following in below[place].items():
                logs[following] = np.log(max(float(chances[token]), _TINY))
            if trie.tokens[place] != MOVE:  # what a seat does itself is not judged
                refused[place] = _refused(reader, chances, below[place])
        return cls(tree, *_by_node(trie, logs, refused, worth))

    def figures(self, shares: Floats) -> Row:
        """Entropy and cross-entropy of what comes next, in nats a match, weighted by the logs.

        Args:
            shares: From `SightTree.shares`.
        """
        reaches = self.tree.reaches(shares)
        found = {"sights": 0.0, "entropy": 0.0, "cross-entropy": 0.0, "refused": 0.0, "kept": 0.0}
        for number, below in enumerate(self.tree.children):
            if below and not isinstance(self.tree.nodes[below[0]].step, Did):
                true, told = shares[below], self.logs[below]
                weight = float(reaches[number])
                found["sights"] += weight
                found["entropy"] -= weight * float(true @ np.log(np.maximum(true, _TINY)))
                found["cross-entropy"] -= weight * float(true @ told)
                found["refused"] += weight * float(self.refused[number])
                found["kept"] += weight * float(np.exp(told).sum())
        return found

    def distance(self, shares: Floats) -> float:
        """Total variation between the exact probabilities of the tree's ends and the model's."""
        exact = self.tree.reaches(shares)
        told = self.tree.reaches(np.exp(self.logs))
        ends = [number for number, below in enumerate(self.tree.children) if not below]
        missing = 1 - float(told[ends].sum())
        return (float(np.abs(exact[ends] - told[ends]).sum()) + missing) / 2

    def valued(self, reached: Floats, played: Floats) -> Iterator[tuple[float, float, float]]:
        """Predicted and exact worth of each own action, and how often it comes up.

        Args:
            reached: Shares by which the seat comes to its logs.
            played: Shares by which it plays on.
        """
        exact, reaches = self.tree.values(played), self.tree.reaches(reached)
        for number, node in enumerate(self.tree.nodes):
            if isinstance(node.step, Did) and reaches[number] > 0:
                yield float(self.worth[number]), float(exact[number]), float(reaches[number])


def _visited(
    model: ObservationModel, trie: _Trie, prefix: Sequence[int]
) -> Iterator[tuple[int, LogReader, Floats, float]]:
    """Each place that something follows: a reader there, the next token's chances, the value."""
    network = model.transformer
    done = {*range(len(trie.parents))}.difference(trie.parents)
    readers = {0: LogReader(model.vocabulary)}
    for token in prefix:
        readers[0].feed(token)
    ways = trie.paths()
    for paths in (ways[at : at + _BESIDE] for at in range(0, len(ways), _BESIDE)):
        cache = Cache(network.shape, len(paths))
        rows = np.arange(len(paths))
        begun = np.full((len(paths), len(prefix)), prefix, np.int64)
        last = network.add(cache, rows, begun, np.full(len(paths), len(prefix)))
        here = [0 for _ in paths]
        for step in range(max(map(len, paths))):
            new = {here[row]: at for at, row in enumerate(rows.tolist()) if here[row] not in done}
            done.update(new)
            judged = last[[*new.values()]]
            pairs = zip(network.next(judged), model.values(judged), strict=True)
            for place, (chances, value) in zip(new, pairs, strict=True):
                yield place, readers[place], chances.astype(np.float64), float(value)
            going = [row for row in rows.tolist() if step < len(paths[row]) - 1]
            if not going:
                break
            rows = np.array(going)
            for row in going:
                place = paths[row][step]
                if place not in readers:
                    readers[place] = readers[here[row]].copy()
                    readers[place].feed(trie.tokens[place])
                here[row] = place
            tokens = np.array([[trie.tokens[here[row]]] for row in going])
            last = network.add(cache, rows, tokens, np.ones(len(rows), np.int64))


def _refused(reader: LogReader, chances: Floats, known: dict[int, int]) -> float:
    """The probability of tokens after which a sequence stands for no log."""
    found = 0.0
    for token in np.flatnonzero(chances > _TRIED).tolist():
        if token not in known:
            try:
                reader.copy().feed(token)
            except TokenError:
                found += float(chances[token])
    return found


def _by_node(
    trie: _Trie, logs: Floats, refused: Floats, worth: Floats
) -> tuple[Floats, Floats, Floats]:
    """What was found at each place, by the nodes of the tree."""
    whole = logs.copy()  # since the newest node
    found = np.zeros((3, len(trie.at)))
    nodes = {place: number for number, place in enumerate(trie.at)}
    for place, owner in enumerate(trie.owners):
        parent = trie.parents[place]
        if place and parent not in nodes:
            whole[place] += whole[parent]
        if (node := nodes.get(place)) is not None:
            found[0, node], found[2, node] = whole[place], worth[place]
            found[1, node] += refused[place]
        else:
            found[1, owner] += np.exp(whole[place]) * refused[place]
    return found[0], found[1], found[2]


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
    for place in range(bins):
        here = told[places == place]
        if len(here):
            predicted, exact = np.average(here[:, :2], axis=0, weights=here[:, 2]).tolist()
            rows.append(
                {
                    "predicted": predicted,
                    "exact": exact,
                    "least": float(here[:, 1].min()),
                    "largest": float(here[:, 1].max()),
                    "share": float(here[:, 2].sum() / told[:, 2].sum()),
                    "positions": len(here),
                }
            )
    return rows
