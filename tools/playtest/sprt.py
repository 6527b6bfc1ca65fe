"""Sequential tests: play no more games than a question needs.

Wald's sequential probability ratio test (1945) ends as soon as the log likelihood ratio of two
hypotheses leaves the interval `(log(beta / (1 - alpha)), log((1 - beta) / alpha))`.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

Decision: TypeAlias = Literal["low", "high", "undecided"]

LEAST_SCORE = 1e-3  # that a question may be about; the highest is as far from 1
_NEVER_SEEN = 1e-3  # count of a lowest or highest score that no sample had yet
_HALVINGS = 200
_CLOSE = 1e-15


class ScoreQuestion(BaseModel):
    """Is an entrant's score against another at most `low`, or at least `high`?

    Attributes:
        low: Mean score of the null hypothesis, 0.001 to 0.999; a win is 1, a draw 0.5.
        high: Mean score of the alternative.
        alpha: Bound on deciding "high" where `low` is true.
        beta: Bound on deciding "low" where `high` is true.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class SequentialAnswer(BaseModel):
    """What a sequential test has found.

    Attributes:
        decision: Which hypothesis was accepted, if any yet.
        samples: Samples it used: a decided test uses none that came after.
        ratio: The log likelihood ratio after the last of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        if right - left < _CLOSE * (1 + abs(middle)):
            break
        if sum(count * offset / (1 + middle * offset) for offset, count in offsets) > 0:
            left = middle
        else:
            right = middle
    return (left + right) / 2


class SequentialTest:
    """Takes one sample after the other until the question is answered."""

    def __init__(self, question: ScoreQuestion) -> None:
        self.question = question
        self._counts: Counter[float] = Counter()
        self._answer = SequentialAnswer(decision="undecided", samples=0, ratio=0.0)

    @property
    def answer(self) -> SequentialAnswer:
        """What is known by now."""
        return self._answer

    def take(self, score: float) -> SequentialAnswer:
        """Add a sample in [0, 1]; nothing changes a decision.

        Raises:
            ValueError: If it is no score.
        """
        if not 0 <= score <= 1:
            raise ValueError(f"a score of {score}; required: from 0 to 1")
        if self._answer.decision != "undecided":
            return self._answer
        self._counts[score] += 1
        question = self.question
        ratio = log_likelihood_ratio(self._counts, question.low, question.high)
        low, high = question.bounds
        decision: Decision = "low" if ratio <= low else "high" if ratio >= high else "undecided"
        samples = self._answer.samples + 1
        self._answer = SequentialAnswer(decision=decision, samples=samples, ratio=ratio)
        return self._answer
