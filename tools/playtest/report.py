"""Report of a play-test: measures of a game from records of its matches, the skill ladder, curves.

Only finished matches measure a game; how many did not finish is for the reader to see beside them
(`Series.endings`). On the ladder, who forfeits has lost, and a step with too many void
matches is unmeasured. Every interval is over matches, because plies of one match are not
independent; the ladder's is over deals.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Literal

from pydantic import BaseModel

from games.engine import Ending, Ply
from games.records import MatchRecord
from games.values import CHANCE
from tools.playtest.intervals import (
    CONFIDENCE,
    Estimate,
    NoSamplesError,
    Unmeasured,
    exact_share,
    mean_interval,
    or_unmeasured,
    share_interval,
    wilson,
)
from tools.playtest.jobs import MatchEntry
from tools.playtest.ratings import win_share
from tools.playtest.results import by_ending
from tools.playtest.schedule import Sides, each_alone, sides_paid_alike
from tools.playtest.series import Series
from tools.reporting.content import TIMED_OUT, Figure, LadderVerdict, Play, Rung

_CURVE_MATCHES = 4
_LATE = re.compile(r": timed_out(?: \(line \d+\))?: ")

# By a measure's key without seats: its name, and its meaning.
_MEANINGS = {
    "wins_player": ("player {} wins", "share of the matches; ties are shared"),
    "wins_players": ("players {} win", "share of the matches; ties are shared"),
    "score": ("score", "mean return of a player; in a team, everybody's"),
    "ties": ("ties", "share of matches in which nobody does better than anybody"),
    "spread": ("spread of scores", "best return of a match less the least"),
    "lead": ("last change of the lead", "part of the match that is over by then"),
    "turns": ("turns a match", "decisions of all players together"),
    "options": ("choices a turn", "legal actions at a decision"),
    "forced": ("turns without a choice", "share of decisions with a single legal action"),
    "choices_player": ("choices of player {}", "its turns with two or more legal actions"),
}


def seat_share(records: Sequence[MatchRecord], seat: int, sides: Sides = ()) -> Estimate:
    """The mean win share of a seat's side; 1 / sides is fair.

    It measures the game only where all seats were played alike. The interval is exact: Student's t
    of few wins is too narrow, and found six equal players unequal in three of ten series of 24
    matches. With three sides or more, all intervals hold together with 95 % (Bonferroni).

    Args:
        records: Matches, of which those count that finished.
        seat: The seat, from 0.
        sides: Who are partners; none for everybody alone.
    """
    finished = _finished(records)
    sides = sides or each_alone(len(finished[0][0]))
    shares = [_won(returns, sides, lambda side: seat in side) for returns, _ in finished]
    count = len(sides)
    confidence = CONFIDENCE if count < 3 else 1 - (1 - CONFIDENCE) / count  # noqa: PLR2004 - pairs
    return exact_share(shares, "matches", confidence)


def _won(returns: Sequence[float], sides: Sides, ours: Callable[[tuple[int, ...]], bool]) -> float:
    """The share of the win of all sides that are ours; a side counts once, however large."""
    paid = [returns[side[0]] for side in sides]
    return sum(win_share(paid, index) for index, side in enumerate(sides) if ours(side))


def mean_score(records: Sequence[MatchRecord]) -> Estimate:
    """The mean return of a seat; a sample is a match."""
    return mean_interval([fmean(returns) for returns, _ in _finished(records)], "matches")


def share_of_best(records: Sequence[MatchRecord], best: float) -> Estimate:
    """The mean of the matches' scores as shares of the best score."""
    return share_interval([fmean(returns) / best for returns, _ in _finished(records)], "matches")


def sides_of(series: Iterable[Series], num_players: int) -> Sides:
    """The sides that these matches show; see `sides_paid_alike`."""
    return sides_paid_alike(_returns_of(series), num_players)


def _returns_of(series: Iterable[Series]) -> list[tuple[float, ...]]:
    return [r.match.returns for one in series for r in one.records if r.match.returns is not None]


def draw_share(records: Sequence[MatchRecord]) -> Estimate:
    """The share of matches in which all seats got the same return.

    Raises:
        NoSamplesError: If the game has one seat only: nobody to draw with.
    """
    finished = _finished(records)
    if len(finished[0][0]) == 1:
        raise NoSamplesError("a game for one player has no draws")
    alike = sum(len(set(returns)) == 1 for returns, _ in finished)
    return wilson(alike, len(finished), "matches")


def match_length(records: Sequence[MatchRecord]) -> Estimate:
    """Decisions a match, of all players."""
    return _counted(records, lambda ply: ply.player != CHANCE)


def branching(records: Sequence[MatchRecord]) -> Estimate:
    """Legal actions a decision: the mean over matches of the match's mean."""
    return mean_interval(_over_decisions(records, lambda ply: float(len(ply.legal))), "matches")


def forced_move_share(records: Sequence[MatchRecord]) -> Estimate:
    """The share of decisions with one legal action: the mean over matches of the match's share."""
    forced = _over_decisions(records, lambda ply: float(len(ply.legal) == 1))
    return share_interval(forced, "matches")


def decision_count(records: Sequence[MatchRecord], seat: int) -> Estimate:
    """Real decisions (two legal actions or more) of one seat a match."""
    return _counted(records, lambda ply: ply.player == seat and len(ply.legal) > 1)


def side_wins(returns: Sequence[Sequence[float]], sides: Sides) -> tuple[list[float], int]:
    """The wins of each side, shared ones in part, and the matches that they are of.

    >>> side_wins([(2, 1, 2, 1), (1, 1, 1, 1)], ((0, 2), (1, 3)))
    ([1.5, 0.5], 2)
    """
    won = [[_won(paid, sides, side.__eq__) for side in sides] for paid in returns]
    return [math.fsum(shares) for shares in zip(*won, strict=True)], len(returns)


def spread_of_returns(records: Sequence[MatchRecord]) -> Estimate:
    """The best return of a match less its least.

    Raises:
        NoSamplesError: If the game has one seat only.
    """
    finished = [returns for returns, _ in _finished(records)]
    if len(finished[0]) == 1:
        raise NoSamplesError("a game for one player has no difference between seats")
    return mean_interval([max(paid) - min(paid) for paid in finished], "matches")


def last_lead(records: Sequence[MatchRecord]) -> Estimate:
    """The part of a match that is over when the seats in the lead change for the last time.

    Who is paid the most so far is in the lead.

    Raises:
        NoSamplesError: If the game pays at the end of a match alone, or has one seat.
    """
    found = []
    for returns, plies in _finished(records):
        paid, leaders, changed = [0.0] * len(returns), set(range(len(returns))), 0
        for number, ply in enumerate(plies, 1):
            paid = [one + more for one, more in zip(paid, ply.rewards, strict=True)]
            ahead = {seat for seat, one in enumerate(paid) if one == max(paid)}
            leaders, changed = ahead, number if ahead != leaders else changed
        if plies:
            found.append(changed / len(plies))
    if all(part in (0, 1) for part in found):
        raise NoSamplesError("the game pays at the end of a match alone, or all alike")
    return share_interval(found, "matches")


def measure_all(
    records: Sequence[MatchRecord], sides: Sides, shown: Sequence[MatchRecord] | None = None
) -> dict[str, Estimate | Unmeasured]:
    """Every measure by its key; of a game with one side the score, else which side wins.

    Args:
        records: Matches, for what their returns tell; they need no plies.
        sides: Who are partners.
        shown: Matches with their plies, for all else; the same by default.
    """
    measures: dict[str, Callable[[Sequence[MatchRecord]], Estimate]] = {}
    in_full: dict[str, Callable[[Sequence[MatchRecord]], Estimate]] = {}
    if len(sides) == 1:
        measures["score"] = mean_score
    else:
        for side in sides:
            key = f"wins_player{'s' * (len(side) > 1)}_{'_'.join(str(seat + 1) for seat in side)}"
            measures[key] = partial(seat_share, seat=side[0], sides=sides)
        measures |= {"ties": draw_share, "spread": spread_of_returns}
        in_full["lead"] = last_lead
    in_full |= {"turns": match_length, "options": branching, "forced": forced_move_share}
    for seat in range(sum(map(len, sides))):
        in_full[f"choices_player_{seat + 1}"] = partial(decision_count, seat=seat)
    played = records if shown is None else shown
    taken = {name: or_unmeasured(partial(one, records)) for name, one in measures.items()}
    return taken | {name: or_unmeasured(partial(one, played)) for name, one in in_full.items()}


def play_of(
    player: str,
    series: Series,
    shown: Sequence[MatchRecord],
    sides: Sides,
    best: tuple[float, bool] | None,
) -> Play:
    """The measures of one player at every seat, as the page shows them.

    Args:
        player: Its spec.
        series: Its matches.
        shown: Some of them in full.
        sides: Who are partners.
        best: See `best_score`; used where there is one side.
    """
    finished = [record for record in shown if record.match.returns is not None]
    measured = measure_all(series.records, sides, shown)
    figures = {key: figure_of(key, value) for key, value in measured.items()}
    if best is not None and len(sides) == 1:
        figures["score"] = _payable(figures["score"], 0.0, *best)
        share = or_unmeasured(lambda: share_of_best(series.records, best[0]))
        figures = {"share": _figure("share of the best score", _of_best(*best), share), **figures}
    return Play(
        player=player,
        figures=figures,
        lengths=tuple(len(decisions_of(record)) for record in finished),
        branching=branching_curve(finished),
        unfinished=_without_result(series),
    )


def _without_result(series: Series) -> dict[str, int]:
    """Counts of matches without a result, by ending; those that ran out of time stand apart.

    A match that its number of plies ended is a matter of the game, one that the clock ended is not.
    """
    counts = dict(series.endings)
    late = [e for e in series.entries.values() if e.ending == "unfinished" and is_late(e)]
    counts["unfinished"] -= len(late)
    return {**unfinished(counts), **({TIMED_OUT: len(late)} if late else {})}


def is_late(entry: MatchEntry) -> bool:
    """True for a match that the clock ended."""
    return bool(_LATE.search(entry.reason))


def _of_best(best: float, declared: bool) -> str:
    if declared:
        return f"mean score, of the {best:g} that the game declares as the best possible"
    return f"mean score, of the best match seen, which scored {best:g}; more may be possible"


def _finished(records: Sequence[MatchRecord]) -> list[tuple[tuple[float, ...], tuple[Ply, ...]]]:
    finished = [
        (record.match.returns, record.match.plies)
        for record in records
        if record.match.returns is not None
    ]
    if not finished:
        raise NoSamplesError(f"none of {len(records)} matches finished")
    return finished


def _counted(records: Sequence[MatchRecord], counts: Callable[[Ply], bool]) -> Estimate:
    """The mean of how many plies of a match count."""
    found = [float(sum(map(counts, plies))) for _, plies in _finished(records)]
    return mean_interval(found, "matches")


def _over_decisions(records: Sequence[MatchRecord], value: Callable[[Ply], float]) -> list[float]:
    decisions = [
        [value(ply) for ply in plies if ply.player != CHANCE] for _, plies in _finished(records)
    ]
    return [fmean(match) for match in decisions if match]


class LadderStep(BaseModel, frozen=True, extra="forbid"):
    """One rung of the ladder against the one below it.

    Attributes:
        lower: Spec of the player that should be weaker.
        higher: Spec of the player that should be stronger.
        measure: "win_share": the share of the win of a side of the higher player less 1 / sides,
            where the lower one has all other sides. "return": its mean return less the lower
            player's, each in all seats of the same deals (one player, or cooperation).
        advantage: The measure; its samples are deals.
        verdict: "climbs" or "falls" only where the interval leaves 0 out.
        endings: Matches by ending.
    """

    lower: str
    higher: str
    measure: Literal["win_share", "return"]
    advantage: Estimate | Unmeasured
    verdict: LadderVerdict
    endings: dict[Ending, int]


def skill_ladder(
    players: Sequence[str], compare: Callable[[str, str, int], LadderStep]
) -> tuple[list[str], list[LadderStep]]:
    """Order players as their matches say: each takes its place from the top by comparisons.

    A player that does worse than one, by the measured value, is held against the next below; one
    that does not stands above it. Every two neighbours of the order were compared; the verdict of
    a step says whether its interval tells them apart. Whose first step measured nothing stands
    below all others, and nobody is held against it.

    Args:
        players: Specs, from the weakest expected to the strongest.
        compare: The step of (lower, higher, number of the step).

    Returns:
        The specs from the weakest measured to the strongest, and the steps.
    """
    order, steps, unmeasured = [players[0]], list[LadderStep](), list[str]()
    for player in players[1:]:
        place = len(order)
        while place:
            steps.append(compare(order[place - 1], player, len(steps)))
            found = steps[-1].advantage
            if isinstance(found, Unmeasured) or found.value >= 0:
                break
            place -= 1
        if place == len(order) and steps[-1].verdict == "unmeasured":
            unmeasured.append(player)
        else:
            order.insert(place, player)
    return unmeasured + order, steps


def ladder_step(lower: str, higher: str, versus: Series) -> LadderStep:
    """Two players compared by the wins of a side of the higher one's among the lower one's."""
    name = versus.line_up[0]
    return _step(lower, higher, "win_share", lambda: versus_advantage(versus, name), [versus])


def score_step(lower: str, higher: str, alone: Mapping[str, Series]) -> LadderStep:
    """Two players compared by what they are paid on the same deals, each at every seat."""
    ours, theirs = alone[higher], alone[lower]
    return _step(lower, higher, "return", lambda: return_advantage(ours, theirs), [theirs, ours])


def versus_advantage(series: Series, name: str) -> Estimate:
    """The mean win share of one entrant's side less an even one, over the deals that are scored.

    Raises:
        NoSamplesError: If fewer than two deals are scored.
    """
    schedule = series.plan.schedule
    sides = schedule.sides or each_alone(schedule.seats)
    deals: dict[int, list[float]] = {}
    for match, ranks in series.tables.ranks.items():
        seated = series.seated(match)
        ours = {seat for seat, who in enumerate(seated) if series.line_up[who] == name}
        won = _won(ranks, sides, ours.issuperset)
        deals.setdefault(schedule.place(match).deal, []).append(won)
    even = sum(series.line_up[side[0]] == name for side in sides) / len(sides)
    return share_interval([fmean(deal) for deal in deals.values()], "deals").minus(even)


def return_advantage(higher: Series, lower: Series) -> Estimate:
    """The mean return of one player less another's, over the deals that both finished.

    One that was forfeited counts as the least that any match of either paid.

    Raises:
        NoSamplesError: If they finished fewer than two deals in common.
    """
    judged = [
        {match: entry.returns for match, entry in one.entries.items() if match in one.tables.ranks}
        for one in (higher, lower)
    ]
    paid = [fmean(returns) for one in judged for returns in one.values() if returns]
    if not paid:
        raise NoSamplesError("no match of either finished")
    least = min(paid)
    ours, theirs = (
        {match: fmean(returns) if returns else least for match, returns in one.items()}
        for one in judged
    )
    gaps = [ours[deal] - theirs[deal] for deal in sorted(ours.keys() & theirs.keys())]
    return mean_interval(gaps, "deals")


def _step(
    lower: str,
    higher: str,
    measure: Literal["win_share", "return"],
    advantage: Callable[[], Estimate],
    series: Sequence[Series],
) -> LadderStep:
    void = next(filter(None, (one.tables.no_result for one in series)), "")
    found = Unmeasured(reason=void) if void else or_unmeasured(advantage)
    return LadderStep(
        lower=lower,
        higher=higher,
        measure=measure,
        advantage=found,
        verdict=_verdict(found),
        endings=by_ending(entry for one in series for entry in one.entries.values()),
    )


def _verdict(advantage: Estimate | Unmeasured) -> LadderVerdict:
    if isinstance(advantage, Unmeasured):
        return "unmeasured"
    if advantage.low > 0:
        return "climbs"
    if advantage.high < 0:
        return "falls"
    return "undecided"


def decisions_of(record: MatchRecord) -> list[int]:
    """Legal actions at every decision of a match."""
    return [len(ply.legal) for ply in record.match.plies if ply.player != CHANCE]


def branching_curve(finished: Sequence[MatchRecord]) -> tuple[float, ...]:
    """Mean legal actions at the n-th decision, as far as a few matches reach."""
    rows = [decisions_of(record) for record in finished]
    curve: list[float] = []
    for index in range(max(map(len, rows), default=0)):
        counts = [row[index] for row in rows if len(row) > index]
        if len(counts) < min(_CURVE_MATCHES, len(rows)):
            break
        curve.append(round(fmean(counts), 6))
    return tuple(curve)


def figure_of(key: str, measured: Estimate | Unmeasured) -> Figure:
    """A measure of `measure_all` as the page shows it."""
    start = key.rstrip("_0123456789")
    name, meaning = _MEANINGS[start]
    seats = " and ".join(filter(None, key[len(start) :].split("_")))
    return _figure(name.format(seats), meaning, measured)


def rung_of(step: LadderStep, sides: int, best: tuple[float, bool] | None = None) -> Rung:
    """A step of the ladder as the page shows it; for `best` see `best_score`."""
    even = 1 / sides if step.measure == "win_share" else 0.0
    advantage = step.advantage
    share = advantage if isinstance(advantage, Unmeasured) else advantage.minus(-even)
    figure = _figure(step.measure, "", share)
    if best is not None and step.measure == "return":
        figure = _payable(figure, -best[0], *best)
    return Rung(
        stronger=step.higher,
        weaker=step.lower,
        measure=step.measure,
        figure=figure,
        even=even,
        verdict=step.verdict,
        unfinished=unfinished(step.endings),
    )


def unfinished(endings: Mapping[Ending, int]) -> dict[str, int]:
    """Counts of matches without a result, by ending."""
    return {name: count for name, count in endings.items() if name != "finished" and count}


def _figure(name: str, meaning: str, measured: Estimate | Unmeasured) -> Figure:
    if isinstance(measured, Unmeasured):
        return Figure(name=name, meaning=meaning, problem=measured.reason)
    return Figure(name=name, meaning=meaning, **measured.model_dump())


def _payable(figure: Figure, least: float, most: float, declared: bool) -> Figure:
    """A figure of payments whose interval holds nothing that the game cannot pay.

    Student's t of few matches knows no bounds. Where the game declares its best score, which is of
    scores from 0 on, no true mean lies outside: the cut interval covers it exactly as often. The
    best score that was seen is no bound, and the figure says that there is none.
    """
    if figure.low is None or figure.high is None:
        return figure
    if not declared:
        says = "the game declares no best score, so the interval has no bounds"
        return figure.model_copy(
            update={"meaning": "; ".join(filter(None, (figure.meaning, says)))}
        )
    low, high = max(least, figure.low), min(most, figure.high)
    if (low, high) == (figure.low, figure.high):
        return figure
    method = f"{figure.method}, cut to what the game can pay, {least:g} to {most:g}"
    return figure.model_copy(update={"low": low, "high": high, "method": method})
