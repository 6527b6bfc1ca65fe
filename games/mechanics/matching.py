"""Two mechanic graphs compared by the edges they share under the best assignment of their nodes.

The assignment of nodes has the largest sum of likenesses, by the Hungarian algorithm (Kuhn 1955).
A pair counts as the same mechanic from a likeness of 0.6 on, as the paper's threshold of 0.4 in
cosine distance says (Cardiverse §3.1.2). An edge is shared if both its ends are, and the other
graph has the edge between their partners.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from games.library import empty_words
from games.mechanics.graph import MechanicGraph, bounded

Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
SAME = 0.6


@dataclass(frozen=True)
class GraphMatch:
    """Two graphs, node by node.

    Attributes:
        pairs: Ids of the first and of the second graph, with their likeness.
        shared: Edges of the first graph that the second one has too.
        removed: Edges of the first graph alone.
        added: Edges of the second graph alone, in its ids.
    """

    pairs: tuple[tuple[str, str, float], ...]
    shared: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    added: tuple[tuple[str, str], ...]

    @property
    def similarity(self) -> float | None:
        """2 shared / (edges of one + edges of the other); None where neither has an edge."""
        ends = 2 * len(self.shared) + len(self.removed) + len(self.added)
        return 2 * len(self.shared) / ends if ends else None


def match_graphs(
    one: MechanicGraph, other: MechanicGraph, likeness: Likeness | None = None
) -> GraphMatch:
    """Find the best assignment of two graphs' nodes, and the edges that they share under it.

    Args:
        one: The first graph.
        other: The second.
        likeness: Of each name of one list to each of another, from 0 to 1; by words by default.

    Raises:
        GraphError: If a graph is too large.
    """
    rows, columns = ([n for n in bounded(g).nodes if n.id != g.root] for g in (one, other))
    names = [[node.name for node in nodes] for nodes in (rows, columns)]
    alike = (likeness or by_words)(*names)
    pairs = [(one.root, other.root, 1.0)] if one.root and other.root else []
    pairs += [
        (rows[i].id, columns[j].id, float(alike[i][j]))
        for i, j in best_assignment(alike)
        if alike[i][j] >= SAME
    ]
    partner = {first: second for first, second, _ in pairs}
    ours, theirs = (
        dict.fromkeys((edge.source, edge.target) for edge in graph.edges) for graph in (one, other)
    )
    moved = {edge: (partner.get(edge[0], ""), partner.get(edge[1], "")) for edge in ours}
    return GraphMatch(
        pairs=tuple(pairs),
        shared=tuple(edge for edge in ours if moved[edge] in theirs),
        removed=tuple(edge for edge in ours if moved[edge] not in theirs),
        added=tuple(edge for edge in theirs if edge not in set(moved.values())),
    )


def by_words(one: Sequence[str], other: Sequence[str]) -> list[list[float]]:
    """Likeness of names by the words they share (Dice): 2 common / (words of both).

    >>> by_words(["draw a card"], ["draw two cards", "bid"])
    [[0.8, 0.0]]
    """
    first, second = ([_words(name) for name in names] for names in (one, other))
    return [[2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0 for b in second] for a in first]


def _words(name: str) -> frozenset[str]:
    words = re.findall(r"\w+", name.casefold())
    said = [word for word in words if word not in empty_words()] or words
    return frozenset(word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in said)  # noqa: PLR2004 - the shortest plural


def best_assignment(gains: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs of row and column whose gains have the largest sum; each is in one pair at most.

    The Hungarian algorithm with potentials, in O(rows² columns).

    >>> best_assignment([[0.9, 0.8], [0.8, 0.0]])
    [(0, 1), (1, 0)]
    """
    rows, columns = len(gains), len(gains[0]) if gains else 0
    if rows > columns:
        turned = [[row[at] for row in gains] for at in range(columns)]
        return sorted((row, column) for column, row in best_assignment(turned))
    owner = [0] * (columns + 1)  # row by column; row 0 and column 0 stand for "none"
    prices = [0.0] * (rows + 1), [0.0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0] = row
        at, before = _cheapest_way(gains, owner, *prices)
        while at:
            owner[at], at = owner[before[at]], before[at]
    return sorted((row - 1, column - 1) for column, row in enumerate(owner) if column and row)


def _cheapest_way(
    gains: Sequence[Sequence[float]],
    owner: Sequence[int],
    of_row: list[float],
    of_column: list[float],
) -> tuple[int, list[int]]:
    """A free column, and the columns before each on the way to it; the prices are moved."""
    columns, at = len(owner), 0
    least, before, seen = [inf] * columns, [0] * columns, set[int]()
    while owner[at]:
        seen.add(at)
        row = owner[at]
        for column in set(range(1, columns)) - seen:
            cost = -gains[row - 1][column - 1] - of_row[row] - of_column[column]
            if cost < least[column]:
                least[column], before[column] = cost, at
        at = min(set(range(1, columns)) - seen, key=lambda column: (least[column], column))
        step = least[at]
        for column in range(columns):
            if column in seen:
                of_row[owner[column]] += step
                of_column[column] -= step
            else:
                least[column] -= step
    return at, before
