"""Profiles, distances and choices by them, held against counts from outside and enumeration."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from agents.players.registry import PRELOAD, PlayerRoster
from games.library import heuristic_sources, source
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox
from tools.variation.profile import (
    MOST,
    PlayedOut,
    chance_distance,
    dull,
    farthest,
    profile_distance,
    profile_of,
    units_of,
)
from tools.variation.trial import Amounts, TrialResult, Tryout

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
EACH_ALONE = ((0,), (1,))


def all_games() -> Counter[tuple[str, int]]:
    """Every game of tic-tac-toe, counted board by board: who won it, and after how many moves."""
    boards, ended = Counter({"." * 9: 1}), Counter[tuple[str, int]]()
    for done in range(9):
        after = Counter[str]()
        for cells, ways in boards.items():
            for at in (i for i, cell in enumerate(cells) if cell == "."):
                placed = f"{cells[:at]}{'xo'[done % 2]}{cells[at + 1 :]}"
                if any({placed[at] for at in line} == {"xo"[done % 2]} for line in LINES):
                    ended["xo"[done % 2], done + 1] += ways
                elif done == 8:
                    ended["", 9] += ways
                else:
                    after[placed] += ways
        boards = after
    return ended


PAID = {"x": (1.0, -1.0), "o": (-1.0, 1.0), "": (0.0, 0.0)}


def test_the_profile_of_all_games_of_tic_tac_toe_is_their_known_count() -> None:
    # 255,168 games: 131,184 won by x, 77,904 by o, 46,080 tied; 1,440, 5,328, 47,952, 72,576 and
    # 127,872 of five to nine moves.
    ended = all_games()
    assert ended.total() == 255_168
    games = [
        PlayedOut(PAID[won], moves, sum(range(9, 9 - moves, -1)), int(moves == 9))
        for (won, moves), count in ended.items()
        for _ in range(count // 48)  # which divides each of the counts
    ]
    assert len(games) == 255_168 / 48
    found = profile_of(games, EACH_ALONE)
    ends = {5: 1440, 6: 5328, 7: 47_952, 8: 72_576, 9: 127_872}
    assert found["ties"] == pytest.approx(46_080 / 255_168)
    assert found["first"] == pytest.approx((131_184 + 46_080 / 2) / 255_168)
    assert found["spread"] == pytest.approx(1 - 46_080 / 255_168)
    assert found["length"] == pytest.approx(
        sum(math.log(1 + moves) * count for moves, count in ends.items()) / 255_168
    )
    moves = sum(moves * count for moves, count in ends.items())
    assert found["forced"] == pytest.approx(127_872 / moves)


def played(sandbox: Sandbox, matches: int, **parameters: object) -> TrialResult:
    """A trial of tic-tac-toe with most of its matches at random."""
    game = GameSetup(
        *("tic_tac_toe", source("tic_tac_toe"), 2),
        {"size": 3, "misere": False, "wild": False, **parameters},  # type: ignore[dict-item]
        heuristic_sources("tic_tac_toe"),
    )
    amounts = Amounts(random=matches, good=6, mixed=6, max_plies=100, player="greedy")
    return Tryout(game, 5, amounts, PlayerRoster(), sandbox).run()


@pytest.fixture(scope="module")
def preloaded() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


def test_a_trial_of_tic_tac_toe_finds_what_random_play_is_known_to_give(
    preloaded: Sandbox,
) -> None:
    # Random play: the first seat wins 0.585, ties are 0.127; both within 3.3 standard errors.
    found = played(preloaded, 3000)
    assert found.problem == ""
    assert found.profile["ties"] == pytest.approx(0.127, abs=0.02)
    assert found.profile["first"] == pytest.approx(0.585 + 0.127 / 2, abs=0.03)
    assert found.figures is not None
    assert found.figures.skill is not None
    assert found.figures.skill.value > 0.5


def test_the_same_trial_gives_the_same_result(preloaded: Sandbox) -> None:
    assert played(preloaded, 20) == played(preloaded, 20)


def test_a_trial_whose_settings_the_game_refuses_says_why(preloaded: Sandbox) -> None:
    found = played(preloaded, 3000, size=9)
    assert "size" in found.problem
    assert found.figures is None


def test_a_match_that_pays_all_alike_is_a_tie_and_one_side_has_a_score_alone() -> None:
    match = PlayedOut((2.0, 2.0), 4, 8, 0)
    assert profile_of([match], EACH_ALONE)["ties"] == 1.0
    assert profile_of([match], ((0, 1),)).keys() == {"length", "options", "forced", "score"}
    with pytest.raises(ValueError, match="no match"):
        profile_of([], EACH_ALONE)


def test_units_are_deviations_between_seeds_and_never_less_than_two_in_a_hundred() -> None:
    seeds = [{"a": 1.0, "b": 0.5}, {"a": 3.0, "b": 0.5}, {"a": 5.0, "b": 0.5, "c": 1.0}]
    assert units_of(seeds) == {"a": 2.0, "b": 0.02}


def test_the_chance_distance_is_of_the_farthest_pair_in_units_of_the_others() -> None:
    # 0 and 5 are farthest; the standard deviation of 2 and 3, the others, is sqrt(1/2).
    seeds = [{"a": 0.0}, {"a": 2.0}, {"a": 3.0}, {"a": 5.0, "b": 1.0}]
    assert chance_distance(seeds) == pytest.approx(5 / math.sqrt(0.5))


@pytest.mark.parametrize("together", [0.0, 0.6, 0.9])
@pytest.mark.parametrize(("seeds", "most"), [(12, 0.025), (10, 0.03)])
def test_fresh_pairs_of_one_game_seldom_lie_beyond_the_chance_distance(
    seeds: int, most: float, together: float
) -> None:
    """Normal figures, with any correlation: of a hundred fresh pairs two lie beyond, or three."""
    random, beyond = np.random.default_rng(3), list[bool]()
    count, trials, fresh = 8, 40, 40

    def profiles(number: int) -> list[dict[str, float]]:
        shared = random.normal(size=(number, 1)) * math.sqrt(together)
        own = random.normal(size=(number, count)) * math.sqrt(1 - together)
        return [dict(zip("abcdefgh", map(float, one), strict=True)) for one in shared + own]

    for _ in range(trials):
        base = profiles(seeds)
        chance, units = chance_distance(base), units_of(base)
        pairs = zip(profiles(fresh), profiles(fresh), strict=True)
        beyond += [profile_distance(a, b, units) > chance for a, b in pairs]
    assert sum(beyond) / len(beyond) <= most


def test_no_figure_counts_for_more_than_its_bound_and_nothing_shared_is_an_error() -> None:
    assert profile_distance({"a": 0.0}, {"a": 1e9}, {"a": 1.0}) == MOST
    with pytest.raises(ValueError, match="no figure"):
        profile_distance({"a": 0.0}, {"b": 0.0}, {"a": 1.0, "b": 1.0})


@pytest.mark.parametrize("seed", range(8))
def test_farthest_points_are_those_that_enumeration_finds(seed: int) -> None:
    points = np.random.default_rng(seed).random((9, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2).tolist()
    free = [i for i in range(1, 9) if i != 4]
    added = farthest(distances, [0], free, 4)
    for place, index in enumerate(added):
        before = [0, *added[:place]]
        nearest = {i: min(distances[i][j] for j in before) for i in free if i not in before}
        assert nearest[index] == max(nearest.values())

    # Gonzalez 1985: at least half of what the best of all sets has between its points.
    def least(chosen: tuple[int, ...]) -> float:
        return min(float(distances[i][j]) for i, j in combinations((0, *chosen), 2))

    assert least((*added,)) >= max(map(least, combinations(free, 4))) / 2


def test_no_more_are_chosen_than_there_are() -> None:
    assert farthest([[0, 1], [1, 0]], [0], [1], 10_000) == [1]
    assert farthest([[0, 1], [1, 0]], [0], [1], 0) == []
    # At 0, 3, 5 and 9 on a line: 9, then 5; 3 lies no further than 2 from 5.
    at = [0, 3, 5, 9]
    line = [[abs(one - other) for other in at] for one in at]
    assert farthest(line, [0], [1, 2, 3], 3, least=2) == [3, 2]


def test_a_game_that_one_seat_wins_or_that_nobody_decides_is_dull() -> None:
    usual = {"length": 3.0, "forced": 0.1, "ties": 0.1, "good_first": 0.6}
    assert dull(usual, 2) == []
    assert dull({**usual, "good_first": 0.05}, 2) == ["one seat wins nine of ten matches"]
    assert dull({**usual, "forced": 1.0}, 2) == ["players have hardly anything to decide"]
