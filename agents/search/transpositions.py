"""UCT over a graph: equal states, reached by different actions, share one node.

A node stands for (plies since the first root, seat that acted last, canonical state), so that paths
never close a cycle; it has one mean and one number of visits, whichever edge led to it, and the
bounds of all its parents use them (UCT2 of Childs, Brodeur & Kocsis 2008, Transpositions and Move
Groups in Monte Carlo Tree Search, with the visits of the node for those of the edge).
"""

from collections.abc import Sequence

import numpy as np

from agents.search.interning import canonical
from agents.search.nodes import Node
from agents.search.policies import Score
from agents.search.rules import Rules
from agents.search.settings import SearchSettings
from agents.search.uct import UctSearch
from games.contract import Action, State


class TranspositionSearch(UctSearch):
    """`UctSearch` whose nodes may have several parents.

    Attributes:
        hits: Edges that led to a node known before.
    """

    def __init__(
        self,
        rules: Rules,
        root: State,
        settings: SearchSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Score] = (),
    ) -> None:
        """See `agents.search.uct.uct`."""
        self.depths: dict[Node, int] = {}
        self.known: dict[tuple[int, int, bytes], Node] = {}
        self.hits = self.depth = 0
        super().__init__(rules, root, settings, generator, heuristics)

    def _open(self, node: Node) -> None:
        super()._open(node)
        node.wide = None  # a child of several parents has no one place in their arrays

    def _grown(self, node: Node, index: int) -> Node:
        self.depth = self.depths[node] + 1
        return super()._grown(node, index)

    def _added(self, state: State, seat: int, action: Action) -> Node:
        key = self.depth, seat, canonical(state)
        child = self.known.get(key)
        if child is not None:
            self.hits += 1
            return child
        child = self.known[key] = super()._added(state, seat, action)
        self.depths[child] = self.depth
        return child

    def figures(self) -> dict[str, int | float | str]:
        """See `UctSearch.figures`."""
        return {**super().figures(), "transpositions": self.hits}
