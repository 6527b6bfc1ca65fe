"""Search on library games: tactics with one right answer, drawn as pictures."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from agents.search.rules import Rules, bind
from agents.search.settings import SearchSettings
from agents.search.uct import uct
from games import library
from games.contract import State, load_namespace


def opened(name: str) -> tuple[Rules, State]:
    namespace = load_namespace(library.source(name))
    start = cast("Callable[[int], State]", namespace["initial_state"])
    return bind(namespace, 2), start(2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("drops", "expected"),
    [
        # x x x . . . .   x to move completes the bottom row
        # o o o . . . .
        ("1 1 2 2 3 3", {"drop 4"}),
        # x x x . . . .   o to move must stop the bottom row
        # o . . . . . o
        ("1 7 2 1 3", {"drop 4"}),
        # three x stacked in column 4, o to move must cap them
        ("4 1 4 2 4", {"drop 4"}),
        # x x on columns 3 and 4 with both sides open: o must touch an end or lose to three in a row
        ("4 4 3", {"drop 2", "drop 5"}),
    ],
)
def test_connect_four_tactics(drops: str, expected: set[str], seed: int) -> None:
    rules, state = opened("connect_four")
    for column in drops.split():
        state = rules.apply_action(state, f"drop {column}")
    found = uct(rules, state, SearchSettings(simulations=2000), np.random.default_rng(seed))
    assert found.best in expected
