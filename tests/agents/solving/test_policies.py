"""Policies by information key, good and bad."""

import pytest

from agents.solving import behaviours_of, cfr_plus, nash_conv, policy_of, uniform
from tests.agents.small_games import KUHN
from tests.agents.solving.games_solved import small


def test_a_policy_by_key_and_its_arrays_are_the_same() -> None:
    game = small(KUHN)
    behaviours = cfr_plus(game, 10)
    policy = policy_of(game, behaviours)
    assert len(policy) == 12
    again = behaviours_of(game, policy)
    assert [b.tolist() for b in again] == [b.tolist() for b in behaviours]


def test_an_action_left_out_has_probability_zero() -> None:
    # Where both always bet, the Jack loses 2 and would lose 1 by passing: one of three cards.
    game = small(KUHN)
    policy = {key: {"b": 1.0} for keys in game.keys for key in keys}
    assert nash_conv(game, behaviours_of(game, policy)).total == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("chances", "complaint"),
    [
        ({"b": 0.5}, "required: at least 0, sum 1"),
        ({"b": 1.5, "p": -0.5}, "required: at least 0, sum 1"),
        ({"b": float("nan")}, "required: at least 0, sum 1"),
        (
            {"raise": 1.0},
            r"'raise' is not legal for seat 0 after deal J, deal Q; legal: \['p', 'b'\]",
        ),
        (None, "says nothing for seat 0 after deal J, deal Q"),
    ],
)
def test_a_policy_that_is_none_is_refused(chances: dict[str, float] | None, complaint: str) -> None:
    game = small(KUHN)
    policy = policy_of(game, uniform(game))
    first = game.keys[0][0]
    if chances is None:
        del policy[first]
    else:
        policy[first] = chances
    with pytest.raises(ValueError, match=complaint):
        behaviours_of(game, policy)
