from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import cast

import pytest

from evals.lechat2026.board import (
    BITS,
    CELLS,
    HEALTH,
    SEA,
    Contestant,
    Field,
    GameCounts,
    View,
    cells_of,
    play_duel,
    play_field,
    random_fleet,
)
from evals.lechat2026.ludii import (
    TOURNAMENTS,
    LudiiPlan,
    LudiiTournament,
    ludii_contestants,
    run,
)
from evals.lechat2026.playouts import (
    COVERED,
    DESCRIBED,
    EXECUTED,
    NATIVE,
    LayerSolver,
    PlyBudget,
    Regime,
)
from evals.lechat2026.shooters import AheadShooter
from evals.results import EvalError, EvalOptions

REGIMES: tuple[Regime, ...] = (NATIVE, DESCRIBED, EXECUTED)
TINY = PlyBudget(300)
LAST = 81
FLEET = sum(BITS[c] for c in (0, 1, 2, 3, 4, 20, 21, 22, 23, 40, 41, 42, 60, 61, 62, 80, LAST))


def told(line: str) -> None:
    assert line


def thinking(regime: Regime, budget: PlyBudget) -> list[Contestant]:
    return [one for one in ludii_contestants(regime, budget) if one.name != "random"]


def late() -> View:
    """All is shot but the last ship cell and three cells that no ship can reach.

    The other is as near to its end, so that a lost shot may lose the game.
    """
    fired = SEA & ~sum(BITS[cell] for cell in (LAST, 99, 55, 17))
    return View(own=FLEET, taken=fired, hits=fired & FLEET, misses=fired & ~FLEET, enemy=FLEET)


@pytest.mark.parametrize("regime", REGIMES)
def test_a_certain_winning_shot_is_fired(regime: Regime) -> None:
    for one in thinking(regime, PlyBudget(2000)):
        if regime == EXECUTED and one.name == "OSLA":
            continue  # its square covers the cell, and holds what never explains the shots
        for seed in range(3):
            assert one.make(Random(seed)).shoot(late()) == LAST, one.name


@pytest.mark.parametrize("regime", REGIMES)
def test_nobody_fires_twice_and_the_same_seed_is_the_same_game(regime: Regime) -> None:
    first, *others = ludii_contestants(regime, TINY)
    for other in others[-3:]:
        once = play_duel(first, other, 11, 0)
        assert once == play_duel(first, other, 11, 0)


def pairs(count: int) -> Iterator[tuple[View, View]]:
    """Two views of the same shots with other hidden fleets that both explain them."""
    rng = Random(4)
    while count:
        fleet, fired = random_fleet(rng), sum(BITS[cell] for cell in rng.sample(range(CELLS), 70))
        view = View(random_fleet(rng), hits=fired & fleet, misses=fired & ~fleet, enemy=fleet)
        view.taken = sum(BITS[cell] for cell in rng.sample(range(CELLS), 70))
        solver = LayerSolver(DESCRIBED, rng, 4)
        solver.observe(view)
        fleet = solver.worlds.draw()
        explained = fleet & view.hits == view.hits and not fleet & view.misses
        if explained and fleet.bit_count() == HEALTH and fleet != view.enemy:
            count -= 1
            yield view, View(view.own, view.taken, view.hits, view.misses, 0, fleet)


@pytest.mark.parametrize("regime", REGIMES)
def test_only_the_regimes_that_leak_decide_by_the_hidden_fleet(regime: Regime) -> None:
    shown = list(pairs(8))
    for one in thinking(regime, PlyBudget(20_000)):
        assert one.omniscient == (regime != DESCRIBED)
        changed = [
            one.make(Random(number)).shoot(true) != one.make(Random(number)).shoot(other)
            for number, (true, other) in enumerate(shown)
        ]
        assert any(changed) == (regime != DESCRIBED), one.name


def test_the_layers_square_covers_five_rows_of_each_half() -> None:
    for seat, rows in ((0, range(5, 10)), (1, range(5))):
        covered = [cell for cell in range(CELLS) if COVERED[seat][cell] >= 0]
        assert covered == [10 * row + column for row in rows for column in range(10)]
    # joint cell 5 * 20 + 10 is the eleventh of the square that begins at 100
    assert COVERED[0][50] == 10
    assert COVERED[1][13] == 23


def test_one_step_ahead_as_executed_fires_at_the_true_ships_that_the_square_leaves_out() -> None:
    shooter = AheadShooter(EXECUTED, Random(1))
    view = View(own=FLEET, enemy=FLEET)
    fired = []
    for _ in range(30):
        cell = shooter.shoot(view)
        fired.append(cell)
        view.hits |= BITS[cell] & FLEET
        view.misses |= BITS[cell] & ~FLEET
    above = [cell for cell in cells_of(FLEET) if cell < 50]
    assert [cell for cell in fired if cell < 50 and BITS[cell] & FLEET] != []
    assert set(above) <= set(fired)
    assert {cell for cell in fired if cell < 50} == set(above)


@pytest.mark.parametrize("regime", [NATIVE, EXECUTED])
def test_a_leaking_player_that_is_not_shown_the_fleet_says_so(regime: Regime) -> None:
    for one in thinking(regime, TINY):
        with pytest.raises(ValueError, match="omniscient"):
            one.make(Random(1)).shoot(View(own=FLEET))


def test_a_copy_that_costs_more_leaves_fewer_iterations() -> None:
    cheap, dear = PlyBudget(2000), PlyBudget(2000, copying=200)
    for name in ("UCT", "MAST", "FlatMC"):
        done = []
        for budget in (cheap, dear):
            who = next(one for one in ludii_contestants(NATIVE, budget) if one.name == name)
            shooter = who.make(Random(1))
            shooter.shoot(View(own=FLEET, enemy=FLEET))
            done.append(shooter.used["iterations"])
        assert done[0] > done[1] > 0


@pytest.mark.parametrize("tournament", TOURNAMENTS[:2], ids=lambda one: one.stored)
def test_the_published_pairs_give_the_published_averages(tournament: LudiiTournament) -> None:
    rates = tournament.pairs
    for name, mean in tournament.means.items():
        own = [rate for pair, rate in rates.items() if pair[0] == name]
        own += [1 - rate for pair, rate in rates.items() if pair[1] == name]
        assert sum(own) / len(own) == pytest.approx(mean, abs=1e-9)


def field(plies: int) -> Field:
    return Field("ludii", 5, ludii_contestants(NATIVE, PlyBudget(plies)), {"plies": plies})


def test_a_tournament_goes_on_where_it_ended_and_refuses_another_budget(tmp_path: Path) -> None:
    whole = EvalOptions(tell=told, folder=tmp_path / "whole")
    begun = EvalOptions(tell=told, folder=tmp_path / "begun")
    expected = play_field(field(200), GameCounts(6, 6), whole)
    play_field(field(200), GameCounts(4, 4), begun)
    kept = (tmp_path / "begun" / "ludii.jsonl").read_bytes()
    assert play_field(field(200), GameCounts(6, 6), begun) == expected
    done = (tmp_path / "begun" / "ludii.jsonl").read_bytes()
    assert done == (tmp_path / "whole" / "ludii.jsonl").read_bytes()
    assert set(kept.splitlines()) <= set(done.splitlines())
    with pytest.raises(EvalError):
        play_field(field(201), GameCounts(6, 6), begun)


def test_the_evaluation_lays_every_pair_beside_the_published_one(tmp_path: Path) -> None:
    plan = LudiiPlan(GameCounts(4, 4), (60,), TOURNAMENTS[:1])
    result = run(EvalOptions(seed=3, tell=told, folder=tmp_path), plan)
    rows = {str(row["what"]): row for row in result.samples if row["table"] == "T1"}
    for (one, other), rate in TOURNAMENTS[0].pairs.items():
        assert rows[f"{one} - {other}"]["published"] == pytest.approx(100 * rate, abs=0.06)
    assert set(TOURNAMENTS[0].means) == set(cast("dict[str, object]", rows["matrix"]["rows"]))
    names = {score.name for score in result.scores}
    assert "T1: MAST beats random" in names
    assert "UCT leaking beats itself determinized" in names
    again = run(EvalOptions(seed=3, tell=told, folder=tmp_path), plan)
    assert (again.samples, again.scores) == (result.samples, result.scores)
