"""MCTS-Solver: UCT that also proves what states are worth, and backs proofs up beside means.

A state is proven where the match is over; where all actions were tried and led to proven states, as
the value of the action that is best for the seat to move (max-n; the first of equals); and where
one proven action pays `win`, which no return of the game exceeds. Chance nodes are never proven.

A proven child is descended into by its exact value, without a term for exploration, and needs no
rollout; so a proven loss is left alone while anything else may be better. At the end a proven win
is played, and a proven worst only where nothing else is left.

Reference:
    Winands, Björnsson & Saito (2008), Monte-Carlo Tree Search Solver; Nijssen & Winands (2010) for
    more than two seats.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log, sqrt

import numpy as np

from agents.search.meter import Meter
from agents.search.nodes import Node
from agents.search.policies import Score
from agents.search.rollouts import add
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from agents.search.uct import UctSearch
from games.contract import CHANCE, TERMINAL, State


class SolverSearch(UctSearch):
    """`UctSearch` with proofs.

    Attributes:
        proven: `[num_players]` what is paid after every proven node was entered.
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
        super().__init__(rules, root, settings, generator, heuristics)
        self.proven: dict[Node, list[float]] = {}

    def simulate(self) -> None:
        """See `UctSearch.simulate`."""
        node, returns = self.root, self.nothing
        nodes, path = [node], list[Node]()
        while True:
            known = self.size
            node = self._taken(node)
            path.append(node)
            if node.player == TERMINAL:
                self.proven[node] = self.nothing
            if node in self.proven:
                returns = self.proven[node]
                break
            if self.size != known and node.player >= 0:
                returns = self.leaves.returns(node.state, node.paid, node.actions)
                break
            nodes.append(node)
        self._finish(path, returns)
        paid = max(self.range.high)
        if self.settings.value_range is None and paid > self.settings.win:
            raise ValueError(
                f"a simulation paid {paid}, with win={self.settings.win}; required: the largest "
                "return of the game"
            )
        if node in self.proven:
            self._prove(nodes)

    def _taken(self, node: Node) -> Node:
        """The child that a descent takes from a node."""
        ready = node.ready
        if ready is None:
            return self._descended(node)
        bonus = self.exploration * self.range.spread[node.player] * sqrt(log(node.passed))
        node.passed += 1
        best, taken = -inf, ready[0]
        for child in ready:
            score = child.mean + bonus * child.inverse_root
            if child in self.proven:
                score = self._value(child)
            if score > best:
                best, taken = score, child
        return taken

    def _value(self, child: Node) -> float:
        """What the edge to a proven child pays the seat that acts there."""
        later = self.proven[child][child.seat]
        return later if child.paid is None else later + child.paid[child.seat]

    def _prove(self, nodes: list[Node]) -> None:
        """Prove what can be proven of a descent, from its end upwards."""
        for node in reversed(nodes):
            if node.player == CHANCE or node in self.proven:
                return
            children = [child for child in node.children if child is not None]
            known = [child for child in children if child in self.proven]
            best = max(known, key=self._value)
            if self._value(best) < self.settings.win and len(known) < len(node.actions):
                return
            self.proven[node] = add(self.proven[best], best.paid or self.nothing)

    def result(self, meter: Meter | None = None) -> SearchResult:
        """See `UctSearch.result`; a proven win first, a proven worst last, else by visits."""
        found = super().result(meter)
        children = self.root.children if self.root.is_open else []
        values = {
            action: self._value(child)
            for action, child in zip(self.root.actions, children, strict=False)
            if child is not None and child in self.proven
        }
        low, high = self.range.low[self.root.player], self.settings.win

        def rank(index: int) -> tuple[int, int, float]:
            value, mean = values.get(found.actions[index]), found.means[index]
            settled = 0 if value is None else (value >= high) - (value <= low < high)
            return settled, found.visits[index], -inf if mean is None else mean

        order = range(len(found.actions))
        return replace(found, chosen=found.actions[max(order, key=rank)])

    def figures(self) -> dict[str, int | float | str]:
        """See `UctSearch.figures`."""
        return {**super().figures(), "proven": len(self.proven)}
