import random
from collections import Counter
from typing import cast

import pytest

from games.contract import Game
from games.values import CHANCE, TERMINAL, IllegalActionError, Json, ModuleFault, State
from tests.games.library.table import after, greedy, heuristic, load, mean_against_random, unpassed

SMALL: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
FLEETS = ["ship a1-c1", "ship a3-a4", "ship b2-b4", "ship d1-d2"]


def _placed(**parameters: Json) -> tuple[Game, State]:
    """Player 1 holds a1-c1 and a3-a4; Player 2 holds b2-b4 and d1-d2."""
    game = load("battleship")
    return game, after(game, game.initial_state(2, {**SMALL, **parameters}), FLEETS)


def _cells(placement: str) -> list[tuple[int, int]]:
    (c1, r1), (c2, r2) = ((ord(end[0]), int(end[1:])) for end in placement.split("-"))
    return [(r, c) for r in range(r1, r2 + 1) for c in range(c1, c2 + 1)]


def _dealt(rng: random.Random, **parameters: Json) -> tuple[Game, State]:
    game = load("battleship")
    state = game.initial_state(2, parameters)
    while game.current_player(state) == CHANCE:
        state = game.apply_action(state, rng.choice(game.legal_actions(state)))
    return game, state


def test_the_default_fleet_is_that_of_the_thesis_and_never_overlaps() -> None:
    for seed in range(20):
        _, state = _dealt(random.Random(seed))
        for fleet in cast("list[list[str]]", state["fleets"]):
            assert [len(_cells(ship)) for ship in fleet] == [5, 4, 3, 3, 2]
            cells = [cell for ship in fleet for cell in _cells(ship)]
            assert len(set(cells)) == 17
            assert all(1 <= row <= 10 and "a" <= chr(column) <= "j" for row, column in cells)


def test_the_first_ship_has_every_place_on_an_empty_sea() -> None:
    game = load("battleship")
    # A ship of 5 fits 6 times along each of 10 rows and 10 columns.
    assert len(game.legal_actions(game.initial_state(2, {}))) == 2 * 10 * 6


def test_ships_keep_apart_where_they_may_not_touch() -> None:
    for seed in range(20):
        _, state = _dealt(random.Random(seed), ships="4,3,3,2,2,2,1,1,1,1", touching=False)
        for fleet in cast("list[list[str]]", state["fleets"]):
            ships = [_cells(ship) for ship in fleet]
            for index, ship in enumerate(ships):
                others = [cell for other in ships[:index] for cell in other]
                assert all(max(abs(r - s), abs(c - d)) > 1 for r, c in ship for s, d in others)


def test_a_fleet_without_room_for_its_next_ship_is_placed_anew() -> None:
    game = load("battleship")
    state = game.initial_state(2, {"rows": 3, "columns": 3, "ships": "3,3,3"})
    state = game.apply_action(state, "ship a2-c2")
    assert "ship a1-c1" in game.legal_actions(state)
    state = game.initial_state(2, {"rows": 3, "columns": 3, "ships": "3,2", "touching": False})
    state = game.apply_action(state, "ship a2-c2")
    assert game.legal_actions(state) == ["start over"]
    assert game.apply_action(state, "start over")["fleets"] == [[], []]


def test_turns_alternate_strictly_even_after_a_hit() -> None:
    game, state = _placed()
    state = game.apply_action(state, "fire b2")
    assert state["shots"] == [["b2 hit"], []]
    assert game.current_player(state) == 1
    state = game.apply_action(state, "fire d4")
    assert state["shots"] == [["b2 hit"], ["d4 miss"]]
    assert game.current_player(state) == 0


def test_sinking_is_announced_only_where_the_rule_says_so() -> None:
    moves = ["fire d1", "fire d4", "fire d2"]
    for announced, result in ((False, "d2 hit"), (True, "d2 sunk 2")):
        game, state = _placed(announce_sunk=announced)
        assert cast("list[list[str]]", after(game, state, moves)["shots"])[0][-1] == result


def test_a_hit_fires_again_with_the_extra_shot() -> None:
    game, state = _placed(extra_shot_on_hit=True)
    state = game.apply_action(state, "fire b2")
    assert game.current_player(state) == 0
    assert game.current_player(game.apply_action(state, "fire a1")) == 1


def test_a_salvo_fires_its_shots_before_the_turn_passes() -> None:
    game, state = _placed(salvo=3)
    seats = []
    for cell in ("a1", "b2", "c1", "a1", "b1", "c1"):
        seats.append(game.current_player(state))
        state = game.apply_action(state, f"fire {cell}")
    assert seats == [0, 0, 0, 1, 1, 1]


def test_whoever_first_hits_every_ship_cell_wins() -> None:
    game, state = _placed()
    mine, theirs = ["b2", "b3", "b4", "d1", "d2"], ["d1", "d2", "d3", "d4"]
    moves = [f"fire {cell}" for pair in zip(mine, theirs, strict=False) for cell in pair]
    state = after(game, state, [*moves, "fire d2"])
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == [1, -1]


def test_a_position_is_worth_the_cells_by_which_the_fleets_differ_and_at_the_end_its_reward() -> (
    None
):
    game, state = _placed()  # five cells each
    worth = [game.module.call("value_function", state, seat) for seat in (0, 1)]
    state = game.apply_action(state, "fire b2")
    worth += [game.module.call("value_function", state, seat) for seat in (0, 1)]
    assert worth == pytest.approx([0, 0, 0.9 / 5, -0.9 / 5])
    moves = ["fire a4", "fire b3", "fire b4", "fire b4", "fire c4", "fire d1", "fire d4", "fire d2"]
    state = after(game, state, moves)
    assert [game.module.call("value_function", state, seat) for seat in (0, 1)] == [1, -1]


def test_no_cell_is_fired_at_twice() -> None:
    game, state = _placed()
    state = after(game, state, ["fire a1", "fire a1"])
    assert "fire a1" not in game.legal_actions(state)
    with pytest.raises(IllegalActionError, match="not legal"):
        game.apply_action(state, "fire a1")


def test_nobody_sees_the_other_fleet() -> None:
    game, state = _placed()
    moved = after(game, game.initial_state(2, SMALL), [*FLEETS[:2], "ship a1-c1", "ship d3-d4"])
    assert game.observations(state, 2)[0] == game.observations(moved, 2)[0]
    assert game.observations(state, 2)[1] != game.observations(moved, 2)[1]


def _resampled(game: Game, state: State, seat: int) -> State:
    seen = game.observations(state, 2)[seat]
    drawn = cast("State", game.module.call("resample_state", [[seen, None]], seat))
    assert game.observations(drawn, 2)[seat] == seen
    return drawn


def test_sampled_fleets_are_even_over_all_that_explain_a_hit() -> None:
    game = load("battleship")
    state = game.initial_state(2, {"rows": 4, "columns": 4, "ships": "2"})
    state = after(game, state, ["ship a1-b1", "ship b2-c2", "fire b2", "fire d4"])
    drawn = Counter(str(_resampled(game, state, 0)["fleets"]) for _ in range(400))
    # b2 has four neighbours, and no miss among them: four ways, a hundred draws each.
    assert len(drawn) == 4
    assert min(drawn.values()) > 60


def test_a_ship_that_could_lie_in_many_places_explains_a_hit_as_often_as_it_should() -> None:
    game = load("battleship")
    state = game.initial_state(2, {"rows": 2, "columns": 6, "ships": "3,1"})
    state = after(game, state, ["ship a1-c1", "ship a2-a2", "ship a1-c1", "ship e2-e2"])
    state = after(game, state, ["fire e2", "fire f2"])
    drawn = [cast("list[list[str]]", _resampled(game, state, 0)["fleets"])[1] for _ in range(600)]
    share = sum(ship[1] == "e2-e2" for ship in drawn) / 600
    # By hand: with the single cell on e2, the ship of 3 has 4 + 2 places free of it; with the
    # ship of 3 over e2 (2 ways: c2-e2, d2-f2), the single cell has 12 - 3 = 9 places.
    assert share == pytest.approx(6 / (6 + 2 * 9), abs=0.07)


def test_sampled_fleets_respect_announced_sinkings() -> None:
    game, state = _placed(announce_sunk=True)
    state = after(game, state, ["fire d1", "fire a2", "fire d2", "fire b2", "fire b2", "fire c2"])
    fleets = [cast("list[list[str]]", _resampled(game, state, 0)["fleets"])[1] for _ in range(60)]
    assert {fleet[1] for fleet in fleets} == {"d1-d2"}
    # The ship of 3 lies over b2: a2-c2 or b1-b3 or b2-b4.
    assert {fleet[0] for fleet in fleets} == {"a2-c2", "b1-b3", "b2-b4"}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"announce_sunk": True},
        {"touching": False, "ships": "4,3,3,2,2,2,1,1,1,1", "announce_sunk": True},
    ],
)
def test_sampling_works_through_whole_matches(parameters: dict[str, Json]) -> None:
    rng = random.Random(4)
    game, state = _dealt(rng, **parameters)
    hunt = greedy(heuristic("hunt_and_target", "battleship"))
    for seat in (0, 1):
        _resampled(game, game.initial_state(2, parameters), seat)
    while (player := game.current_player(state)) != TERMINAL:
        drawn = _resampled(game, state, player)
        assert game.legal_actions(drawn) == game.legal_actions(state)
        seen = game.observations(state, 2)[player]
        state = game.apply_action(state, hunt(seen, game.legal_actions(state), rng))


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (2, {"rows": 11}, "rows"),
        (2, {"ships": "five"}, "separated by commas"),
        (2, {"ships": "11"}, "1 to 10 cells"),
        (2, {"rows": 3, "columns": 3, "ships": "3,3,3,2"}, "no way"),
        (2, {"mines": 3}, "known: rows"),
        (3, {}, "exactly 2"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, Json], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("battleship").initial_state(players, parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {**SMALL, "announce_sunk": True, "salvo": 3},
        {"rows": 6, "columns": 5, "ships": "3,2,2", "touching": False, "extra_shot_on_hit": True},
    ],
)
def test_variants_pass_every_check(parameters: dict[str, Json]) -> None:
    assert unpassed("battleship", 2, parameters) == []


@pytest.mark.parametrize(
    ("name", "announced"), [("density", True), ("density", False), ("hunt_and_target", False)]
)
def test_heuristics_beat_random_play(name: str, announced: bool) -> None:
    parameters: dict[str, Json] = {
        "rows": 5,
        "columns": 5,
        "ships": "3,2",
        "announce_sunk": announced,
    }
    mine, _ = mean_against_random("battleship", name, parameters=parameters)
    assert mine > 0.5
