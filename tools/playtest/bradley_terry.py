"""Bradley-Terry strengths of players by maximum likelihood, with intervals, on the Elo scale.

`P(i beats j) = g_i / (g_i + g_j)` (Bradley and Terry 1952); a draw is half a win for either. An Elo
rating is `400 log10 g`.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tools.playtest.intervals import CONFIDENCE, Estimate

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]

ELO = 400 / math.log(10)
_ITERATIONS = 200_000
_CLOSE = 1e-12


class NoRatingError(ValueError):
    """The results have no finite ratings; the message says why and what to do."""


def bradley_terry(wins: Matrix, *, prior: float = 0.0) -> Vector:
    """The strengths that make the results likeliest.

    The minorisation-maximisation algorithm (Hunter 2004, §2):
    `g_i <- W_i / sum_j (N_ij / (g_i + g_j))`, where W_i are the wins of i and N_ij the games of i
    with j; after each step the strengths are scaled to a geometric mean of 1.

    Args:
        wins: `[P, P]`; `wins[i, j]`: how often i beat j, draws as halves; the diagonal is ignored.
        prior: Draws that every two who met are given besides.

    Returns:
        `[P]` strengths with geometric mean 1.

    Raises:
        NoRatingError: If some players, as a group, lost nothing to the others or won nothing: their
            likeliest strengths are then infinite or unknown (Ford 1957).
    """
    counted = _counted(wins, prior)
    _require_connected(counted)
    won, games = counted.sum(axis=1), counted + counted.T
    strengths: Vector = np.ones(len(counted))
    for _ in range(_ITERATIONS):
        after: Vector = won / (games / (strengths[:, None] + strengths)).sum(axis=1)
        after /= np.exp(np.log(after).mean())
        change = np.abs(np.log(after / strengths)).max()
        strengths = after
        if change < _CLOSE:
            return strengths
    raise NoRatingError(
        f"the strengths did not settle in {_ITERATIONS} steps; play more matches between the "
        "strongest and the weakest, or give a prior"
    )


def elo_ratings(
    deals: Sequence[Matrix], *, prior: float = 0.0, confidence: float = CONFIDENCE
) -> list[Estimate]:
    """Elo ratings with a mean of 0, each with its interval.

    The interval is normal, `400 log10 g ± z s`. With l_i = log g_i, p_ij = g_i / (g_i + g_j), H the
    information `H_ii = sum_j N_ij p_ij p_ji`, `H_ij = -N_ij p_ij p_ji` and H+ its pseudo-inverse,
    s² is the larger of the diagonals of H+ (the model's own) and of
    `H+ (D / (D - 1) sum_d u_d u_d') H+`, where u_d is the score of deal d: results of one deal
    need not be independent.

    Args:
        deals: `[P, P]` each: the wins within one deal, as for `bradley_terry`.
        prior: See `bradley_terry`.
        confidence: Of the intervals.

    Raises:
        NoRatingError: See `bradley_terry`; or if there are no deals.
    """
    if not deals:
        raise NoRatingError("no deal was finished by everybody in it; there is nothing to rate")
    wins = np.sum(deals, axis=0)
    ratings = np.log(bradley_terry(wins, prior=prior))
    expected = 1 / (1 + np.exp(ratings[None, :] - ratings[:, None]))
    weights = _counted(wins, prior)
    weights = (weights + weights.T) * expected * expected.T
    covariance = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights, hermitian=True)
    variances = np.diag(covariance)
    if len(deals) > 1:
        scores = np.array([_score(deal, expected) for deal in deals])
        spread = scores.T @ scores * len(deals) / (len(deals) - 1)
        variances = np.maximum(variances, np.diag(covariance @ spread @ covariance))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    given = f", {prior:g} draws a pair added" if prior else ""
    return [
        Estimate(
            value=ELO * float(rating),
            low=ELO * float(rating - z * math.sqrt(variance)),
            high=ELO * float(rating + z * math.sqrt(variance)),
            n=len(deals),
            method=f"Bradley-Terry, Elo scale, mean 0{given}; normal, {confidence:.0%}",
        )
        for rating, variance in zip(ratings, variances, strict=True)
    ]


def elo_of(score: float) -> float:
    """The Elo difference at which a score in (0, 1) is expected: `400 log10(s / (1 - s))`.

    >>> round(elo_of(0.75), 2)
    190.85
    """
    if not 0 < score < 1:
        raise ValueError(f"a score of {score} has no finite Elo; required: between 0 and 1")
    return ELO * math.log(score / (1 - score))


def _score(wins: Matrix, expected: Matrix) -> Vector:
    games = wins + wins.T
    surplus: Vector = (wins - games * expected).sum(axis=1)
    return surplus


def _counted(wins: Matrix, prior: float) -> Matrix:
    counted = np.array(wins, dtype=np.float64)
    np.fill_diagonal(counted, 0.0)
    met = (counted + counted.T) > 0
    counted += met * (prior / 2)
    return counted


def _require_connected(wins: Matrix) -> None:
    """Hold that everybody beat everybody else, directly or through others."""
    reached = (wins > 0) | np.eye(len(wins), dtype=bool)
    for _ in range(len(wins)):
        reached = (reached.astype(np.int64) @ reached.astype(np.int64)) > 0
    missing = np.argwhere(~reached)
    if len(missing):
        loser, winner = (int(index) for index in missing[0])
        raise NoRatingError(
            f"no chain of wins or draws leads from player {loser} to player {winner}, so no finite "
            "rating is likeliest; play more matches, or give a prior (draws added to every pair)"
        )
