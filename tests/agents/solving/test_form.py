"""NashConv, best responses and expected returns, against OpenSpiel and by hand."""

import time
from functools import reduce

import numpy as np
import pyspiel
import pytest

from agents.solving.form import (
    Behaviour,
    SequenceForm,
    best_response,
    cfr_plus,
    expected_returns,
    nash_conv,
    uniform,
)
from tests.agents.small_games import DIE, KUHN, PENNIES, SOON, THREE
from tests.agents.solving.games_solved import preset, small, their_nash_conv, their_policy


def at_random(game: SequenceForm, seed: int) -> tuple[Behaviour, ...]:
    generator = np.random.default_rng(seed)
    return tuple(form.normalised(generator.exponential(size=form.size) ** 3) for form in game.seats)


def always(game: SequenceForm, *wanted: str) -> tuple[Behaviour, ...]:
    """Plays an action of `wanted` where there is one, the first legal action elsewhere."""
    behaviours = []
    for form in game.seats:
        weights = np.zeros(form.size)
        for first, state in zip(form.firsts, form.states, strict=True):
            chosen = next((a for a in state.actions if a in wanted), state.actions[0])
            weights[first + state.actions.index(chosen)] = 1.0
        behaviours.append(form.normalised(weights))
    return tuple(behaviours)


def test_uniform_play_at_kuhn_poker_has_the_published_nash_conv() -> None:
    for game in (small(KUHN), preset("kuhn_poker")):
        assert nash_conv(game, uniform(game)).total == pytest.approx(11 / 12, abs=1e-12)


def test_two_who_always_bet_could_gain_what_the_jack_loses_by_it() -> None:
    # Where both always bet, the Jack loses 2 and would lose 1 by passing: one of three cards.
    game = small(KUHN)
    assert nash_conv(game, always(game, "b")).total == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("name", "players"), [("kuhn_poker", 2), ("kuhn_poker", 3), ("leduc_poker", 2)]
)
def test_nash_conv_agrees_with_openspiel(name: str, players: int) -> None:
    game = preset(name, players)
    policies = [
        uniform(game),
        always(game, "call", "check"),
        always(game, "raise", "bet", "call"),
        always(game, "fold", "check"),
        *(at_random(game, seed) for seed in range(3)),
    ]
    for behaviours in policies:
        assert nash_conv(game, behaviours).total == pytest.approx(
            their_nash_conv(game, name, behaviours), abs=1e-9
        )


def test_expected_returns_agree_with_openspiel_at_leduc_poker() -> None:
    game = preset("leduc_poker")
    ours = (at_random(game, 4)[0], at_random(game, 5)[1])
    policy = their_policy(game, "leduc_poker", ours)
    spiel = pyspiel.load_game("leduc_poker")

    def value(state: "pyspiel.State") -> float:
        if state.is_terminal():
            return float(state.returns()[0])
        chances = (
            state.chance_outcomes()
            if state.is_chance_node()
            else policy[state.information_state_string()]
        )
        return sum(chance * value(state.child(action)) for action, chance in chances if chance)

    expected = value(spiel.new_initial_state())
    assert expected_returns(game, ours) == pytest.approx((expected, -expected), abs=1e-9)


def test_a_best_response_gets_what_it_is_said_to_get() -> None:
    game = preset("leduc_poker")
    against = at_random(game, 1)
    for seat in (0, 1):
        value, response = best_response(game, seat, against)
        played = tuple(response if n == seat else b for n, b in enumerate(against))
        assert expected_returns(game, played)[seat] == pytest.approx(value, abs=1e-9)
        assert set(response.tolist()) == {0.0, 1.0}


def test_returns_of_a_game_with_chance_and_pay_on_the_way_by_hand() -> None:
    # "safe" pays 1; "die" pays 8 with probability 1/16.
    die = small(DIE, 1)
    assert expected_returns(die, uniform(die)) == pytest.approx((0.75,))
    assert nash_conv(die, uniform(die)).best == pytest.approx((1.0,))
    # "quick" pays 2 and then 1; "slow" pays 4 in the end.
    soon = small(SOON, 1)
    assert expected_returns(soon, uniform(soon)) == pytest.approx((3.5,))
    assert nash_conv(soon, uniform(soon)).total == pytest.approx(0.5)


def test_three_seats_with_general_sums_by_hand() -> None:
    # "B" pays (2, 0, 0), "A" then "X" (3, 1, 0), "A" then "Y" (0, 0, 9).
    game = small(THREE, 3)
    found = nash_conv(game, uniform(game))
    assert found.returns == pytest.approx((1.75, 0.25, 2.25))
    assert found.best == pytest.approx((2.0, 0.5, 2.25))
    assert found.total == pytest.approx(0.5)
    assert not game.constant_sum


def test_a_commitment_that_is_not_seen_cannot_be_answered() -> None:
    # Guessing heads or tails unseen is worth 1/2 against a uniform choice, whatever one does.
    game = small(PENNIES)
    assert game.constant_sum
    assert nash_conv(game, uniform(game)).best == pytest.approx((0.5, 0.5))
    assert best_response(game, 0, always(game, "tails"))[0] == pytest.approx(1.0)


def test_mixtures_of_two_seats_policies_are_head_to_head_values() -> None:
    game = preset("kuhn_poker")
    solved, simple = cfr_plus(game, 1000), uniform(game)
    first = expected_returns(game, (solved[0], simple[1]))[0]
    second = expected_returns(game, (simple[0], solved[1]))[1]
    assert first > -1 / 18 - 1e-3  # an equilibrium gets its value against anyone (Kuhn 1950)
    assert second > 1 / 18 - 1e-3
    assert reduce(lambda a, b: a + b, expected_returns(game, simple)) == pytest.approx(0.0)


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


def test_leduc_poker_is_solved_to_a_hundredth_within_ten_seconds_of_a_processor() -> None:
    started = time.process_time()
    game = preset.__wrapped__("leduc_poker")
    average = cfr_plus(game, 300)
    taken = time.process_time() - started
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
