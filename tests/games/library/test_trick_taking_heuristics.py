"""The trick-taking heuristics against players who choose at random."""

import random
from collections.abc import Callable
from typing import Any, cast

import pytest

from games import library
from games.modules import LocalModule
from games.values import Action, Json, State

NAMESPACE = LocalModule(library.source("trick_taking")).namespace
START = cast("Callable[..., State]", NAMESPACE["initial_state"])
APPLY = cast("Callable[..., State]", NAMESPACE["apply_action"])
LEGAL = cast("Callable[..., list[Action]]", NAMESPACE["get_legal_actions"])
SEE = cast("Callable[..., list[dict[str, Any]]]", NAMESPACE["get_observations"])
HEARTS: dict[str, Json] = {
    "points_per_trick": 0,
    "heart_points": -1,
    "queen_of_spades_points": -13,
    "first_trick_safe": True,
    "hearts_broken": True,
    "passing": 3,
}
WHIST: dict[str, Json] = {"trump": "turned", "partnerships": True, "book": 6}
SPADES: dict[str, Json] = {
    "trump": "spades",
    "bidding": "spades",
    "partnerships": True,
    "points_per_trick": 0,
}


@pytest.mark.parametrize(
    ("name", "players", "parameters"),
    [
        ("weigh_the_trick", 4, HEARTS),
        ("weigh_the_trick", 3, {"heart_points": -1, "last_trick_multiplier": 2}),
        ("weigh_the_trick", 4, WHIST),
        ("weigh_the_trick", 4, SPADES),
        ("weigh_the_trick", 5, {"hand_size": 7, "bidding": "exact", "trump": "turned"}),
        ("weigh_the_trick", 4, {"misere": True}),
        ("high_or_low", 4, HEARTS),
        ("high_or_low", 4, WHIST),
        ("high_or_low", 4, {"misere": True}),
    ],
)
def test_the_heuristic_outscores_random_players(
    name: str, players: int, parameters: dict[str, Json]
) -> None:
    source = library.heuristic_sources("trick_taking")[name]
    score = cast("Callable[..., float]", LocalModule(source).namespace["score"])
    margins = [margin(score, players, parameters, match) for match in range(200)]
    mean = sum(margins) / len(margins)
    error = (sum((x - mean) ** 2 for x in margins)) ** 0.5 / len(margins)
    assert mean > 3 * error


def margin(
    score: Callable[..., float], players: int, parameters: dict[str, Json], match: int
) -> float:
    """Points of the heuristic's side less the mean of all other seats, over one match."""
    rng = random.Random(match)
    state = START(players, **parameters)
    sides = cast("int", state["sides"])
    while state["player"] != -4:
        legal = LEGAL(state)
        action = rng.choice(legal)
        player = cast("int", state["player"])
        if player >= 0 and player % sides == match % sides:
            seen = SEE(state)[player]
            action = max(legal, key=lambda a: score(seen, a))
        state = APPLY(state, action)
    scores = cast("list[float]", state["scores"])
    others = [points for seat, points in enumerate(scores) if seat % sides != match % sides]
    return scores[match % sides] - sum(others) / len(others)
