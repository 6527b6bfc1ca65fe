"""Estimates with their intervals; nothing is estimated from too few samples. And sequential tests.

Wald's sequential probability ratio test (1945) plays no more games than a question needs: it ends
as soon as the log likelihood ratio of two hypotheses leaves the interval
`(log(beta / (1 - alpha)), log((1 - beta) / alpha))`.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean, stdev
from typing import Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, Field, model_validator

from games.text import number_of

CONFIDENCE = 0.95
_MANY = 2000
_HALVINGS = 60
_SHARE_HALVINGS = 30  # of an interval of at most 1
Decision: TypeAlias = Literal["low", "high", "undecided"]
Sampled: TypeAlias = Literal["matches", "deals", "seats", "pairs"]
"""What an estimate may rest on; a seat is one that an entrant took in one match."""

LEAST_SCORE = 1e-3  # that a question may be about; the highest is as far from 1
_NEVER_SEEN = 1e-3  # count of a lowest or highest score that no sample had yet
_TILT_HALVINGS = 200
_CLOSE = 1e-15


class NoSamplesError(ValueError):
    """There are too few samples to estimate anything; this is not an estimate of zero."""


class Estimate(BaseModel, frozen=True, extra="forbid"):
    """A value with its interval.

    Attributes:
        value: The point estimate.
        low: Lower end of the interval.
        high: Upper end of the interval.
        n: Independent samples it rests on.
        of: What the samples are.
        method: How the interval was made, with its confidence.
    """

    value: float
    low: float
    high: float
    n: int = Field(ge=1)
    of: Sampled
    method: str

    def minus(self, baseline: float) -> "Estimate":
        """The estimate of the value less a constant."""
        return self.model_copy(
            update={
                "value": self.value - baseline,
                "low": self.low - baseline,
                "high": self.high - baseline,
            }
        )


def estimated(value: float, low: float, high: float, n: int, of: Sampled, method: str) -> Estimate:
    """An estimate whose interval holds its value, however the ends were rounded."""
    low, high = min(value, low), max(value, high)
    return Estimate(value=value, low=low, high=high, n=n, of=of, method=method)


class Unmeasured(BaseModel, frozen=True, extra="forbid"):
    """A measure that could not be taken; it is never a value."""

    reason: str


def or_unmeasured(measure: Callable[[], Estimate]) -> Estimate | Unmeasured:
    """A measure, or why there are too few samples for it."""
    try:
        return measure()
    except NoSamplesError as error:
        return Unmeasured(reason=str(error))


def wilson(successes: float, n: float, of: Sampled, confidence: float = CONFIDENCE) -> Estimate:
    """A proportion with Wilson's score interval.

    With p = successes / n and z the normal quantile of (1 + confidence) / 2:
    `(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)` (Wilson 1927). Fractional successes
    (shared wins) give a conservative interval, because a value in [0, 1] with mean p varies by
    p(1-p) at the most.

    Raises:
        NoSamplesError: If n is 0.

    >>> found = wilson(8, 10, "matches")
    >>> [round(x, 4) for x in (found.low, found.high)]
    [0.4902, 0.9433]
    """
    if n < 1:
        raise NoSamplesError("no samples; a proportion needs at least one")
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}; required: from 0 to n")
    p = successes / n
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    middle, scale = p + z * z / (2 * n), 1 + z * z / n
    low, high = max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
    return estimated(p, low, high, int(n), of, f"Wilson, {100 * confidence:.4g}%")


def design_effect(shares: Iterable[tuple[int, float]]) -> float:
    """The shares of a deal that tell no more than one independent one, on average; at least 1.

    With w_d the sum of the m_d shares of a deal, p the mean of all n shares:
    `max(1, sum_d (w_d - p m_d)² / (n p (1 - p)))` (Kish 1965). It is at most the size of a deal,
    where all shares of a deal are alike. Shares that are all 0 or all 1 do not tell it.

    Args:
        shares: Each with its deal.

    >>> design_effect([(0, 1), (0, 1), (1, 0), (1, 0)]), design_effect([(0, 1), (0, 0)])
    (2.0, 1.0)
    """
    deals: dict[int, list[float]] = {}
    for deal, share in shares:
        deals.setdefault(deal, []).append(share)
    n = sum(map(len, deals.values()))
    p = math.fsum(map(math.fsum, deals.values())) / max(1, n)
    if not 0 < p < 1:
        return 1.0
    apart = math.fsum((math.fsum(deal) - p * len(deal)) ** 2 for deal in deals.values())
    return max(1.0, apart / (n * p * (1 - p)))


def at_worst(successes: float, n: int, of: Sampled, asked: int, alike: float = 1.0) -> Estimate:
    """Wilson's interval of n, wide enough for whatever the rest of `asked` would have been.

    Args:
        successes: Sum of n shares.
        n: Shares.
        of: What has one.
        asked: These and others that are not known.
        alike: Their design effect, which n is divided by (Korn and Graubard 1998).

    Raises:
        NoSamplesError: If n is 0.

    >>> at_worst(10, 20, "seats", 22).high == wilson(12, 22, "seats").high
    True
    >>> at_worst(10, 20, "seats", 20, 2.0).high == wilson(5, 10, "seats").high
    True
    """
    found = wilson(successes / alike, n / alike, of)
    low = wilson(successes / alike, asked / alike, of).low
    high = wilson((successes + asked - n) / alike, asked / alike, of).high
    method = found.method
    method += f", design effect {alike:.2f}" if alike > 1 else ""
    method += f"; {asked - n} that count apart at their best and worst" if asked > n else ""
    return found.model_copy(update={"low": low, "high": high, "n": n, "method": method})


def mean_interval(values: Sequence[float], of: Sampled, confidence: float = CONFIDENCE) -> Estimate:
    """A mean with Student's t interval: mean ± t(n-1) s / sqrt(n).

    Raises:
        NoSamplesError: If there are fewer than two values.
    """
    n = len(values)
    if n < 2:  # noqa: PLR2004 - two are the least
        raise NoSamplesError(
            f"{number_of(n, 'sample')}; a mean with an interval needs at least two"
        )
    middle = fmean(values)
    spread = student_t(n - 1, confidence) * stdev(values) / math.sqrt(n)
    ends = middle - spread, middle + spread
    return estimated(middle, *ends, n, of, f"Student's t, {confidence:.0%}")


def share_interval(
    values: Sequence[float], of: Sampled, confidence: float = CONFIDENCE
) -> Estimate:
    """The mean of values in [0, 1]: Student's t cut to [0, 1], or Wilson where all are equal.

    A t interval of equal values would have no width, which few samples do not justify. One that
    reaches beyond 0 or 1 is cut there and its method says so: no share lies outside, so the cut
    interval covers the true share exactly as often.

    Raises:
        NoSamplesError: If there are fewer than two values.
        ValueError: If a value is no share.

    >>> estimate = share_interval([1, 1, 1, 0], "deals")
    >>> round(estimate.low, 4), estimate.high, estimate.method
    (0.0, 1.0, "Student's t cut to [0, 1], 95%")
    """
    if not all(0 <= value <= 1 for value in values):
        strange = next(value for value in values if not 0 <= value <= 1)
        raise ValueError(f"{strange} is no share; required: values in [0, 1]")
    estimate = mean_interval(values, of, confidence)
    if estimate.high == estimate.low:
        return wilson(min(float(len(values)), sum(values)), len(values), of, confidence)
    low, high = max(0.0, estimate.low), min(1.0, estimate.high)
    if (low, high) == (estimate.low, estimate.high):
        return estimate
    method = f"Student's t cut to [0, 1], {confidence:.0%}"
    return estimate.model_copy(update={"low": low, "high": high, "method": method})


def paid_interval(values: Sequence[float], of: Sampled, least: float, most: float) -> Estimate:
    """The mean of what was paid: Student's t, or Wilson of its share of the span if all are equal.

    Equal samples have no width, which few of them do not justify.

    Args:
        values: At least two.
        of: What was paid one each.
        least: What anybody was paid at least.
        most: The same at most.

    Raises:
        NoSamplesError: If there are fewer than two values.
    """
    mean = mean_interval(values, of)
    if mean.low < mean.high or least == most:
        return mean
    share = share_interval([(value - least) / (most - least) for value in values], of)
    low, high = (least + (most - least) * end for end in (share.low, share.high))
    method = f"{share.method}, of what was paid at least and at most"
    return estimated(mean.value, low, high, mean.n, of, method)


def exact_share(values: Sequence[float], of: Sampled, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of values in [0, 1] with its exact interval; see `exact_proportion`.

    Raises:
        NoSamplesError: If there are fewer than two values.

    >>> estimate = exact_share([1.0] * 8 + [0.0] * 2, "matches")
    >>> round(estimate.low, 4), round(estimate.high, 4)
    (0.4439, 0.9748)
    """
    n = len(values)
    return exact_proportion(min(math.fsum(values), float(n)), n, of, confidence)


def exact_proportion(won: float, n: int, of: Sampled, confidence: float = CONFIDENCE) -> Estimate:
    """A proportion with Clopper and Pearson's exact interval (1934).

    Of k = won in n, the interval is `{p : P(X >= floor(k) | n, p) >= a and
    P(X <= ceil(k) | n, p) >= a}` with X binomial and a = (1 - confidence) / 2. Of wins and losses,
    however few, it leaves the true share out with probability 1 - confidence at the most.

    Raises:
        NoSamplesError: If n is less than two.
    """
    if n < 2:  # noqa: PLR2004 - two are the least
        raise NoSamplesError(f"{n} samples; a share with an interval needs at least two")
    low = 1 - _most(n - math.floor(won), n, confidence)
    high = _most(math.ceil(won), n, confidence)
    return estimated(won / n, low, high, n, of, f"Clopper-Pearson, {confidence:.0%}")


@lru_cache(maxsize=4096)  # a simulation of many play-tests asks for few different ones
def _most(won: int, n: int, confidence: float) -> float:
    """The largest p at which so few wins are no rarer than (1 - confidence) / 2."""
    if won == n:
        return 1.0
    wins = np.arange(won + 1)
    ratios = np.log(n - wins[1:] + 1) - np.log(wins[1:])
    ways = np.concatenate(([0.0], np.cumsum(ratios)))

    def at_most(p: float) -> float:
        return float(np.exp(ways + wins * math.log(p) + (n - wins) * math.log1p(-p)).sum())

    share = (won / n, 1.0)
    return _last(lambda p: at_most(p) >= (1 - confidence) / 2, share, _SHARE_HALVINGS)


def _last(holds: Callable[[float], bool], within: tuple[float, float], halvings: int) -> float:
    """Up to where something holds that holds at the lower end alone, by halving the interval."""
    low, high = within
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """The two-sided quantile t of Student's distribution: P(|T| < t) = confidence.

    Inverts the closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4);
    above 2000 degrees the first correction to the normal quantile, z + (z³ + z) / 4ν (26.7.5).

    >>> [round(student_t(v), 3) for v in (1, 2, 3, 9, 30, 5000)]
    [12.706, 4.303, 3.182, 2.262, 2.042, 1.96]
    """
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom; required: at least 1")
    if degrees > _MANY:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        return z + (z**3 + z) / (4 * degrees)
    quarter = (0.0, math.pi / 2)
    angle = _last(lambda angle: _within(angle, degrees) < confidence, quarter, _HALVINGS)
    return math.tan(angle) * math.sqrt(degrees)


def _within(angle: float, degrees: int) -> float:
    """P(|T| < t) for t = tan(angle) sqrt(degrees)."""
    odd = degrees % 2
    square = math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= square * (power + 1) / (power + 2)
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


class ScoreQuestion(BaseModel, frozen=True, extra="forbid"):
    """Is an entrant's score against another at most `low`, or at least `high`?

    Attributes:
        low: Mean score of the null hypothesis, 0.001 to 0.999; a win is 1, a draw 0.5.
        high: Mean score of the alternative.
        alpha: Bound on deciding "high" where `low` is true.
        beta: Bound on deciding "low" where `high` is true.
    """

    low: float = Field(ge=LEAST_SCORE, le=1 - LEAST_SCORE)
    high: float = Field(ge=LEAST_SCORE, le=1 - LEAST_SCORE)
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    beta: float = Field(default=0.05, gt=0, lt=0.5)

    @model_validator(mode="after")
    def _ordered(self) -> "ScoreQuestion":
        if not self.low < self.high:
            raise ValueError(f"low is {self.low}, high {self.high}; required: low < high")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the log likelihood ratio."""
        low = math.log(self.beta / (1 - self.alpha))
        return low, math.log((1 - self.beta) / self.alpha)


class SequentialAnswer(BaseModel, frozen=True, extra="forbid"):
    """The result of a sequential test.

    Attributes:
        decision: Which hypothesis was accepted, if any yet.
        samples: Samples it used: a decided test uses none that came after.
        ratio: The log likelihood ratio after the last of them.
    """

    decision: Decision
    samples: int
    ratio: float


def log_likelihood_ratio(counts: Mapping[float, float], low: float, high: float) -> float:
    """The generalised log likelihood ratio of two mean scores.

    The samples are multinomial over their scores a_i: win and loss (Wald's own test), win, draw
    and loss (the trinomial form), or the mean scores of paired games (the pentanomial form). Under
    either hypothesis the probabilities are the likeliest with its mean s (Owen 1988):
    `p_i(s) = q_i / (1 + t (a_i - s))`, where q_i are the observed shares and t solves
    `sum_i q_i (a_i - s) / (1 + t (a_i - s)) = 0`; the ratio is `n sum_i q_i log(p_i(high) /
    p_i(low))`. Scores 0 and 1 that were never seen count 0.001 times, so that one sample of a kind
    does not rule the others out.

    >>> round(log_likelihood_ratio({1.0: 60, 0.0: 40}, 0.5, 0.6), 4)  # 60 log 1.2 + 40 log 0.8
    2.0136
    """
    seen = {score: count for score, count in counts.items() if count > 0}
    if not seen:
        return 0.0
    for end in (0.0, 1.0):
        seen.setdefault(end, _NEVER_SEEN)
    tilts = (_tilt(seen, low), _tilt(seen, high))
    return sum(
        count * (math.log1p(tilts[0] * (score - low)) - math.log1p(tilts[1] * (score - high)))
        for score, count in sorted(seen.items())
    )


def _tilt(counts: Mapping[float, float], mean: float) -> float:
    """The t of `log_likelihood_ratio`: the sum falls in t between its two poles."""
    offsets = [(score - mean, count) for score, count in counts.items()]
    left = -1 / max(offset for offset, _ in offsets)
    right = -1 / min(offset for offset, _ in offsets)
    for _ in range(_TILT_HALVINGS):
        middle = (left + right) / 2
        if right - left < _CLOSE * (1 + abs(middle)):
            break
        if sum(count * offset / (1 + middle * offset) for offset, count in offsets) > 0:
            left = middle
        else:
            right = middle
    return (left + right) / 2


class SequentialTest:
    """Takes one sample after the other until the question is answered.

    Attributes:
        answer: What is known by now.
    """

    def __init__(self, question: ScoreQuestion) -> None:
        self.question = question
        self._counts: Counter[float] = Counter()
        self.answer = SequentialAnswer(decision="undecided", samples=0, ratio=0.0)

    def take(self, score: float) -> SequentialAnswer:
        """Add a sample in [0, 1]; nothing changes a decision.

        Raises:
            ValueError: If it is no score.
        """
        if not 0 <= score <= 1:
            raise ValueError(f"a score of {score}; required: from 0 to 1")
        if self.answer.decision != "undecided":
            return self.answer
        self._counts[score] += 1
        question = self.question
        ratio = log_likelihood_ratio(self._counts, question.low, question.high)
        low, high = question.bounds
        decision: Decision = "low" if ratio <= low else "high" if ratio >= high else "undecided"
        samples = self.answer.samples + 1
        self.answer = SequentialAnswer(decision=decision, samples=samples, ratio=ratio)
        return self.answer
