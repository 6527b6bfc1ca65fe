"""Which searches there are, which settings each follows, and how each is started."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np

from agents.search.alphabeta import AlphaBetaSettings, alphabeta
from agents.search.flatmc import flatmc
from agents.search.genomes import EvolutionSettings
from agents.search.halving import halving
from agents.search.ismcts import ismcts
from agents.search.meter import Clock
from agents.search.moismcts import moismcts
from agents.search.osla import osla
from agents.search.pimc import pimc
from agents.search.policies import Score
from agents.search.rhea import rhea
from agents.search.rmhc import rmhc
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from agents.search.trees import tree_search
from games.contract import Json, State

_BUDGET = {"simulations", "budget", "calls", "seconds"}
_LEAF = {"leaf", "rollouts", "rollout_limit", "depth", "ensemble"}
_POLICY = {"policy", "epsilon", "temperature"}
_WIDENING = {"widening", "power"}
_SAMPLING = {"exploration", *_BUDGET, *_LEAF, *_POLICY}
_GRAPH = {*_SAMPLING, *_WIDENING, "rave", "bias", "reference", "transpositions", "solver", "win"}
_PLANS = {*_BUDGET, *_LEAF, "horizon", "discount", "opponent", "mutation", "trials"}

USES: dict[str, frozenset[str]] = {
    "uct": frozenset({*_GRAPH, "reuse"}),
    "ismcts": frozenset({*_SAMPLING, *_WIDENING, "opponents"}),
    "moismcts": frozenset({*_SAMPLING, *_WIDENING}),
    "pimc": frozenset({*_GRAPH, "worlds"}),
    "flatmc": frozenset(_SAMPLING),
    "osla": frozenset({*_BUDGET, *_LEAF, "passes"} - {"simulations"}),
    "halving": frozenset({*_BUDGET, *_LEAF}),
    "rhea": frozenset({*_PLANS, "population", "elite", "tournament"}),
    "rmhc": frozenset(_PLANS),
    "alphabeta": frozenset({"depth", "calls"}),
}
"""Settings of every algorithm."""

_SWITCHES = {"yes": True, "no": False}
_SEARCH = {field.name for field in fields(SearchSettings)} - {"value_range"}
_EVOLUTION = {field.name for field in fields(EvolutionSettings)}


@dataclass(frozen=True)
class Plan:
    """An algorithm with its settings, held against what it can follow.

    Attributes:
        algorithm: Its name in `USES`.
        search: What the sampling searches follow.
        evolution: What the searches over genomes follow.
        exact: What alpha-beta follows.
        more: `worlds`, `passes` and `reuse`, where they are given.
    """

    algorithm: str
    search: SearchSettings
    evolution: EvolutionSettings
    exact: AlphaBetaSettings
    more: Mapping[str, Any]


def planned(algorithm: str, settings: Mapping[str, Json]) -> Plan:
    """Read the settings of an algorithm; those not given have their defaults.

    Raises:
        ValueError: If there is no such algorithm, it does not use a setting, or a value or a
            combination cannot be followed.

    >>> planned("flatmc", {"simulations": 5}).search.simulations
    5
    """
    if algorithm not in USES:
        raise ValueError(f"no algorithm {algorithm!r}; known: {', '.join(USES)}")
    unused = sorted(settings.keys() - USES[algorithm])
    if unused:
        raise ValueError(
            f"{algorithm} does not use {', '.join(unused)}; it uses "
            f"{', '.join(sorted(USES[algorithm]))}"
        )
    values: dict[str, Any] = {
        name: _SWITCHES[value] if isinstance(value, str) and value in _SWITCHES else value
        for name, value in settings.items()
    }
    if algorithm == "alphabeta":
        return Plan(
            algorithm, SearchSettings(), EvolutionSettings(), AlphaBetaSettings(**values), {}
        )
    search = SearchSettings(**{name: values[name] for name in values.keys() & _SEARCH})
    evolution = EvolutionSettings(**{name: values[name] for name in values.keys() & _EVOLUTION})
    more = {name: values[name] for name in values.keys() - _SEARCH - _EVOLUTION}
    if more.get("reuse") and search.budget != "simulations":
        raise ValueError(
            f"reuse with budget={search.budget}; required: budget=simulations, so that the tree "
            "can be rebuilt"
        )
    if search.budget == "simulations" and evolution.trials > search.simulations:
        raise ValueError(
            f"trials is {evolution.trials} with simulations={search.simulations}; required: no "
            "more, so that a plan is valued at all"
        )
    return Plan(algorithm, search, evolution, AlphaBetaSettings(), more)


Determinize: TypeAlias = Callable[[], State]


def run(
    plan: Plan,
    rules: Rules,
    seat: int,
    determinize: Determinize,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score],
    clock: Clock,
) -> SearchResult:
    """Decide for one seat.

    Args:
        plan: What to do; `reuse` is not followed here.
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Gives a full state that the seat cannot tell from the true one. UCT and
            alpha-beta search the first one alone.
        generator: The only source of randomness of the search itself.
        heuristics: The game's heuristics.
        clock: Seconds.

    Raises:
        UnsuitableGameError: If alpha-beta cannot play the game, or it pays more than `win`.
        ValueError, ModuleFault: As the algorithm.
    """
    name, settings = plan.algorithm, plan.search
    if name == "alphabeta":
        return alphabeta(rules, determinize(), plan.exact)
    if name == "uct":
        return tree_search(
            rules, determinize(), settings, generator, heuristics=heuristics, clock=clock
        )
    more: dict[str, Any] = {"heuristics": heuristics, "clock": clock}
    if name in ("pimc", "osla"):
        more |= plan.more
    if name in ("rhea", "rmhc"):
        more["evolution"] = plan.evolution
    return _SEARCHES[name](rules, seat, determinize, settings, generator, **more)


_SEARCHES: dict[str, Callable[..., SearchResult]] = {
    "ismcts": ismcts,
    "moismcts": moismcts,
    "pimc": pimc,
    "flatmc": flatmc,
    "osla": osla,
    "halving": halving,
    "rhea": rhea,
    "rmhc": rmhc,
}
