"""CFR+ against OpenSpiel's solver and Kuhn's solution."""

import time

import numpy as np
import pyspiel
import pytest

from agents.solving.cfr import cfr_plus
from agents.solving.exploitability import expected_returns, nash_conv
from tests.agents.small_games import DIE, PENNIES, THREE
from tests.agents.solving.games_solved import preset, small


@pytest.mark.parametrize(
    ("name", "players", "iterations"),
    [("kuhn_poker", 2, 100), ("kuhn_poker", 3, 50), ("leduc_poker", 2, 30)],
)
def test_every_iteration_is_that_of_openspiel(name: str, players: int, iterations: int) -> None:
    spiel = pyspiel.load_game(name, {"players": players})
    solver = pyspiel.CFRPlusSolver(spiel)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    game = preset(name, players)
    assert nash_conv(game, cfr_plus(game, iterations)).total == pytest.approx(
        pyspiel.nash_conv(spiel, solver.average_policy()), rel=1e-6
    )


def test_kuhn_poker_is_worth_a_loss_of_an_eighteenth_to_the_first_seat() -> None:
    game = preset("kuhn_poker")
    average = cfr_plus(game, 2000)
    assert expected_returns(game, average) == pytest.approx((-1 / 18, 1 / 18), abs=1e-4)
    assert nash_conv(game, average).total < 5e-4


def test_kuhn_poker_s_second_seat_has_one_equilibrium() -> None:
    # Kuhn (1950): the second seat bets the Jack with 1/3 after a check, calls with the Queen 1/3.
    game = preset("kuhn_poker")
    form, behaviour = game.seats[1], cfr_plus(game, 5000)[1]
    chance = {
        (state.plies[1], state.plies[2], action): behaviour[first + number]
        for first, state in zip(form.firsts, form.states, strict=True)
        for number, action in enumerate(state.actions)
    }
    assert chance["deal JS", "check", "bet"] == pytest.approx(1 / 3, abs=0.01)
    assert chance["deal QS", "bet", "call"] == pytest.approx(1 / 3, abs=0.01)
    assert chance["deal KS", "bet", "call"] == pytest.approx(1.0, abs=0.01)
    assert chance["deal JS", "bet", "fold"] == pytest.approx(1.0, abs=0.01)


def test_leduc_poker_is_solved_to_a_hundredth_within_ten_seconds() -> None:
    started = time.perf_counter()
    game = preset.__wrapped__("leduc_poker")
    average = cfr_plus(game, 300)
    taken = time.perf_counter() - started
    assert nash_conv(game, average).total <= 0.01
    assert taken <= 10


def test_games_of_one_and_three_seats_and_without_chance_are_solved_too() -> None:
    die, three, pennies = small(DIE, 1), small(THREE, 3), small(PENNIES)
    assert expected_returns(die, cfr_plus(die, 2000)) == pytest.approx((1.0,), abs=1e-2)
    assert expected_returns(pennies, cfr_plus(pennies, 2000)) == pytest.approx((0.5, 0.5))
    assert nash_conv(three, cfr_plus(three, 2000)).total == pytest.approx(0.0, abs=1e-2)


def test_the_same_iterations_give_the_same_solution() -> None:
    game = preset("kuhn_poker")
    for one, other in zip(cfr_plus(game, 20), cfr_plus(game, 20), strict=True):
        np.testing.assert_array_equal(one, other)


def test_no_iterations_are_refused() -> None:
    with pytest.raises(ValueError, match="iterations is 0; required: at least 1"):
        cfr_plus(preset("kuhn_poker"), 0)
