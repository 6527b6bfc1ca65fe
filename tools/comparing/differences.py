"""Figures of two games, and the intervals of their differences.

Both are played by the same players under one seed, so that a match of each has the same deal as far
as the settings allow. Matches are paired, and the interval is Student's t of their differences.
Where seats differ, a match did not finish in both, or all differences are equal, it is of two
samples. With estimates a and b and their intervals (la, ua) and (lb, ub), b - a lies from
`b - a - sqrt((b - lb)² + (ua - a)²)` to `b - a + sqrt((ub - b)² + (a - la)²)` (Zou and Donner
2008; of shares, Newcombe 1998).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import hypot

from pydantic import BaseModel

from games.records import MatchRecord
from games.values import CHANCE
from tools.playtest.intervals import (
    Estimate,
    Unmeasured,
    estimated,
    mean_interval,
    or_unmeasured,
)
from tools.playtest.jobs import GameSetup, Roster
from tools.playtest.report import figure_of, measure_all, sides_of
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, SeriesSettings, play_series, with_records
from tools.reporting.content import Figure
from tools.sandbox import Sandbox

_OF_SEATS = ("wins", "choices")
_OF_PLIES = ("lead", "turns", "options", "forced", "choices")
_IN_FULL = 60  # matches of each
Measures = Mapping[str, Estimate | Unmeasured]


class FigureDifference(BaseModel, frozen=True, extra="forbid"):
    """One measure of two games.

    Attributes:
        key: As `tools.playtest.report.measure_all` names it.
        before: Of the first game.
        after: Of the second.
        difference: The second less the first.
        told: The interval of the difference leaves 0 out.
    """

    key: str
    before: Figure
    after: Figure
    difference: Figure
    told: bool


class PlayedDifference(BaseModel, frozen=True, extra="forbid"):
    """The figures of two games under one player at every seat.

    Attributes:
        player: Its spec.
        paired: Pairs of finished matches; 0 where two samples are compared.
        alike: Matches that had the same deal in both, of those that were looked at.
        finished: Matches of each that finished.
        figures: One a measure that both games have.
        notes: What is not compared, and why.
    """

    player: str
    paired: int
    alike: tuple[int, int]
    finished: tuple[int, int]
    figures: tuple[FigureDifference, ...]
    notes: tuple[str, ...] = ()


def play_and_compare(
    games: tuple[GameSetup, GameSetup],
    player: str,
    roster: Roster,
    settings: SeriesSettings,
    sandbox: Sandbox,
) -> PlayedDifference:
    """Play as many matches of both games, with one player at every seat, and compare them.

    Raises:
        ValueError: From the roster, if the player is unknown or cannot play a game.
        VoidResultError: If fresh workers do not play the first matches and a sample the same.
    """
    lean = replace(settings, record=False)  # those that are shown are made again
    one, other = (
        play_series(game, [player] * game.num_players, roster, lean, sandbox=sandbox)
        for game in games
    )
    shown = [with_records(series, _IN_FULL, sandbox).records for series in (one, other)]
    return compare_series((one, other), (shown[0], shown[1]))


def compare_series(
    series: tuple[Series, Series], shown: tuple[Sequence[MatchRecord], Sequence[MatchRecord]]
) -> PlayedDifference:
    """Compare two series of one player.

    Args:
        series: Of the first game and of the second.
        shown: Some of their matches with all plies.
    """
    seats = [one.plan.game.num_players for one in series]
    sides = [sides_of([one], count) for one, count in zip(series, seats, strict=True)]
    mine, theirs = (
        measure_all(one.records, of, full)
        for one, of, full in zip(series, sides, shown, strict=True)
    )
    keys, notes = [key for key in mine if key in theirs], list[str]()
    if seats[0] != seats[1]:
        keys = [key for key in keys if not key.startswith(_OF_SEATS)]
        notes.append(f"seats are not compared one by one: the games have {seats[0]} and {seats[1]}")
    dealt = [(_deal(a), _deal(b)) for a, b in zip(*shown, strict=False)]
    same = sum(bool(a) and a == b for a, b in dealt)
    is_paired = seats[0] == seats[1]
    counted = _each(series[0].records, series[1].records, sides) if is_paired else []
    in_full = _each(*shown, sides) if is_paired else []
    figures = []
    for key in keys:
        samples = in_full if key.startswith(_OF_PLIES) else counted
        found = estimated_difference(mine[key], theirs[key], [(a[key], b[key]) for a, b in samples])
        figure = figure_of(key, found)
        told = figure.low is not None and not figure.low <= 0 <= (figure.high or 0)
        held = (figure_of(key, mine[key]), figure_of(key, theirs[key]))
        figures.append(
            FigureDifference(key=key, before=held[0], after=held[1], difference=figure, told=told)
        )
    return PlayedDifference(
        player=series[0].line_up[0],
        paired=len(counted),
        alike=(same, len(dealt)),
        finished=(series[0].endings["finished"], series[1].endings["finished"]),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _each(
    one: Sequence[MatchRecord], other: Sequence[MatchRecord], sides: Sequence[Sides]
) -> list[tuple[Measures, Measures]]:
    """The measures of every pair of matches that both finished, match by match."""
    by_match = [{r.match_index: r for r in records if r.match.returns} for records in (one, other)]
    both = [match for match in by_match[0] if match in by_match[1]]
    # A mean of a match taken twice is the match's own value.
    first, second = (
        [measure_all([records[match]] * 2, of) for match in both]
        for records, of in zip(by_match, sides, strict=True)
    )
    return [*zip(first, second, strict=True)]


def _deal(record: MatchRecord) -> list[str]:
    """The outcomes of chance before the first decision."""
    return [ply.action for ply in takewhile(lambda p: p.player == CHANCE, record.match.plies)]


def estimated_difference(
    one: Estimate | Unmeasured,
    other: Estimate | Unmeasured,
    samples: Sequence[tuple[Estimate | Unmeasured, Estimate | Unmeasured]] = (),
) -> Estimate | Unmeasured:
    """The second less the first; see the module's docstring. One pair alone tells nothing.

    Args:
        one: Of the first game.
        other: Of the second.
        samples: Pairs of matches; they count where they are all that both were measured on.
    """
    if isinstance(one, Unmeasured) or isinstance(other, Unmeasured):
        return one if isinstance(one, Unmeasured) else other
    gap = other.value - one.value
    both = [
        (a.value, b.value)
        for a, b in samples
        if isinstance(a, Estimate) and isinstance(b, Estimate)
    ]
    if len(both) == one.n == other.n:
        paired = or_unmeasured(lambda: mean_interval([b - a for a, b in both], "deals"))
        if (
            isinstance(paired, Unmeasured) or paired.low < paired.high
        ):  # equal samples have no width, which few do not justify
            return paired
    low = gap - hypot(other.value - other.low, one.high - one.value)
    high = gap + hypot(other.high - other.value, one.value - one.low)
    return estimated(gap, low, high, one.n + other.n, "matches", "two samples (MOVER), 95%")
