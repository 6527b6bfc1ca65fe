from random import Random

from evals.lechat2026.board import BITS, SEA, View, cells_of, random_fleet
from evals.lechat2026.fleets import FleetKind
from evals.lechat2026.mcts import TagRules, TreeShooter
from evals.lechat2026.shooters import Condition

FLEET = random_fleet(Random(12))
OWN = random_fleet(Random(13))


def tree(seed: int, kind: FleetKind = "constraint", calls: int = 4000) -> TreeShooter:
    return TreeShooter(TagRules(Random(seed), Condition(kind, "cluster", calls=calls), 10))


def but(*cells: int) -> View:
    """All of the sea shot at but these cells; the other has one of two cells to find."""
    left = sum(BITS[cell] for cell in cells)
    taken = SEA & ~BITS[cells_of(OWN)[0]] & ~BITS[cells_of(SEA & ~OWN)[0]]
    return View(own=OWN, taken=taken, hits=FLEET & ~left, misses=SEA & ~FLEET & ~left)


def test_the_tree_search_has_as_many_iterations_as_the_published_runs() -> None:
    # About 21 at the first move, and each decision ends with the iteration that spends the calls.
    player = tree(1)
    for _ in range(10):
        player.shoot(View(own=OWN))
    assert 20 <= player.used["iterations"] / 10 <= 24
    assert 4000 < player.used["calls"] / 10 < 4200


def test_the_tree_search_never_makes_more_iterations_than_calls() -> None:
    water, ship = cells_of(SEA & ~FLEET)[30], cells_of(FLEET)[3]
    player = tree(1, calls=300)
    player.shoot(but(ship, water))
    # Every iteration that tries the ship ends there after a single call.
    assert player.used["iterations"] <= 301


def test_the_tree_search_draws_a_map_for_every_decision() -> None:
    player = tree(1, "heat map", 200)
    player.shoot(View(own=OWN))
    player.shoot(View(own=OWN, misses=BITS[3], taken=BITS[5]))
    assert player.used["map_samples"] == 20
    assert player.used["samples"] == 20 + player.used["iterations"]
