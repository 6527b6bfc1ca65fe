"""A UCT tree of known states: any number of players, chance nodes, general sums.

One simulation descends from the root by upper confidence bounds, adds one decision node, asks what
it is worth (rollouts, the module's value function, heuristics), and backs the returns up:

- at a decision node the untried actions go first, in random order; then the action that maximises
  `mean + exploration * spread * sqrt(log(N) / n)` (Kocsis & Szepesvári 2006), where `mean` is the
  mean return from the edge on of the seat that acts there, `N` and `n` the visits of node
  and edge, and `spread` the width of that seat's returns (see `ReturnRange`);
- with progressive widening a node visited `N` times considers `ceil(C * N^power)` actions, in the
  random order in which they are tried (Coulom 2007; Chaslot et al. 2008);
- at a chance node an outcome is drawn by its probability;
- backing up is max-n: every edge keeps the return of its own seat alone, so nothing assumes two
  players or a zero sum.

A return is what the plies from the edge on pay: rewards on the way count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

import numpy as np

from agents.search.leaves import Leaves
from agents.search.meter import Meter
from agents.search.settings import GraphSettings, SearchResult
from agents.search.statistics import (
    INVERSE_ROOTS,
    ROOT_LOGS,
    ReturnRange,
    add,
    doubled,
    exploration_bonus,
    widened,
)
from games.modules import Heuristic, Rules, require_turn
from games.streams import uniforms
from games.values import CHANCE, TERMINAL, Action, State

_LOWEST = float("-inf")


@dataclass(repr=False, eq=False, slots=True)
class Node:
    """One state of the tree.

    Attributes:
        state: The state.
        player: Its player.
        actions: Its legal actions, of the module's own list; once it is open a list of its own, the
            tried ones first.
        rewards: Of entering it, None where they are all 0.
        seat: The player that acted to get here.
        action: What it did.
        edge_visits: Times that edge was descended.
        mean: Mean return of `seat` from that edge on, in the game's own units.
        inverse_root: `1 / sqrt(edge_visits)`, which the bounds use; 0 where there are none.
        is_open: Whether a descent ever went through it.
        expanded: Its children, where all its actions were tried; None elsewhere.
        children: Where the tried actions led, by index; at a chance node None for outcomes that
            never came up. This and what follows only once the node is open.
        visits: Descents through it.
        cumulative: Probability that the outcome is this one or an earlier one, at a chance node;
            None where it is uniform.
    """

    state: State
    player: int
    actions: list[Action]
    rewards: list[float] | None
    seat: int
    action: Action
    edge_visits: int = 0
    mean: float = 0.0
    inverse_root: float = 0.0
    is_open: bool = False
    expanded: "list[Node] | None" = None
    children: "list[Node | None]" = field(init=False)
    visits: int = field(init=False)
    cumulative: list[float] | None = field(init=False)

    def open(self) -> None:
        """Make room for its edges."""
        count = len(self.actions)
        self.is_open = True
        self.visits = 0
        if self.player == CHANCE:
            self.children = [None] * count
            self.cumulative = None
        else:
            self.children = []
            self.actions = self.actions.copy()

    def count(self) -> int:
        """Nodes from here on, each once."""
        found, level = {self}, [self]
        while level:
            below = {c for node in level if node.is_open for c in node.children if c is not None}
            level = [node for node in below if node not in found]
            found.update(level)
        return len(found)


class UctSearch:
    """One tree; `simulate` is one descent."""

    def __init__(
        self,
        rules: Rules,
        root: State,
        settings: GraphSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Heuristic] = (),
    ) -> None:
        """Begin a tree.

        Args:
            rules: The module's functions.
            root: The state to decide in; a seat is to move.
            settings: What to do.
            generator: The only source of randomness.
            heuristics: The game's heuristics, for leaf="heuristic".

        Raises:
            ValueError: If no seat is to move at `root`, or the settings ask for heuristics that are
                not given.
            ModuleFault: If a state's player and legal actions disagree, or `leaf` is "value" and
                the module has no `value_function`.
        """
        self.rules = rules
        self.settings = settings
        self.exploration = settings.exploration
        self._begin(generator, heuristics)
        self.nothing = [0.0] * rules.num_players
        self.range = ReturnRange(rules.num_players)
        self.widening = settings.widening
        # `[n]` sqrt(log(n)) and 1 / sqrt(n): no node has more visits than there are simulations.
        self.root_logs, self.inverse_roots = ROOT_LOGS, INVERSE_ROOTS
        self.simulations = 0
        self.size = 0
        self.applied = 0
        self.before = (0, 0)  # simulations and calls of earlier decisions
        self.inherited = 0
        self._prepare()
        self.root = self._added(root, CHANCE, "")
        if self.root.player < 0:
            raise ValueError(f"no seat is to move at the root (player {self.root.player})")
        self.root_actions = tuple(self.root.actions)

    def _prepare(self) -> None:
        """Make ready what a variation of the search keeps, before there is a root."""

    def _begin(self, generator: np.random.Generator, heuristics: Sequence[Heuristic]) -> None:
        """Draw from a generator from now on."""
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(self.rules, self.settings, generator, heuristics)
        one = self.leaves.value is None and self.leaves.count == 1
        self.rollout = self.leaves.rollouts.play if one else None  # a call less for most searches
        self.mast = self.leaves.mast

    def simulate(self) -> None:
        """Descend once, add a decision node, and back its returns up."""
        exploration, spread = self.exploration, self.range.spread
        root_logs, rollout = self.root_logs, self.rollout
        path: list[Node] = []
        node, returns = self.root, self.nothing
        while True:
            expanded = node.expanded
            if expanded is not None:
                # The common way, written out: a call a ply would cost as much as the ply.
                visits = node.visits
                bonus = exploration * spread[node.player] * root_logs[visits]
                node.visits = visits + 1
                best = _LOWEST
                for child in expanded:
                    score = child.mean + bonus * child.inverse_root
                    if score > best:
                        best, node = score, child
                path.append(node)
            elif node.player == TERMINAL:
                break
            else:
                known = self.size
                node = self._descended(node)
                path.append(node)
                if self.size != known and node.player >= 0:
                    if rollout is not None:
                        returns = rollout(node.state, node.actions)
                    else:
                        returns = self.leaves.returns(node.state, node.rewards, node.actions)
                    break
        self._finish(path, returns)

    def _finish(self, path: list[Node], returns: list[float]) -> None:
        """Count one descent of every edge of a path, each with its own seat's return.

        Args:
            path: The nodes descended to, first to last, without the root.
            returns: `[num_players]` rewards after the last of them.
        """
        inverse_roots, seen = self.inverse_roots, self.range
        low, high = seen.low, seen.high
        later = returns
        for node in reversed(path):
            seat = node.seat
            if node.rewards is not None:
                later = add(later, node.rewards)
            if seat < 0:
                continue
            value = later[seat]
            count = node.edge_visits = node.edge_visits + 1
            mean = node.mean
            node.mean = mean + (value - mean) / count
            node.inverse_root = inverse_roots[count]
            if not low[seat] <= value <= high[seat]:
                seen.widen(seat, value)
        self.simulations += 1
        if self.simulations + 1 == len(inverse_roots):
            self.root_logs, self.inverse_roots = doubled(self.root_logs, inverse_roots)
        if self.mast is not None:
            self.mast.learn([(at.seat, at.action, at.rewards) for at in path], returns)

    def _descended(self, node: Node) -> Node:
        """The child taken from a node that is not expanded; a new one where there was none."""
        if not node.is_open:
            self._open(node)
        node.visits += 1
        if node.player == CHANCE:
            index = self._outcome(node)
            return node.children[index] or self._grown(node, index)
        tried = len(node.children)
        untried = len(node.actions) - tried
        if untried and (not self.widening or self._widens(node)):
            draw = self.draw
            return self._grown(node, tried + int(draw() * untried))
        return self._best(node, self.exploration * self.range.spread[node.player])

    def _grown(self, node: Node, index: int) -> Node:
        """The child that an action leads to for the first time, now the last of those tried."""
        self.applied += 1
        actions, children, player = node.actions, node.children, node.player
        action = actions[index]
        apply_action = self.rules.apply_action
        child = self._added(apply_action(node.state, action), player, action)
        if player == CHANCE:
            children[index] = child
            return child
        tried = len(children)
        actions[index], actions[tried] = actions[tried], action
        children.append(child)
        if tried + 1 == len(actions):
            node.expanded = cast("list[Node]", children)
        return child

    def _open(self, node: Node) -> None:
        node.open()
        if node.player == CHANCE and self.rules.chance_probabilities is not None:
            node.cumulative = list(accumulate(self.rules.chance_probabilities(node.state)))

    def _best(self, node: Node, weight: float) -> Node:
        """The first of the tried children with the largest bound."""
        tried = cast("list[Node]", node.children)
        bonus = exploration_bonus(weight, node.visits - 1)
        bounds = [child.mean + bonus * child.inverse_root for child in tried]
        return tried[bounds.index(max(bounds))]

    def _widens(self, node: Node) -> bool:
        """True if progressive widening lets one more action be tried."""
        allowed = widened(self.widening, self.settings.power, node.visits)
        return len(node.children) < allowed

    def _outcome(self, node: Node) -> int:
        uniform = self.draw()
        if node.cumulative is None:
            return int(uniform * len(node.actions))
        for index, bound in enumerate(node.cumulative):
            if uniform < bound:
                return index
        return len(node.cumulative) - 1

    def _added(self, state: State, seat: int, action: Action) -> Node:
        rules = self.rules  # named before they are called: an attribute's call is not the quick one
        current_player, legal_actions = rules.current_player, rules.legal_actions
        rewards, num_players = rules.rewards, rules.num_players
        player = current_player(state)
        actions = legal_actions(state)
        if player < 0 or not actions or player >= num_players:
            require_turn(player, len(actions), num_players)
        self.size += 1
        entered = rewards(state)
        return Node(state, player, actions, entered if any(entered) else None, seat, action)

    def go_on(
        self, node: Node, generator: np.random.Generator, heuristics: Sequence[Heuristic] = ()
    ) -> None:
        """Begin another decision at a node of the tree; nothing above it is kept.

        Args:
            node: A seat's node, below the root.
            generator: The only source of randomness from now on.
            heuristics: The game's heuristics, for leaf="heuristic".
        """
        self.root = node
        self.size = node.count()
        self.root_actions = tuple(self.rules.legal_actions(node.state))
        self._begin(generator, heuristics)
        self.before = self.simulations, self.applied
        self.inherited = node.visits if node.is_open else 0

    def result(self, meter: Meter | None = None) -> SearchResult:
        """The tree's figures of its root, in the module's order of actions."""
        children = self.root.children if self.root.is_open else []
        found = dict(zip(self.root.actions, children, strict=False))
        tried = [found.get(action) for action in self.root_actions]
        simulations, applied = self.before
        calls = self.applied - applied + self.leaves.rollouts.calls
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(0 if child is None else child.edge_visits for child in tried),
            means=tuple(child.mean if child and child.edge_visits else None for child in tried),
            simulations=self.simulations - simulations,
            nodes=self.size,
            cut_rollouts=self.leaves.rollouts.cut,
            calls=meter.made if meter is not None and meter.counts else calls,
            seconds=None if meter is None else meter.seconds,
            figures=self.figures(),
        )

    def figures(self) -> dict[str, int | float | str]:
        """More that a decision reports."""
        return {"inherited": self.inherited} if self.inherited else {}
