from collections.abc import Callable
from typing import cast

import pytest

from agents.search.uct import UctSettings
from evals import strength
from evals.results import EvalOptions
from evals.strength import pairs

SETTINGS = UctSettings(simulations=20, exploration=1.0, solver="no")


def test_uct_by_default_loses_no_game_of_tic_tac_toe_in_a_small_sample() -> None:
    settings = UctSettings(simulations=1000, exploration=1.0)
    samples = [*strength.tic_tac_toe(settings, 2, seed=3)]
    assert [(sample["opponent"], sample["seat"]) for sample in samples] == [
        (name, seat) for name in ("random", "itself", "perfect") for seat in (0, 1)
    ]
    assert [sample["lost"] for sample in samples] == [0] * 6


def test_perfect_play_is_perfect_and_its_losses_are_counted() -> None:
    # Two simulations try two actions at random: such play loses to perfect play.
    settings = UctSettings(simulations=2, exploration=1.0, solver="no")
    samples = [*strength.tic_tac_toe(settings, 20, seed=3)][4:]
    assert all(cast("int", sample["lost"]) > 5 for sample in samples)
    assert [sample["won"] for sample in samples] == [0, 0]


def test_a_pair_has_the_same_opening_and_each_seat_once() -> None:
    pytest.importorskip("pyspiel")
    found = [*pairs(SETTINGS, 20, seed=1, count=3)]
    assert found == [*pairs(SETTINGS, 20, seed=1, count=3)]
    assert all(point in (0, 0.25, 0.5, 0.75, 1) for point in found)


def test_twenty_simulations_lose_to_a_thousand() -> None:
    pytest.importorskip("pyspiel")
    assert sum(pairs(SETTINGS, 1000, seed=1, count=4)) <= 1


def test_a_small_sample_is_shown_without_a_bound() -> None:
    pytest.importorskip("pyspiel")
    said: list[str] = []
    tell: Callable[[str], None] = said.append
    score, sample = strength.connect_four(SETTINGS, strength.StrengthSize(1, 2), 0, tell)
    assert score.at_least is sample["required low"] is None
    assert score.value == sample["low"]
    assert said[-1].endswith("of 2 pairs")


def test_without_openspiel_connect_four_is_missing_and_said_so() -> None:
    result = strength.run(EvalOptions(), strength.StrengthSize(1, 2), against_openspiel=False)
    assert "openspiel" in result.unscored["connect four against MCTSBot"]
    assert not result.passed
    assert [score.name for score in result.scores] == ["games of tic-tac-toe lost"]


def test_the_registered_eval_takes_a_quick_variant() -> None:
    from evals.results import find_eval

    assert find_eval("strength").takes == ("quick",)
    assert strength.QUICK.games < strength.FULL.games == 200
    assert EvalOptions(quick=True).quick
