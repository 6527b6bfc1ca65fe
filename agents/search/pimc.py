"""Perfect information Monte Carlo (Levy 1989; Ginsberg 2001): worlds apart, then the best mean.

Each of `worlds` determinizations is searched by UCT as if it were known, with its share of the
budget; the action with the largest mean over the worlds of its mean return is played (Levy 1989;
Ginsberg 2001, GIB: Imperfect Information in a Computationally Challenging Game). A world in which
an action was never tried says nothing of it; of equals the one with more visits, then the first,
is played.

Within a world every seat knows everything, so a plan may use what its seat will not know (strategy
fusion: Frank & Basin 1998; Long et al. 2010, Understanding the Success of Perfect Information Monte
Carlo Sampling). Information set search does not make this mistake.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Annotated

import numpy as np
from pydantic import Field

from agents.search.settings import MANY, GraphSettings, SearchResult, SearchView
from agents.search.uct import combined, tree_search
from games.contract import Action, State
from games.modules import require_seat


class PimcSettings(GraphSettings):
    """Settings of perfect information Monte Carlo; the budget is that of all worlds together."""

    worlds: Annotated[
        int, Field(ge=1, le=MANY, description="Hidden states searched a decision.")
    ] = 20


def decide(
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
