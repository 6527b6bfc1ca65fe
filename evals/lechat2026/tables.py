"""Tables of a field of contestants: win rates, the published ones beside.

Rates of pairs and averages over the field are always published together: an average over a field
says as much about the field as about the player.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist, fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from evals.lechat2026.board import CELLS, Entry, FieldResult, Pair
from evals.results import Row, read_data
from tools.playtest.intervals import NoSamplesError, wilson

Floats = npt.NDArray[np.float64]

CONFIDENCE = 0.95
POINTS = 0.03
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

PUBLISHED: dict[str, Any] = read_data("lechat2026/published.json")
"""Figures of the thesis' result files; each part says what it is."""


def published_pairs(table: Mapping[str, float]) -> dict[Pair, float]:
    """Rates by pair, of a table by title."""
    return {
        (one, other): rate for title, rate in table.items() for one, other in [title.split(" - ")]
    }


@dataclass(frozen=True)
class WinRate:
    """A share of games won.

    Attributes:
        value: The share, 0 to 1.
        error: Its standard error; above 0 even where every game went the same way.
        low: Lower end of the 95 % interval.
        high: Upper end of it.
        n: Games it rests on: of a pair's duels, or the fewer of two solo samples.
        method: How the interval was made.
        firm: Whether the error stands with few games too: that of solo games, every one of which
            meets all of the other's, and that of an average.
    """

    value: float
    error: float
    low: float
    high: float
    n: int
    method: str
    firm: bool = False

    def turned(self) -> "WinRate":
        """The same as the other player sees it."""
        return replace(self, value=1 - self.value, low=1 - self.high, high=1 - self.low)


def exact_pair(one: Sequence[int], other: Sequence[int]) -> WinRate:
    """The win rate of two players that do not look, from the shots that each needs alone.

    P(T1 < T2) + P(T1 = T2) / 2, as seats alternate and whoever fires first wins a tie, over all
    pairs of samples; its variance is var(V10)/m + var(V01)/n with the means over the other sample
    (DeLong, DeLong and Clarke-Pearson 1988).

    Raises:
        NoSamplesError: If a sample has fewer than two games.

    >>> exact_pair([20, 30], [30, 40]).value
    0.875
    """
    if min(len(one), len(other)) < 2:  # noqa: PLR2004 - a variance needs two values
        raise NoSamplesError(f"{len(one)} and {len(other)} games; required: at least two of each")
    rows, columns = _better(one, other), 1 - _better(other, one)
    value = float(rows.mean())
    variance = rows.var(ddof=1) / len(one) + columns.var(ddof=1) / len(other)
    rate = _rate(value, math.sqrt(variance), min(len(one), len(other)), "solo shots, DeLong")
    return replace(rate, firm=True)


def _better(one: Sequence[int], other: Sequence[int]) -> Floats:
    """`[m]`: for each game of `one`, the share of the other's that it beats, ties half."""
    counts = np.bincount(np.asarray(other), minlength=CELLS + 2)
    above = len(other) - np.cumsum(counts)
    shots = np.asarray(one)
    won: Floats = (above[shots] + counts[shots] / 2) / len(other)
    return won


def duel_rate(games: Sequence[Entry]) -> WinRate:
    """The win rate of the first of a pair, over deals of two games with the seats exchanged.

    Raises:
        NoSamplesError: If there are fewer than two deals.
    """
    deals = [
        1 - (games[index]["won"] + games[index + 1]["won"]) / 2
        for index in range(0, len(games) - 1, 2)
    ]
    if len(deals) < 2:  # noqa: PLR2004 - a variance needs two values
        raise NoSamplesError(f"{len(deals)} deals; required: at least two")
    spread = float(np.std(deals, ddof=1)) / math.sqrt(len(deals))
    return _rate(fmean(deals), spread, len(games), "duels, deals of two games")


def _rate(value: float, error: float, n: int, method: str) -> WinRate:
    """With Wilson's interval where the sample has no spread, as near 0 and 1."""
    spread = Z * error
    if spread and value - spread >= 0 and value + spread <= 1:
        return WinRate(value, error, value - spread, value + spread, n, method)
    estimate = wilson(value * n, n, "matches")
    least = (estimate.high - estimate.low) / (2 * Z)
    return WinRate(
        value, max(error, least), estimate.low, estimate.high, n, f"{method}, Wilson at the edge"
    )


def pair_rates(names: Sequence[str], played: FieldResult) -> dict[Pair, WinRate]:
    """Every ordered pair's rate of the first against the second."""
    rates: dict[Pair, WinRate] = {}
    shots = {name: [game["shots"] for game in games] for name, games in played.solos.items()}
    for one, other in combinations(names, 2):
        if (one, other) in played.duels:
            rate = duel_rate(played.duels[one, other])
        else:
            rate = exact_pair(shots[one], shots[other])
        rates[one, other], rates[other, one] = rate, rate.turned()
    return rates


def averages(names: Sequence[str], rates: Mapping[Pair, WinRate]) -> dict[str, WinRate]:
    """Each player's mean over the others.

    Pairs share solo games, so the mean of their standard errors is taken: an upper bound of the
    mean's own, reached where they depend on each other fully.
    """
    found = {}
    for one in names:
        own = [rates[one, other] for other in names if other != one]
        value, error = fmean(rate.value for rate in own), fmean(rate.error for rate in own)
        low, high = max(0.0, value - Z * error), min(1.0, value + Z * error)
        games = min(rate.n for rate in own if rate.n)
        method = "mean over the field, error bounded"
        found[one] = WinRate(value, error, low, high, games, method, firm=True)
    return found


def beside(title: str, rate: WinRate, published: float, games: int, errors: float = 2.0) -> Row:
    """A row of a table: our rate in per cent beside a published one from so many games.

    The tolerance is 3 points or so many standard errors of the difference, whichever is more. A
    few duels that went alike underestimate their own error, so that it is not taken for less than
    it would be at the published rate.
    """
    variance = published * (1 - published)
    ours = rate.error if rate.firm else max(rate.error, math.sqrt(variance / rate.n))
    tolerance = max(POINTS, errors * math.hypot(ours, math.sqrt(variance / games)))
    return {
        "what": title,
        **in_points(rate),
        "published": round(100 * published, 1),
        "difference": round(100 * (rate.value - published), 1),
        "tolerance": round(100 * tolerance, 1),
        "within": abs(rate.value - published) <= tolerance,
    }


def in_points(rate: WinRate) -> Row:
    """A rate for a table, in per cent."""
    return {
        "ours": round(100 * rate.value, 1),
        "low": round(100 * rate.low, 1),
        "high": round(100 * rate.high, 1),
        "n": rate.n,
        "method": rate.method,
    }


def matrix(names: Sequence[str], rates: Mapping[Pair, WinRate]) -> Row:
    """All pairs, row against column in per cent, with the mean over the field beside them."""
    means = averages(names, rates)
    return {
        one: {
            **{other: round(100 * rates[one, other].value, 1) for other in names if other != one},
            "average": round(100 * means[one].value, 1),
        }
        for one in names
    }
