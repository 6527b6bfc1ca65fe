"""Random tic-tac-toe, whose 255,168 games are counted in the literature by their length."""

from math import perm

import pytest

from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.modules import LocalModule
from games.records import MatchRecord
from games.table import GameTable
from tools.playtest.report import branching, draw_share, match_length, seat_share

# Games by length: (won, drawn); a game of k plies has the probability 1 / (9 * 8 * ... k factors).
GAMES = {5: (1440, 0), 6: (5328, 0), 7: (47952, 0), 8: (72576, 0), 9: (81792, 46080)}
CHANCE = {
    length: ((won / perm(9, length)), (drawn / perm(9, length)))
    for length, (won, drawn) in GAMES.items()
}
DRAWN = CHANCE[9][1]
FIRST_WINS = sum(won for length, (won, _) in CHANCE.items() if length % 2)
LENGTH = sum(length * (won + drawn) for length, (won, drawn) in CHANCE.items())


@pytest.fixture(scope="module")
def records() -> list[MatchRecord]:
    table, players = GameTable(Game(LocalModule(library.source("tic_tac_toe")))), [UniformPlayer()]
    return [
        MatchRecord("tic_tac_toe", {}, ("uniform",) * 2, 3, index, match)
        for index in range(1000)
        for match in [play_match(table, players * 2, parameters={}, seed=3, match=index)]
    ]


def test_the_counts_are_a_distribution() -> None:
    assert sum(won + drawn for won, drawn in GAMES.values()) == 255_168
    assert sum(won + drawn for won, drawn in CHANCE.values()) == pytest.approx(1)


def test_intervals_hold_the_counted_values(records: list[MatchRecord]) -> None:
    for estimate, known in (
        (seat_share(records, 0), FIRST_WINS + DRAWN / 2),
        (draw_share(records), DRAWN),
        (match_length(records), LENGTH),
    ):
        assert estimate.low < known < estimate.high
        assert estimate.n == 1000


def test_branching_follows_from_the_length_of_each_match(records: list[MatchRecord]) -> None:
    # A match of k plies offers 9, 8, ..., 10 - k cells: (19 - k) / 2 on average.
    assert branching(records).value == pytest.approx((19 - match_length(records).value) / 2)
