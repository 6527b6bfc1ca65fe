from random import Random
from typing import Any, cast

import pytest

from evals.battleship.playing import Contestant, IllegalShotError, View, duel, solo
from evals.battleship.sea import BITS, HEALTH, SEA, cells_of, random_fleet
from evals.battleship.shooters import Uniform, uniform
from games import library
from games.contract import Game, LocalModule


class Watched(Uniform):
    """A uniform shooter that keeps what it was shown."""

    shown: list[tuple[int, int, int, int, int, int, int]] = []

    def shoot(self, view: View) -> int:
        cell = super().shoot(view)
        seen = (view.seat, view.own, view.taken, view.hits, view.misses, view.enemy, cell)
        self.shown.append(seen)
        return cell


class Stubborn(Uniform):
    def shoot(self, view: View) -> int:
        return 7


def played(one: Contestant, other: Contestant, number: int) -> dict[str, Any]:
    return cast("dict[str, Any]", duel(one, other, 3, number))


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
        assert played(watched, uniform(), number)["first"] == number
        fleets.append({seat: own for seat, own, *_ in Watched.shown})
    # `watched` sits in seat 0 first, then in seat 1; the fleets stay with the seats.
    assert list(fleets[0]) == [0]
    assert list(fleets[1]) == [1]
    assert fleets[0][0] != fleets[1][1]


def test_only_an_omniscient_shooter_sees_the_other_fleet() -> None:
    for omniscient in (False, True):
        Watched.shown = []
        solo(Contestant("watched", Watched, {}, omniscient=omniscient), 3, 0)
        assert {bool(enemy) for *_, enemy, _ in Watched.shown} == {omniscient}


def test_the_loser_has_no_health_left_and_the_winner_has() -> None:
    for number in range(20):
        result = played(uniform(), Contestant("two", Uniform, {}), number)
        won = result["won"]
        assert result["health"][1 - won] == 0
        assert 1 <= result["health"][won] <= HEALTH
        assert result["shots"][result["first"]] - result["shots"][1 - result["first"]] in (0, 1)


def test_a_uniform_shooter_needs_as_many_shots_as_the_last_of_17_cells_in_100() -> None:
    # The largest of 17 numbers drawn from 1 to 100 without repeats is 17 * 101 / 18 on average,
    # with variance 17 * 101 * 83 / (18^2 * 19).
    shots = [cast("dict[str, Any]", solo(uniform(), 5, number))["shots"] for number in range(2000)]
    error = (17 * 101 * 83 / (18**2 * 19) / 2000) ** 0.5
    assert abs(sum(shots) / 2000 - 17 * 101 / 18) < 4 * error


def test_a_shot_at_a_cell_fired_at_before_counts_for_nobody() -> None:
    with pytest.raises(IllegalShotError, match="stubborn fired at cell 7; required"):
        solo(Contestant("stubborn", Stubborn, {}), 1, 0)
    with pytest.raises(IllegalShotError, match="stubborn"):
        duel(uniform(), Contestant("stubborn", Stubborn, {}), 1, 0)


def test_a_shooter_that_looks_at_the_other_is_not_measured_alone() -> None:
    with pytest.raises(ValueError, match="required: duels"):
        solo(Contestant("watcher", Uniform, {}, looks=True), 1, 0)


def test_the_same_seed_gives_the_same_game_and_another_seed_another() -> None:
    pair = uniform(), Contestant("two", Uniform, {})
    assert duel(*pair, 3, 4) == duel(*pair, 3, 4)
    assert [duel(*pair, 3, n) for n in range(4)] != [duel(*pair, 4, n) for n in range(4)]


def test_every_cell_of_a_fleet_is_in_the_sea() -> None:
    rng = Random(2)
    assert all(random_fleet(rng) & ~SEA == 0 for _ in range(50))
