import numpy as np
import pytest

from agents.belief.follow import Follower
from agents.belief.recover import (
    HiddenInformationError,
    known_state,
    require_perfect_information,
)
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import DIE, KUHN, PENNIES, THREE, TIC_TAC_TOE, game


def test_the_state_is_recovered_from_the_log_alone() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    log = logs_of(rules, start, ["4", "0", "8"])[1]
    state = known_state(Follower(rules, 1, log.entries), start)
    assert state == {"board": "o...x...x", "turn": 1, "won": -1}


def test_several_possible_states_are_refused() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    with pytest.raises(HiddenInformationError, match="2 full states fit what seat 0 saw"):
        known_state(Follower(rules, 0, log.entries), start)


def test_a_log_that_no_play_gives_is_refused() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    log = logs_of(rules, start, ["4", "0"])[0]
    log.entries[-1]["events"] = ["A trumpet sounds."]
    with pytest.raises(HiddenInformationError, match="0 full states"):
        known_state(Follower(rules, 0, log.entries), start)


@pytest.mark.parametrize(("source", "players"), [(TIC_TAC_TOE, 2), (DIE, 1), (THREE, 3)])
def test_open_games_pass(source: str, players: int) -> None:
    rules, _, start = game(source, players)
    require_perfect_information(rules, start, np.random.default_rng(0))


@pytest.mark.parametrize("source", [KUHN, PENNIES])
def test_hidden_cards_and_hidden_commits_do_not(source: str) -> None:
    rules, _, start = game(source)
    with pytest.raises(HiddenInformationError):
        require_perfect_information(rules, start, np.random.default_rng(0))
