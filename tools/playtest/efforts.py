"""Efforts of decisions, summed up for an entry, an entrant, a table."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from pydantic import BaseModel, Field

from games.engine import Effort, EffortFigure, EffortWord


class NumberSummary(BaseModel, frozen=True, extra="forbid"):
    """A number that decisions reported.

    Attributes:
        count: Decisions that reported it.
        total: Their sum.
        least: The smallest.
        most: The largest.
    """

    count: int = Field(ge=1)
    total: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean over those decisions."""
        return self.total / self.count


class EffortSummary(BaseModel, frozen=True, extra="forbid"):
    """The effort of a player's decisions, as they reported it.

    Attributes:
        decisions: How many there were.
        figures: Numbers by name.
        words: How often each word was reported, by name.
    """

    decisions: int = Field(default=0, ge=0)
    figures: dict[str, NumberSummary] = Field(default_factory=dict)
    words: dict[str, dict[str, int]] = Field(default_factory=dict)

    def figure(self, name: EffortFigure) -> NumberSummary | None:
        """A number over the decisions that reported it; None where none did."""
        return self.figures.get(name)

    def total(self, name: EffortFigure) -> float:
        """The sum of a number over all decisions, 0 where none reported it."""
        found = self.figure(name)
        return found.total if found else 0.0

    def counted(self, name: EffortWord) -> dict[str, int]:
        """Counts of each word that was reported."""
        return self.words.get(name, {})


def effort_of(effort: Effort, decisions: int = 1) -> EffortSummary:
    """The effort of so many decisions, each of them the same."""
    if not decisions:
        return EffortSummary()
    figures: dict[str, NumberSummary] = {}
    words: dict[str, dict[str, int]] = {}
    for name, value in effort.row().items():
        if isinstance(value, bool | str):
            words[name] = {str(value): decisions}
        elif isinstance(value, int | float):
            total = value * decisions
            figures[name] = NumberSummary(count=decisions, total=total, least=value, most=value)
    return EffortSummary(decisions=decisions, figures=figures, words=words)


def effort_together(parts: Iterable[EffortSummary]) -> EffortSummary:
    """The effort of several decisions or matches, in their order.

    >>> reports = [Effort(simulations_done=3, belief="module"), Effort(simulations_done=5)]
    >>> used = effort_together(map(effort_of, reports))
    >>> used.decisions, used.total("simulations_done"), used.counted("belief")
    (2, 8.0, {'module': 1})
    """
    decisions = 0
    figures: dict[str, NumberSummary] = {}
    words = defaultdict[str, Counter[str]](Counter)
    for part in parts:
        decisions += part.decisions
        for name, figure in part.figures.items():
            figures[name] = _joined(figures[name], figure) if name in figures else figure
        for name, counted in part.words.items():
            words[name].update(counted)
    ordered = {name: dict(sorted(words[name].items())) for name in sorted(words)}
    return EffortSummary(decisions=decisions, figures=dict(sorted(figures.items())), words=ordered)


def _joined(one: NumberSummary, other: NumberSummary) -> NumberSummary:
    return NumberSummary(
        count=one.count + other.count,
        total=one.total + other.total,
        least=min(one.least, other.least),
        most=max(one.most, other.most),
    )
