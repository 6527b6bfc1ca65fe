"""RAVE (Gelly & Silver 2011) and GRAVE (Cazenave 2015): later plies count as if played first.

A node keeps, for every action `a` of a seat, the seat's mean return `A(a)` from the node on in the
`m` simulations through it in which the seat played `a` at the node or any later ply, in the tree or
in the rollout (all moves as first; an action counts once a simulation). The action chosen maximises

    (1 - beta) Q(a) + beta A(a) + exploration * spread * sqrt(log(N) / max(n, 1)),
    beta = m / (n + m + bias * n * m),

with `Q(a)` and `n` the mean and visits of the edge and `N` those of the node. `bias` is `4 b^2` of
Gelly & Silver (2011, Monte-Carlo Tree Search and Rapid Action Value Estimation in Computer Go,
the minimum-MSE schedule). "rave" takes `A` and `m` of the node itself, "grave" those of
its nearest ancestor, itself included, with at least `reference` descents (Cazenave 2015,
Generalized Rapid Action Value Estimation). An untried action has `beta = 1`; one that was never
seen goes first, at random.
"""

from math import sqrt
from typing import TypeAlias

from agents.search.leaves import PlayedPly
from agents.search.statistics import add, exploration_bonus
from agents.search.tree import Node, UctSearch
from games.contract import CHANCE, TERMINAL, Action

Seen: TypeAlias = dict[tuple[int, Action], tuple[int, float]]
"""`m` and `A` of every (seat, action) played at or below a node."""


def amaf_weight(visits: int, seen: int, bias: float) -> float:
    """`beta`: how much all-moves-as-first statistics count; 0 where there are none.

    >>> amaf_weight(0, 5, 0.1), amaf_weight(5, 0, 0.1), amaf_weight(10, 30, 0.0)
    (1.0, 0.0, 0.75)
    """
    return seen / (visits + seen + bias * visits * seen) if seen else 0.0


class RaveSearch(UctSearch):
    """`UctSearch` with all-moves-as-first statistics.

    Attributes:
        seen: What was played at and below every node; "rave" keeps the node's own seat alone.
    """

    def _prepare(self) -> None:
        """See `UctSearch._prepare`."""
        self.seen: dict[Node, Seen] = {}
        settings = self.settings
        self.reference = settings.reference if settings.rave == "grave" else 0

    def simulate(self) -> None:
        """See `UctSearch.simulate`."""
        node, returns = self.root, self.nothing
        nodes, path, rollout = [node], list[Node](), list[PlayedPly]()
        while node.player != TERMINAL:
            known = self.size
            node = self._followed(node, nodes)
            path.append(node)
            if self.size != known and node.player >= 0:
                returns = self.leaves.returns(node.state, node.rewards, node.actions)
                rollout = self.leaves.trace
                break
            nodes.append(node)
        played = [(child.seat, child.action, child.rewards) for child in path]
        self._learn(nodes, [*played, *rollout], [child.rewards for child in path], returns)
        self._finish(path, returns)

    def _followed(self, node: Node, nodes: list[Node]) -> Node:
        """The child that a descent takes, which came by `nodes`; a new one where there was none."""
        if node.player == CHANCE:
            return self._descended(node)
        if not node.is_open:
            self._open(node)
        node.visits += 1
        index = self._pick(node, self._reference(nodes))
        child = node.children[index] if index < len(node.children) else None
        return child or self._grown(node, index)

    def _reference(self, nodes: list[Node]) -> Seen:
        """The statistics that serve the last of `nodes`."""
        if self.reference:
            ample = (n for n in reversed(nodes) if n.is_open and n.visits >= self.reference)
            return self.seen.setdefault(next(ample, nodes[0]), {})
        return self.seen.setdefault(nodes[-1], {})

    def _pick(self, node: Node, seen: Seen) -> int:
        tried, seat = len(node.children), node.player
        never = [i for i in range(tried, len(node.actions)) if (seat, node.actions[i]) not in seen]
        if never:
            return never[int(self.draw() * len(never))]
        spread, bias = self.range.spread[seat], self.settings.bias
        bonus = exploration_bonus(self.exploration * spread, node.visits)
        bounds = []
        for index, action in enumerate(node.actions):
            child = node.children[index] if index < tried else None
            visits, mean = (0, 0.0) if child is None else (child.edge_visits, child.mean)
            known, estimate = seen.get((seat, action), (0, 0.0))
            beta = amaf_weight(visits, known, bias)
            bound = (1 - beta) * mean + beta * estimate + bonus / sqrt(max(visits, 1))
            bounds.append(bound)
        return bounds.index(max(bounds))

    def _learn(
        self,
        nodes: list[Node],
        played: list[PlayedPly],
        rewards: list[list[float] | None],
        returns: list[float],
    ) -> None:
        """Count what was played at and after every node of a descent.

        Args:
            nodes: The nodes descended through, the root first; `played[i]` was played at the `i`th.
            played: All plies, of the tree and then of the rollout.
            rewards: Those of the plies of the tree.
            returns: `[num_players]` rewards after them.
        """
        later = returns
        for at in range(len(nodes) - 1, -1, -1):
            if at < len(rewards):
                later = add(later, rewards[at] or self.nothing)
            seen, seat = self.seen.setdefault(nodes[at], {}), nodes[at].player
            once = {(ply[0], ply[1]) for ply in played[at:] if ply[0] != CHANCE}
            for key in once:
                if not self.reference and key[0] != seat:
                    continue
                visits, mean = seen.get(key, (0, 0.0))
                visits += 1
                seen[key] = visits, mean + (later[key[0]] - mean) / visits
