"""Alpha-rank: which players last when the field imitates whoever does better."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]

ALPHA, POPULATION = 100.0, 50
_EQUAL = 1e-14
_LEAST_LOG = math.log(1e-100)


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
        moves[now, mutant] = takeover(alpha * better, population) / (count - 1)
    return stationary(moves)


def takeover(advantage: float, population: int) -> float:
    """The probability that a mutant with this advantage u takes a population over.

    >>> takeover(0.0, 50), round(takeover(math.log(2), 2), 4)  # (1 - 1/2) / (1 - 1/4)
    (0.02, 0.6667)
    """
    if abs(advantage) < _EQUAL:
        return 1 / population
    if advantage > 0:
        return math.expm1(-advantage) / math.expm1(-population * advantage)
    worse = -advantage  # written so that nothing overflows
    log = (1 - population) * worse + math.log(math.expm1(-worse) / math.expm1(-population * worse))
    return math.exp(max(log, _LEAST_LOG))


def stationary(moves: Matrix) -> Vector:
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
