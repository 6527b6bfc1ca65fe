"""Search on library games: tactics with one right answer, drawn as pictures."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from agents.search.alphabeta import solved
from agents.search.settings import GraphSettings
from agents.search.uct import tree_search
from games import library
from games.modules import Rules, bind, load_namespace
from games.values import TERMINAL, State
from tests.agents.small_games import known


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
    found = tree_search(
        known(rules, state), GraphSettings(simulations=2000), np.random.default_rng(seed)
    )
    assert found.best in expected


def perfect(rules: Rules, state: State, generator: np.random.Generator) -> str:
    """One of the actions with the game-theoretic value, at random."""
    values = {}
    seat = rules.current_player(state)
    for action in rules.legal_actions(state):
        after = rules.apply_action(state, action)
        if rules.current_player(after) == TERMINAL:
            values[action] = rules.rewards(after)[seat]
        else:
            found = solved(rules, after, calls=1_000_000)
            worth = found.means[found.actions.index(found.best)]
            assert worth is not None
            values[action] = -worth
    best = [action for action, value in values.items() if value == max(values.values())]
    return best[int(generator.integers(len(best)))]


def by_chance(rules: Rules, state: State, generator: np.random.Generator) -> str:
    legal = rules.legal_actions(state)
    return legal[int(generator.integers(len(legal)))]


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("other", [by_chance, perfect])
def test_it_does_not_lose_at_tic_tac_toe(
    other: Callable[[Rules, State, np.random.Generator], str], seat: int
) -> None:
    rules, start = opened("tic_tac_toe")
    settings = GraphSettings(simulations=1000, rave="rave")
    for game in range(3):
        generator, state = np.random.default_rng([seat, game]), start
        while (player := rules.current_player(state)) != TERMINAL:
            if player == seat:
                action = tree_search(known(rules, state), settings, generator).best
            else:
                action = other(rules, state, generator)
            state = rules.apply_action(state, action)
        assert rules.rewards(state)[seat] >= 0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("drops", ["1 1 2 2 3 3", "1 7 2 1 3", "4 1 4 2 4"])
@pytest.mark.parametrize(
    "settings",
    [
        GraphSettings(simulations=1000, solver="yes"),
        GraphSettings(simulations=1000, transpositions="yes"),
        GraphSettings(simulations=1000, rave="grave"),
        GraphSettings(simulations=1000, policy="mast"),
        GraphSettings(simulations=1000, leaf="truncated", depth=20),
    ],
    ids=["solver", "transpositions", "grave", "mast", "truncated"],
)
def test_every_variation_finds_the_one_column_that_wins_or_blocks(
    settings: GraphSettings, drops: str, seed: int
) -> None:
    rules, state = opened("connect_four")  # the first three positions drawn above
    for column in drops.split():
        state = rules.apply_action(state, f"drop {column}")
    found = tree_search(known(rules, state), settings, np.random.default_rng(seed))
    assert found.best == "drop 4"
