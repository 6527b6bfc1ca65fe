"""The determinization layer: any search of a known state, given a belief without being changed.

`with_belief(search)` samples several determinizations, has the search decide in each as if it were
known, and combines what it found. The search never learns that the state was hidden, and sees none
but determinizations: the layer stands where a search would copy the state (Lechat 2026, Improving
Imperfect-Information Reasoning in Ludii, chapter 5).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from agents.search.ensemble import mean_ranks
from agents.search.rules import Rules
from agents.search.settings import SearchResult
from games.contract import Action, State

Combine: TypeAlias = Literal["visits", "ranks"]
Settings = TypeVar("Settings")
Search: TypeAlias = Callable[[Rules, State, Settings, np.random.Generator], SearchResult]
Believing: TypeAlias = Callable[
    [Rules, Callable[[], State], Sequence[Settings], np.random.Generator], SearchResult
]


def with_belief(search: Search[Settings], *, combine: Combine = "ranks") -> Believing[Settings]:
    """Give a search of a known state a belief.

    Args:
        search: Decides in one state; called once a determinization.
        combine: How its answers agree. "visits": the action visited most over all determinizations,
            of equals the one with the larger mean. "ranks": the action with the best mean rank,
            where a determinization ranks its actions by mean return (so that one with large returns
            does not outvote the others) and one never tried stands below all that were.

    Returns:
        A search that takes, in place of the state, what gives determinizations, and in place of the
        settings those of each determinization. It raises `ValueError` where there are none, or
        where determinizations differ in the actions that are legal.
    """

    def believing(
        rules: Rules,
        determinize: Callable[[], State],
        settings: Sequence[Settings],
        generator: np.random.Generator,
    ) -> SearchResult:
        if not settings:
            raise ValueError("no determinization has a share of the budget; required: at least one")
        return agreed([search(rules, determinize(), part, generator) for part in settings], combine)

    return believing


def agreed(found: Sequence[SearchResult], combine: Combine) -> SearchResult:
    """What the searches of several determinizations say together.

    Args:
        found: `[W]` results of the same seat, at least one.
        combine: See `with_belief`.

    Raises:
        ValueError: If they differ in their actions.
    """
    actions = found[0].actions
    if any(sorted(result.actions) != sorted(actions) for result in found):
        raise ValueError("the determinizations differ in what is legal; required: the same actions")
    rows = [_by_action(result) for result in found]
    visits = tuple(sum(row[action][0] for row in rows) for action in actions)
    means = tuple(_mean([row[action] for row in rows]) for action in actions)
    scores = np.array([[_score(row[action][1]) for action in actions] for row in rows])
    ranks = mean_ranks(scores) if combine == "ranks" else np.array(visits)
    order = [(float(rank), _score(mean)) for rank, mean in zip(ranks, means, strict=True)]
    return replace(
        found[0],
        visits=visits,
        means=means,
        simulations=sum(result.simulations for result in found),
        nodes=sum(result.nodes for result in found),
        cut_rollouts=sum(result.cut_rollouts for result in found),
        calls=sum(result.calls for result in found),
        seconds=_total([result.seconds for result in found]),
        chosen=actions[order.index(max(order))],
        figures={"worlds": len(found), "combined_by": combine},
    )


def _by_action(result: SearchResult) -> dict[Action, tuple[int, float | None]]:
    values = zip(result.visits, result.means, strict=True)
    return dict(zip(result.actions, values, strict=True))


def _mean(tried: Sequence[tuple[int, float | None]]) -> float | None:
    """The mean return over the determinizations in which an action was tried."""
    known = [mean for _, mean in tried if mean is not None]
    return sum(known) / len(known) if known else None


def _score(mean: float | None) -> float:
    return -inf if mean is None else mean


def _total(seconds: Sequence[float | None]) -> float | None:
    known = [part for part in seconds if part is not None]
    return sum(known) if known else None
