"""What a tournament keeps of a match: its result, how it went, and what the players used."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from games.contract import CHANCE, Action, Json
from games.engine import Ending, Match


class Figure(BaseModel):
    """A number that decisions reported.

    Attributes:
        count: Decisions that reported it.
        total: Their sum.
        least: The smallest.
        most: The largest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(ge=1)
    total: float
    least: float
    most: float

    @property
    def mean(self) -> float:
        """The mean over those decisions."""
        return self.total / self.count


class Used(BaseModel):
    """What a player's decisions really used, as they reported it.

    Attributes:
        decisions: How many there were.
        figures: Numbers by name.
        words: How often each word was reported, by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: int = Field(default=0, ge=0)
    figures: dict[str, Figure] = Field(default_factory=dict)
    words: dict[str, dict[str, int]] = Field(default_factory=dict)


class Outcome(BaseModel):
    """How a match ended.

    Attributes:
        ending: See `games.engine.Match`; a module that hung leaves it unfinished.
        returns: By seat; None unless it finished.
        plies: How many there were.
        actions: Every decision and chance outcome, in order: with the seeds, the match again.
        culprit: Seat that forfeited.
        reason: Why it did not finish.
        fault_line: Line of the module at fault.
        used: By seat.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ending: Ending
    returns: tuple[float, ...] | None
    plies: int
    actions: tuple[Action, ...]
    culprit: int | None
    reason: str
    fault_line: int | None
    used: tuple[Used, ...]


def outcome_entry(match: Match) -> Json:
    """The entry of a match in a tournament's journal."""
    seats = 1 + max((ply.player for ply in match.plies), default=-1)
    efforts: list[list[Mapping[str, Json]]] = [[] for _ in range(seats)]
    for ply in match.plies:
        if ply.player != CHANCE:
            efforts[ply.player].append(ply.effort)
    outcome = Outcome(
        ending=match.ending,
        returns=match.returns,
        plies=len(match.plies),
        actions=tuple(ply.action for ply in match.plies),
        culprit=match.culprit,
        reason=match.reason,
        fault_line=match.fault_line,
        used=tuple(used_by(seat) for seat in efforts),
    )
    return cast("Json", outcome.model_dump(mode="json"))


def used_by(efforts: Iterable[Mapping[str, Json]]) -> Used:
    """What decisions used, from what each reported.

    >>> used = used_by([{"simulations_done": 3, "belief": "module"}, {"simulations_done": 5}])
    >>> used.figures["simulations_done"].mean, used.words
    (4.0, {'belief': {'module': 1}})
    """
    decisions = 0
    figures: dict[str, Figure] = {}
    words: dict[str, dict[str, int]] = {}
    for effort in efforts:
        decisions += 1
        for name, value in effort.items():
            if isinstance(value, bool | str):
                counts = words.setdefault(name, {})
                counts[str(value)] = counts.get(str(value), 0) + 1
            elif isinstance(value, int | float):
                number = float(value)
                one = Figure(count=1, total=number, least=number, most=number)
                figures[name] = _joined(figures[name], one) if name in figures else one
    return Used(decisions=decisions, figures=figures, words=words)


def together(parts: Iterable[Used]) -> Used:
    """What several matches used, in their order."""
    decisions = 0
    figures: dict[str, Figure] = {}
    words: dict[str, dict[str, int]] = {}
    for part in parts:
        decisions += part.decisions
        for name, figure in part.figures.items():
            figures[name] = _joined(figures[name], figure) if name in figures else figure
        for name, counted in part.words.items():
            counts = words.setdefault(name, {})
            for word, count in counted.items():
                counts[word] = counts.get(word, 0) + count
    ordered = {name: dict(sorted(words[name].items())) for name in sorted(words)}
    return Used(decisions=decisions, figures=dict(sorted(figures.items())), words=ordered)


def read_outcome(entry: Json) -> Outcome:
    """The outcome of an entry; reading what was written gives the same again.

    Raises:
        ValueError: If it is no such entry.
    """
    return Outcome.model_validate(cast("dict[str, Any]", entry))


def _joined(one: Figure, other: Figure) -> Figure:
    return Figure(
        count=one.count + other.count,
        total=one.total + other.total,
        least=min(one.least, other.least),
        most=max(one.most, other.most),
    )
