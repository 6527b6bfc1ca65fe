from collections import Counter

import numpy as np
import pytest

from agents.players.greedy import GreedyPlayer
from agents.players.specs import PlayerSpecError
from agents.search.leaves import mean_ranks
from games.engine import PlayerFault
from games.information import SeatLog, Seen
from games.lockstep import SeatView
from games.values import ModuleFault
from tests.agents.players.conftest import Seat

SHORT = "def score(observation, action): return -len(action)"
LAST = "def score(observation, action): return 1000.0 * ord(action[0])"
WANTED = "def score(observation, action): return float(action == observation['wanted'])"
LOG = SeatLog(0, [Seen({"wanted": "ccc"})])
LEGAL = ["a", "bb", "ccc"]


def test_ranks_average_over_heuristics_whatever_their_scale() -> None:
    # Ranks 2, 1, 0 and 0, 2, 1: the middle action has the best mean.
    assert mean_ranks([[3.0, 2.0, 1.0], [-1e9, 1e9, 0.0]]) == [1.0, 1.5, 0.5]


def test_equal_scores_share_their_rank() -> None:
    assert mean_ranks([[7.0, 7.0, 7.0, 0.0]]) == [2.0, 2.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("greedy:heuristic=short", "a"),
        ("greedy:heuristic=last", "ccc"),
        ("greedy:heuristic=wanted", "ccc"),
        ("greedy", "ccc"),  # mean ranks: a (2, 0, .5), bb (1, 1, .5), ccc (0, 2, 2)
    ],
)
def test_plays_what_its_heuristics_score_highest(seat: Seat, spec: str, expected: str) -> None:
    player = seat(spec, heuristics={"short": SHORT, "last": LAST, "wanted": WANTED})
    assert player.choose(LOG, LEGAL, np.random.default_rng(0)).action == expected


def test_equal_actions_are_drawn(seat: Seat) -> None:
    player = seat("greedy", heuristics={"flat": "def score(observation, action): return 1"})
    generator = np.random.default_rng(0)
    counts = Counter(player.choose(LOG, LEGAL, generator).action for _ in range(90))
    assert set(counts) == set(LEGAL)


def test_an_unknown_heuristic_lists_the_known_ones(seat: Seat) -> None:
    with pytest.raises(PlayerSpecError, match="this game's heuristics: last, short"):
        seat("greedy:heuristic=best", heuristics={"short": SHORT, "last": LAST})


def test_a_game_without_heuristics_cannot_be_played_greedily(seat: Seat) -> None:
    with pytest.raises(PlayerSpecError, match="none, so greedy cannot play it"):
        seat("greedy")


def test_a_heuristic_that_fails_is_the_players_fault(seat: Seat) -> None:
    player = seat("greedy", heuristics={"bad": "def score(observation, action): return 1 / 0"})
    with pytest.raises(PlayerFault, match="heuristic 'bad'.*ZeroDivisionError"):
        player.choose(LOG, LEGAL, np.random.default_rng(0))


def test_a_heuristic_that_does_not_load_is_reported_with_its_line(seat: Seat) -> None:
    with pytest.raises(ModuleFault, match="line 2"):
        seat("greedy", heuristics={"bad": "x = 1\ndef score(:"})


def test_many_large_positions_do_not_share_the_time_of_one_call(seat: Seat) -> None:
    """Boards of a hundred actions, side by side: together they take longer than a call may."""
    slow = "def score(observation, action): return -len(action) + 0 * sum(range(20_000))"
    player = seat("greedy", heuristics={"slow": slow})
    assert isinstance(player, GreedyPlayer)
    legal = ["a", *(f"b{number:03}" for number in range(99))]
    view = SeatView(LOG, legal, lambda: np.random.default_rng(0))
    assert {one.action for one in player.choose_many([view] * 80)} == {"a"}
