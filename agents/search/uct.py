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

import math
from itertools import accumulate

import numpy as np

from agents.search.rollouts import Leaves, uniforms
from agents.search.rules import Rules
from agents.search.selection import FEW, best_of_few, ucb1_scores
from agents.search.settings import SearchResult, SearchSettings
from agents.search.tree import EdgeStatistics, ReturnRange, backed_up, require_turn
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


class UctSearch:
    """One tree; `simulate` is one descent."""

    def __init__(
        self, rules: Rules, root: State, settings: SearchSettings, generator: np.random.Generator
    ) -> None:
        """See `uct`."""
        self.rules = rules
        self.settings = settings
        self.draw = uniforms(generator).__next__
        self.leaves = Leaves(rules, settings, self.draw)
        self.nothing = [0.0] * rules.num_players
        self.range = ReturnRange(rules.num_players, settings.value_range)
        self.edges = EdgeStatistics(capacity=8 * settings.simulations)
        self.simulations = 0
        self.states: list[State] = []
        self.players: list[int] = []
        self.actions: list[list[Action]] = []
        self.first_edge: list[int] = []
        self.tried: list[int] = []
        self.visits: list[int] = []
        self.paid: list[list[float] | None] = []
        self.reached: list[list[float] | None] = []
        self._add(root)
        if self.players[0] < 0:
            raise ValueError(f"no seat is to move at the root (player {self.players[0]})")
        self.root_actions = tuple(self.actions[0])

    def simulate(self) -> None:
        """Descend once, add a decision node, and back its returns up."""
        players, child_of = self.players, self.edges.child_view
        path: list[tuple[int, int, int]] = []
        node, is_new = 0, False
        while not is_new and players[node] != TERMINAL:
            edge = self._choose(node)
            child = child_of[edge]
            if child < 0:
                child = self._add(self._successor(node, edge))
                child_of = self.edges.child_view
                child_of[edge] = child
                is_new = players[child] != CHANCE
            path.append((edge, node, child))
            node = child
        ended = players[node] == TERMINAL
        returns = self.nothing if ended else self.leaves.returns(self.states[node], self.paid[node])
        self._back_up(path, returns)
        self.simulations += 1

    def _choose(self, node: int) -> int:
        player, first = self.players[node], self.first_edge[node]
        if player == CHANCE:
            return first + self._outcome(node)
        actions, tried = self.actions[node], self.tried[node]
        if tried < len(actions):
            other = tried + int(self.draw() * (len(actions) - tried))
            actions[tried], actions[other] = actions[other], actions[tried]
            self.tried[node] = tried + 1
            return first + tried
        visits = self.visits[node]
        weight = self.settings.exploration * self.range.spread[player]
        edges, last = self.edges, first + tried
        if tried <= FEW:
            return first + best_of_few(
                edges.return_sum_view[first:last].tolist(),
                edges.visits_view[first:last].tolist(),
                weight * math.sqrt(math.log(visits)),
            )
        scores = ucb1_scores(
            edges.return_sum[first:last], edges.visits[first:last], visits, exploration=weight
        )
        return first + int(scores.argmax())

    def _outcome(self, node: int) -> int:
        reached, uniform = self.reached[node], self.draw()
        if reached is None:
            return int(uniform * len(self.actions[node]))
        for index, bound in enumerate(reached):
            if uniform < bound:
                return index
        return len(reached) - 1

    def _successor(self, node: int, edge: int) -> State:
        action = self.actions[node][edge - self.first_edge[node]]
        return self.rules.apply_action(self.states[node], action)

    def _add(self, state: State) -> int:
        rules = self.rules
        player = rules.current_player(state)
        actions = list(rules.legal_actions(state))
        require_turn(player, len(actions), rules.num_players)
        paid = rules.rewards(state)
        self.states.append(state)
        self.players.append(player)
        self.actions.append(actions)
        self.first_edge.append(self.edges.take(len(actions)))
        self.tried.append(0)
        self.visits.append(0)
        self.paid.append(paid if any(paid) else None)
        weighted = player == CHANCE and rules.chance_probabilities is not None
        self.reached.append(self._bounds(state) if weighted else None)
        return len(self.states) - 1

    def _bounds(self, state: State) -> list[float]:
        probabilities = self.rules.chance_probabilities
        return [] if probabilities is None else list(accumulate(probabilities(state)))

    def _back_up(self, path: list[tuple[int, int, int]], returns: list[float]) -> None:
        visits, sums = self.edges.visits_view, self.edges.return_sum_view
        for edge, node, child in reversed(path):
            returns = backed_up(returns, self.paid[child])
            visits[edge] += 1
            self.visits[node] += 1
            seat = self.players[node]
            if seat >= 0:
                value = returns[seat]
                sums[edge] += value
                self.range.see(seat, value)

    def result(self) -> SearchResult:
        """What the tree says of its root, in the module's order of actions."""
        first, order = self.first_edge[0], self.actions[0]
        rows = {action: first + index for index, action in enumerate(order)}
        return SearchResult(
            actions=self.root_actions,
            visits=tuple(int(self.edges.visits[rows[a]]) for a in self.root_actions),
            means=tuple(self.edges.mean(rows[a]) for a in self.root_actions),
            simulations=self.simulations,
            nodes=len(self.states),
            cut_rollouts=self.leaves.rollouts.cut,
        )
