"""Differences of figures: against published intervals, and games whose difference is known."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from agents.players.registry import PlayerRoster
from games import library
from games.library.settings import game_of
from games.mechanics import MechanicGraph
from games.values import Json
from tools.comparing.differences import PlayedDifference, estimated_difference, play_and_compare
from tools.comparing.games import ComparedGame, compare_games
from tools.comparing.page import comparison_page
from tools.playtest.intervals import Estimate, Unmeasured, wilson
from tools.playtest.jobs import GameSetup, SandboxRecipe
from tools.playtest.series import SeriesSettings
from tools.replaying import VoidResultError
from tools.sandbox import Sandbox


def setup(name: str, players: int, **changed: Json) -> GameSetup:
    settings = {**game_of(name).defaults(), **changed}
    return GameSetup(name, library.source(name), players, settings)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with SandboxRecipe(preload=PlayerRoster().preload).make() as opened:
        yield opened


def compared(sandbox: Sandbox, one: GameSetup, other: GameSetup, matches: int) -> PlayedDifference:
    settings = SeriesSettings(matches, seed=5)
    return play_and_compare((one, other), "random", PlayerRoster(), settings, sandbox)


def test_two_samples_have_newcombes_interval() -> None:
    """Newcombe 1998, table II, method 10: 56/70 less 48/80 is 0.2000, from 0.0524 to 0.3339."""
    found = estimated_difference(wilson(48, 80, "matches"), wilson(56, 70, "matches"))
    assert isinstance(found, Estimate)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert found.n == 150


def pair(one: float, other: float) -> tuple[Estimate, Estimate]:
    first, second = (
        Estimate(value=value, low=value, high=value, n=2, of="matches", method="")
        for value in (one, other)
    )
    return first, second


def test_pairs_have_students_interval_of_their_differences() -> None:
    """Differences 1, 2, 3: mean 2, s = 1, t(2) = 4.303, so 2 ± 4.303 / sqrt(3)."""
    one = Estimate(value=5, low=0, high=9, n=3, of="matches", method="")
    other = Estimate(value=7, low=0, high=9, n=3, of="matches", method="")
    found = estimated_difference(one, other, [pair(4, 5), pair(5, 7), pair(6, 9)])
    assert isinstance(found, Estimate)
    assert (found.low, found.high) == pytest.approx((2 - 2.4843, 2 + 2.4843), abs=1e-3)
    assert (found.n, found.of) == (3, "deals")


def test_equal_differences_are_no_certainty() -> None:
    one, other = wilson(0, 3, "matches"), wilson(0, 3, "matches")
    found = estimated_difference(one, other, [pair(0, 0)] * 3)
    assert isinstance(found, Estimate)
    assert found.low < 0 < found.high


def test_one_pair_of_matches_tells_no_difference(sandbox: Sandbox) -> None:
    """Student's t has n - 1 degrees of freedom, and so none for one pair."""
    found = compared(sandbox, setup("tic_tac_toe", 2), setup("tic_tac_toe", 2, misere=True), 1)
    assert found.paired == 1
    assert all(one.difference.value is None for one in found.figures)
    assert all(
        "at least two" in one.difference.problem for one in found.figures if one.key != "lead"
    )
    assert not any(one.told for one in found.figures)
    even = wilson(1, 1, "matches")
    assert isinstance(estimated_difference(even, even, [pair(1, 1)]), Unmeasured)


def test_what_one_game_has_no_measure_of_has_no_difference() -> None:
    lacking = Unmeasured(reason="no match finished")
    assert estimated_difference(lacking, wilson(1, 2, "matches")) == lacking
    assert estimated_difference(wilson(1, 2, "matches"), lacking) == lacking


def test_a_game_that_turns_the_winner_around_swaps_the_wins_and_nothing_else(
    sandbox: Sandbox,
) -> None:
    """In misère, whoever completes the line loses: the same matches, the other winner."""
    found = compared(sandbox, setup("tic_tac_toe", 2), setup("tic_tac_toe", 2, misere=True), 60)
    figures = {one.key: one for one in found.figures}
    assert figures["wins_player_1"].after.value == figures["wins_player_2"].before.value
    for key in ("ties", "turns", "options", "forced"):
        assert figures[key].difference.value == 0
        assert not figures[key].told
    assert found.alike == (0, 60)  # nothing is dealt
    assert found.paired == 60


def test_the_same_deals_are_paired_and_counted(sandbox: Sandbox) -> None:
    """Points of a court card left in hand change no deal and no move, only what is paid."""
    dear = setup("shedding", 3, court_points=50, hand_size=4)
    found = compared(sandbox, setup("shedding", 3, hand_size=4), dear, 12)
    assert found.alike == (12, 12)
    figures = {one.key: one.difference for one in found.figures}
    assert figures["turns"].value == 0
    assert figures["spread"].value is not None
    assert figures["spread"].value > 0
    assert figures["spread"].of == "deals"


COUNTS = """
_begun, _first, _paid = [], initial_state, get_rewards

def initial_state(num_players, **parameters):
    _begun.append(1)
    return _first(num_players, **parameters)

def get_rewards(state):
    return [abs(_paid(state)[0]), -abs(_paid(state)[0])] if len(_begun) > 40 else _paid(state)
"""


def test_a_game_that_cheats_after_the_shown_matches_is_not_compared(sandbox: Sandbox) -> None:
    honest = setup("tic_tac_toe", 2)
    cheating = replace(honest, source=honest.source + COUNTS)
    with pytest.raises(VoidResultError, match="made again by a fresh worker"):
        compared(sandbox, honest, cheating, 300)


def test_games_of_other_seats_are_compared_as_two_samples_and_not_by_seat(sandbox: Sandbox) -> None:
    found = compared(sandbox, setup("goofspiel", 2, cards=4), setup("goofspiel", 3, cards=4), 20)
    assert found.paired == 0
    assert {one.key for one in found.figures} == {
        "ties",
        "spread",
        "lead",
        "turns",
        "options",
        "forced",
    }
    turns = next(one for one in found.figures if one.key == "turns")
    assert (turns.before.value, turns.after.value) == (8, 12)  # cards times players
    assert "the games have 2 and 3" in found.notes[0]


def test_matches_that_do_not_end_have_no_figures(sandbox: Sandbox) -> None:
    settings = SeriesSettings(4, seed=5, max_plies=3)
    games = (setup("goofspiel", 2), setup("goofspiel", 2, tie="split"))
    found = play_and_compare(games, "random", PlayerRoster(), settings, sandbox)
    assert found.finished == (0, 0)
    assert all(one.difference.problem for one in found.figures)


def game(rules: Mapping[str, str], **settings: Json) -> ComparedGame:
    made = GameSetup("games/<b>", "", 2)
    graph = MechanicGraph(nodes=(), edges=())
    return ComparedGame("A <b>game</b>", rules, settings, graph, made)


def test_a_rule_is_the_same_whatever_its_number() -> None:
    one = game({"R1": "Deal 7 cards.", "R2": "The highest bid wins.", "R3": "Pass."}, hand=7)
    other = game({"R1": "The highest bid wins.", "R2": "Deal 5 cards.", "R3": "Roll dice."}, hand=5)
    found = compare_games(one, other)
    assert [(part.name, part.state) for part in found.rules] == [
        ("R1, now R2", "changed"),
        ("R3", "removed"),
        ("R3", "added"),
    ]
    assert [(s.name, s.state, s.before, s.after) for s in found.settings] == [
        ("hand", "changed", "7", "5")
    ]
    assert compare_games(one, replace(one, settings={"hand": 7})).rules == ()


def test_thousands_of_rules_are_told_without_being_paired() -> None:
    one = game({f"R{n}": f"Pay {n} coins." for n in range(3000)})
    other = game({f"R{n}": f"Pay {n} chips." for n in range(3000)})
    found = compare_games(one, other).rules
    assert [part.state for part in found] == ["removed"] * 3000 + ["added"] * 3000


def test_the_page_keeps_a_games_words_as_words() -> None:
    one = game({"R1": "<script>alert(1)</script>"}, hand=7)
    found = compare_games(one, game({}))
    page = comparison_page([(found, one.graph, one.graph)])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page == comparison_page([(found, one.graph, one.graph)])
