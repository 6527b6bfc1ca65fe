import random
from collections import Counter
from typing import cast

import pytest

from games import library
from games.contract import Game
from games.values import CHANCE, TERMINAL, IllegalActionError, Json, ModuleFault, State
from tests.games.library.table import after, load, mean_against_random, unpassed

# One row each on three rows of four columns: a1 to d1 for Player 1, and d3 to a3 for Player 2.
SMALL: dict[str, Json] = {"rows": 3, "columns": 4, "home_rows": 1, "setup": "chosen"}
BARE: dict[str, Json] = {"bombs": 0, "scouts": 0, "spies": 0}


def _facing(first: str, second: str, **parameters: Json) -> tuple[Game, State]:
    """Both armies set up, each as a word of kinds by column from a to d."""
    game = load("capture_the_flag")
    counts = {name: first.count(kind) for name, kind in (("bombs", "B"), ("scouts", "2"))}
    fixed = {**SMALL, **counts, "spies": first.count("S"), **parameters}
    assert Counter(first) == Counter(second), "both armies are the same"
    ends = "1", str(fixed["rows"])
    puts = [f"put {kind} on {file}{ends[0]}" for kind, file in zip(first, "abcd", strict=True)]
    puts += [
        f"put {kind} on {file}{ends[1]}" for kind, file in zip(second[::-1], "dcba", strict=True)
    ]
    return game, after(game, game.initial_state(2, fixed), puts)


def _dealt(game: Game, rng: random.Random) -> State:
    state = game.initial_state(2, {})
    while game.current_player(state) == CHANCE:
        legal = game.legal_actions(state)
        state = game.apply_action(
            state, rng.choices(legal, game.chance_probabilities(state, legal))[0]
        )
    return state


def _standing(game: Game, state: State, seat: int) -> dict[str, str]:
    """Cell -> kind of a seat's pieces, as the seat itself sees them."""
    seen = game.observations(state, 2)[seat]
    cells = cast("list[list[str]]", seen["cells"])[seat]
    ranks = cast("list[list[str]]", seen["ranks"])[seat]
    return {cell: kind for cell, kind in zip(cells, ranks, strict=True) if cell}


def test_the_default_army_fills_two_rows_and_is_the_same_for_both() -> None:
    game = load("capture_the_flag")
    state = _dealt(game, random.Random(0))
    for seat, rows in ((0, "12"), (1, "56")):
        standing = _standing(game, state, seat)
        assert {cell[1] for cell in standing} == set(rows)
        # Two rows of five: the flag, two bombs, a spy, two scouts, and ranks 6 to 3.
        assert sorted(standing.values()) == sorted("FBBS226543")


def test_every_piece_is_equally_likely_on_every_home_cell() -> None:
    found: Counter[str] = Counter()
    game = load("capture_the_flag")
    for seed in range(300):
        state = _dealt(game, random.Random(seed))
        found.update(cell for cell, kind in _standing(game, state, 0).items() if kind == "F")
    # Ten cells, 30 each; the standard deviation is 5.2.
    assert len(found) == 10
    assert min(found.values()) > 10


def test_chance_weighs_a_kind_by_how_many_are_left() -> None:
    game = load("capture_the_flag")
    state = game.initial_state(2, {"bombs": 4, "spies": 0})
    legal = game.legal_actions(state)
    chances = dict(zip(legal, game.chance_probabilities(state, legal), strict=True))
    assert chances["put B on a1"] == pytest.approx(4 / 10)
    assert chances["put F on a1"] == pytest.approx(1 / 10)


def test_players_who_choose_set_up_one_after_the_other_unseen() -> None:
    game = load("capture_the_flag")
    state = game.initial_state(2, {**SMALL, **BARE})
    assert game.current_player(state) == 0
    other = game.apply_action(state, "put 6 on a1")
    state = game.apply_action(state, "put F on a1")
    assert game.observations(state, 2)[1] == game.observations(other, 2)[1]
    assert "put F on b1" not in game.legal_actions(state)
    state = after(game, state, ["put 6 on b1", "put 5 on c1", "put 4 on d1"])
    assert game.current_player(state) == 1
    assert "put F on d3" in game.legal_actions(state)


def test_only_the_owner_is_told_which_piece_stands_where() -> None:
    game = load("capture_the_flag")
    state = game.initial_state(2, {})
    assert game.events(state, "put F on a1", 2) == [
        ["You have the flag on a1."],
        ["Player 1 has a piece on a1."],
    ]


def test_pieces_step_one_cell_and_flags_and_bombs_do_not_move() -> None:
    game, state = _facing("FB65", "56BF")
    assert game.legal_actions(state) == ["c1-c2", "d1-d2"]


def test_a_scout_runs_over_empty_cells_up_to_the_piece_it_attacks() -> None:
    game, state = _facing("2F65", "652F", rows=5)
    assert game.legal_actions(state)[:4] == ["a1-a2", "a1-a3", "a1-a4", "a1xa5"]


def test_a_scout_gives_itself_away_only_by_a_long_move() -> None:
    game, state = _facing("2F65", "652F", rows=5)
    seen = [
        cast("list[list[str]]", game.observations(game.apply_action(state, move), 2)[1]["ranks"])
        for move in ("a1-a2", "a1-a3")
    ]
    assert seen[0][0] == ["?", "?", "?", "?"]
    assert seen[1][0] == ["2", "?", "?", "?"]


def _fought(first: str, second: str, **parameters: Json) -> tuple[dict[str, str], dict[str, str]]:
    """What stands after the piece from a1 has attacked a3."""
    game, state = _facing(first, second, **parameters)
    state = game.apply_action(state, "a1-a2")
    elsewhere = next(move for move in game.legal_actions(state) if "a" not in move)
    state = after(game, state, [elsewhere, "a2xa3"])
    return _standing(game, state, 0), _standing(game, state, 1)


@pytest.mark.parametrize(
    ("first", "second", "parameters", "left"),
    [
        ("65F4", "5F64", {}, ("6", None)),
        ("56F4", "6F54", {}, (None, "6")),
        ("65F4", "6F54", {}, (None, None)),
        ("65F4", "6F54", {"equal_ranks": "attacker"}, (None, "6")),
        ("65F4", "6F54", {"equal_ranks": "defender"}, ("6", None)),
        ("S6F5", "6FS5", {}, ("S", None)),
        ("S6F5", "5F6S", {}, (None, "5")),
        ("6SF5", "SF65", {}, ("6", None)),
        ("6BF5", "BF65", {}, (None, "B")),
        ("6BF5", "BF65", {"bomb_stays": False}, (None, None)),
        ("3BF3", "BF33", {"top_rank": 3}, ("3", None)),
        ("3BF3", "BF33", {"top_rank": 3, "miners": False}, (None, "B")),
    ],
)
def test_a_fight_ends_as_the_rules_say(
    first: str, second: str, parameters: dict[str, Json], left: tuple[str | None, str | None]
) -> None:
    mine, theirs = _fought(first, second, **parameters)
    attacker, defender = left
    assert mine.get("a3") == attacker
    assert theirs.get("a3") == defender
    assert "a2" not in mine


def test_both_see_the_ranks_that_fought_and_keep_seeing_them() -> None:
    game, state = _facing("65F4", "5F64")
    state = after(game, state, ["a1-a2", "d3-d2"])
    told = game.events(state, "a2xa3", 2)
    words = "Player 1 attacks a3 from a2: rank 6 against rank 5; the defender is taken."
    assert told == [[words], [words]]
    state = after(game, state, ["a2xa3", "d2-c2"])
    seen = game.observations(state, 2)
    assert cast("list[list[str]]", seen[1]["ranks"])[0] == ["6", "?", "?", "?"]
    assert cast("list[list[str]]", seen[0]["ranks"])[1] == ["?", "?", "?", "5"]


def test_taking_the_flag_wins() -> None:
    game, state = _facing("65F4", "F564")
    state = after(game, state, ["a1-a2", "d3-d2", "a2xa3"])
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == [1, -1]


def test_a_player_without_a_move_loses() -> None:
    game, state = _facing("6FBB", "6FBB", equal_ranks="attacker")
    assert game.legal_actions(state) == ["a1-a2"]
    state = game.apply_action(state, "a1-a2")
    lost = game.apply_action(state, "a3xa2")  # the attacker is lost, and was all that could move
    assert game.current_player(lost) == 0
    stuck = after(game, lost, ["a2-a1"])
    assert game.current_player(stuck) == TERMINAL
    assert game.rewards(stuck, 2) == [1, -1]


def test_an_army_shut_in_by_its_own_bombs_loses_before_its_first_move() -> None:
    game = load("capture_the_flag")
    fixed: dict[str, Json] = {
        "rows": 5, "columns": 2, "home_rows": 2, "bombs": 2, "scouts": 0, "spies": 0,
        "setup": "chosen",
    }  # fmt: skip
    puts = ["put F on a1", "put 6 on b1", "put B on a2", "put B on b2"]
    puts += ["put F on b5", "put B on a5", "put B on b4", "put 6 on a4"]
    state = after(game, game.initial_state(2, fixed), puts)
    assert game.current_player(state) == TERMINAL
    assert game.rewards(state, 2) == [-1, 1]


def test_moves_without_a_fight_end_in_a_draw_and_a_fight_counts_anew() -> None:
    game, state = _facing("65F4", "5F64", no_progress=4)
    quiet = ["b1-b2", "d3-d2", "b2-b1", "d2-d3"]
    drawn = after(game, state, quiet)
    assert game.current_player(drawn) == TERMINAL
    assert game.rewards(drawn, 2) == [0, 0]
    state = after(game, state, ["a1-a2", "d3-d2"])
    assert state["quiet"] == 2
    state = game.apply_action(state, "a2xa3")
    assert state["quiet"] == 0


def test_an_illegal_move_is_refused() -> None:
    game, state = _facing("65F4", "5F64")
    for wrong in ("c1-c2", "a1-a3", "a1xa3", "a3-a2", "put F on a1", ""):
        with pytest.raises(IllegalActionError, match="not legal"):
            game.apply_action(state, wrong)


@pytest.mark.parametrize(
    ("players", "parameters", "said"),
    [
        (3, {}, "exactly 2"),
        (2, {"lakes": 2}, "known: rows"),
        (2, {"rows": 11}, "rows is 11"),
        (2, {"miners": 1}, "miners is 1"),
        (2, {"setup": "mirrored"}, "random"),
        (2, {"rows": 4}, "at most 1 leave an empty row"),
        (2, {"bombs": 8}, "home rows have 10 cells"),
        (2, {"columns": 2, "spies": 0}, "at least one of them is for a soldier"),
    ],
)
def test_impossible_settings_are_refused(
    players: int, parameters: dict[str, Json], said: str
) -> None:
    with pytest.raises(ModuleFault, match=said):
        load("capture_the_flag").initial_state(players, parameters)


def _resampled(game: Game, state: State, seat: int) -> State:
    seen = game.observations(state, 2)[seat]
    drawn = cast("State", game.module.call("resample_state", [[seen, None]], seat))
    assert game.observations(drawn, 2)[seat] == seen
    return drawn


def test_drawn_armies_are_even_over_all_that_fit_what_moved_and_what_fought() -> None:
    game, state = _facing("F654", "45F6")
    state = after(game, state, ["b1-b2", "d3-d2", "b2-a2", "d2-c2", "a2xa3"])
    # Player 1 met a 4 on a3 and saw d3 move: of F, 5 and 6 the flag is on b3 or c3, and the two
    # others stand in either order: four ways, 100 draws each with a deviation of 8.7.
    drawn = Counter(str(_standing(game, _resampled(game, state, 0), 1)) for _ in range(400))
    assert len(drawn) == 4
    assert min(drawn.values()) > 60
    assert all("'c2': 'F'" not in standing for standing in drawn)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"setup": "chosen", "top_rank": 4}, {"bombs": 5, "rows": 5, "bomb_stays": False}],
)
def test_drawn_states_fit_through_whole_matches(parameters: dict[str, Json]) -> None:
    for seed in range(6):
        rng = random.Random(seed)
        game = load("capture_the_flag")
        state = game.initial_state(2, parameters)
        while (player := game.current_player(state)) != TERMINAL:
            for seat in (0, 1):
                drawn = _resampled(game, state, seat)
                assert game.current_player(drawn) == player
                assert _conserved(drawn) == _conserved(state)
                if seat == player:
                    assert game.legal_actions(drawn) == game.legal_actions(state)
            state = game.apply_action(state, rng.choice(game.legal_actions(state)))


def _conserved(state: State) -> list[Counter[str]]:
    armies = cast("list[list[list[str]]]", state["army"])
    reserves = cast("list[list[str]]", state["reserve"])
    return [
        Counter([kind for piece in army for kind in piece] + reserve)
        for army, reserve in zip(armies, reserves, strict=True)
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        {"setup": "chosen"},
        {"rows": 4, "columns": 4, "home_rows": 1, "bombs": 0, "scouts": 1, "spies": 0},
        {"rows": 8, "columns": 8, "bombs": 5, "scouts": 4, "spies": 2, "equal_ranks": "defender"},
    ],
)
def test_variants_pass_every_check(parameters: dict[str, Json]) -> None:
    assert unpassed("capture_the_flag", 2, parameters) == []


@pytest.mark.parametrize(
    ("name", "setup", "least"),
    [("probing", "random", 0.5), ("cautious", "random", 0.3), ("probing", "chosen", 0.7)],
)
def test_heuristics_beat_random_play(name: str, setup: str, least: float) -> None:
    mine, _ = mean_against_random("capture_the_flag", name, parameters={"setup": setup})
    assert mine > least


def test_the_rulebook_says_only_what_the_parameters_allow() -> None:
    plain = library.rulebook("capture_the_flag", BARE)
    assert not any(word in plain for word in ("bomb", "scout", "spy", "spies"))
    full = library.rulebook("capture_the_flag", {"bombs": 3, "top_rank": 8})
    # Two rows of five: ten pieces less the flag, three bombs, a spy and two scouts.
    assert "3 bombs (B), 1 spy (S), 2 scouts (2) and 3 soldiers" in full
    assert "the ranks from 8 down to 3" in full
