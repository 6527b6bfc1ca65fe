"""Figures of an arena: matches of a learned model's player, and what they say of the model."""

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from games.trajectories import OpenTrajectory, trajectory_of
from tools.playtest.efforts import EffortSummary, effort_together
from tools.playtest.intervals import NoSamplesError, mean_interval
from tools.playtest.jobs import MatchEntry
from tools.playtest.schedule import sides_paid_alike
from tools.playtest.series import Series
from tools.replaying import replayed_match
from tools.sandbox import Sandbox


class Paid(BaseModel, frozen=True, extra="forbid"):
    """A mean payoff with its interval, over deals."""

    value: float
    low: float
    high: float


class Unpaid(BaseModel, frozen=True, extra="forbid"):
    """No payoff, as too few deals finished."""

    value: None = None
    problem: str


def spaced(name: str) -> str:
    """The key of a field in JSON.

    >>> spaced("inference_online"), spaced("failed_searches")
    ('inference online', 'failed_searches')
    """
    return name if name == "failed_searches" else name.replace("_", " ")


SPACED = ConfigDict(alias_generator=spaced, validate_by_name=True, serialize_by_alias=True)


class Decided(BaseModel, frozen=True, extra="forbid"):
    """Decisions of a player, and what they say of its model.

    Attributes:
        decisions: Number of them.
        surprises: Times that what it saw was none of what the model held possible.
        failed_searches: Times that a search failed inside the model.
        fallbacks: Times that each other way decided.
        inference_online: Share of beliefs that fit what was seen; None without any.
    """

    model_config = SPACED

    decisions: int
    surprises: int
    failed_searches: int
    fallbacks: dict[str, int]
    inference_online: float | None


def followed(series: Series, sandbox: Sandbox, most: int | None = None) -> list[OpenTrajectory]:
    """The first matches of a series as trajectories, forfeits up to where they stopped.

    Raises:
        VoidResultError: If the environment does not play one of them the same again.
    """
    made = []
    for number, entry in [*series.entries.items()][:most]:
        if entry.ending == "fault":
            continue  # of the environment; what it did before need not come again
        match, positions = replayed_match(sandbox, series.plan.job(number), entry)
        actions = [ply.action for ply in match.plies]
        made.append(trajectory_of(number, positions[: len(actions) + 1], actions))
    return made


def decided(used: EffortSummary) -> Decided:
    """Read what a player's decisions say of its model."""
    fits = used.figure("belief_consistency")
    return Decided(
        decisions=used.decisions,
        surprises=int(used.total("surprises")),
        failed_searches=int(used.total("failed_searches")),
        fallbacks=dict(used.counted("fallback")),
        inference_online=None if fits is None else round(fits.mean, 4),
    )


def paid_over(entries: Sequence[tuple[MatchEntry, int]], seats: int) -> Paid | Unpaid:
    """A player's payoff over the others' mean, by deals whose matches all finished.

    Args:
        entries: Matches, each with the player's seat.
        seats: Matches of a deal, one with the player in each seat.
    """
    gaps = [
        None
        if entry.returns is None
        else entry.returns[seat] - fmean(p for at, p in enumerate(entry.returns) if at != seat)
        for entry, seat in entries
    ]
    return _mean_of_deals(gaps, seats)


def paid_together(entries: Sequence[tuple[MatchEntry, int]], seats: int) -> Paid | Unpaid | None:
    """A player's payoff where all seats are paid alike, by deals; None where they are not."""
    returns = [entry.returns for entry, _ in entries if entry.returns is not None]
    if not returns or len(sides_paid_alike(returns, seats)) > 1:
        return None
    paid = [None if entry.returns is None else entry.returns[seat] for entry, seat in entries]
    return _mean_of_deals(paid, seats)


def _mean_of_deals(gaps: Sequence[float | None], seats: int) -> Paid | Unpaid:
    deals = [gaps[first : first + seats] for first in range(0, len(gaps), seats)]
    whole = [[gap for gap in deal if gap is not None] for deal in deals]
    try:
        found = mean_interval([fmean(deal) for deal in whole if len(deal) == seats], "deals")
    except NoSamplesError as error:
        return Unpaid(problem=str(error))
    return Paid(value=round(found.value, 3), low=round(found.low, 3), high=round(found.high, 3))


def seated(series: Series) -> list[tuple[MatchEntry, int]]:
    """The matches of a series, each with the seat of its first player."""
    return [(entry, series.seated(match).index(0)) for match, entry in series.entries.items()]


def used_by_first(entries: Sequence[tuple[MatchEntry, int]]) -> EffortSummary:
    """The effort of the first player's decisions."""
    return effort_together([entry.used[seat] for entry, seat in entries if seat < len(entry.used)])


def forfeits(entries: Sequence[tuple[MatchEntry, int]]) -> int:
    """Matches that the first player gave away by an action that was none."""
    return sum(entry.ending == "forfeit" and entry.culprit == seat for entry, seat in entries)
