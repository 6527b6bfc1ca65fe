import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pytest

from evals.lechat2026.board import (
    BITS,
    CELLS,
    HEALTH,
    LENGTHS,
    PLACES,
    SEA,
    Contestant,
    Field,
    GameCounts,
    IllegalShotError,
    UniformShooter,
    View,
    cells_of,
    neighbours_in,
    play_duel,
    play_field,
    play_solo,
    random_contestant,
    random_fleet,
)
from evals.results import EvalError, EvalOptions
from games import library
from games.contract import Game
from games.modules import LocalModule
from games.values import Action, State

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


class Watched(UniformShooter):
    """A random_contestant shooter that keeps what it was shown."""

    shown: list[tuple[int, int, int, int, int, int, int]] = []

    def shoot(self, view: View) -> int:
        cell = super().shoot(view)
        seen = (view.seat, view.own, view.taken, view.hits, view.misses, view.enemy, cell)
        self.shown.append(seen)
        return cell


class Stubborn(UniformShooter):
    def shoot(self, view: View) -> int:
        return 7


def played(one: Contestant, other: Contestant, number: int) -> dict[str, Any]:
    return cast("dict[str, Any]", play_duel(one, other, 3, number))


def test_a_duel_is_the_library_game_with_the_same_fleets_and_shots() -> None:
    game = Game(LocalModule(library.source("battleship")))
    watched = Contestant("watched", Watched, {}, looks=True)
    for number in range(8):
        Watched.shown = []
        result = played(watched, Contestant("also", Watched, {}, looks=True), number)
        fleets = [next(own for seat, own, *_ in Watched.shown if seat == place) for place in (0, 1)]
        state: dict[str, Any] = game.initial_state(2, {})
        tables = library_bits()
        while game.current_player(state) < 0:
            seat = 0 if len(state["fleets"][0]) < 5 else 1
            state = game.apply_action(state, within(game, state, fleets[seat], tables))
        fired = [0, 0]
        for seat, _, taken, hits, misses, enemy, cell in Watched.shown:
            assert game.current_player(state) == seat
            assert (taken, enemy) == (fired[1 - seat], 0)
            assert (hits, misses) == (
                fired[seat] & fleets[1 - seat],
                fired[seat] & ~fleets[1 - seat],
            )
            state = game.apply_action(state, f"fire {'abcdefghij'[cell % 10]}{cell // 10 + 1}")
            fired[seat] |= BITS[cell]
        assert game.current_player(state) == -4
        first = result["first"]
        assert game.rewards(state, 2)[0] == (1 if result["won"] == first else -1)
        assert [state["afloat"][first], state["afloat"][1 - first]] == result["health"]
        assert [len(state["shots"][first]), len(state["shots"][1 - first])] == result["shots"]


def library_bits() -> dict[str, int]:
    return {f"{'abcdefghij'[c % 10]}{c // 10 + 1}": BITS[c] for c in range(100)}


def within(game: Game, state: dict[str, Any], fleet: int, bits: dict[str, int]) -> str:
    """A placement whose remaining ships can still cover the fleet, found by trying."""

    def cover(text: str) -> int:
        first, last = (cells_of(bits[end])[0] for end in text.split()[1].split("-"))
        return sum(BITS[c] for c in range(first, last + 1, 1 if last - first < 10 else 10))

    def fits(left: int, lengths: list[int]) -> bool:
        return (
            not left
            if not lengths
            else any(
                fits(left & ~cover(text), lengths[1:])
                for text in places
                if cover(text) & left == cover(text) and cover(text).bit_count() == lengths[0]
            )
        )

    places = ["ship " + text for text in every_place()]
    seat = 0 if len(state["fleets"][0]) < 5 else 1
    taken = sum(cover("ship " + text) for text in state["fleets"][seat])
    lengths = [5, 4, 3, 3, 2][len(state["fleets"][seat]) :]
    for text in game.legal_actions(state):
        left = fleet & ~taken
        if cover(text) & left == cover(text) and fits(left & ~cover(text), lengths[1:]):
            return text
    raise AssertionError("the fleet is no union of five ships")


def every_place() -> list[str]:
    names = list(library_bits())
    found = []
    for length in (2, 3, 4, 5):
        for c in range(100):
            if c % 10 + length <= 10:
                found.append(f"{names[c]}-{names[c + length - 1]}")
            if c // 10 + length <= 10:
                found.append(f"{names[c]}-{names[c + 10 * (length - 1)]}")
    return found


def test_both_games_of_a_deal_have_the_same_fleets_and_other_seats() -> None:
    watched = Contestant("watched", Watched, {}, looks=True)
    fleets = []
    for number in (0, 1):
        Watched.shown = []
        assert played(watched, random_contestant(), number)["first"] == number
        fleets.append({seat: own for seat, own, *_ in Watched.shown})
    # `watched` sits in seat 0 first, then in seat 1; the fleets stay with the seats.
    assert list(fleets[0]) == [0]
    assert list(fleets[1]) == [1]
    assert fleets[0][0] != fleets[1][1]


def test_only_an_omniscient_shooter_sees_the_other_fleet() -> None:
    for omniscient in (False, True):
        Watched.shown = []
        play_solo(Contestant("watched", Watched, {}, omniscient=omniscient), 3, 0)
        assert {bool(enemy) for *_, enemy, _ in Watched.shown} == {omniscient}


def test_the_loser_has_no_health_left_and_the_winner_has() -> None:
    for number in range(20):
        result = played(random_contestant(), Contestant("two", UniformShooter, {}), number)
        won = result["won"]
        assert result["health"][1 - won] == 0
        assert 1 <= result["health"][won] <= HEALTH
        assert result["shots"][result["first"]] - result["shots"][1 - result["first"]] in (0, 1)


def test_a_uniform_shooter_needs_as_many_shots_as_the_last_of_17_cells_in_100() -> None:
    # The largest of 17 numbers drawn from 1 to 100 without repeats is 17 * 101 / 18 on average,
    # with variance 17 * 101 * 83 / (18^2 * 19).
    shots = [
        cast("dict[str, Any]", play_solo(random_contestant(), 5, number))["shots"]
        for number in range(2000)
    ]
    error = (17 * 101 * 83 / (18**2 * 19) / 2000) ** 0.5
    assert abs(sum(shots) / 2000 - 17 * 101 / 18) < 4 * error


def test_a_shot_at_a_cell_fired_at_before_counts_for_nobody() -> None:
    with pytest.raises(IllegalShotError, match="stubborn fired at cell 7; required"):
        play_solo(Contestant("stubborn", Stubborn, {}), 1, 0)
    with pytest.raises(IllegalShotError, match="stubborn"):
        play_duel(random_contestant(), Contestant("stubborn", Stubborn, {}), 1, 0)


def test_a_shooter_that_looks_at_the_other_is_not_measured_alone() -> None:
    with pytest.raises(ValueError, match="required: duels"):
        play_solo(Contestant("watcher", UniformShooter, {}, looks=True), 1, 0)


def test_the_same_seed_gives_the_same_game_and_another_seed_another() -> None:
    pair = random_contestant(), Contestant("two", UniformShooter, {})
    assert play_duel(*pair, 3, 4) == play_duel(*pair, 3, 4)
    assert [play_duel(*pair, 3, n) for n in range(4)] != [play_duel(*pair, 4, n) for n in range(4)]


def test_every_cell_of_a_fleet_is_in_the_sea() -> None:
    rng = Random(2)
    assert all(random_fleet(rng) & ~SEA == 0 for _ in range(50))


class Dying(UniformShooter):
    """Ends its process after a while, as a machine that is switched off would."""

    shots = 0

    def shoot(self, view: View) -> int:
        Dying.shots += 1
        if Dying.shots > 600:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().shoot(view)


def field(maker: type[UniformShooter] = UniformShooter, **effective: int) -> Field:
    watcher = Contestant("watcher", maker, {"player": "random", **effective}, looks=True)
    return Field("test", 5, (random_contestant(), watcher), {"rules": "default"})


AMOUNT = GameCounts(solos=12, duels=12)


def told(line: str) -> None:
    assert line


def test_a_run_that_was_killed_goes_on_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    whole = play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path / "whole"))
    code = (
        "from pathlib import Path;from tests.evals.lechat2026.test_board import *;"
        f"options = EvalOptions(folder=Path({str(tmp_path / 'cut')!r}));"
        "play_field(field(Dying), AMOUNT, options)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False)
    assert ended.returncode == -signal.SIGKILL
    cut = tmp_path / "cut" / "test.jsonl"
    kept = cut.read_text().splitlines()
    assert 3 < len(kept) < 24
    again = play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path / "cut"))
    assert again == whole
    assert cut.read_bytes() == (tmp_path / "whole" / "test.jsonl").read_bytes()
    assert cut.read_text().splitlines()[: len(kept)] == kept


def test_a_second_run_plays_nothing_again(tmp_path: Path) -> None:
    options = EvalOptions(tell=told, folder=tmp_path)
    first = play_field(field(), AMOUNT, options)
    # A shooter that would fire at one cell again and again would be found out.
    assert play_field(field(Broken), AMOUNT, options) == first


class Broken(UniformShooter):
    def shoot(self, view: View) -> int:
        return 0


def test_more_games_go_on_from_fewer(tmp_path: Path) -> None:
    few = play_field(field(), GameCounts(4, 4), EvalOptions(folder=tmp_path))
    more = play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path))
    assert more.solos["random"][:4] == few.solos["random"]
    assert more.duels["random", "watcher"][:4] == few.duels["random", "watcher"]
    assert more == play_field(field(), AMOUNT, EvalOptions(tell=told))


def test_a_folder_of_other_parameters_is_refused(tmp_path: Path) -> None:
    play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path))
    with pytest.raises(EvalError, match="belongs to other work"):
        play_field(field(budget=4000), AMOUNT, EvalOptions(tell=told, folder=tmp_path))


def test_two_workers_play_the_same_games(tmp_path: Path) -> None:
    one = play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path / "one"))
    two = play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path / "two", workers=2))
    assert one == two
    names = [tmp_path / place / "test.jsonl" for place in ("one", "two")]
    assert names[0].read_bytes() == names[1].read_bytes()


def test_a_finished_game_is_a_line_of_json(tmp_path: Path) -> None:
    play_field(field(), AMOUNT, EvalOptions(tell=told, folder=tmp_path))
    lines = (tmp_path / "test.jsonl").read_text().splitlines()
    assert len(lines) == 1 + 24
    assert json.loads(lines[0])["identity"]["contestants"]["watcher"] == {"player": "random"}
    assert {frozenset(json.loads(line)["entry"]) for line in lines[1:]} == {
        frozenset({"shots", "used"}),
        frozenset({"won", "first", "shots", "health", "used"}),
    }


def test_contestants_of_one_name_are_refused() -> None:
    with pytest.raises(EvalError, match="different names"):
        play_field(
            Field("test", 5, (random_contestant(), random_contestant()), {}),
            AMOUNT,
            EvalOptions(),
        )


@pytest.mark.parametrize(("solos", "duels"), [(1, 4), (4, 5), (4, 2)])
def test_an_amount_that_gives_no_estimate_is_refused(solos: int, duels: int) -> None:
    with pytest.raises(ValueError, match="required: at least 2 solos"):
        GameCounts(solos, duels)


def test_pairs_with_a_slow_player_can_be_given_fewer_games() -> None:
    slow = Contestant("slow", UniformShooter, {}, looks=True, slow=True)
    whole = Field("test", 5, (*field().contestants, slow), {})
    played = play_field(whole, GameCounts(6, 8, 4), EvalOptions(tell=told))
    assert {pair: len(games) for pair, games in played.duels.items()} == {
        ("random", "watcher"): 8,
        ("random", "slow"): 4,
        ("watcher", "slow"): 4,
    }
