from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from evals.lechat2026.board import BITS, CELLS, HEALTH, SEA, View, cells_of, random_fleet, ship_at
from evals.lechat2026.fleets import ALL, CODES, FleetKind, Hopes, Worlds, heat_of


def naive(hits: int, misses: int, rng: Random, heat: Sequence[float] | None) -> tuple[int, int]:
    """The attempts of the thesis' program as its description says, one try after the other."""
    for attempt in range(1, 10_001):
        lengths = [5, 4, 3, 3, 2]
        rng.shuffle(lengths)
        fleet, uncovered = 0, cells_of(hits)
        for length in lengths:
            ship = tried(length, uncovered, fleet | misses, rng, heat)
            if not ship:
                break
            fleet |= ship
            uncovered = [cell for cell in uncovered if not BITS[cell] & ship]
        else:
            if not uncovered:
                return attempt, fleet
    raise AssertionError("no fleet was found; required: a position that has one")


def tried(
    length: int, uncovered: list[int], blocked: int, rng: Random, heat: Sequence[float] | None
) -> int:
    if heat is not None:
        uncovered.sort(key=lambda cell: -heat[cell])
    for _ in range(50):
        across = rng.random() < 0.5
        if uncovered:
            target = uncovered[0] if heat is not None else rng.choice(uncovered)
            row, column = divmod(target, 10)
            offset = rng.randrange(length)
            row, column = (row, column - offset) if across else (row - offset, column)
        else:
            row, column = rng.randrange(10), rng.randrange(10)
        ship = ship_at(row, column, length, across=across)
        if ship and not ship & blocked:
            return ship
    return 0


def shot_at(fleet: int, number: int, seed: int) -> View:
    """A view after shots at random cells, every second one at a ship where there is one."""
    rng, view = Random(seed), View()
    for count in range(number):
        free = SEA & ~(view.hits | view.misses)
        aimed = free & fleet if count % 2 else 0
        cell = rng.choice(cells_of(aimed or free))
        if BITS[cell] & fleet:
            view.hits |= BITS[cell]
        else:
            view.misses |= BITS[cell]
    return view


POSITIONS = [shot_at(random_fleet(Random(number)), number, number) for number in (4, 9, 18, 20)]


@pytest.mark.parametrize("kind", ["constraint", "heat map"])
@pytest.mark.parametrize("wanted", [1, 10_000], ids=["one by one", "many at once"])
def test_a_sampled_fleet_explains_every_shot(kind: FleetKind, wanted: int) -> None:
    for view in POSITIONS:
        worlds = Worlds(kind, Random(3), wanted)
        worlds.observe(view, [0.0] * CELLS)
        for _ in range(20):
            fleet = worlds.draw()
            assert fleet.bit_count() == HEALTH
            assert fleet & view.hits == view.hits
            assert not fleet & view.misses
            assert not worlds.used["fallbacks"]
            assert is_fleet(fleet)


def is_fleet(fleet: int) -> bool:
    def left(cells: int, lengths: Sequence[int]) -> bool:
        if not lengths:
            return not cells
        return any(
            left(cells & ~ship, lengths[1:])
            for cell in cells_of(cells)
            for across in (True, False)
            if (ship := ship_at(*divmod(cell, 10), lengths[0], across=across))
            and ship & cells == ship
        )

    return left(fleet, (5, 4, 3, 3, 2))


@pytest.mark.parametrize("kind", ["constraint", "heat map"])
@pytest.mark.parametrize("wanted", [1, 10_000], ids=["one by one", "many at once"])
@pytest.mark.parametrize("place", [1, 2])
def test_samples_have_the_distribution_of_the_attempts_made_one_try_at_a_time(
    kind: FleetKind, wanted: int, place: int
) -> None:
    view, count = POSITIONS[place], 900
    heat = [((cell * 37) % 101) / 101 for cell in range(CELLS)] if kind == "heat map" else None
    worlds, rng = Worlds(kind, Random(8), wanted), Random(9)
    worlds.observe(view, heat)
    ours, theirs, attempts = np.zeros(CELLS), np.zeros(CELLS), []
    for _ in range(count):
        ours[cells_of(worlds.draw())] += 1
        tries, fleet = naive(view.hits, view.misses, rng, heat)
        attempts.append(tries)
        theirs[cells_of(fleet)] += 1
    both = (ours + theirs) / (2 * count)
    error = np.sqrt(np.maximum(both * (1 - both) * 2 / count, 1e-9))
    gaps = np.abs(ours - theirs) / count / error
    # The largest of a hundred normal deviations exceeds 4 once in 160 times.
    assert gaps.max() < 4.3
    mean = float(np.mean(attempts))
    spread = 2**0.5 * mean / count**0.5  # a geometric number's deviation is about its mean
    assert abs(worlds.used["attempts"] / count - mean) < 4 * spread


def test_random_determinization_ignores_every_shot() -> None:
    view = POSITIONS[3]
    worlds = Worlds("random", Random(3), 1)
    worlds.observe(view)
    fleets = [worlds.draw() for _ in range(40)]
    assert any(fleet & view.misses for fleet in fleets)
    assert any(fleet & view.hits != view.hits for fleet in fleets)
    assert worlds.used == {"samples": 40, "attempts": 0, "fallbacks": 0}


@pytest.mark.parametrize("wanted", [1, 10_000], ids=["one by one", "many at once"])
def test_shots_that_no_fleet_explains_end_in_a_counted_fallback(wanted: int) -> None:
    corners = [0, 9, 90, 99, 44, 22]  # six hits that no ship covers two of, for five ships
    view = View(hits=sum(BITS[cell] for cell in corners))
    worlds = Worlds("constraint", Random(3), wanted)
    worlds.observe(view)
    assert worlds.draw().bit_count() == HEALTH
    assert worlds.used == {"samples": 1, "attempts": 10_000, "fallbacks": 1}


def test_before_the_first_shot_a_fleet_takes_no_attempt() -> None:
    worlds = Worlds("constraint", Random(3), 40)
    worlds.observe(View())
    worlds.draw()
    assert worlds.used == {"samples": 1, "attempts": 0, "fallbacks": 0}


def test_heat_is_the_share_of_fleets_over_a_cell() -> None:
    worlds = Worlds("constraint", Random(3), 1)
    worlds.observe(POSITIONS[2])
    heat = heat_of(worlds, 25)
    assert sum(heat) == pytest.approx(HEALTH)
    assert all(heat[cell] == 1 for cell in cells_of(POSITIONS[2].hits))
    assert all(heat[cell] == 0 for cell in cells_of(POSITIONS[2].misses))


def test_hits_that_the_ships_to_come_cannot_cover_leave_no_hope() -> None:
    # Hits 0, 1 and 2: a ship of 2 covers the first two, one of 3 the last.
    hopes = Hopes({5: [], 4: [], 3: [0b100], 2: [0b011]})
    two, three = int(CODES[2]), int(CODES[3])
    assert hopes.may(0b111, two + three)
    assert hopes.may(0b111, ALL)
    assert not hopes.may(0b111, three + three)
    assert not hopes.may(0b111, two)
    found = hopes.left(np.array([0b111, 0b111, 0]), np.array([ALL, two, 0]))
    assert found.tolist() == [True, False, True]
