"""MCTS-Solver (Winands, Björnsson & Saito 2008): UCT that backs proofs up beside means.

A state is proven where the match is over; where all actions were tried and led to proven states, as
the value of the action that is best for the seat to move (max-n; the first of equals); and where
one proven action pays a win, which is as much as any return of the game. Chance nodes are never
proven.

A proven node is from then on searched as an end of the match that pays what it is worth: its edge
has that value as its mean and no term for exploration, and it needs no rollout. So a proven loss is
left alone while anything else may be better. At the end a proven win is played, and a proven worst
only where nothing else is left.

What a win pays is `win` where `solver` is "yes". Where it is "auto" it is `w`, as soon as matches
ended in two ways, as long as no simulation paid any seat anything but `w`, 0 and `-w`, and nothing
before the match's end; where one does, all proofs are taken back, and from then on an action proves
its node only with all others. A payment above `w` that no simulation met before all of the root's
actions were proven is never found.

"auto" also settles what is left of a short match for two seats: where a simulation took at most
`SHORT` calls of `apply_action`, alpha-beta looks through it, most visited actions first, in at most
`CALLS` calls a simulation; where that is enough, the most visited of the best actions is played.

Reference:
    Winands, Björnsson & Saito (2008), Monte-Carlo Tree Search Solver; Nijssen & Winands (2010) for
    more than two seats.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple, cast

import numpy as np

from agents.search.alphabeta import UnsuitableGameError, solved
from agents.search.meter import Meter
from agents.search.settings import SearchResult
from agents.search.statistics import add
from agents.search.tree import Node, UctSearch
from games.modules import Heuristic
from games.values import CHANCE, TERMINAL, Action

SHORT = 4.5  # calls of apply_action a simulation: longer matches are hardly ever settled so
CALLS = 2  # of it for every simulation done


class Proof(NamedTuple):
    """The proof of a node, and its value before.

    Attributes:
        returns: `[num_players]` what is paid after the node was entered.
        player: Its player.
        rewards: Of entering it, None where they are all 0.
    """

    returns: list[float]
    player: int
    rewards: list[float] | None


class SolverSearch(UctSearch):
    """`UctSearch` with proofs.

    Attributes:
        proven: The proven nodes that are no ends of the match.
        win: What a win pays; infinity where that is not known.
        outcomes: The payments of whole matches that were met, where `win` is to be found out.
    """

    def _prepare(self) -> None:
        """See `UctSearch._prepare`."""
        settings = self.settings
        self.proven: dict[Node, Proof] = {}
        self.is_told = settings.solver == "yes"
        self.win = settings.win if self.is_told else inf
        self.outcomes: set[tuple[float, ...]] = set()
        self.is_mixed = self.is_told  # whether more than wins, draws and losses were met
        # Only then does a leaf say what a match paid.
        self.plays_on = settings.leaf == "rollout" and settings.rollouts == 1

    def _finish(self, path: list[Node], returns: list[float]) -> None:
        """See `UctSearch._finish`; then prove what can be proven."""
        super()._finish(path, returns)
        end = path[-1]
        if not self.is_mixed:
            self._note(path, returns)
        elif self.is_told:
            self._hold_to_win()
        if end.player == TERMINAL:
            self._fix(end)
            self._prove([self.root, *path])

    def _hold_to_win(self) -> None:
        highest = max(self.range.high)
        if highest > self.win:
            raise UnsuitableGameError(
                f"a simulation paid {highest}, with win={self.win}; required: the largest return "
                "of the game"
            )

    def _note(self, path: list[Node], returns: list[float]) -> None:
        """Learn from a descent what a win pays, or that there is more than wins and losses."""
        end = path[-1]
        is_over = end.player == TERMINAL
        total = end.rewards or self.nothing if is_over else returns
        if is_over or self.plays_on:
            outcome = tuple(total)
            if outcome not in self.outcomes:
                self.outcomes.add(outcome)
                sizes = {abs(value) for known in self.outcomes for value in known} - {0}
                self.win = min(sizes, default=inf) if len(self.outcomes) > 1 else inf
                self.is_mixed = len(sizes) > 1
        if self.is_mixed or any(node.rewards is not None for node in path[: len(path) - is_over]):
            self.is_mixed, self.win = True, inf
            for node in [*self.proven]:
                self._take_back(node)

    def _fix(self, node: Node) -> None:
        """Give the edge to a proven node its exact value, and no term for exploration."""
        node.inverse_root = 0.0
        if node.seat >= 0:
            node.mean = 0.0 if node.rewards is None else node.rewards[node.seat]

    def _prove(self, nodes: list[Node]) -> None:
        """Prove what can be proven of a descent, from its end upwards.

        Args:
            nodes: From the root to a proven one.
        """
        for node in nodes[-2::-1]:
            if node.player == CHANCE:
                return
            known = [child for child in node.children if child and child.player == TERMINAL]
            best = max(known, key=_value)
            if _value(best) < self.win and len(known) < len(node.actions):
                return
            self._settle(node, best.rewards or self.nothing)

    def _settle(self, node: Node, returns: list[float]) -> None:
        """Make a node an end of the match that pays `returns`, but for the root."""
        self.proven[node] = Proof(returns, node.player, node.rewards)
        if node is self.root:
            return
        total = returns if node.rewards is None else add(node.rewards, returns)
        node.player, node.expanded = TERMINAL, None
        node.rewards = total if any(total) else None
        self._fix(node)

    def _take_back(self, node: Node) -> None:
        """Make a proven node again what it was."""
        proof = self.proven.pop(node)
        node.player, node.rewards = proof.player, proof.rewards
        if len(node.children) == len(node.actions):
            node.expanded = cast("list[Node]", node.children)
        if node.edge_visits:
            node.inverse_root = node.edge_visits**-0.5

    def go_on(
        self, node: Node, generator: np.random.Generator, heuristics: Sequence[Heuristic] = ()
    ) -> None:
        """See `UctSearch.go_on`."""
        if node in self.proven:
            self._take_back(node)
        super().go_on(node, generator, heuristics)

    def result(self, meter: Meter | None = None) -> SearchResult:
        """See `UctSearch.result`; a proven win first, a proven worst last, else by visits.

        Where every action is proven, the one that is worth most is played.
        """
        found = super().result(meter)
        children = self.root.children if self.root.is_open else []
        values = {
            action: _value(child)
            for action, child in zip(self.root.actions, children, strict=False)
            if child is not None and child.player == TERMINAL
        }
        low, is_solved = self.range.low[self.root.player], len(values) == len(found.actions)

        def rank(index: int) -> tuple[float, int, float]:
            value, mean = values.get(found.actions[index]), found.means[index]
            settled = 0.0
            if value is not None:
                settled = value if is_solved else (value >= self.win) - (value <= low < self.win)
            return settled, found.visits[index], -inf if mean is None else mean

        order = sorted(range(len(found.actions)), key=rank, reverse=True)
        chosen = replace(found, chosen=found.actions[order[0]])
        return chosen if is_solved else self._settled(chosen, [found.actions[i] for i in order])

    def _settled(self, found: SearchResult, order: list[Action]) -> SearchResult:
        """The same, with what alpha-beta says where the rest of the match is short."""
        plies = found.calls / max(1, found.simulations)
        if (
            self.is_told
            or not self.plays_on
            or plies > SHORT
            or self.settings.budget != "simulations"
        ):
            return found
        meter = Meter(self.rules, self.settings, counting=True)
        try:
            limit = CALLS * max(1, found.simulations)
            chosen = solved(meter.rules, self.root.state, calls=limit, order=order).best
        except UnsuitableGameError:
            return replace(found, calls=found.calls + meter.made)
        figures = {**found.figures, "settled": 1}
        return replace(found, calls=found.calls + meter.made, chosen=chosen, figures=figures)

    def figures(self) -> dict[str, int | float | str]:
        """See `UctSearch.figures`."""
        return {**super().figures(), "proven": len(self.proven)}


def _value(child: Node) -> float:
    """The payment of the edge to a proven child, to the seat that acts there."""
    return 0.0 if child.rewards is None else child.rewards[child.seat]
