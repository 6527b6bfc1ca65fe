"""Tree search with UCB1 (Kocsis and Szepesvári 2006), under the rules of TAG and of Ludii.

`TreeShooter` is the one tree; a rule set says what a copy of the game holds, which action comes
next, what an end is worth, what a decision may cost, and which action is played.

`TagRules` is IS-MCTS as the thesis' programs ran it, which is also what ran as "MAST". What was
asked for (budgets of 100 to 5,000 ms, MAST statistics, the most visited move) never reached the
player, which took its defaults: 4,000 calls of the forward model a decision, at most 4,000
iterations, one tree for both players, a fresh fleet an iteration, random playouts of both to the
end, the move of the best mean. At a node

    value(a) = (mean(a) - low) / (high - low) + sqrt(ln N / n(a))

with N the choices made there, the lowest and highest returns of the whole search so far, and no
constant K (TAG left it out); an untried action comes first, in random order. A tie of means falls
by TAG's noise of one part in a million, and an action never tried has mean 0.

`LudiiRules` is UCB1 with constant sqrt(2): Q + sqrt(2) * sqrt(ln N / n) with N the visits of the
node; a move not yet tried counts as one tried once with its parent's average. Results are +1 and
-1, the move most visited is played (the better average, then chance, decides ties), and the part
of the tree below the moves really played is kept for the next decision.
"""

import math
from collections.abc import Sequence
from random import Random

from evals.lechat2026.board import BITS, HEALTH, SEA, View, cells_of
from evals.lechat2026.fleets import Worlds, heat_of
from evals.lechat2026.playouts import AtRandom, Copies, Leaf, PlyBudget, Side, playout
from evals.lechat2026.shooters import Condition, bonus, is_full

EXPLORATION = math.sqrt(2)
_NOISE = 1e-6
_WANTED = 40  # about as many iterations as a decision has in TAG

Returns = tuple[float, float]
"""Of the searching player and of the other."""


class TreeNode:
    """A position.

    Attributes:
        mover: Who fires, 0 the searching player.
        visits: Iterations through it.
        total: Their returns to the player that moved here, added up.
        children: Cell -> node.
        untried: Cells not tried; None until they are asked for.
        is_open: Whether a playout began here; a node that has only ever ended the game is not.
        winner: Who has won here under Ludii's rules; -1 while the game goes on.
    """

    __slots__ = ("children", "is_open", "mover", "total", "untried", "visits", "winner")

    def __init__(self, mover: int) -> None:
        self.mover, self.visits, self.total = mover, 0, 0.0
        self.children: dict[int, TreeNode] = {}
        self.untried: list[int] | None = None
        self.is_open, self.winner = False, -1

    def pop(self, place: int) -> int:
        """Take an untried cell out."""
        untried = self.untried or []
        untried[place], untried[-1] = untried[-1], untried[place]
        return untried.pop()


class CopyState:
    """One iteration's copy of the game: index 0 is the searching player, 1 the other.

    Attributes:
        free: Cells that each can fire at.
        fleets: Cells of the fleet that each fires at.
        hits: Cells that each has hit.
        shots: What each fired at in the tree.
    """

    __slots__ = ("fleets", "free", "hits", "shots")

    def __init__(self, view: View, fleet: int) -> None:
        self.free = [SEA & ~view.fired, SEA & ~view.taken]
        self.fleets = (fleet, view.own)
        self.hits = [view.hits, view.own & view.taken]
        self.shots: tuple[list[int], list[int]] = ([], [])

    def fire(self, who: int, cell: int) -> None:
        """Apply a shot."""
        self.free[who] ^= BITS[cell]
        self.hits[who] |= BITS[cell] & self.fleets[who]
        self.shots[who].append(cell)


class TagRules:
    """IS-MCTS as it ran in TAG."""

    def __init__(self, rng: Random, under: Condition, map_samples: int) -> None:
        self._rng, self._heuristic, self._budget = rng, under.heuristic, under.calls
        self._mapped = map_samples if under.kind == "heat map" else 0
        self.used: dict[str, float] = dict.fromkeys(
            ("decisions", "iterations", "calls", "map_samples"), 0
        )
        self._worlds = Worlds(under.kind, rng, _WANTED, self.used)
        self._heat: Sequence[float] | None = None
        self._view = View()
        self._low = self._high = 0.0

    def begin(self, view: View) -> TreeNode:
        """A full copy at the root has lost the map, so that each decision draws a fresh one."""
        self._view = view
        self._worlds.observe(view)
        if self._mapped:
            self._heat = heat_of(self._worlds, self._mapped)
            self.used["map_samples"] += self._mapped
            self._worlds.observe(view, self._heat)
        self._low, self._high = math.inf, -math.inf
        return TreeNode(mover=0)

    def affords(self, spent: float, iterations: int) -> bool:
        """True if neither has passed the budget of calls."""
        return spent <= self._budget and iterations <= self._budget

    def copy(self) -> CopyState:
        """One with a fresh fleet."""
        return CopyState(self._view, self._worlds.draw())

    def select(self, node: TreeNode, free: int) -> int:
        """An untried cell, else that of the highest upper bound, ties at random."""
        if node.untried is None:
            node.untried = cells_of(free)
        if node.untried:
            return node.pop(int(self._rng.random() * len(node.untried)))
        spread = self._high - self._low
        scale, low = (1 / spread if spread > 0 else 0.0), self._low
        logged = math.log(sum(child.visits for child in node.children.values()))
        best, chosen = -math.inf, list[int]()
        for cell, child in node.children.items():
            count = child.visits
            value = (child.total / count - low) * scale + math.sqrt(logged / count)
            if value > best:
                best, chosen = value, [cell]
            elif value == best:
                chosen.append(cell)
        return chosen[int(self._rng.random() * len(chosen))]

    def fire(self, state: CopyState, who: int, cell: int, child: TreeNode) -> int:
        """The shot that makes the last hit wins; the health that is left is the true one."""
        del child
        before = state.hits[who]
        state.fire(who, cell)
        won = state.hits[who] != before and state.hits[who].bit_count() == HEALTH
        return who if won else -1

    def end(self, state: CopyState, mover: int, winner: int) -> tuple[Returns, float]:
        """The values of the end; both play on at random where it is not there yet."""
        plies = 0
        if winner < 0:
            winner, plies = self._played(state, mover)
        values = [self._extra(hits) for hits in state.hits]
        values[winner] += 1.0
        self._low, self._high = min(self._low, *values), max(self._high, *values)
        return (values[0], values[1]), plies

    def copying(self) -> float:
        """Nothing: the budget is of calls alone."""
        return 0

    def play(self, root: TreeNode) -> int:
        """The action of the best mean, as TAG's noise breaks ties."""
        best, chosen, draw = -math.inf, -1, self._rng.random
        for cell in cells_of(SEA & ~self._view.fired):
            child = root.children.get(cell)
            mean = child.total / (child.visits + _NOISE) if child else 0.0
            value = (mean + _NOISE) * (1 + _NOISE * (draw() - 0.5))
            if value > best:
                best, chosen = value, cell
        return chosen

    def _played(self, state: CopyState, first: int) -> tuple[int, int]:
        """A random playout: who wins, and the calls it took."""
        sides = [
            Side(free.bit_count(), (free & fleet).bit_count(), HEALTH - hits.bit_count())
            for free, fleet, hits in zip(state.free, state.fleets, state.hits, strict=True)
        ]
        ended = playout(sides[first], sides[1 - first], self._rng)
        for place, who in enumerate((first, 1 - first)):
            if self._heat is not None or not is_full(state.hits[who], self._heuristic):
                left = cells_of(state.free[who] & state.fleets[who])
                for cell, order in zip(left, ended.places[place], strict=True):
                    if order < ended.fired[place]:
                        state.hits[who] |= BITS[cell]
        return first if ended.won else 1 - first, ended.plies

    def _extra(self, hits: int) -> float:
        """The worth of the end beyond the win; the map is the same for both players' hits."""
        value = bonus(hits, self._heuristic)
        if self._heat is not None and hits:
            cells = cells_of(hits)
            value += sum(self._heat[cell] for cell in cells) / len(cells)
        return value


class LudiiRules:
    """UCT as it ran in Ludii."""

    def __init__(self, copies: Copies, playouts: AtRandom, budget: PlyBudget, rng: Random) -> None:
        self._copies, self._playouts, self.used = copies, playouts, copies.used
        self._budget, self._rng = budget, rng
        self._view = View()
        self._kept: TreeNode | None = None
        self._taken = 0

    def begin(self, view: View) -> TreeNode:
        """The node of this position if it is in the tree, else a new one."""
        self._view = view
        self._copies.observe(view)
        self._playouts.begin()
        node, new = self._kept, view.taken & ~self._taken
        for cell in cells_of(new) if node else ():
            node = node.children.get(cell) if node else None
        return node if node and node.mover == 0 else TreeNode(mover=0)

    def affords(self, spent: float, iterations: int) -> bool:
        """True if plies are left."""
        del iterations
        return spent < self._budget.plies

    def copy(self) -> CopyState:
        """One without a fleet: it is drawn where it is asked for."""
        return CopyState(self._view, 0)

    def select(self, node: TreeNode, free: int) -> int:
        """A cell by UCB1; chance decides ties."""
        wide = EXPLORATION * math.sqrt(math.log(max(1, node.visits)))
        best, cells = -math.inf, list[int]()
        for cell, child in node.children.items():
            value = child.total / child.visits + wide / math.sqrt(child.visits)
            if value > best:
                best, cells = value, [cell]
            elif value == best:
                cells.append(cell)
        if node.untried is None:
            node.untried = cells_of(free)
        if node.untried:
            mean = -node.total / node.visits if node.visits else math.inf
            new = mean + wide
            ties = len(cells) if new == best else 0
            pick = int(self._rng.random() * (len(node.untried) + ties))
            if new >= best and pick < len(node.untried):
                return node.pop(pick)
        return cells[int(self._rng.random() * len(cells))]

    def fire(self, state: CopyState, who: int, cell: int, child: TreeNode) -> int:
        """A new node's end is judged by a new copy, and remembered."""
        state.fire(who, cell)
        if not child.visits:
            fleet = self._copies.draw() if who == 0 else self._view.own
            child.winner = -1 if fleet & state.free[who] else who
        return child.winner

    def end(self, state: CopyState, mover: int, winner: int) -> tuple[Returns, float]:
        """+1 and -1, played on in another copy where nobody has won; playouts learn from it."""
        plies, shots = 0.0, None
        if winner < 0:
            fired = SEA & ~state.free[0], SEA & ~state.free[1]
            end = self._playouts.play(Leaf(mover, fired, (self._copies.draw(), self._view.own)))
            winner, plies, shots = end.winner, end.plies, end.shots
        returns = (1.0, -1.0) if winner == 0 else (-1.0, 1.0)
        for player in (0, 1):
            cells = state.shots[player] + (shots[player] if shots else [])
            self._playouts.learn(player, cells, returns[player])
        return returns, plies

    def copying(self) -> float:
        """Two copies: one that is played in, one that judges the end."""
        return 2 * self._budget.copy(self._copies.attempts)

    def play(self, root: TreeNode) -> int:
        """The cell most visited."""

        def strength(cell: int) -> tuple[int, float, float]:
            child = root.children[cell]
            return child.visits, child.total / child.visits, self._rng.random()

        cell = max(root.children, key=strength)
        self._kept, self._taken = root.children[cell], self._view.taken
        return cell


class TreeShooter:
    """The shooter of one game: one tree, whose rules are an argument.

    Rules say what differs between the two programs: `begin` a decision at a root, what it
    `affords`, an iteration's `copy` of the game and what `copying` costs, the action to `select`,
    who has won when it is `fire`d (-1 while the game goes on), the returns at the `end`, played on
    where nobody has won, and the action to `play`. What they count is in `used`, with the decisions
    and the iterations; calls where they count those.
    """

    def __init__(self, rules: TagRules | LudiiRules) -> None:
        self._rules, self.used = rules, rules.used

    def shoot(self, view: View) -> int:
        """See `Shooter`."""
        root, iterations = self._rules.begin(view), 0
        spent: float = 0
        while self._rules.affords(spent, iterations):
            spent += self._iterate(root)
            spent += self._rules.copying()
            iterations += 1
        self.used["decisions"] += 1
        self.used["iterations"] += iterations
        if "calls" in self.used:
            self.used["calls"] += spent
        return self._rules.play(root)

    def _iterate(self, root: TreeNode) -> float:
        """One iteration; its plies."""
        rules, state = self._rules, self._rules.copy()
        node, path, winner = root, [root], -1
        while winner < 0:
            cell = rules.select(node, state.free[node.mover])
            child = node.children.get(cell)
            if child is None:
                child = node.children[cell] = TreeNode(1 - node.mover)
            winner = rules.fire(state, node.mover, cell, child)
            path.append(child)
            node = child
            if winner < 0 and not child.is_open:
                child.is_open = True
                break
        returns, plies = rules.end(state, node.mover, winner)
        for visited in path:
            visited.visits += 1
            visited.total += returns[1 - visited.mover]
        return plies + len(path) - 1
