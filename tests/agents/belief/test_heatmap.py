import numpy as np
import pytest

from agents.belief.beliefs import Belief, Situation
from agents.belief.heatmap import heat_map, heated
from agents.belief.zones import Zones
from games.contract import Json, State
from tests.agents.belief.posteriors import library_game, random_match
from tests.agents.belief.test_particle import explains


def zones() -> Zones:
    patterns: dict[str, dict[str, Json]] = {"cells.*": {"component": "ship"}}
    seen = {"cells.0": "contents", "cells.1": "count"}
    return Zones(patterns, lambda _state, _seat: seen, frozenset())


def states(*contents: list[Json]) -> list[State]:
    return [{"cells": [["mine"], cells]} for cells in contents]


def test_heat_is_the_weighted_share_of_states_that_have_it_there() -> None:
    sampled = states(["a", "b"], ["a", "c"], ["d", "c"])
    heat = heat_map(zones(), 0, sampled, [0.5, 0.3, 0.2])
    assert heat == pytest.approx(
        {("cells.1", "a"): 0.8, ("cells.1", "b"): 0.5, ("cells.1", "c"): 0.5, ("cells.1", "d"): 0.2}
    )


def test_states_are_favoured_by_the_mean_heat_of_what_they_hide() -> None:
    sampled = states(["a", "b"], ["a", "c"], ["d", "c"])
    favoured = heated(zones(), 0, sampled, [0.5, 0.3, 0.2])
    assert favoured.tolist() == pytest.approx([0.5 * 0.65, 0.3 * 0.65, 0.2 * 0.35])
    assert heated(zones(), 0, states([], []), [0.5, 0.5]).tolist() == [0.5, 0.5]


def test_the_map_is_fresh_at_every_decision() -> None:
    rules, namespace, start = library_game("battleship", {"rows": 4, "columns": 4, "ships": "3,2"})
    for log, legal in random_match(rules, start, 0, seed=5)[2::3]:
        here = Situation(rules, namespace, start, log, tuple(legal))
        belief = Belief(here, "heatmap", 0, np.random.default_rng(0))
        for _ in range(20):
            assert explains(belief.sample(), log.latest()["shots"])  # type: ignore[arg-type]
        assert belief.effort()["belief"] == "heatmap"
