"""Random tic-tac-toe, whose 255,168 games are counted in the literature by their length."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import perm

import pytest

from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game, LocalModule
from games.table import GameTable, Table
from tools.playtest import (
    Entrant,
    Series,
    SeriesSettings,
    branching,
    draw_share,
    first_seat_advantage,
    match_length,
    play_series,
)

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
def series() -> Series:
    table = GameTable(Game(LocalModule(library.source("tic_tac_toe"))))

    @contextmanager
    def tables() -> Iterator[Table]:
        yield table

    uniform = Entrant("uniform", lambda seat, match: UniformPlayer())
    settings = SeriesSettings(game="tic_tac_toe", source_id="library", matches=1000, seed=3)
    return play_series(tables, [uniform, uniform], settings)


def test_the_counts_are_a_distribution() -> None:
    assert sum(won + drawn for won, drawn in GAMES.values()) == 255_168
    assert sum(won + drawn for won, drawn in CHANCE.values()) == pytest.approx(1)


def test_intervals_hold_the_counted_values(series: Series) -> None:
    for estimate, known in (
        (first_seat_advantage(series.records), FIRST_WINS + DRAWN / 2 - 0.5),
        (draw_share(series.records), DRAWN),
        (match_length(series.records), LENGTH),
    ):
        assert estimate.low < known < estimate.high
        assert estimate.n == 1000


def test_branching_follows_from_the_length_of_each_match(series: Series) -> None:
    # A match of k plies offers 9, 8, ..., 10 - k cells: (19 - k) / 2 on average.
    assert branching(series.records).value == pytest.approx(
        (19 - match_length(series.records).value) / 2
    )
