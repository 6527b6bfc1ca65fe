"""Results of an evaluation: scores with their thresholds, samples, effective parameters."""

from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Row: TypeAlias = dict[str, Any]
"""One JSON object of a result: a sample, or a row of a table."""


class EvalError(Exception):
    """An evaluation cannot be run or scored; the message says why."""


class NothingScoredError(EvalError):
    """Every sample failed to be scored: there is no result to report."""


class Score(BaseModel):
    """One scored number with its threshold.

    Attributes:
        name: What was scored.
        value: The score.
        at_least: Threshold from below, or None.
        at_most: Threshold from above, or None.
        scored: Samples it rests on.
        unscored: Samples that could not be scored; they count for nobody.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None
    scored: int = Field(ge=1)
    unscored: int = Field(default=0, ge=0)

    @property
    def passed(self) -> bool:
        """Whether it keeps its thresholds; an unscored sample breaks a threshold."""
        low = self.at_least is None or (self.value >= self.at_least and not self.unscored)
        high = self.at_most is None or (self.value <= self.at_most and not self.unscored)
        return low and high


class EvalResult(BaseModel):
    """The result of one evaluation.

    Attributes:
        name: The evaluation.
        scores: Its scores.
        samples: One object a sample, with what was found.
        effective: Effective parameters, seeds, versions, sandbox grade.
        unscored: Numbers that could not be had at all, name to reason; any of them fails the
            result, as no value stands for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    scores: tuple[Score, ...]
    samples: tuple[dict[str, JsonValue], ...]
    effective: dict[str, JsonValue]
    unscored: dict[str, str] = Field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every score keeps its thresholds, and none is missing."""
        return all(score.passed for score in self.scores) and not self.unscored

    def as_text(self) -> str:
        """For a terminal."""
        lines = []
        for score in self.scores:
            bound = "" if score.at_least is None else f", required at least {score.at_least:g}"
            bound += "" if score.at_most is None else f", required at most {score.at_most:g}"
            unscored = f", {score.unscored} not scored" if score.unscored else ""
            bounded = score.at_least is not None or score.at_most is not None
            state = ("passed" if score.passed else "FAILED") if bounded else "shown "
            lines.append(
                f"{state} {score.name}: {score.value:.3f} over {score.scored}{unscored}{bound}"
            )
        lines += [f"NOT SCORED {name}: {reason}" for name, reason in self.unscored.items()]
        lines.append(f"{self.name}: {'passed' if self.passed else 'failed'}")
        return "\n".join(lines)


def share(values: "list[bool | None]", name: str, *, at_least: float) -> Score:
    """The share of True among what could be scored.

    Raises:
        NothingScoredError: If nothing could be scored.
    """
    scored = [value for value in values if value is not None]
    if not scored:
        raise NothingScoredError(f"{name}: none of {len(values)} samples could be scored")
    return Score(
        name=name,
        value=sum(scored) / len(scored),
        at_least=at_least,
        scored=len(scored),
        unscored=len(values) - len(scored),
    )
