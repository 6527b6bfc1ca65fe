from collections import Counter

import numpy as np

from agents.belief.follow import Follower
from agents.belief.replay import ReplaySampler
from agents.search.rollouts import uniforms
from agents.search.rules import Rules
from games.contract import State
from games.information import SeatLog
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, game


def sampler(rules: Rules, log: SeatLog, start: State, budget: int = 100_000) -> ReplaySampler:
    draw = uniforms(np.random.default_rng(0)).__next__
    return ReplaySampler(Follower(rules, log.seat, log.entries), start, draw, budget)


def test_samples_are_the_deals_that_fit_equally_often() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    samples = sampler(rules, log, start)
    hands: Counter[str] = Counter()
    for _ in range(400):
        state = samples.sample()
        assert state is not None
        assert state["bets"] == "pb"
        hands[str(state["hands"])] += 1
    assert hands.keys() == {"['Q', 'J']", "['Q', 'K']"}
    assert abs(hands["['Q', 'J']"] - 200) < 60  # six standard deviations of a fair coin


def test_goes_back_where_a_hidden_card_was_needed_later() -> None:
    # Seat 1 sees only its own card, dealt second: the first deal must have left it in the deck.
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal J", "deal K", "p"])[1]
    samples = sampler(rules, log, start)
    states = [samples.sample() for _ in range(200)]
    assert {str(s["hands"]) for s in states if s} == {"['J', 'K']", "['Q', 'K']"}
    assert None not in states


def test_gives_up_within_its_budget() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    log.entries[-1]["events"] = ["A trumpet sounds."]
    samples = sampler(rules, log, start, budget=50)
    assert samples.sample() is None
    assert samples.cost.calls == 50


def test_a_log_of_another_game_is_not_replayed() -> None:
    rules, _, start = game(KUHN)
    log = SeatLog(0, [{"observation": {"hand": "K"}, "events": []}])
    assert sampler(rules, log, start).sample() is None
