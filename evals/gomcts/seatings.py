"""Seatings of two players at a table of four, and what they score a deal: GO-MCTS, Table 2.

Every deal is played in all 14 seatings: every way in which A and B take four seats, but for all A
and all B. The deal is the sample: the matches of one deal share its cards. A figure of a column is
the mean over its seatings of the mean over a player's seats.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import TypeAlias

from evals.results import Row
from tools.playtest.intervals import Estimate, mean_interval
from tools.playtest.schedule import Schedule

SEATS = 4
SHARED = 26  # points of a deal: thirteen hearts, and the queen of spades for thirteen
Seating: TypeAlias = tuple[int, ...]
"""By seat: 0 for A, 1 for B."""
Deal: TypeAlias = Mapping[Seating, Sequence[float]]
"""Points by seat, for every seating."""

SEATINGS: tuple[Seating, ...] = tuple(
    one for one in product((0, 1), repeat=SEATS) if 0 < sum(one) < SEATS
)
COLUMNS: Mapping[str, tuple[Seating, ...]] = {
    "All": SEATINGS,
    **{
        f"{SEATS - of_b}A/{of_b}B": tuple(one for one in SEATINGS if sum(one) == of_b)
        for of_b in range(1, SEATS)
    },
}


def all_seatings() -> Schedule:
    """The schedule in which two entrants play each deal in all 14 seatings.

    >>> schedule = all_seatings()
    >>> schedule.matches_a_deal, schedule.seated(0, 0), schedule.seated(13, 0)
    (14, (0, 0, 0, 1), (1, 1, 1, 0))
    """
    return Schedule(SEATS, SEATINGS, "every seating of two players", 1, drawn=False)


def card_points(returns: Sequence[float]) -> list[float]:
    """The points that the paper counts, from what the library's game pays.

    The library pays what was taken, less than nothing; who shot the moon loses nothing and the
    others lose 26 each, as in OpenSpiel, which pays 26 more. In the paper the one gets -26 and the
    others nothing: 26 less for everybody. Differences between seats are the same.

    >>> card_points([-1, -20, -5, 0]), card_points([-26, 0, -26, -26])
    ([1, 20, 5, 0], [0, -26, 0, 0])
    """
    points = [-one if one else 0 for one in returns]
    is_moon = sum(points) > SHARED
    return [one - SHARED if is_moon else one for one in points]


def moon_rate(deals: Sequence[Deal]) -> float:
    """The share of matches in which somebody took all: a match shares 26 points, or then -26."""
    return fmean(sum(points) < 0 for deal in deals for points in deal.values())


def mean_points(deal: Deal, seatings: Sequence[Seating], player: int) -> float:
    """The points of a player in one deal: of its seats, then of the seatings."""
    return fmean(
        fmean(points for points, who in zip(deal[one], one, strict=True) if who == player)
        for one in seatings
    )


def seating_table(deals: Sequence[Deal]) -> dict[str, Row]:
    """By column: the points of A and of B, and the difference with its interval over deals.

    Raises:
        NoSamplesError: If there are fewer than two deals.
    """
    table: dict[str, Row] = {}
    for name, seatings in COLUMNS.items():
        pairs = [[mean_points(deal, seatings, who) for who in (0, 1)] for deal in deals]
        apart: Estimate = mean_interval([a - b for a, b in pairs], "deals")
        table[name] = {
            "A": fmean(a for a, _ in pairs),
            "B": fmean(b for _, b in pairs),
            **apart.model_dump(mode="json"),
        }
    return table
