from random import Random

import numpy as np
import pytest

from evals.lechat2026.board import BITS, CELLS, SEA, cells_of, random_fleet
from evals.lechat2026.playouts import (
    EPSILON,
    AtRandom,
    Leaf,
    MoveAverages,
    Playout,
    Side,
    playout,
    race,
)


def by_shots(first: Side, second: Side, rng: Random) -> tuple[bool, int, list[int]]:
    """The same played shot by shot: who won, the shots, hits of each."""
    orders = [rng.sample(range(side.cells), side.cells) for side in (first, second)]
    hits, plies, who = [0, 0], 0, 0
    sides = (first, second)
    while True:
        plies += 1
        hits[who] += orders[who].pop() < sides[who].ships
        if hits[who] == sides[who].need:
            return who == 0, plies, hits
        who = 1 - who


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Side(100, 17, 17), Side(100, 17, 17)),
        (Side(40, 5, 5), Side(38, 4, 4)),
        (Side(60, 9, 6), Side(60, 8, 8)),  # more ships than health: a fleet that ignores the shots
        (Side(30, 2, 5), Side(30, 3, 3)),  # fewer: it cannot win
        (Side(1, 1, 1), Side(9, 2, 2)),
    ],
)
def test_a_playout_ends_as_one_played_shot_by_shot(first: Side, second: Side) -> None:
    ours, theirs = Random(1), Random(2)
    found = np.array([summary(playout(first, second, ours)) for _ in range(4000)], dtype=float)
    played = np.array(
        [
            (won, plies, hits[1 if won else 0])
            for won, plies, hits in (by_shots(first, second, theirs) for _ in range(4000))
        ],
        dtype=float,
    )
    for column in range(3):
        error = (found[:, column].var() / 4000 + played[:, column].var() / 4000) ** 0.5
        assert abs(found[:, column].mean() - played[:, column].mean()) <= 4 * error


def summary(ended: Playout) -> list[float]:
    won, plies, fired, places = ended
    loser = 1 if won else 0
    return [won, plies, sum(place < fired[loser] for place in places[loser])]


def test_a_playout_that_nobody_can_win_is_an_error() -> None:
    with pytest.raises(ValueError, match="required: ships for one"):
        playout(Side(30, 2, 5), Side(30, 2, 3), Random(1))


def test_small_races_are_those_counted_by_hand() -> None:
    assert race(1, 1, 1, 1) == (1.0, 1.0)
    assert race(2, 1, 1, 1) == (0.5, 1.5)
    assert race(3, 0, 5, 2) == pytest.approx((1.0, 1.0))
    found = race(2, 2, 2, 1)  # 2 shots needed; the other needs 1 or 2, each half the time
    assert found.first == pytest.approx(0.5)
    assert found.plies == pytest.approx(0.5 * 2 + 0.5 * 3)


@pytest.mark.parametrize("sides", [(100, 17, 100, 17), (40, 3, 60, 5), (20, 6, 11, 4)])
def test_races_are_what_playing_them_gives(sides: tuple[int, int, int, int]) -> None:
    rng, games = Random(3), 4000
    first, second = Side(sides[0], sides[1], sides[1]), Side(sides[2], sides[3], sides[3])
    played = [playout(first, second, rng) for _ in range(games)]
    found = race(*sides)
    wins = sum(game.won for game in played) / games
    assert abs(wins - found.first) < 4 * (0.25 / games) ** 0.5
    plies = [game.plies for game in played]
    mean = sum(plies) / games
    spread = (sum((value - mean) ** 2 for value in plies) / games) ** 0.5
    assert abs(mean - found.plies) < 4 * spread / games**0.5


@pytest.mark.parametrize("sides", [(3, 4, 5, 1), (3, 1, 2, 3), (0, 0, 3, 1)])
def test_a_race_of_more_ships_than_cells_is_refused(sides: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="required"):
        race(*sides)


def leaf(rng: Random, fired: int) -> Leaf:
    shots = [sum(BITS[cell] for cell in rng.sample(range(CELLS), fired)) for _ in range(2)]
    return Leaf(rng.randrange(2), (shots[0], shots[1]), (random_fleet(rng), random_fleet(rng)))


def test_a_playout_by_averages_fires_at_every_cell_once_and_ends_with_the_last_ship() -> None:
    rng = Random(5)
    playouts = MoveAverages(rng)
    for count in range(300):
        if count % 50 == 0:
            playouts.begin()
        start = leaf(rng, count % 60)
        end = playouts.play(start)
        assert end.shots is not None
        for player in (0, 1):
            shots = end.shots[player]
            assert len(set(shots)) == len(shots)
            assert not any(BITS[cell] & start.fired[player] for cell in shots)
            left = start.fleets[player] & ~start.fired[player]
            sunk = not left & ~sum(BITS[cell] for cell in shots)
            assert sunk == (player == end.winner)
            if sunk:
                assert BITS[shots[-1]] & left
            playouts.learn(player, shots, 1.0 if sunk else -1.0)
        lead = len(end.shots[start.mover]) - len(end.shots[1 - start.mover])
        assert lead == (1 if end.winner == start.mover else 0)
        assert end.plies == sum(map(len, end.shots))


def test_the_first_shot_by_averages_is_the_best_one_but_for_chance() -> None:
    rng = Random(8)
    playouts = MoveAverages(rng)
    every = cells_of(SEA)
    playouts.learn(0, [cell for cell in every if cell != 37], -1.0)
    start = Leaf(0, (0, 0), (random_fleet(rng), random_fleet(rng)))
    games = 2000
    first = [end.shots[0][0] for end in (playouts.play(start) for _ in range(games)) if end.shots]
    expected = 1 - EPSILON + EPSILON / CELLS
    assert abs(first.count(37) / games - expected) < 4 * (expected * (1 - expected) / games) ** 0.5


def test_random_playouts_win_as_often_as_the_race_says() -> None:
    rng = Random(2)
    playouts, start = AtRandom(rng), leaf(rng, 30)
    mover, other = start.mover, 1 - start.mover
    sides = [(start.fleets[player] & ~start.fired[player]).bit_count() for player in (0, 1)]
    chance = race(70, sides[mover], 70, sides[other]).first
    won = sum(playouts.play(start).winner == mover for _ in range(4000)) / 4000
    assert abs(won - chance) < 4 * (0.25 / 4000) ** 0.5
