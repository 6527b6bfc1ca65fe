"""Perfect information Monte Carlo: solve determinizations apart, and play what is best on average.

Each of `worlds` determinizations is searched by UCT as if it were known, with its share of the
budget; the action with the largest mean over the worlds of its mean return is played (Levy 1989;
Ginsberg 2001, GIB: Imperfect Information in a Computationally Challenging Game). A world in which
an action was never tried says nothing of it; of equals the one with more visits, then the first,
is played.

Within a world every seat knows everything, so a plan may use what its seat will not know (strategy
fusion: Frank & Basin 1998; Long et al. 2010, Understanding the Success of Perfect Information Monte
Carlo Sampling). Information set search does not make this mistake.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from agents.search.meter import Clock, Meter
from agents.search.policies import Score
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from agents.search.trees import variation
from games.contract import Action, State


def pimc(
    rules: Rules,
    seat: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    worlds: int = 20,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows; see `agents.search.flatmc.flatmc` for the other arguments.

    Args:
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Called once a world.
        settings: What to do; the budget is that of all worlds together.
        generator: The only source of randomness of the search itself.
        worlds: Determinizations, at least 1; those a budget leaves nothing for are not drawn.
        heuristics: The game's heuristics, for leaf="heuristic".
        clock: Seconds, where the budget is time.

    Raises:
        ValueError: If there is less than one world, or as `flatmc`.
        ModuleFault: As `flatmc`.
    """
    if worlds < 1:
        raise ValueError(f"worlds is {worlds}; required: at least 1")
    found: list[SearchResult] = []
    for share in shares(settings, worlds):
        root = determinize()
        player = rules.current_player(root)
        if player != seat:
            raise ValueError(
                f"the determinization has player {player} to move; required: seat {seat}"
            )
        meter = Meter(rules, share, clock)
        search = variation(share)(meter.rules, root, share, generator, heuristics)
        meter.run(search.simulate)
        found.append(search.result(meter))
    return agreed(found)


def shares(settings: SearchSettings, worlds: int) -> list[SearchSettings]:
    """The settings of every world that gets some of the budget, which add up to it.

    What a budget of whole numbers leaves nothing for is not even listed: `worlds` may be any size.

    >>> [s.simulations for s in shares(SearchSettings(simulations=8), 3)]
    [3, 3, 2]
    >>> len(shares(SearchSettings(simulations=2), 3))
    2
    """
    if settings.budget == "time":
        return [replace(settings, seconds=settings.seconds / worlds)] * worlds
    whole = settings.calls if settings.budget == "calls" else settings.simulations
    parts = [whole // worlds + (index < whole % worlds) for index in range(min(worlds, whole))]
    if settings.budget == "calls":
        return [replace(settings, calls=part) for part in parts]
    return [replace(settings, simulations=part) for part in parts]


def agreed(found: Sequence[SearchResult]) -> SearchResult:
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
    seconds = [result.seconds for result in found if result.seconds is not None]
    return SearchResult(
        actions=actions,
        visits=tuple(visits[action] for action in actions),
        means=tuple(averages),
        simulations=sum(result.simulations for result in found),
        nodes=sum(result.nodes for result in found),
        cut_rollouts=sum(result.cut_rollouts for result in found),
        calls=sum(result.calls for result in found),
        seconds=sum(seconds) if seconds else None,
        chosen=actions[ranks.index(max(ranks))],
        figures={"worlds": len(found)},
    )
