import pytest

from agents.belief.exact import TooManyStatesError, posterior
from agents.belief.follow import Follower
from games.contract import Json
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, PENNIES, game


def beliefs(actions: list[str], seat: int) -> dict[tuple[str, ...], float]:
    """Hands by probability, as `seat` sees the Kuhn deal played with `actions`."""
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, actions)[seat]
    found = posterior(Follower(rules, seat, log.entries), start, limit=100)
    return {tuple(_hands(state["hands"])): probability for state, probability in found}


def _hands(hands: Json) -> list[str]:
    assert isinstance(hands, list)
    return [str(card) for card in hands]


def test_unseen_cards_are_equally_likely() -> None:
    # Two of the three cards are unseen; uniform betting tells nothing.
    assert beliefs(["deal Q", "deal K"], 0) == {("Q", "J"): 0.5, ("Q", "K"): 0.5}
    assert beliefs(["deal K", "deal Q", "p", "b"], 0) == {("K", "J"): 0.5, ("K", "Q"): 0.5}
    assert beliefs(["deal J", "deal Q", "b"], 1) == {("J", "Q"): 0.5, ("K", "Q"): 0.5}


def test_an_unseen_choice_stays_open_until_it_is_shown() -> None:
    rules, _, start = game(PENNIES)
    log = logs_of(rules, start, ["go", "heads"])[0]
    found = posterior(Follower(rules, 0, log.entries), start, limit=10)
    done = {str(state["done"]): probability for state, probability in found}
    assert done == {"['go', 'heads']": 0.5, "['go', 'tails']": 0.5}


def test_chance_before_and_after_is_weighted_by_bayes_rule() -> None:
    # A biased coin (3 to 1) is tossed unseen, then shown if it is heads or not at all: tails.
    source = """
def initial_state(num_players): return {"coin": "", "dealt": False}
def get_current_player(state): return -1 if not state["coin"] else 0
def get_legal_actions(state): return ["go"] if state["coin"] else ["red", "blue", "black"]
def get_chance_probabilities(state): return [0.6, 0.2, 0.2]
def apply_action(state, action): return {"coin": action, "dealt": True}
def get_rewards(state): return [0.0]
def get_observations(state): return [{"dark": state["coin"] == "black", "dealt": state["dealt"]}]
def get_events(state, action): return [[]]
"""
    rules, _, start = game(source, 1)
    log = logs_of(rules, start, ["red"])[0]
    found = posterior(Follower(rules, 0, log.entries), start, limit=10)
    # P(red | not black) = 0.6 / 0.8.
    assert {s["coin"]: p for s, p in found} == pytest.approx({"red": 0.75, "blue": 0.25})


def test_a_log_that_no_play_gives_leaves_nothing() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    log.entries[-1]["events"] = ["A trumpet sounds."]
    assert posterior(Follower(rules, 0, log.entries), start, limit=10) == []


def test_too_many_states_are_an_error_not_a_sample() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    with pytest.raises(TooManyStatesError, match="more than 1 states"):
        posterior(Follower(rules, 0, log.entries), start, limit=1)
