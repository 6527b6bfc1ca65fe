"""Information states: counted by hand, keyed by the seats' own logs."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents.solving.enumeration import (
    PLAYS,
    TooManyHistoriesError,
    enumerate_game,
    estimated_histories,
)
from games import library
from games.contract import Game
from games.engine import Decision, play_match
from games.information import SeatLog, Seen, information_key
from games.modules import LocalModule, bind, load_namespace
from games.table import GameTable
from games.values import ModuleFault
from tests.agents.small_games import KUHN, PENNIES, TIC_TAC_TOE
from tests.agents.small_games import game as small_game
from tests.agents.solving.games_solved import preset, small


@pytest.mark.parametrize(
    ("name", "players", "states"),
    [("kuhn_poker", 2, 12), ("leduc_poker", 2, 936), ("kuhn_poker", 3, 48)],  # Lanctot et al. 2019
)
def test_the_poker_presets_have_the_published_number_of_information_states(
    name: str, players: int, states: int
) -> None:
    assert preset(name, players).num_states == states


def test_kuhn_poker_has_the_histories_that_a_hand_count_gives() -> None:
    # 1 + 3 + 6 deals; from each of the 6 deals 8 betting histories more, 5 of them ends.
    game = small(KUHN)
    assert (game.histories, len(game.seats[0].ends)) == (1 + 3 + 6 + 6 * 8, 30)
    assert game.constant_sum


def test_what_chance_hides_from_everybody_is_one_end() -> None:
    # After one action the die is cast unseen: two histories end, one sequence leads there.
    game = small(
        """
def initial_state(num_players):
    return {"done": []}


def get_current_player(state):
    return (0, -1, -4)[len(state["done"])]


def get_legal_actions(state):
    return (["go"], ["low", "high"], [])[len(state["done"])]


def get_chance_probabilities(state):
    return [0.25, 0.75]


def apply_action(state, action):
    return {"done": state["done"] + [action]}


def get_rewards(state):
    return [4.0 if state["done"][1:] == ["high"] else 0.0]


def get_observations(state):
    return [{}]
""",
        1,
    )
    assert (game.histories, game.seats[0].payoffs.tolist()) == (4, [3.0])


class _Asked:
    """Plays at random and keeps every log that it was shown."""

    def __init__(self) -> None:
        self.logs: list[SeatLog] = []

    def choose(
        self, log: SeatLog, legal: Sequence[str], generator: np.random.Generator
    ) -> Decision:
        self.logs.append(SeatLog(log.seat, list(log.entries)))
        return Decision(legal[int(generator.integers(len(legal)))])


def test_the_keys_are_those_of_the_logs_that_a_referee_writes() -> None:
    game, player = preset("leduc_poker"), _Asked()
    table = GameTable(Game(LocalModule(library.source("leduc_poker"))))
    for match in range(60):
        play_match(table, [player, player], parameters={}, seed=3, match=match)
    found = [(log.seat, game.find(log), information_key(log)) for log in player.logs]
    assert len(found) > 180
    for seat, state, key in found:
        assert state is not None
        assert information_key(game.log(seat, state)) == key


def test_a_log_that_no_play_leads_to_is_not_found() -> None:
    game = small(KUHN)
    log = game.log(0, 0)
    assert game.find(log) == 0
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    assert game.find(log) is None
    assert game.find(SeatLog(0)) is None
    assert game.find(SeatLog(9, log.entries)) is None


def test_seats_that_cannot_tell_two_histories_apart_share_a_state() -> None:
    # Seat 0 says "go" and guesses without having seen seat 1's commitment.
    game = small(PENNIES)
    assert [len(form.states) for form in game.seats] == [2, 1]


def test_a_game_with_too_many_histories_is_refused_with_the_count() -> None:
    rules, _, initial = small_game(TIC_TAC_TOE)
    with pytest.raises(
        TooManyHistoriesError, match="more than 1000 histories: .* of up to 9 plies"
    ):
        enumerate_game(rules, initial, limit=1000)
    with pytest.raises(ValueError, match="limit is 0"):
        enumerate_game(rules, initial, limit=0)


def test_a_game_that_never_ends_is_refused() -> None:
    endless = PENNIES.replace('"done": state["done"] + [action]', '"done": []')
    rules, _, initial = small_game(endless)
    with pytest.raises(TooManyHistoriesError, match="more than 5000 histories"):
        enumerate_game(rules, initial, limit=5000)


def test_legal_actions_that_betray_what_a_seat_cannot_see_are_the_module_s_fault() -> None:
    betraying = PENNIES.replace(
        '(["go"], ["heads", "tails"], ["heads", "tails"], [])[len(state["done"])]',
        '(["go"], ["heads", "tails"], ["heads", "tails"], [])[len(state["done"])]'
        '[: 1 if state["done"][1:] == ["tails"] else 2]',
    )
    rules, _, initial = small_game(betraying)
    with pytest.raises(ModuleFault, match="get_legal_actions: bad_value.*cannot tell"):
        enumerate_game(rules, initial)


def test_a_match_without_legal_actions_before_its_end_is_the_module_s_fault() -> None:
    rules, _, initial = small_game(KUHN.replace('["p", "b"]', "[]"))
    with pytest.raises(ModuleFault, match="get_legal_actions"):
        enumerate_game(rules, initial)


def test_random_plays_estimate_the_number_of_histories_without_bias() -> None:
    rules, _, initial = small_game(TIC_TAC_TOE)
    generator = np.random.default_rng(0)
    estimates = [estimated_histories(rules, initial, generator) for _ in range(200)]
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - 549_946) < 4 * error  # nodes of its game tree, by counting
    assert error < 5000 * PLAYS


def test_a_game_far_too_large_is_seen_at_once() -> None:
    namespace = load_namespace(library.source("connect_four"))
    rules = bind(namespace, 2)
    start = namespace["initial_state"]
    assert callable(start)
    assert estimated_histories(rules, start(2), np.random.default_rng(0), enough=1e8) > 1e8
