"""Exploitability of players, by sampling their decisions."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents.players.uniform import RandomPlayer
from agents.solving import measure
from games.engine import Decision
from games.information import SeatLog
from tests.agents.small_games import KUHN
from tests.agents.solving.games_solved import small


class Always:
    """Always plays the same action."""

    def __init__(self, action: str) -> None:
        self.action = action

    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        del log, legal, generator
        return Decision(self.action)


def test_a_player_without_chance_is_measured_exactly() -> None:
    found = measure(small(KUHN), [Always("b"), Always("b")], searches=2, seed=0)
    assert found.nash_conv == found.halves == pytest.approx(2 / 3)  # by hand, as for policies
    assert found.returns == pytest.approx((0.0, 0.0))


def test_finitely_many_samples_of_random_play_show_a_nash_conv_too_high_that_falls() -> None:
    game = small(KUHN)
    few = [measure(game, [RandomPlayer()] * 2, searches=4, seed=seed) for seed in range(40)]
    many = measure(game, [RandomPlayer()] * 2, searches=1000, seed=0)
    assert many.nash_conv == pytest.approx(11 / 12, abs=0.05)
    mean = float(np.mean([found.nash_conv for found in few]))
    halves = float(np.mean([found.halves for found in few]))
    assert 11 / 12 + 0.05 < mean < halves


def test_samples_depend_on_the_seed_alone() -> None:
    game = small(KUHN)
    one, same, other = (
        measure(game, [RandomPlayer()] * 2, searches=10, seed=seed).nash_conv for seed in (1, 1, 2)
    )
    assert one == same != other


def test_players_see_nothing_but_the_log_of_their_state() -> None:
    game = small(KUHN)
    shown: list[SeatLog] = []

    class Spy(RandomPlayer):
        def choose(
            self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
        ) -> Decision:
            shown.append(log)
            return super().choose(log, legal, generator)

    measure(game, [Spy(), Spy()], searches=20, seed=0)
    assert [(log.seat, game.find(log)) for log in shown[::20]] == [
        (seat, state) for seat in (0, 1) for state in range(6)
    ]


def test_states_that_own_decisions_never_enter_are_not_asked_for() -> None:
    # Who always bets is never asked again; who always passes is, after a bet of the other seat.
    game = small(KUHN)
    betting = measure(game, [Always("b"), Always("b")], searches=4, seed=0)
    passing = measure(game, [Always("p"), Always("p")], searches=4, seed=0)
    assert (betting.asked, passing.asked) == (4 * (3 + 6), 4 * (6 + 6))
    # Where both always pass, each would win 1 for sure by betting.
    assert betting.nash_conv == pytest.approx(2 / 3)
    assert passing.nash_conv == pytest.approx(2.0)


@pytest.mark.parametrize("searches", [0, 1, 3])
def test_a_number_of_samples_without_two_halves_is_refused(searches: int) -> None:
    with pytest.raises(ValueError, match="required: an even number, at least 2"):
        measure(small(KUHN), [RandomPlayer()] * 2, searches=searches, seed=0)


def test_an_illegal_answer_is_no_measurement() -> None:
    with pytest.raises(ValueError, match="seat 0 chose 'pass'; legal:"):
        measure(small(KUHN), [Always("pass")] * 2, searches=2, seed=0)
