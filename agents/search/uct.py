"""UCT for perfect information: any number of players, chance nodes, general sums.

One simulation descends from the root by upper confidence bounds, adds one decision node, plays
random rollouts (or asks the module's value function) from it, and backs the returns up:

- at a decision node the untried actions go first, in random order; then the action that maximises
  `mean + exploration * spread * sqrt(log(N) / n)` (Kocsis & Szepesvári 2006), where `mean` is the
  mean return from the edge on of the seat that acts there, `N` and `n` the visits of node
  and edge, and `spread` the width of that seat's returns (see `ReturnRange`);
- at a chance node an outcome is drawn by its probability;
- backing up is max-n: every edge keeps the return of its own seat alone, so nothing assumes two
  players or a zero sum.

A return is what the plies from the edge on pay: rewards on the way count. Nodes hold their state,
its player and its legal actions; what edges are worth lies in flat arrays.
"""

from itertools import accumulate
from math import log, sqrt

import numpy as np

from agents.search.rollouts import Leaves, uniforms
from agents.search.rules import Rules
from agents.search.selection import FEW, best_of_few, ucb1_scores
from agents.search.settings import SearchResult, SearchSettings
from agents.search.tree import EdgeStatistics, Path, Ply, ReturnRange, require_turn
from games.contract import CHANCE, TERMINAL, Action, State


def uct(
    rules: Rules, root: State, settings: SearchSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from a state that is known in full.

    Args:
        rules: The module's functions.
        root: The state to decide in; a seat is to move.
        settings: What to do.
        generator: The only source of randomness.

    Raises:
        ValueError: If no seat is to move at `root`.
        ModuleFault: If a state's player and legal actions disagree, or `leaf` is "value" and the
            module has no `value_function`.
    """
    search = UctSearch(rules, root, settings, generator)
    for _ in range(settings.simulations):
        search.simulate()
    return search.result()


class Node:
    """One state of the tree.

    Attributes:
        state: The state.
        player: Its player.
        actions: Its legal actions, the tried ones first; the edge of `actions[i]` is `first + i`.
        children: The node each action led to; None where it was never played.
        first: Its first edge.
        step: The ply that led here, as a path holds it.
        paid: What entering it paid, None for nothing.
        reached: Probability that the outcome is this one or an earlier one, at a chance node
            that is not uniform; None elsewhere.
        tried: Actions tried so far; stays 0 at a chance node.
        settled: How many actions it has where all were tried and they are `FEW`, else 0.
        visits: Descents through it.
    """

    __slots__ = (
        "actions",
        "children",
        "first",
        "paid",
        "player",
        "reached",
        "settled",
        "state",
        "step",
        "tried",
        "visits",
    )

    def __init__(
        self,
        state: State,
        player: int,
        actions: list[Action],
        first: int,
        paid: list[float] | None,
    ) -> None:
        """A node nobody descended through yet."""
        self.state = state
        self.player = player
        self.actions = actions
        self.children: list[Node | None] = [None] * len(actions)
        self.first = first
        self.paid = paid
        self.reached: list[float] | None = None
        self.tried = self.settled = self.visits = 0
        self.step: Ply = (-1, player, paid)


class UctSearch:
    """One tree; `simulate` is one descent."""

    def __init__(
        self, rules: Rules, root: State, settings: SearchSettings, generator: np.random.Generator
    ) -> None:
        """See `uct`."""
        self.rules = rules
        self.exploration = settings.exploration
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(rules, settings, generator)
        self.nothing = [0.0] * rules.num_players
        self.range = ReturnRange(rules.num_players, settings.value_range)
        self.edges = EdgeStatistics(capacity=8 * settings.simulations)
        self.simulations = 0
        self.size = 0
        self.root = self._added(root)
        if self.root.player < 0:
            raise ValueError(f"no seat is to move at the root (player {self.root.player})")
        self.root_actions = tuple(self.root.actions)

    def simulate(self) -> None:
        """Descend once, add a decision node, and back its returns up."""
        path: Path = []
        node, is_new = self.root, False
        while not is_new and node.player != TERMINAL:
            if node.settled:
                node = self._descended(node, path)
                continue
            index = self._choose(node)
            child = node.children[index]
            if child is None:
                child = self._expanded(node, index)
                is_new = child.player != CHANCE
            path.append(child.step)
            node.visits += 1
            node = child
        ended = node.player == TERMINAL
        returns = self.nothing if ended else self.leaves.returns(node.state, node.paid)
        self.edges.back_up(path, returns, self.range)
        self.simulations += 1

    def _descended(self, node: Node, path: Path) -> Node:
        """Where the bounds lead from a settled node, through settled nodes; the common way."""
        mean, inverse_root = self.edges.mean_view, self.edges.inverse_root_view
        exploration, spread = self.exploration, self.range.spread
        while count := node.settled:
            bonus = exploration * spread[node.player] * sqrt(log(node.visits))
            node.visits += 1
            child = node.children[best_of_few(mean, inverse_root, node.first, count, bonus)]
            if child is None:
                raise RuntimeError("a settled node has a child for every action")
            path.append(child.step)
            node = child
        return node

    def _choose(self, node: Node) -> int:
        tried = node.tried
        if tried < len(node.actions):
            return self._outcome(node) if node.player == CHANCE else self._untried(node)
        rows, edges = slice(node.first, node.first + tried), self.edges
        weight = self.exploration * self.range.spread[node.player]
        scores = ucb1_scores(
            edges.mean[rows], edges.inverse_root[rows], node.visits, exploration=weight
        )
        return int(scores.argmax())

    def _untried(self, node: Node) -> int:
        actions, tried = node.actions, node.tried
        other = tried + int(self.draw() * (len(actions) - tried))
        actions[tried], actions[other] = actions[other], actions[tried]
        node.tried = tried + 1
        if node.tried == len(actions) <= FEW:
            node.settled = node.tried
        return tried

    def _outcome(self, node: Node) -> int:
        uniform = self.draw()
        if node.reached is None:
            return int(uniform * len(node.actions))
        for index, bound in enumerate(node.reached):
            if uniform < bound:
                return index
        return len(node.reached) - 1

    def _expanded(self, node: Node, index: int) -> Node:
        """The new child that the node's action leads to."""
        child = self._added(self.rules.apply_action(node.state, node.actions[index]))
        child.step = (node.first + index, node.player, child.paid)
        node.children[index] = child
        return child

    def _added(self, state: State) -> Node:
        rules = self.rules
        player = rules.current_player(state)
        actions = rules.legal_actions(state).copy()
        count = len(actions)
        require_turn(player, count, rules.num_players)
        paid = rules.rewards(state)
        node = Node(state, player, actions, self.edges.take(count), paid if any(paid) else None)
        if player == CHANCE and rules.chance_probabilities is not None:
            node.reached = list(accumulate(rules.chance_probabilities(state)))
        self.size += 1
        return node

    def result(self) -> SearchResult:
        """What the tree says of its root, in the module's order of actions."""
        rows = {action: self.root.first + i for i, action in enumerate(self.root.actions)}
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(int(self.edges.visits[rows[a]]) for a in self.root_actions),
            means=tuple(self.edges.mean_of(rows[a]) for a in self.root_actions),
            simulations=self.simulations,
            nodes=self.size,
            cut_rollouts=self.leaves.rollouts.cut,
        )
