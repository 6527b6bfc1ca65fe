from collections import Counter

import numpy as np
import pytest

from agents.belief.exact import (
    HiddenInformationError,
    KeptPlaces,
    ReplaySampler,
    TooManyStatesError,
    known_state,
    posterior,
    require_perfect_information,
)
from agents.belief.follow import CallCount, Follower, counted_rules
from games.information import SeatLog, Seen
from games.modules import Rules
from games.streams import uniforms
from games.values import Json, State
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import DIE, KUHN, PENNIES, THREE, TIC_TAC_TOE, game


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


def test_a_long_match_leaves_the_same_shares_as_a_short_one() -> None:
    # Each of the tosses has 1/8; after 400 of them the product is 0 as a float.
    source = """
def initial_state(num_players): return {"tosses": 0, "first": ""}
def get_current_player(state): return -1 if state["tosses"] < LAST else 0
def get_legal_actions(state): return ["go"] if state["tosses"] == LAST else [*"abcdefgh"]
def apply_action(state, action):
    return {"tosses": state["tosses"] + 1, "first": state["first"] or action}
def get_rewards(state): return [0.0]
def get_observations(state): return [{"tosses": state["tosses"], "early": state["first"] < "c"}]
def get_events(state, action): return [[action] if state["tosses"] else []]
"""
    for last in (2, 400):
        rules, _, start = game(source.replace("LAST", str(last)), 1)
        log = logs_of(rules, start, ["a", *["b"] * (last - 1)])[0]
        found = posterior(Follower(rules, 0, log.entries), start, limit=10)
        assert {s["first"]: p for s, p in found} == {"a": 0.5, "b": 0.5}


def test_a_log_that_no_play_gives_leaves_nothing() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    assert posterior(Follower(rules, 0, log.entries), start, limit=10) == []


def test_too_many_states_are_an_error_not_a_sample() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    with pytest.raises(TooManyStatesError, match="more than 1 states"):
        posterior(Follower(rules, 0, log.entries), start, limit=1)


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
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    with pytest.raises(HiddenInformationError, match="0 full states"):
        known_state(Follower(rules, 0, log.entries), start)


@pytest.mark.parametrize(("source", "players"), [(TIC_TAC_TOE, 2), (DIE, 1), (THREE, 3)])
def test_open_games_pass(source: str, players: int) -> None:
    rules, _, start = game(source, players)
    asked = CallCount()
    require_perfect_information(counted_rules(rules, asked), start, np.random.default_rng(0))
    assert asked.calls > 0, "what was never asked for cannot be open"


def test_a_seats_log_is_followed_once_however_many_decisions_are_held_against_it() -> None:
    rules, _, start = game(TIC_TAC_TOE)
    played, count = CallCount(), CallCount()
    require_perfect_information(counted_rules(rules, count), start, np.random.default_rng(0), 1)
    moves = ["4", "0", "8", "1", "7", "6", "2", "5"]  # nobody has won
    for seat, plies in ((0, 8), (1, 7)):
        log = logs_of(rules, start, moves[:plies])[seat]
        known_state(Follower(counted_rules(rules, played), seat, log.entries), start)
    assert count.calls < 1.5 * played.calls


@pytest.mark.parametrize("source", [KUHN, PENNIES])
def test_hidden_cards_and_hidden_commits_do_not(source: str) -> None:
    rules, _, start = game(source)
    with pytest.raises(HiddenInformationError):
        require_perfect_information(rules, start, np.random.default_rng(0))


def sampler(
    rules: Rules,
    log: SeatLog,
    start: State,
    budget: int = 100_000,
    kept: KeptPlaces | None = None,
) -> ReplaySampler:
    draw = uniforms(np.random.default_rng(0)).__next__
    return ReplaySampler(Follower(rules, log.seat, log.entries), start, draw, budget, kept)


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
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    samples = sampler(rules, log, start, budget=50)
    assert samples.sample() is None
    assert samples.cost.calls == 50


def test_a_log_of_another_game_is_not_replayed() -> None:
    rules, _, start = game(KUHN)
    log = SeatLog(0, [Seen({"hand": "K"})])
    assert sampler(rules, log, start).sample() is None


def test_places_that_are_kept_change_neither_samples_nor_their_cost() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal J", "deal K", "p"])[1]
    told = []
    for places in (0, 1000):
        # The budget is spent in the middle of a sample.
        samples = sampler(rules, log, start, budget=700, kept=KeptPlaces(most=places))
        told.append(([samples.sample() for _ in range(60)], samples.cost.calls))
        assert bool(samples.cost.skipped) == bool(places)
    assert told[0] == told[1]
    assert told[0][0][0] is not None
    assert told[0][0][-1] is None


def test_places_kept_from_the_decision_before_change_nothing() -> None:
    rules, _, start = game(KUHN)
    plies = ["deal J", "deal K", "p", "b", "p"]
    kept = KeptPlaces()
    for end in (3, 2, 4, 5):  # also a log that goes back, as of another match
        log = logs_of(rules, start, plies[:end])[1]
        follower = Follower(rules, log.seat, log.entries)
        told = []
        for places in (None, kept):
            draw = uniforms(np.random.default_rng(end)).__next__
            samples = ReplaySampler(follower, start, draw, 500, places)
            told.append(([samples.sample() for _ in range(40)], samples.cost.calls))
        assert told[0] == told[1]
