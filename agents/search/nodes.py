"""Nodes of a tree of states, each with what the edge that leads to it was worth.

Numbers of an edge are read far more often one at a time than together, as long as its parent has
few actions; there they lie in the child itself. A parent of more than `FEW` actions keeps them
in arrays as well, which numpy scores at once.
"""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.search.rollouts import add
from agents.search.selection import FEW
from agents.search.tree import ReturnRange
from games.contract import CHANCE, Action, State


class Wide:
    """Means and inverse roots of a wide node's edges, in the order in which they were tried.

    Attributes:
        means: `[A]` mean returns of the seat that acts.
        roots: `[A]` `1 / sqrt(visits)`.
        set_mean: Writes one of `means`, at a third of what the array itself takes.
        set_root: Writes one of `roots`.
    """

    __slots__ = ("means", "roots", "set_mean", "set_root")

    def __init__(self, count: int) -> None:
        """Room for `count` edges."""
        self.means: NDArray[np.float64] = np.zeros(count)
        self.roots: NDArray[np.float64] = np.zeros(count)
        means = cast("memoryview[float]", self.means.data)
        roots = cast("memoryview[float]", self.roots.data)
        self.set_mean: Callable[[int, float], None] = means.__setitem__
        self.set_root: Callable[[int, float], None] = roots.__setitem__


class Node:
    """One state of the tree.

    Attributes:
        state: The state.
        player: Its player.
        actions: Its legal actions; the tried ones first, once it is open.
        paid: What entering it paid, None for nothing.
        seat: The player that acted to get here.
        action: What it did.
        visits: Times that edge was descended.
        mean: Mean return of `seat` from that edge on, in the game's own units.
        root: `1 / sqrt(visits)`, which the bounds use; 0 where there are none.
        is_open: Whether a descent ever went through it.
        place: Where the edge lies in the arrays of a wide parent, None under others.
        ready: Its children, where all its actions were tried and are `FEW`; None elsewhere.
        children: Where the tried actions led, by index; at a chance node None for outcomes that
            never came up. This and what follows only once the node is open.
        passed: Descents through it.
        wide: Arrays over its edges, where they are many.
        reached: Probability that the outcome is this one or an earlier one, at a chance node
            that is not uniform; None elsewhere.
    """

    __slots__ = (
        "action",
        "actions",
        "children",
        "is_open",
        "mean",
        "paid",
        "passed",
        "place",
        "player",
        "reached",
        "ready",
        "root",
        "seat",
        "state",
        "visits",
        "wide",
    )

    children: "list[Node | None]"
    passed: int
    reached: list[float] | None
    ready: "list[Node] | None"
    wide: Wide | None

    def __init__(
        self,
        state: State,
        player: int,
        actions: list[Action],
        paid: list[float] | None,
        seat: int,
        action: Action,
    ) -> None:
        """A node nobody descended through yet; `actions` may still be the module's own list."""
        self.state = state
        self.player = player
        self.actions = actions
        self.paid = paid
        self.seat = seat
        self.action = action
        self.visits = 0
        self.mean = self.root = 0.0
        self.is_open = False
        self.place: tuple[Wide, int] | None = None
        self.ready = None

    def open(self) -> None:
        """Make room for its edges."""
        count = len(self.actions)
        self.is_open = True
        self.passed = 0
        self.reached = None
        self.children = []
        self.wide = None
        if self.player == CHANCE:
            self.children = [None] * count
        else:
            self.actions = self.actions.copy()
            self.wide = Wide(count) if count > FEW else None

    def take(self, other: int) -> None:
        """Let `actions[other]`, an untried one, be the next to be tried."""
        actions, tried = self.actions, len(self.children)
        actions[tried], actions[other] = actions[other], actions[tried]

    def lead(self, index: int, child: "Node") -> "Node":
        """Let an action lead to `child`, and return it: an outcome, or the one that was taken."""
        if self.player == CHANCE:
            self.children[index] = child
            return child
        self.children.append(child)
        if self.wide is not None:
            child.place = self.wide, index
        elif index + 1 == len(self.actions):
            self.ready = cast("list[Node]", self.children)
        return child

    def count(self) -> int:
        """Nodes from here on, each once."""
        found, level = {self}, [self]
        while level:
            below = {c for node in level if node.is_open for c in node.children if c is not None}
            level = [node for node in below if node not in found]
            found.update(level)
        return len(found)


def back_up(
    path: list[Node], returns: list[float], seen: ReturnRange, inverse_roots: Sequence[float]
) -> None:
    """Count one descent of every edge of a path, each with its own seat's return.

    Args:
        path: The nodes descended to, first to last, without the root.
        returns: `[num_players]` what was paid after the last of them.
        seen: The range that the returns widen.
        inverse_roots: `[n]` `1 / sqrt(n)`.
    """
    low, high = seen.low, seen.high
    for node in reversed(path):
        paid = node.paid
        if paid is not None:
            returns = add(returns, paid)
        seat = node.seat
        if seat < 0:
            continue
        value = returns[seat]
        count = node.visits = node.visits + 1
        mean = node.mean
        node.mean = mean + (value - mean) / count
        node.root = inverse_roots[count]
        if node.place is not None:
            wide, index = node.place
            wide.set_mean(index, node.mean)
            wide.set_root(index, node.root)
        if not low[seat] <= value <= high[seat]:
            seen.widen(seat, value)
