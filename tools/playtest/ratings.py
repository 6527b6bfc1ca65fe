"""Ranks within matches, and ratings of players from them: Bradley-Terry as Elo, and alpha-rank.

`P(i beats j) = g_i / (g_i + g_j)` (Bradley and Terry 1952); a draw is half a win for either. An Elo
rating is `400 log10 g`. Alpha-rank (Omidshafiei et al. 2019) says which players last when the field
imitates whoever does better.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist, fmean
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.text import number_of
from tools.playtest.intervals import CONFIDENCE, Estimate, estimated
from tools.playtest.jobs import MatchEntry, PlayerSpec
from tools.playtest.schedule import Sides

Matrix: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = NDArray[np.float64]

ELO = 400 / math.log(10)
ONE_IN = 20  # matches of a result at the most are void, and of an entrant's forfeited
_ITERATIONS = 200_000
_CLOSE = 1e-12
ALPHA, POPULATION = 100.0, 50
_EQUAL = 1e-14
_REPEATS = 5  # matches of one seating that would hardly be alike by chance
_DECIMALS = 9  # of returns that are compared
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
    method = f"Bradley-Terry, Elo scale, mean 0{given}; normal, {CONFIDENCE:.0%}"
    spreads = [z * math.sqrt(variance) for variance in variances]
    rated = zip(ratings, spreads, strict=True)
    ends = ([ELO * float(end) for end in (r, r - s, r + s)] for r, s in rated)
    return [estimated(value, low, high, len(deals), "deals", method) for value, low, high in ends]


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
            f"no chain of wins or draws leads from player {loser + 1} to player {winner + 1}, so "
            "no finite rating is likeliest; play more matches, or give a prior (draws added to "
            "every pair)"
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
    if payoffs.shape != (count, count) or count < 2:  # noqa: PLR2004 - two are the least
        raise ValueError(f"payoffs of shape {payoffs.shape}; required: [P, P], P at least 2")
    if population < 2:  # noqa: PLR2004 - two are the least
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


def ranked(
    outcome: MatchEntry, players: Sequence[object], sides: Sides = ()
) -> tuple[float, ...] | None:
    """The values that rank the seats of a match; None where it is nobody's win or loss.

    Returns where it finished. Where a player forfeited, 1 for who wins by it and 0 for who loses:
    the seat, its side, and every seat of the same player, so that nothing is gained by giving up.
    Where that is everybody, the seat alone loses, in cooperation all do.

    Args:
        outcome: The match.
        players: Who sat there, by seat.
        sides: Who are partners, where that is known.
    """
    if outcome.ending != "forfeit" or (culprit := outcome.culprit) is None:
        return outcome.returns and _settled(outcome.returns)
    everybody = range(len(players))
    side = next((seats for seats in sides if culprit in seats), (culprit,))
    lost = {*side, *(seat for seat in everybody if players[seat] == players[culprit])}
    if len(lost) == len(everybody):
        lost = {*side}
    return tuple(float(seat not in lost) for seat in everybody)


def head_to_head(
    outcomes: Iterable[tuple[Sequence[float], Sequence[int]]], one: int, other: int
) -> Counter[float]:
    """Seats of one entrant against seats of another: how often 1 (more), 0.5 or 0 (less).

    Args:
        outcomes: What the seats of each match are ranked by, and its entrants by seat.
        one: Entrant whose score it is.
        other: Entrant.
    """
    counts: Counter[float] = Counter()
    for ranks, seated in outcomes:
        for seat, mine in enumerate(ranks):
            if seated[seat] != one:
                continue
            for against, theirs in enumerate(ranks):
                if seated[against] == other:
                    counts[0.5 if mine == theirs else float(mine > theirs)] += 1
    return counts


def score_of(counts: Mapping[float, int]) -> float:
    """The mean of counted scores."""
    return sum(score * count for score, count in counts.items()) / sum(counts.values())


def win_share(returns: Sequence[float], seat: int) -> float:
    """The seat's share of the win: 1 / k where it is among the k seats with the highest return.

    >>> win_share([2, 2, 0], 0), win_share([2, 2, 0], 2)
    (0.5, 0.0)
    >>> win_share([1 / 3 + 1 / 3 - 2 / 3, 0.1 + 0.2 - 0.3, -1], 0)
    0.5
    """
    paid = _settled(returns)
    best = max(paid)
    return 1 / paid.count(best) if paid[seat] == best else 0.0


def _settled(returns: Sequence[float]) -> tuple[float, ...]:
    """Returns of which equal ones are equal: sums of thirds differ in their last digits."""
    return tuple(round(paid, _DECIMALS) for paid in returns)


@dataclass(frozen=True, eq=False)
class Forfeits:
    """For whom matches count that somebody forfeits: it must not decide between two others.

    Attributes:
        players: By entrant; of equal names are the same player.
        seated: Entrants by seat, by match.
        outcomes: By match.
        sides: Who are partners, by seat.
    """

    players: Sequence[PlayerSpec]
    seated: Mapping[int, tuple[int, ...]]
    outcomes: Mapping[int, MatchEntry]
    sides: Sides

    @cached_property
    def quitters(self) -> frozenset[int]:
        """Entrants that forfeited more than one in twenty of their matches with rivals."""
        taken, lost = Counter[int](), Counter[int]()
        for match, seated in self.seated.items():
            for who in {who for who in seated if self._rivals(match, {who})}:
                taken[who] += 1
                lost[who] += self._blamed(match) == {who}
        return frozenset(who for who, count in lost.items() if count * ONE_IN > taken[who])

    @property
    def told(self) -> str:
        """Their names, and what is left out; empty where there is nobody."""
        if not self.quitters:
            return ""
        names = ", ".join(self.players[who].name for who in sorted(self.quitters))
        return (
            f"{names} forfeited more than one in {ONE_IN} of its matches; matches in which it sat "
            "with two rivals or more are left out of their ranks, as a forfeit could suit one"
        )

    @cache  # noqa: B019 - it lives as long as its tables
    def spared(self, match: int) -> frozenset[int]:
        """Rivals of each other for whom it does not count: another one forfeits, or often does."""
        return self._rivals(match, self.quitters | self._blamed(match))

    def compares(self, match: int, one: int, other: int) -> bool:
        """True where a match compares two entrants."""
        pair, spared = {one, other}, self.spared(match)
        return not pair & spared or not (pair <= spared or pair & self.quitters)

    def _blamed(self, match: int) -> set[int]:
        culprit = self.outcomes[match].culprit
        return set() if culprit is None else {self.seated[match][culprit]}

    def _rivals(self, match: int, gone: Collection[int]) -> frozenset[int]:
        """Whom those that are gone leave, where they are rivals of each other; else nobody."""
        names, seated = {self.players[who].name for who in gone}, self.seated[match]
        side_of = {seat: side for side in self.sides for seat in side}
        parties = [(side_of[seat], self.players[who].name) for seat, who in enumerate(seated)]
        away = {side for side, name in parties if name in names}
        left = {(side, name) for side, name in parties if side not in away}
        few = min(len({side for side, _ in left}), len({name for _, name in left}))
        if not away or few <= 1:
            return frozenset()
        return frozenset(who for seat, who in enumerate(seated) if side_of[seat] not in away)


def simulations_by_seat(
    players: Sequence[PlayerSpec],
    seated: Mapping[int, tuple[int, ...]],
    outcomes: Mapping[int, MatchEntry],
) -> dict[str, dict[str, float]]:
    """Mean simulations of a decision, by player and seat, of those whose budget is time.

    Workers claim them. Forced decisions are not searched, and do not count.
    """
    done = defaultdict[str, dict[str, list[float]]](dict)
    for match, outcome in outcomes.items():
        for seat, effort in enumerate(outcome.used):
            player = players[seated[match][seat]]
            figure = effort.figure("simulations_done")
            if figure is not None and player.settings.get("budget") == "time":
                searched = figure.count - effort.counted("belief").get("not_needed", 0)
                sums = done[player.name].setdefault(str(seat), [0.0, 0.0])
                sums[:] = sums[0] + figure.total, sums[1] + searched
    return {
        name: {seat: total / count for seat, (total, count) in sorted(seats.items()) if count}
        for name, seats in done.items()
    }


def uneven_search(simulations: Mapping[str, Mapping[str, float]]) -> str:
    """The player that searched less than half as much at one seat as at others; "" for none.

    >>> uneven_search({"uct": {"0": 900.0, "1": 500.0}})
    ''
    >>> uneven_search({"uct": {"0": 900.0, "1": 400.0}})[:62]
    'uneven search: uct did 400 simulations a decision as player 2,'
    """
    for name, seats in simulations.items():
        for seat, mean in seats.items():
            others = [one for at, one in seats.items() if at != seat]
            if others and 2 * mean < fmean(others):
                return (
                    f"uneven search: {name} did {mean:.0f} simulations a decision as player "
                    f"{int(seat) + 1}, {fmean(others):.0f} at other seats; no rank is drawn, as "
                    "the module may be slow where that seat searches"
                )
    return ""


def repeated_matches(
    seated: Mapping[int, tuple[int, ...]], outcomes: Mapping[int, MatchEntry]
) -> str:
    """A caution where all matches of the same seating are one and the same; else ""."""
    played: dict[tuple[int, ...], list[tuple[str, ...]]] = {}
    for match, outcome in outcomes.items():
        played.setdefault(seated[match], []).append(tuple(outcome.actions))
    sets = [(len(all_), {*all_}) for all_ in played.values() if len(all_) >= _REPEATS]
    alike = [count for count, found in sets if len(found) == 1 and found != {()}]
    if not alike:
        return ""
    return (
        f"{sum(alike)} matches are {number_of(len(alike), 'match')} played again and "
        "again, as neither the players nor the game draw anything there; their intervals count "
        "each as a new one"
    )


def cautions_of(
    forfeits: Forfeits,
    simulations: Mapping[str, Mapping[str, float]],
    unasked: int,
    repeated: str,
) -> dict[str, str]:
    """Cautions about what a result does not rest on, by name."""
    told = (
        f"{unasked} matches are in the journal whose players are models: none of them was asked "
        "again, and what a changed journal says of them is believed"
    )
    found = {
        "forfeits": forfeits.told,
        "uneven search": uneven_search(simulations),
        "not asked again": told if unasked else "",
        "repeated": repeated,
    }
    return {name: sentence for name, sentence in found.items() if sentence}
