from random import Random

import numpy as np
import pytest

from evals.battleship.tag_playouts import Playout, Side, playout


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
