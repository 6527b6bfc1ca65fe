"""UCT for perfect information: any number of players, chance nodes, general sums.

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
from itertools import accumulate
from math import log, sqrt
from typing import cast

import numpy as np

from agents.search.leaves import Leaves
from agents.search.meter import Clock, Meter
from agents.search.nodes import Node, made
from agents.search.policies import Score
from agents.search.rollouts import add, uniforms
from agents.search.rules import Rules
from agents.search.selection import (
    FEW,
    INVERSE_ROOTS,
    ROOT_LOGS,
    grown,
    ucb1_scores,
    widened,
)
from agents.search.settings import SearchResult, SearchSettings
from agents.search.tree import ReturnRange, require_turn
from games.contract import CHANCE, TERMINAL, Action, State

LOWEST = float("-inf")


def uct(
    rules: Rules,
    root: State,
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from a state that is known in full.

    Args:
        rules: The module's functions.
        root: The state to decide in; a seat is to move.
        settings: What to do.
        generator: The only source of randomness.
        heuristics: The game's heuristics, for leaf="heuristic".
        clock: Seconds, where the budget is time.

    Raises:
        ValueError: If no seat is to move at `root`, or the settings ask for heuristics or
            a clock that is not given.
        ModuleFault: If a state's player and legal actions disagree, or `leaf` is "value" and the
            module has no `value_function`.
    """
    meter = Meter(rules, settings, clock)
    search = UctSearch(meter.rules, root, settings, generator, heuristics)
    meter.run(search.simulate)
    return search.result(meter)


class UctSearch:
    """One tree; `simulate` is one descent."""

    def __init__(
        self,
        rules: Rules,
        root: State,
        settings: SearchSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Score] = (),
    ) -> None:
        """See `uct`."""
        self.rules = rules
        self.settings = settings
        self.exploration = settings.exploration
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(rules, settings, generator, heuristics)
        self.play, self.mast = self.leaves.play, self.leaves.mast
        self.nothing = [0.0] * rules.num_players
        self.range = ReturnRange(rules.num_players, settings.value_range)
        self.widening = settings.widening
        # `[n]` sqrt(log(n)) and 1 / sqrt(n): no node has more visits than there are simulations.
        self.root_logs, self.inverse_roots = ROOT_LOGS, INVERSE_ROOTS
        self.simulations = 0
        self.size = 0
        self.applied = 0
        # The list that last paid nothing: many modules share one between all such states.
        self.quiet: list[float] | None = None
        self.before = (0, 0)  # simulations and calls of earlier decisions
        self.inherited = 0
        self.root = self._added(root, CHANCE, "")
        if self.root.player < 0:
            raise ValueError(f"no seat is to move at the root (player {self.root.player})")
        self.root_actions = tuple(self.root.actions)

    def simulate(self) -> None:
        """Descend once, add a decision node, and back its returns up."""
        exploration, spread = self.exploration, self.range.spread
        root_logs = self.root_logs
        path: list[Node] = []
        node, returns = self.root, self.nothing
        while True:
            ready = node.ready
            if ready is not None:
                # The common way, written out: a call a ply would cost as much as the ply.
                passed = node.passed
                bonus = exploration * spread[node.player] * root_logs[passed]
                node.passed = passed + 1
                best = LOWEST
                for child in ready:
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
                    play = self.play
                    if play is not None:
                        returns = play(node.state, node.actions)
                    else:
                        returns = self.leaves.returns(node.state, node.paid, node.actions)
                    break
        self._finish(path, returns)

    def _finish(self, path: list[Node], returns: list[float]) -> None:
        """Count one descent of every edge of a path, each with its own seat's return.

        Args:
            path: The nodes descended to, first to last, without the root.
            returns: `[num_players]` what was paid after the last of them.
        """
        inverse_roots, seen = self.inverse_roots, self.range
        low, high = seen.low, seen.high
        later, is_within = returns, returns in seen.within
        for node in path[::-1]:
            seat, is_plain = node.seat, node.is_plain
            if not is_plain:
                if node.paid is not None:
                    later, is_within = add(later, node.paid), False
                if seat < 0:
                    continue
            value = later[seat]
            count = node.visits = node.visits + 1
            mean = node.mean
            node.mean = mean + (value - mean) / count
            node.inverse_root = inverse_roots[count]
            if not is_within and not low[seat] <= value <= high[seat]:
                seen.widen(seat, value)
            if not is_plain and node.place is not None:
                node.place[0].note(node.place[1], node.mean, node.inverse_root)
        if not is_within:
            seen.settle(returns)
        self.simulations += 1
        if self.simulations + 1 == len(inverse_roots):
            self.root_logs, self.inverse_roots = grown(self.root_logs, inverse_roots)
        if self.mast is not None:
            self.mast.learn([(at.seat, at.action, at.paid) for at in path], returns)

    def _descended(self, node: Node) -> Node:
        """The child taken from a node that is not ready; a new one where there was none."""
        if not node.is_open:
            self._open(node)
        node.passed += 1
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
        if len(actions) > FEW and node.wide is not None:
            child.place, child.is_plain = (node.wide, tried), False
        elif tried + 1 == len(actions):
            node.ready = cast("list[Node]", children)
        return child

    def _open(self, node: Node) -> None:
        node.open()
        if node.player == CHANCE and self.rules.chance_probabilities is not None:
            node.reached = list(accumulate(self.rules.chance_probabilities(node.state)))

    def _best(self, node: Node, weight: float) -> Node:
        """The first of the tried children with the largest bound."""
        tried = node.ready or cast("list[Node]", node.children)
        wide = node.wide if len(node.actions) > FEW else None
        if wide is not None:
            means, roots = wide.means[: len(tried)], wide.roots[: len(tried)]
            scores = ucb1_scores(means, roots, node.passed - 1, exploration=weight)
            return tried[int(scores.argmax())]
        bonus = weight * sqrt(log(node.passed - 1))
        bounds = [child.mean + bonus * child.inverse_root for child in tried]
        return tried[bounds.index(max(bounds))]

    def _widens(self, node: Node) -> bool:
        """Whether progressive widening lets one more action be tried."""
        allowed = widened(self.widening, self.settings.power, node.passed)
        return len(node.children) < allowed

    def _outcome(self, node: Node) -> int:
        uniform = self.draw()
        if node.reached is None:
            return int(uniform * len(node.actions))
        for index, bound in enumerate(node.reached):
            if uniform < bound:
                return index
        return len(node.reached) - 1

    def _added(self, state: State, seat: int, action: Action) -> Node:
        rules = self.rules  # named before they are called: an attribute's call is not the quick one
        current_player, legal_actions = rules.current_player, rules.legal_actions
        rewards, num_players = rules.rewards, rules.num_players
        player = current_player(state)
        actions = legal_actions(state)
        if player < 0 or not actions or player >= num_players:
            require_turn(player, len(actions), num_players)
        self.size += 1
        paid: list[float] | None = rewards(state)
        if paid is self.quiet or not any(paid or ()):
            self.quiet, paid = paid, None
        return made(state, player, actions, paid, seat, action)

    def go_on(
        self, node: Node, generator: np.random.Generator, heuristics: Sequence[Score] = ()
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
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(self.rules, self.settings, generator, heuristics)
        self.play, self.mast = self.leaves.play, self.leaves.mast
        self.before = self.simulations, self.applied
        self.inherited = node.passed if node.is_open else 0

    def result(self, meter: Meter | None = None) -> SearchResult:
        """What the tree says of its root, in the module's order of actions."""
        children = self.root.children if self.root.is_open else []
        found = dict(zip(self.root.actions, children, strict=False))
        tried = [found.get(action) for action in self.root_actions]
        simulations, applied = self.before
        calls = self.applied - applied + self.leaves.rollouts.calls
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(0 if child is None else child.visits for child in tried),
            means=tuple(child.mean if child and child.visits else None for child in tried),
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
