"""Heat-map-guided determinization: states are drawn towards where components are most often.

Lechat (2026), Improving Imperfect-Information Reasoning in Ludii, section 3.4.3, counts how often
consistent samples occupy a place, and draws states that occupy the places counted most. Here the
samples are a population that reproduces the log, counted anew at every decision: a map made once
and kept says nothing of what was seen since. It is a bias on purpose, no part of the posterior.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from agents.belief.weights import Floats
from agents.belief.zones import Zones
from games.contract import State

HeatMap = Mapping[tuple[str, str], float]
"""Probability that a component is in a zone, by path of the zone and component."""


def heat_map(
    zones: Zones, seat: int, states: Sequence[State], weights: Sequence[float]
) -> dict[tuple[str, str], float]:
    """How likely each component is to be in each zone that is hidden from a seat.

    `heat(z, c) = sum over states s of w_s [c in z in s]`, with weights that sum to 1.

    Args:
        zones: The module's declared zones.
        seat: The seat that may not see them.
        states: `[N]` consistent states.
        weights: `[N]`, summing to 1.
    """
    heat: dict[tuple[str, str], float] = {}
    for state, weight in zip(states, weights, strict=True):
        for place in _places(zones, seat, state):
            heat[place] = heat.get(place, 0.0) + weight
    return heat


def heated(zones: Zones, seat: int, states: Sequence[State], weights: Sequence[float]) -> Floats:
    """Weights that favour states whose components are where they most often are.

    Each weight is multiplied by the mean heat of its state's hidden components; a state without any
    keeps its weight.

    Returns:
        `[N]`, unnormalised.
    """
    heat = heat_map(zones, seat, states, weights)
    means = []
    for state in states:
        found = [heat[place] for place in _places(zones, seat, state)]
        means.append(sum(found) / len(found) if found else 1.0)
    favoured: Floats = np.asarray(weights) * np.array(means)
    return favoured


def _places(zones: Zones, seat: int, state: State) -> set[tuple[str, str]]:
    hidden = zones.hidden(state, seat)
    return {(zone, component) for zone in hidden for component in zones.contents(state, zone)}
