"""Measures of a game from records of its matches: pure functions, each with an interval.

Only finished matches count; how many did not finish is for the reader to see beside them
(`Series.endings`). Every interval is over matches, because plies of one match are not independent.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

from pydantic import BaseModel, ConfigDict

from games.contract import CHANCE
from games.engine import Ply
from games.records import MatchRecord
from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    mean_interval,
    share_interval,
    wilson,
)


class Unmeasured(BaseModel):
    """A measure that could not be taken; it is never a value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str


def win_share(returns: Sequence[float], seat: int) -> float:
    """The seat's share of the win: 1 / k where it is among the k seats with the highest return.

    >>> win_share([2, 2, 0], 0), win_share([2, 2, 0], 2)
    (0.5, 0.0)
    """
    best = max(returns)
    return 1 / list(returns).count(best) if returns[seat] == best else 0.0


def first_seat_advantage(records: Sequence[MatchRecord]) -> Estimate:
    """The mean win share of seat 0 less 1 / seats; 0 is fair.

    It measures the game only where all seats were played alike or seats rotated.
    """
    finished = _finished(records)
    shares = [win_share(returns, 0) for returns, _ in finished]
    return share_interval(shares).minus(1 / len(finished[0][0]))


def draw_share(records: Sequence[MatchRecord]) -> Estimate:
    """The share of matches in which all seats got the same return.

    Raises:
        NoSamplesError: If the game has one seat only: nobody to draw with.
    """
    finished = _finished(records)
    if len(finished[0][0]) == 1:
        raise NoSamplesError("a game for one player has no draws")
    return wilson(sum(len(set(returns)) == 1 for returns, _ in finished), len(finished))


def match_length(records: Sequence[MatchRecord]) -> Estimate:
    """Plies a match, chance events included."""
    return mean_interval([float(len(plies)) for _, plies in _finished(records)])


def branching(records: Sequence[MatchRecord]) -> Estimate:
    """Legal actions a decision: the mean over matches of the match's mean."""
    return mean_interval(_over_decisions(records, lambda ply: float(len(ply.legal))))


def forced_move_share(records: Sequence[MatchRecord]) -> Estimate:
    """The share of decisions with one legal action: the mean over matches of the match's share."""
    return share_interval(_over_decisions(records, lambda ply: float(len(ply.legal) == 1)))


def decision_count(records: Sequence[MatchRecord], seat: int) -> Estimate:
    """Real decisions (two legal actions or more) of one seat a match."""
    return mean_interval(
        [
            float(sum(ply.player == seat and len(ply.legal) > 1 for ply in plies))
            for _, plies in _finished(records)
        ]
    )


def measure_all(
    records: Sequence[MatchRecord], num_players: int
) -> dict[str, Estimate | Unmeasured]:
    """Every measure of the module by its name; decision counts as `decisions_seat_N`."""
    measures: dict[str, Callable[[Sequence[MatchRecord]], Estimate]] = {
        "first_seat_advantage": first_seat_advantage,
        "draw_share": draw_share,
        "match_length": match_length,
        "branching": branching,
        "forced_move_share": forced_move_share,
    }
    if num_players == 1:
        del measures["first_seat_advantage"]
    taken = {name: _taken(measure, records) for name, measure in measures.items()}
    for seat in range(num_players):
        taken[f"decisions_seat_{seat}"] = _taken(
            lambda them, seat=seat: decision_count(them, seat),  # type: ignore[misc]
            records,
        )
    return taken


def _taken(
    measure: Callable[[Sequence[MatchRecord]], Estimate], records: Sequence[MatchRecord]
) -> Estimate | Unmeasured:
    try:
        return measure(records)
    except NoSamplesError as error:
        return Unmeasured(reason=str(error))


def _finished(
    records: Sequence[MatchRecord],
) -> list[tuple[tuple[float, ...], tuple[Ply, ...]]]:
    finished = [
        (record.match.returns, record.match.plies)
        for record in records
        if record.match.returns is not None
    ]
    if not finished:
        raise NoSamplesError(f"none of {len(records)} matches finished")
    return finished


def _over_decisions(records: Sequence[MatchRecord], value: Callable[[Ply], float]) -> list[float]:
    decisions = [
        [value(ply) for ply in plies if ply.player != CHANCE] for _, plies in _finished(records)
    ]
    return [fmean(match) for match in decisions if match]
