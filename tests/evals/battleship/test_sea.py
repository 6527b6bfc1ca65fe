from random import Random
from typing import Any, cast

import numpy as np
import pytest

from evals.battleship.sea import (
    BITS,
    CELLS,
    HEALTH,
    LENGTHS,
    PLACES,
    SEA,
    cells_of,
    neighbours_in,
    random_fleet,
)
from games import library
from games.contract import Action, Game, LocalModule, State

FILES = "abcdefghij"


def bit_of(cell: str) -> int:
    return BITS[(int(cell[1:]) - 1) * 10 + FILES.index(cell[0])]


def name_of(cell: int) -> str:
    return f"{FILES[cell % 10]}{cell // 10 + 1}"


def ship_of(action: Action) -> int:
    """The cells of "ship a1-a5", worked out from its ends alone."""
    first, last = action.split()[1].split("-")
    ends = [cells_of(bit_of(end))[0] for end in (first, last)]
    step = 1 if ends[0] // 10 == ends[1] // 10 else 10
    return sum(BITS[cell] for cell in range(ends[0], ends[1] + 1, step))


@pytest.fixture(scope="module")
def game() -> Game:
    return Game(LocalModule(library.source("battleship")))


def placed(game: Game, rng: np.random.Generator) -> tuple[State, list[int]]:
    """A game with its fleets placed by the library, and the fleets as bits."""
    state = game.initial_state(2, {})
    fleets = [0, 0]
    count = 0
    while game.current_player(state) < 0:
        actions = game.legal_actions(state)
        chosen = actions[int(rng.integers(len(actions)))]
        fleets[count // len(LENGTHS)] |= ship_of(chosen)
        state = game.apply_action(state, chosen)
        count += 1
    return state, fleets


def test_the_sea_follows_the_library_game_shot_by_shot(game: Game) -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        state, fleets = placed(game, rng)
        fired, hits, seat = [0, 0], [0, 0], 0
        while True:
            assert game.current_player(state) == seat
            free = cells_of(SEA & ~fired[seat])
            assert sorted(game.legal_actions(state)) == sorted(f"fire {name_of(c)}" for c in free)
            cell = free[int(rng.integers(len(free)))]
            state = game.apply_action(state, f"fire {name_of(cell)}")
            fired[seat] |= BITS[cell]
            hits[seat] |= BITS[cell] & fleets[1 - seat]
            told = "hit" if BITS[cell] & fleets[1 - seat] else "miss"
            now = cast("dict[str, Any]", state)
            assert now["shots"][seat][-1] == f"{name_of(cell)} {told}"
            assert now["afloat"][1 - seat] == HEALTH - hits[seat].bit_count()
            if hits[seat] == fleets[1 - seat]:
                break
            seat = 1 - seat
        assert game.current_player(state) == -4
        assert game.rewards(state, 2)[seat] == 1


def test_a_ship_of_a_length_lies_where_the_library_lets_it_lie(game: Game) -> None:
    first = game.legal_actions(game.initial_state(2, {}))
    assert sorted(map(ship_of, first)) == sorted(PLACES[5])
    # 2 * 10 * (11 - length) places each, by hand
    assert [len(PLACES[length]) for length in (5, 4, 3, 2)] == [120, 140, 160, 180]


def test_a_random_fleet_has_the_thesis_ships_and_the_library_distribution(game: Game) -> None:
    rng, numbers = np.random.default_rng(6), Random(6)
    ours = np.zeros(CELLS)
    theirs = np.zeros(CELLS)
    for _ in range(4000):
        fleet = random_fleet(numbers)
        assert fleet.bit_count() == HEALTH
        ours[cells_of(fleet)] += 1
    for _ in range(300):
        for fleet in placed(game, rng)[1]:
            theirs[cells_of(fleet)] += 1
    # By symmetry a corner's share is the mean of four cells; the middle's of four as well.
    for group in ((0, 9, 90, 99), (44, 45, 54, 55)):
        share, other = ours[list(group)].mean() / 4000, theirs[list(group)].mean() / 600
        error = (share * (1 - share) * (1 / 16000 + 1 / 2400)) ** 0.5
        assert abs(share - other) < 4 * error


def test_neighbours_are_counted_within_rows_and_columns() -> None:
    square = BITS[0] | BITS[1] | BITS[10] | BITS[11]
    assert neighbours_in(square) == 4
    assert neighbours_in(BITS[9] | BITS[10]) == 0
    # A full sea has 10 rows of 9 pairs and 10 columns of 9.
    assert neighbours_in(SEA) == 180
