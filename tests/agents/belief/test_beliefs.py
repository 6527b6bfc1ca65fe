import numpy as np
import pytest

from agents.belief.beliefs import Belief, BeliefName, NoDeterminizationError, Situation
from games.contract import ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, game

STATE = """
import random
def resample_state(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    others = [card for card in "JQK" if card != seen["hand"]]
    hands = [seen["hand"], random.choice(others)]
    return {"deck": [], "hands": hands if player_id == 0 else hands[::-1], "bets": seen["bets"]}
"""
HISTORY = """
import random
def resample_history(obs_action_history, player_id, last_is_terminal):
    assert last_is_terminal is False
    seen = obs_action_history[-1][0]
    others = [card for card in "JQK" if card != seen["hand"]]
    hands = [seen["hand"], random.choice(others)]
    hands = hands if player_id == 0 else hands[::-1]
    return ["deal " + card for card in hands] + list(seen["bets"])
"""
WRONG = """
def resample_state(obs_action_history, player_id):
    return {"deck": [], "hands": ["J", "J"], "bets": "pb"}
"""


def situation(extra: str = "") -> Situation:
    """Seat 0 of Kuhn poker holds the Queen, passed and faces a bet."""
    rules, namespace, start = game(KUHN + extra)
    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    return Situation(rules, namespace, start, log, ("p", "b"))


def hands(belief: Belief, count: int = 100) -> set[str]:
    return {str(belief.sample()["hands"]) for _ in range(count)}


@pytest.mark.parametrize(
    ("extra", "name", "used"),
    [
        (STATE, "auto", "resample_state"),
        (HISTORY, "auto", "resample_history"),
        (STATE + HISTORY, "module", "resample_history"),
        ("", "auto", "exact"),
        (STATE, "exact", "exact"),
        (STATE, "replay", "replay"),
    ],
)
def test_every_sampler_gives_both_deals_that_fit(extra: str, name: BeliefName, used: str) -> None:
    belief = Belief(situation(extra), name, 0, np.random.default_rng(0))
    assert hands(belief) == {"['Q', 'J']", "['Q', 'K']"}
    effort = belief.effort()
    assert effort == {"belief": used, "determinizations": 100, "belief_failures": 0}


def test_inconsistent_samples_are_counted_and_replaced() -> None:
    belief = Belief(situation(WRONG), "auto", 0, np.random.default_rng(0))
    assert hands(belief, 20) == {"['Q', 'J']", "['Q', 'K']"}
    assert belief.effort() == {"belief": "exact", "determinizations": 20, "belief_failures": 20}


def test_no_fitting_state_is_an_error_that_names_what_was_tried() -> None:
    belief = Belief(situation(WRONG), "module", 0, np.random.default_rng(0))
    with pytest.raises(NoDeterminizationError, match="seat 0 saw; tried resample_state"):
        belief.sample()
    assert belief.effort() == {
        "belief": "none_found",
        "determinizations": 0,
        "belief_failures": 1,
    }


def test_a_pool_draws_its_determinizations_once() -> None:
    belief = Belief(situation(STATE), "auto", 3, np.random.default_rng(0))
    drawn = [belief.sample() for _ in range(30)]
    assert len({id(state) for state in drawn}) == 3
    assert belief.effort()["determinizations"] == 3


def test_the_same_generator_gives_the_same_states() -> None:
    first, second = (Belief(situation(STATE), "auto", 0, np.random.default_rng(7)) for _ in "ab")
    assert [first.sample() for _ in range(30)] == [second.sample() for _ in range(30)]


def test_asking_for_the_modules_sampler_needs_one() -> None:
    with pytest.raises(ModuleFault, match="use belief=auto"):
        Belief(situation(), "module", 0, np.random.default_rng(0))
