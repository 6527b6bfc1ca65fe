"""Which UCT the settings ask for: plain, with all moves as first, over a graph, or with proofs."""

from collections.abc import Sequence

import numpy as np

from agents.search.meter import Clock, Meter
from agents.search.policies import Score
from agents.search.rave import RaveSearch
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from agents.search.solver import SolverSearch
from agents.search.transpositions import TranspositionSearch
from agents.search.uct import UctSearch
from games.contract import State


def tree_search(
    rules: Rules,
    root: State,
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """`agents.search.uct.uct` with every variation; see there for arguments and errors."""
    meter = Meter(rules, settings, clock)
    search = variation(settings)(meter.rules, root, settings, generator, heuristics)
    meter.run(search.simulate)
    return search.result(meter)


def variation(settings: SearchSettings) -> type[UctSearch]:
    """The class of search."""
    if settings.rave != "none":
        return RaveSearch
    if settings.transpositions:
        return TranspositionSearch
    return SolverSearch if settings.solver else UctSearch
