from random import Random

import pytest

from evals.lechat2026.board import BITS, SEA, View, cells_of, random_fleet
from evals.lechat2026.fleets import FleetKind
from evals.lechat2026.mcts import TagRules, TreeShooter
from evals.lechat2026.shooters import Condition, HillClimber, OneStep, bonus, position_value

FLEET = random_fleet(Random(12))
OWN = random_fleet(Random(13))


def tree(seed: int, kind: FleetKind = "constraint", calls: int = 4000) -> TreeShooter:
    return TreeShooter(TagRules(Random(seed), Condition(kind, "cluster", calls=calls), 10))


def but(*cells: int) -> View:
    """All of the sea shot at but these cells; the other has one of two cells to find."""
    left = sum(BITS[cell] for cell in cells)
    taken = SEA & ~BITS[cells_of(OWN)[0]] & ~BITS[cells_of(SEA & ~OWN)[0]]
    return View(own=OWN, taken=taken, hits=FLEET & ~left, misses=SEA & ~FLEET & ~left)


def test_the_heuristics_are_the_hand_counted_values() -> None:
    row = BITS[0] | BITS[1] | BITS[2]
    square = row | BITS[10] | BITS[11]
    assert bonus(row, "cluster") == pytest.approx(0.5 * 2 / 5)
    assert bonus(square, "cluster") == pytest.approx(0.5)  # five pairs
    assert bonus(square | BITS[12], "cluster") == pytest.approx(0.5)  # seven count as five
    assert position_value(row, 3, "score") == pytest.approx(3 / 17)
    assert position_value(row, 3, "cluster") == pytest.approx(3 / 17 + 0.2)


@pytest.mark.parametrize("kind", ["constraint", "heat map"])
def test_every_search_player_fires_at_the_one_cell_that_must_hold_a_ship(kind: FleetKind) -> None:
    ship = cells_of(FLEET)[3]
    water = cells_of(SEA & ~FLEET)[30]
    view = but(ship, water)
    heat = tuple([0.0] * 100)
    for seed in range(4):
        assert OneStep(Random(seed), Condition(kind, "cluster", heat)).shoot(view) == ship
        assert HillClimber(Random(seed), Condition(kind, "cluster", heat)).shoot(view) == ship
        assert tree(seed, kind, 200).shoot(view) == ship


def test_one_step_completes_a_row_rather_than_starting_another() -> None:
    # The only fleet cells open: one beside two hits in a row, one alone.
    fleet_cells = cells_of(FLEET)
    beside = next(c for c in fleet_cells if BITS[c] & (FLEET << 1 | FLEET << 10))
    alone = max(fleet_cells, key=lambda c: min(abs(c - beside), 50))
    view = View(own=OWN, hits=0, misses=SEA & ~FLEET)
    view.hits = BITS[next(c for c in fleet_cells if c in (beside - 1, beside - 10))]
    shots = {
        OneStep(Random(seed), Condition("constraint", "cluster")).shoot(view) for seed in range(12)
    }
    assert alone not in shots
    neighbours = {c for h in cells_of(view.hits) for c in (h - 10, h - 1, h + 1, h + 10)}
    assert shots <= neighbours


def test_one_step_spends_a_call_a_cell_and_a_fleet_a_decision() -> None:
    player = OneStep(Random(1), Condition("constraint", "cluster"))
    player.shoot(View(own=OWN))
    player.shoot(View(own=OWN, misses=BITS[3]))
    used = player.used
    assert (used["decisions"], used["calls"], used["samples"]) == (2, 199, 2)


def test_the_hill_climber_fires_at_a_hit_of_its_fleet_about_as_often_as_its_draws_find_one() -> (
    None
):
    # 4,000 calls of playouts of some 180 shots are about 23 random first shots at 17 cells in 100:
    # 1 - 0.83 ** 23 = 98.6 % see a hit, so that the first shot is then at a ship of the sample.
    player = HillClimber(Random(1), Condition("constraint", "cluster"))
    for _ in range(20):
        player.shoot(View(own=OWN))
    assert 4000 <= player.used["calls"] / 20 < 4200
