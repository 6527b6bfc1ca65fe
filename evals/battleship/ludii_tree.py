"""Ludii's tree search with UCB1, as the thesis' tournaments ran it, over copies of Battleship.

UCB1 with constant sqrt(2): Q + sqrt(2) * sqrt(ln N / n); a move not yet tried counts as one tried
once with its parent's average. One node is added an iteration, results are +1 and -1, the move
most visited is played (the better average, then chance, decides ties), and the part of the tree
below the moves really played is kept for the next decision.
"""

import math
from dataclasses import dataclass
from random import Random

from evals.battleship.ludii_playouts import Leaf, Playouts
from evals.battleship.ludii_worlds import Copies
from evals.battleship.playing import View
from evals.battleship.sea import BITS, SEA, cells_of

EXPLORATION = math.sqrt(2)


@dataclass(frozen=True)
class Budget:
    """What a decision may cost, in plies: what a fixed time is where one ply takes the same time.

    Attributes:
        plies: Plies of playouts, moves in the tree and copies together.
        copying: What a copy of the game costs.
        attempt: What an attempt of the solver in a copy costs.
    """

    plies: int
    copying: float = 5.0
    attempt: float = 0.25

    def copy(self, attempts: float) -> float:
        """What a copy costs whose solver takes so many attempts."""
        return self.copying + self.attempt * attempts


class Node:
    """A position.

    Attributes:
        mover: Who fires, 0 the searcher.
        visits: Playouts through it.
        total: Their results to player 0, added up.
        children: Cell -> node.
        winner: Who has won here; -1 while the game goes on.
    """

    __slots__ = ("_left", "_untried", "children", "mover", "total", "visits", "winner")

    def __init__(self, mover: int, left: int, winner: int) -> None:
        self.mover, self.winner = mover, winner
        self.visits, self.total = 0, 0.0
        self.children: dict[int, Node] = {}
        self._left, self._untried = left, list[int]()

    @property
    def untried(self) -> list[int]:
        """Cells that have no node yet, in any order; whoever makes a node takes its cell out."""
        if self._left:
            self._untried, self._left = cells_of(self._left), 0
        return self._untried


class Tree:
    """One player's search over a game."""

    def __init__(self, copies: Copies, playouts: Playouts, budget: Budget, rng: Random) -> None:
        self._copies, self._playouts, self._budget, self._rng = copies, playouts, budget, rng
        self._root: Node | None = None
        self._taken = 0
        self.iterations = 0
        self.plies = 0.0

    def choose(self, view: View) -> int:
        """Search, and the cell to fire at."""
        fired = view.hits | view.misses
        self._copies.observe(view)
        self._playouts.begin()
        root = self._found(view, fired)
        spent = 0.0
        while spent < self._budget.plies:
            spent += self._iterate(root, fired, view)
            spent += 2 * self._budget.copy(self._copies.attempts)
            self.iterations += 1
        self.plies += spent
        cell = self._best(root)
        self._root, self._taken = root.children[cell], view.taken
        return cell

    def _found(self, view: View, fired: int) -> Node:
        """The node of this position if it is in the tree, else a new one."""
        node, new = self._root, view.taken & ~self._taken
        for cell in cells_of(new) if node else ():
            node = node.children.get(cell) if node else None
        return node if node and node.mover == 0 else Node(0, SEA & ~fired, -1)

    def _iterate(self, root: Node, fired: int, view: View) -> float:
        """One playout; what it cost without its copies."""
        node, path = root, [root]
        shot = [fired, view.taken]
        moves: list[list[int]] = [[], []]
        while node.winner < 0:
            cell, known = self._select(node)
            mover = node.mover
            shot[mover] |= BITS[cell]
            moves[mover].append(cell)
            if known:
                node = node.children[cell]
                path.append(node)
                continue
            fleet = self._copies.draw() if mover == 0 else view.own
            won = mover if not fleet & ~shot[mover] else -1
            node.children[cell] = node = Node(1 - mover, SEA & ~shot[1 - mover], won)
            path.append(node)
            break
        winner, plies, shots = node.winner, 0.0, None
        if winner < 0:
            leaf = Leaf(node.mover, (shot[0], shot[1]), (self._copies.draw(), view.own))
            end = self._playouts.play(leaf)
            winner, plies, shots = end.winner, end.plies, end.shots
        for player in (0, 1):
            cells = moves[player] + shots[player] if shots else moves[player]
            self._playouts.learn(player, cells, 1.0 if player == winner else -1.0)
        value = 1.0 if winner == 0 else -1.0
        for visited in path:
            visited.visits += 1
            visited.total += value
        return plies + len(path) - 1

    def _select(self, node: Node) -> tuple[int, bool]:
        """A cell by UCB1, and whether it has a node; chance decides ties."""
        sign = 1.0 if node.mover == 0 else -1.0
        wide = EXPLORATION * math.sqrt(math.log(max(1, node.visits)))
        best, cells = -math.inf, list[int]()
        for cell, child in node.children.items():
            visits = child.visits
            value = sign * child.total / visits + wide / math.sqrt(visits)
            if value > best:
                best, cells = value, [cell]
            elif value == best:
                cells.append(cell)
        untried = node.untried
        if untried:
            mean = sign * node.total / node.visits if node.visits else math.inf
            new = mean + wide
            ties = len(cells) if new == best else 0
            pick = int(self._rng.random() * (len(untried) + ties))
            if new >= best and pick < len(untried):
                untried[pick], untried[-1] = untried[-1], untried[pick]
                return untried.pop(), False
        return cells[int(self._rng.random() * len(cells))], True

    def _best(self, root: Node) -> int:
        def strength(item: tuple[int, Node]) -> tuple[int, float, float]:
            _, child = item
            return child.visits, child.total / child.visits, self._rng.random()

        return max(root.children.items(), key=strength)[0]
