"""Seatings of two players, and points on the paper's scale, held against the paper's own table."""

from itertools import pairwise
from typing import Any

import pytest

from evals.gomcts.seatings import (
    COLUMNS,
    SEATINGS,
    all_seatings,
    card_points,
    mean_points,
    moon_rate,
    seating_table,
)
from evals.results import read_data

TABLE: dict[str, dict[str, list[float]]] = read_data("gomcts/published.json")["hearts"]["table"]
SEATS_OF = {"3A/1B": (3, 1), "2A/2B": (2, 2), "1A/3B": (1, 3)}
ROUNDED = 0.011  # two figures of two decimals


def test_the_seatings_are_all_but_those_of_one_player_alone() -> None:
    written = {
        *("AAAB", "AABA", "ABAA", "BAAA"),
        *("AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"),
        *("ABBB", "BABB", "BBAB", "BBBA"),
    }
    ours = {"".join("AB"[who] for who in one) for one in SEATINGS}
    assert ours == written
    assert len(SEATINGS) == len(written) == 14
    assert [len(of) for of in COLUMNS.values()] == [14, 4, 6, 4]
    assert {*COLUMNS} == {"All", *SEATS_OF}


def test_every_deal_is_played_in_every_seating_once() -> None:
    schedule = all_seatings()
    for deal in range(3):
        block = range(14 * deal, 14 * (deal + 1))
        assert {schedule.place(match).deal for match in block} == {deal}
        assert [schedule.seated(match, 5) for match in block] == [*SEATINGS]
    taken = [sum(schedule.seated(match, 5)[seat] for match in range(14)) for seat in range(4)]
    assert taken == [7] * 4  # both sit in every seat equally often


@pytest.mark.parametrize(
    ("returns", "points"),
    [
        ([-3, -13, 0, -10], [3, 13, 0, 10]),
        ([-26, -26, 0, -26], [0, 0, -26, 0]),  # the moon, by the paper: -26 for the one
        ([-25, -1, 0, 0], [25, 1, 0, 0]),
        ([-13, -13, 0, 0], [13, 13, 0, 0]),
    ],
)
def test_points_are_the_papers_and_differ_between_seats_as_the_games_do(
    returns: list[float], points: list[float]
) -> None:
    assert card_points(returns) == points
    for (one, paid), (other, more) in pairwise(zip(points, returns, strict=True)):
        assert one - other == more - paid


@pytest.mark.parametrize("player", TABLE)
def test_the_papers_table_shares_26_points_a_deal_and_our_columns_are_its_columns(
    player: str,
) -> None:
    """A and B share 26 points, or -26 where somebody shot the moon: 26 - 52 p in the mean."""
    published = TABLE[player]
    for name, (of_a, of_b) in SEATS_OF.items():
        a, b = published[name]
        shot = (26 - of_a * a - of_b * b) / 52
        assert 0.05 < shot < 0.25, name
    deal: dict[tuple[int, ...], list[float]] = {
        seating: [published[name][who] for who in seating]
        for name in SEATS_OF
        for seating in COLUMNS[name]
    }
    table = seating_table([deal, deal])
    for name, (a, b) in published.items():
        assert table[name]["A"] == pytest.approx(a, abs=ROUNDED)
        assert table[name]["B"] == pytest.approx(b, abs=ROUNDED)
        assert table[name]["value"] == pytest.approx(a - b, abs=2 * ROUNDED)


def test_means_and_intervals_are_of_deals_and_share_the_points_of_a_deal() -> None:
    """Two deals by hand: in one A takes all 26 hearts points, in the other a seat of B shoots."""
    first = {one: card_points(_paid(one, taker=0, amount=26)) for one in SEATINGS}
    second = {one: card_points(_paid(one, taker=1, amount=0)) for one in SEATINGS}
    assert mean_points(first, COLUMNS["2A/2B"], 0) == 13
    assert mean_points(second, COLUMNS["2A/2B"], 1) == -13
    table = seating_table([first, second])
    column: Any = table["2A/2B"]
    assert (column["A"], column["B"]) == (6.5, -6.5)  # shares of 26 and of -26: 2 A + 2 B = 0
    assert (column["value"], column["n"], column["of"]) == (13, 2, "deals")
    assert column["low"] == column["high"] == 13  # both deals differ by 13
    assert moon_rate([first, second]) == 0.5


def _paid(seating: tuple[int, ...], taker: int, amount: float) -> list[float]:
    """What the library pays where one seat of a player takes all, but not the whole moon."""
    seat = seating.index(taker)
    if not amount:
        return [0.0 if other == seat else -26.0 for other in range(4)]
    return [-amount if other == seat else 0.0 for other in range(4)]
