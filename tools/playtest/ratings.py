"""Ratings of players from their results: Bradley-Terry strengths as Elo, and alpha-rank.

`P(i beats j) = g_i / (g_i + g_j)` (Bradley and Terry 1952); a draw is half a win for either. An Elo
rating is `400 log10 g`. Alpha-rank (Omidshafiei et al. 2019) says which players last when the field
imitates whoever does better.
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
ALPHA, POPULATION = 100.0, 50
_EQUAL = 1e-14
_LEAST_LOG = math.log(1e-100)


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


def elo_ratings(deals: Sequence[Matrix], *, prior: float = 0.0) -> list[Estimate]:
    """Elo ratings with a mean of 0, each with its interval.

    The interval is normal, `400 log10 g ± z s`. With l_i = log g_i, p_ij = g_i / (g_i + g_j), H the
    information `H_ii = sum_j N_ij p_ij p_ji`, `H_ij = -N_ij p_ij p_ji` and H+ its pseudo-inverse,
    s² is the larger of the diagonals of H+ (the model's own) and of
    `H+ (D / (D - 1) sum_d u_d u_d') H+`, where u_d is the score of deal d: results of one deal
    need not be independent.

    Args:
        deals: `[P, P]` each: the wins within one deal, as for `bradley_terry`.
        prior: See `bradley_terry`.

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
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    given = f", {prior:g} draws a pair added" if prior else ""
    return [
        Estimate(
            value=ELO * float(rating),
            low=ELO * float(rating - z * math.sqrt(variance)),
            high=ELO * float(rating + z * math.sqrt(variance)),
            n=len(deals),
            method=f"Bradley-Terry, Elo scale, mean 0{given}; normal, {CONFIDENCE:.0%}",
        )
        for rating, variance in zip(ratings, variances, strict=True)
    ]


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


def alpha_rank(payoffs: Matrix, *, alpha: float = ALPHA, population: int = POPULATION) -> Vector:
    """The stationary shares of players in a population that takes over what does better.

    Omidshafiei et al. 2019, for one population and a symmetric game of two. Everybody plays s until
    a mutant r takes over, which happens with probability
    `(1 - exp(-u)) / (1 - exp(-m u))`, `u = alpha (M[r, s] - M[s, r])`, or 1/m where u is 0; each
    of the P - 1 other players is the mutant equally often. The shares are the stationary
    distribution of that Markov chain. Probabilities below 1e-100 are held there: the chain stays
    irreducible, and its distribution unique, at any intensity of selection.

    Args:
        payoffs: `[P, P]`, M: what row earns against column on average.
        alpha: Intensity of selection: the larger, the less a worse player ever takes over.
        population: m, the population's size.

    Returns:
        `[P]` shares that sum to 1.

    Raises:
        ValueError: If there are no two players, or a payoff is missing.

    >>> [round(float(share), 3) for share in alpha_rank(np.array([[0.5, 1.0], [0.0, 0.5]]))]
    [1.0, 0.0]
    """
    count = len(payoffs)
    if payoffs.shape != (count, count) or count < 2:  # noqa: PLR2004
        raise ValueError(f"payoffs of shape {payoffs.shape}; required: [P, P], P at least 2")
    if population < 2:  # noqa: PLR2004
        raise ValueError(f"a population of {population}; required: at least 2")
    apart = ~np.eye(count, dtype=bool)
    if not np.isfinite(payoffs[apart]).all():
        raise ValueError("a payoff is missing; required: every two players met")
    moves = np.zeros((count, count))
    for now, mutant in np.argwhere(apart):
        better = float(payoffs[mutant, now] - payoffs[now, mutant])
        moves[now, mutant] = _takeover(alpha * better, population) / (count - 1)
    return _stationary(moves)


def _takeover(advantage: float, population: int) -> float:
    """The probability that a mutant with this advantage u takes a population over.

    >>> _takeover(0.0, 50), round(_takeover(math.log(2), 2), 4)  # (1 - 1/2) / (1 - 1/4)
    (0.02, 0.6667)
    """
    if abs(advantage) < _EQUAL:
        return 1 / population
    if advantage > 0:
        return math.expm1(-advantage) / math.expm1(-population * advantage)
    worse = -advantage  # written so that nothing overflows
    log = (1 - population) * worse + math.log(math.expm1(-worse) / math.expm1(-population * worse))
    return math.exp(max(log, _LEAST_LOG))


def _stationary(moves: Matrix) -> Vector:
    """The stationary distribution of an irreducible chain, from its moves off the diagonal.

    By the elimination of Grassmann, Taksar and Heyman (1985), which subtracts nothing, so that
    probabilities of any size keep their digits.

    Args:
        moves: `[P, P]`, `moves[i, j]`: probability of going from i to j; the diagonal is ignored.
    """
    chain = np.array(moves, dtype=np.float64)
    count = len(chain)
    for last in range(count - 1, 0, -1):
        chain[:last, last] /= chain[last, :last].sum()
        chain[:last, :last] += np.outer(chain[:last, last], chain[last, :last])
    shares = np.zeros(count)
    shares[0] = 1.0
    for last in range(1, count):
        shares[last] = shares[:last] @ chain[:last, last]
    total: Vector = shares / shares.sum()
    return total
