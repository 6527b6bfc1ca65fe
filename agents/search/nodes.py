"""Nodes of a tree of states, each with what the edge that leads to it was worth.

Numbers of an edge are read far more often one at a time than together, as long as its parent has
few actions; there they lie in the child itself. A parent of more than `FEW` actions keeps them
in arrays as well, which numpy scores at once.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from agents.search.selection import FEW
from games.contract import CHANCE, Action, State


class Wide:
    """Means and inverse roots of a wide node's edges, in the order in which they were tried.

    Attributes:
        means: `[A]` mean returns of the seat that acts.
        roots: `[A]` `1 / sqrt(visits)`.
    """

    __slots__ = ("means", "means_view", "roots", "roots_view")

    def __init__(self, count: int) -> None:
        """Room for `count` edges."""
        self.means: NDArray[np.float64] = np.zeros(count)
        self.roots: NDArray[np.float64] = np.zeros(count)
        # Writing one number through a view takes a third of what the array itself takes.
        self.means_view = cast("memoryview[float]", self.means.data)
        self.roots_view = cast("memoryview[float]", self.roots.data)

    def note(self, index: int, mean: float, root: float) -> None:
        """Set the numbers of one edge."""
        self.means_view[index] = mean
        self.roots_view[index] = root


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
        inverse_root: `1 / sqrt(visits)`, which the bounds use; 0 where there are none.
        is_open: Whether a descent ever went through it.
        is_plain: Whether it is a seat's edge that leads here, paid nothing and has no `place`.
        place: Where the edge lies in the arrays of a wide parent; None under others.
        ready: Its children, where all its actions were tried and are `FEW`; None elsewhere.
        children: Where the tried actions led, by index; at a chance node None for outcomes that
            never came up. This and what follows only once the node is open.
        passed: Descents through it.
        wide: Arrays over its edges, where these are more than `FEW`; None to do without.
        reached: Probability that the outcome is this one or an earlier one, at a chance node;
            None where it is uniform.
    """

    __slots__ = (
        "action",
        "actions",
        "children",
        "inverse_root",
        "is_open",
        "is_plain",
        "mean",
        "paid",
        "passed",
        "place",
        "player",
        "reached",
        "ready",
        "seat",
        "state",
        "visits",
        "wide",
    )

    action: Action
    actions: list[Action]
    inverse_root: float
    is_open: bool
    is_plain: bool
    mean: float
    paid: list[float] | None
    player: int
    seat: int
    state: State
    visits: int
    children: "list[Node | None]"
    place: tuple[Wide, int] | None
    passed: int
    reached: list[float] | None
    ready: "list[Node] | None"
    wide: Wide | None

    def open(self) -> None:
        """Make room for its edges."""
        count = len(self.actions)
        self.is_open = True
        self.passed = 0
        if self.player == CHANCE:
            self.children = [None] * count
            self.reached = None
        else:
            self.children = []
            self.actions = self.actions.copy()
            if count > FEW:
                self.wide = Wide(count)

    def count(self) -> int:
        """Nodes from here on, each once."""
        found, level = {self}, [self]
        while level:
            below = {c for node in level if node.is_open for c in node.children if c is not None}
            level = [node for node in below if node not in found]
            found.update(level)
        return len(found)


_new = Node.__new__


def made(
    state: State,
    player: int,
    actions: list[Action],
    paid: list[float] | None,
    seat: int,
    action: Action,
) -> Node:
    """A node nobody descended through yet; `actions` may still be the module's own list.

    A function, as a class that is called to make one takes nearly twice as long.
    """
    node = _new(Node)
    node.state = state
    node.player = player
    node.actions = actions
    node.paid = paid
    node.seat = seat
    node.action = action
    node.visits = 0
    node.mean = node.inverse_root = 0.0
    node.is_open = False
    node.is_plain = paid is None and seat >= 0
    node.place = None
    node.ready = None
    return node
