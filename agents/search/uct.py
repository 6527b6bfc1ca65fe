"""UCT (Kocsis & Szepesvári 2006): the search of a known state, plain or in one of its variations.

The tree is that of `agents.search.tree`; it may learn from all moves as first, share nodes between
equal states, or prove what states are worth. Given a belief, it decides in several determinizations
as if each were known, and the action with the best mean rank is played: the determinization layer
(Lechat 2026, Improving Imperfect-Information Reasoning in Ludii, chapter 5). The search never
learns that the state was hidden.

Perfect information Monte Carlo (Levy 1989; Ginsberg 2001): worlds apart, then the best mean. Each
of `worlds` determinizations is searched by UCT as if it were known, with its share of the budget;
the action with the largest mean over the worlds of its mean return is played (Levy 1989; Ginsberg
2001, GIB: Imperfect Information in a Computationally Challenging Game). A world in which an action
was never tried says nothing of it; of equals the one with more visits, then the first, is played.

Within a world every seat knows everything, so a plan may use what its seat will not know (strategy
fusion: Frank & Basin 1998; Long et al. 2010, Understanding the Success of Perfect Information Monte
Carlo Sampling). Information set search does not make this mistake.

RAVE (Gelly & Silver 2011) and GRAVE (Cazenave 2015), where later plies count as if played first: a
node keeps, for every action `a` of a seat, the seat's mean return `A(a)` from the node on in the
`m` simulations through it in which the seat played `a` at the node or any later ply, in the tree or
in the rollout (all moves as first; an action counts once a simulation). The action chosen maximises

    (1 - beta) Q(a) + beta A(a) + exploration * spread * sqrt(log(N) / max(n, 1)),
    beta = m / (n + m + bias * n * m),

with `Q(a)` and `n` the mean and visits of the edge and `N` those of the node. `bias` is `4 b^2` of
Gelly & Silver (2011, Monte-Carlo Tree Search and Rapid Action Value Estimation in Computer Go, the
minimum-MSE schedule). "rave" takes `A` and `m` of the node itself, "grave" those of its nearest
ancestor, itself included, with at least `reference` descents (Cazenave 2015, Generalized Rapid
Action Value Estimation). An untried action has `beta = 1`; one that was never seen goes first, at
random.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from agents.search.leaves import mean_ranks
from agents.search.meter import Meter
from agents.search.settings import (
    MANY,
    ExplorationWeight,
    GraphSettings,
    NoYes,
    SearchResult,
    SearchView,
    SolverChoice,
)
from agents.search.solver import SolverSearch
from agents.search.statistics import add, exploration_bonus
from agents.search.tree import Node, UctSearch
from games.modules import canonical, require_seat
from games.values import CHANCE, Action, State

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
        nodes: Those that the newest descent went through, the root first.
    """

    def _prepare(self) -> None:
        """See `UctSearch._prepare`."""
        self.seen: dict[Node, Seen] = {}
        self.nodes: list[Node] = []
        settings = self.settings
        self.reference = settings.reference if settings.rave == "grave" else 0

    def _descended(self, node: Node) -> Node:
        """See `UctSearch._descended`."""
        self.nodes = [node] if node is self.root else [*self.nodes, node]
        if node.player == CHANCE:
            return super()._descended(node)
        if not node.is_open:
            self._open(node)
        node.visits += 1
        index = self._pick(node, self._reference())
        child = node.children[index] if index < len(node.children) else None
        return child or self._grown(node, index)

    def _grown(self, node: Node, index: int) -> Node:
        child = super()._grown(node, index)
        node.expanded = None  # its bounds are not those that a descent has written out
        return child

    def _finish(self, path: list[Node], returns: list[float]) -> None:
        """See `UctSearch._finish`; counts what was played at and after every node."""
        played = [(child.seat, child.action) for child in path]
        if returns is not self.nothing:
            played += [(player, action) for player, action, _ in self.leaves.trace]
        later = returns
        for at in range(len(path) - 1, -1, -1):
            later, node = add(later, path[at].rewards or self.nothing), self.nodes[at]
            seen = self.seen.setdefault(node, {})
            for key in {*played[at:]}:
                if key[0] == CHANCE or not (self.reference or key[0] == node.player):
                    continue
                visits, mean = seen.get(key, (0, 0.0))
                visits += 1
                seen[key] = visits, mean + (later[key[0]] - mean) / visits
        super()._finish(path, returns)

    def _reference(self) -> Seen:
        """The statistics that serve the newest node of the descent."""
        nodes = self.nodes
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


class UctSettings(GraphSettings):
    """Settings of UCT; `reuse` is followed by what keeps the tree between decisions."""

    exploration: ExplorationWeight = 0.7
    solver: SolverChoice = "auto"
    reuse: NoYes = Field(
        default="no", description="Whether a decision begins from the tree of the last one."
    )

    @model_validator(mode="after")
    def _can_rebuild(self) -> Self:
        if self.reuse == "yes" and self.budget != "simulations":
            raise ValueError(
                f"reuse with budget={self.budget}; required: budget=simulations, so that the tree "
                "can be rebuilt"
            )
        return self


def decide(view: SearchView, settings: UctSettings, generator: np.random.Generator) -> SearchResult:
    """Decide in a determinization, or in several of them with a share of the budget each.

    Raises:
        ValueError, ModuleFault: As `UctSearch`.
        UnsuitableGameError: As `agents.search.solver`.
    """
    if view.worlds > 1:
        shares = settings.shares(view.worlds)
        return agreed([tree_search(view, share, generator) for share in shares])
    return tree_search(view, settings, generator)


def tree_search(
    view: SearchView, settings: GraphSettings, generator: np.random.Generator
) -> SearchResult:
    """Search one determinization as if it were known."""
    root = view.determinize()
    meter = Meter(view.rules, settings, view.clock)
    search = variation(settings)(meter.rules, root, settings, generator, view.heuristics)
    meter.run(search.simulate)
    return search.result(meter)


def variation(settings: GraphSettings) -> type[UctSearch]:
    """The class of search that the settings ask for."""
    if settings.rave != "none":
        return RaveSearch
    if settings.transpositions == "yes":
        return TranspositionSearch
    return UctSearch if settings.solver == "no" else SolverSearch


class TranspositionSearch(UctSearch):
    """`UctSearch` over a graph: equal states, reached by different actions, share one node.

    A node stands for (plies since the first root, seat that acted last, canonical state), so that
    paths never close a cycle; it has one mean and one number of visits, whichever edge led to it,
    and the bounds of all its parents use them (UCT2 of Childs, Brodeur & Kocsis 2008,
    Transpositions and Move Groups in Monte Carlo Tree Search, with the visits of the node for those
    of the edge).

    Attributes:
        hits: Edges that led to a node known before.
    """

    def _prepare(self) -> None:
        """See `UctSearch._prepare`."""
        self.depths: dict[Node, int] = {}
        self.known: dict[tuple[int, int, bytes], Node] = {}
        self.hits = self.depth = 0

    def _grown(self, node: Node, index: int) -> Node:
        self.depth = self.depths[node] + 1
        return super()._grown(node, index)

    def _added(self, state: State, seat: int, action: Action) -> Node:
        key = self.depth, seat, canonical(state)
        child = self.known.get(key)
        if child is not None:
            self.hits += 1
            return child
        child = self.known[key] = super()._added(state, seat, action)
        self.depths[child] = self.depth
        return child

    def figures(self) -> dict[str, int | float | str]:
        """See `UctSearch.figures`."""
        return {**super().figures(), "transpositions": self.hits}


def agreed(found: Sequence[SearchResult]) -> SearchResult:
    """The common result of the searches of several determinizations.

    The action with the best mean rank is played: a determinization ranks its actions by mean
    return, so that one with large returns does not outvote the others, and one never tried stands
    below all that were.

    Args:
        found: `[W]` results of the same seat, at least one.

    Raises:
        ValueError: If they differ in their actions.
    """
    actions = found[0].actions
    if any(sorted(result.actions) != sorted(actions) for result in found):
        raise ValueError("the determinizations differ in what is legal; required: the same actions")
    by_world = [dict(zip(result.actions, result.means, strict=True)) for result in found]
    table = mean_ranks([[_score(means[action]) for action in actions] for means in by_world])
    ranks = dict(zip(actions, table, strict=True))
    together = combined(found, lambda action, _visits, mean: (ranks[action], mean))
    return replace(together, figures={**together.figures, "combined_by": "ranks"})


def _score(mean: float | None) -> float:
    return -inf if mean is None else mean


def combined(
    found: Sequence[SearchResult], rank: Callable[[Action, int, float], tuple[float, float]]
) -> SearchResult:
    """One result of several worlds, which says what all of them used.

    Args:
        found: `[W]` results of the same seat, at least one.
        rank: Of an action with its visits and its mean over the worlds in which it was tried,
            `-inf` where there are none; the first one of the largest is played.
    """
    visits: dict[Action, int] = {}
    tried: dict[Action, list[float]] = {}
    for result in found:
        for action, count, mean in zip(result.actions, result.visits, result.means, strict=True):
            visits[action] = visits.get(action, 0) + count
            tried.setdefault(action, []).extend([] if mean is None else [mean])
    means = {action: sum(of) / len(of) if of else None for action, of in tried.items()}
    seconds = [result.seconds for result in found if result.seconds is not None]
    return SearchResult(
        actions=tuple(means),
        visits=tuple(visits.values()),
        means=tuple(means.values()),
        simulations=sum(result.simulations for result in found),
        nodes=sum(result.nodes for result in found),
        cut_rollouts=sum(result.cut_rollouts for result in found),
        calls=sum(result.calls for result in found),
        seconds=sum(seconds) if seconds else None,
        chosen=max(means, key=lambda action: rank(action, visits[action], _score(means[action]))),
        figures={"worlds": len(found)},
    )


class PimcSettings(GraphSettings):
    """Settings of perfect information Monte Carlo; the budget is that of all worlds together."""

    worlds: int = Field(default=20, ge=1, le=MANY, description="Hidden states searched a decision.")


def decide_pimc(
    view: SearchView, settings: PimcSettings, generator: np.random.Generator
) -> SearchResult:
    """Search from what one seat knows; `view.determinize` is called once a world.

    Worlds that the budget leaves nothing for are not drawn.

    Raises:
        ValueError: If the seat is not to move in a determinization, or as `UctSearch`.
        ModuleFault: As `UctSearch`.
    """

    def determinize() -> State:
        root = view.determinize()
        require_seat(view.rules, root, view.seat)
        return root

    world = replace(view, determinize=determinize)
    shares = settings.shares(settings.worlds)
    found = [tree_search(world, share, generator) for share in shares]
    return combined(found, lambda _action, visits, mean: (mean, visits))
