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
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from agents.search.leaves import mean_ranks
from agents.search.meter import Meter
from agents.search.rave import RaveSearch
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
from agents.search.tree import Node, UctSearch
from games.contract import Action, State
from games.modules import canonical, require_seat


class UctSettings(GraphSettings):
    """Settings of UCT; `reuse` is followed by what keeps the tree between decisions."""

    exploration: ExplorationWeight = 0.7
    solver: SolverChoice = "auto"
    reuse: Annotated[
        NoYes, Field(description="Whether a decision begins from the tree of the last one.")
    ] = "no"

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

    def _open(self, node: Node) -> None:
        super()._open(node)
        node.edge_arrays = None  # a child of several parents has no one place in their arrays

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
    """What the searches of several determinizations say together.

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
    rows = [
        dict(zip(result.actions, zip(result.visits, result.means, strict=True), strict=True))
        for result in found
    ]
    means = tuple(_mean([row[action][1] for row in rows]) for action in actions)
    ranks = mean_ranks([[_score(row[action][1]) for action in actions] for row in rows])
    order = [(float(rank), _score(mean)) for rank, mean in zip(ranks, means, strict=True)]
    return combined(
        found,
        actions=actions,
        visits=tuple(sum(row[action][0] for row in rows) for action in actions),
        means=means,
        chosen=actions[order.index(max(order))],
        figures={"worlds": len(found), "combined_by": "ranks"},
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over the determinizations in which an action was tried."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _score(mean: float | None) -> float:
    return -inf if mean is None else mean


def combined(
    found: Sequence[SearchResult],
    *,
    actions: tuple[Action, ...],
    visits: tuple[int, ...],
    means: tuple[float | None, ...],
    chosen: Action,
    figures: Mapping[str, int | str],
) -> SearchResult:
    """One result of several, which says what all of them used."""
    seconds = [result.seconds for result in found if result.seconds is not None]
    return SearchResult(
        actions=actions,
        visits=visits,
        means=means,
        simulations=sum(result.simulations for result in found),
        nodes=sum(result.nodes for result in found),
        cut_rollouts=sum(result.cut_rollouts for result in found),
        calls=sum(result.calls for result in found),
        seconds=sum(seconds) if seconds else None,
        chosen=chosen,
        figures=figures,
    )


class PimcSettings(GraphSettings):
    """Settings of perfect information Monte Carlo; the budget is that of all worlds together."""

    worlds: Annotated[
        int, Field(ge=1, le=MANY, description="Hidden states searched a decision.")
    ] = 20


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
    return _agreed([tree_search(world, share, generator) for share in shares])


def _agreed(found: Sequence[SearchResult]) -> SearchResult:
    """What several worlds say together.

    Args:
        found: `[W]` results of the same seat, at least one.
    """
    means: dict[Action, list[float]] = {}
    visits: dict[Action, int] = {}
    for result in found:
        for action, count, mean in zip(result.actions, result.visits, result.means, strict=True):
            visits[action] = visits.get(action, 0) + count
            means.setdefault(action, []).extend([] if mean is None else [mean])
    actions = tuple(means)
    averages = [
        sum(means[action]) / len(means[action]) if means[action] else None for action in means
    ]
    ranks = [
        (-inf if mean is None else mean, visits[action])
        for action, mean in zip(actions, averages, strict=True)
    ]
    return combined(
        found,
        actions=actions,
        visits=tuple(visits[action] for action in actions),
        means=tuple(averages),
        chosen=actions[ranks.index(max(ranks))],
        figures={"worlds": len(found)},
    )
