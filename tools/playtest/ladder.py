"""The skill ladder: does a better player win more, rung by rung?"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from games.engine import Ending
from tools.playtest.intervals import Estimate, NoSamplesError, mean_interval, share_interval
from tools.playtest.measures import Unmeasured, win_share
from tools.playtest.series import Entrant, Series, SeriesSettings, TableFactory, play_series

Verdict: TypeAlias = Literal["climbs", "falls", "undecided", "unmeasured"]


class Step(BaseModel):
    """One rung of the ladder against the one below it.

    Attributes:
        lower: Name of the player that should be weaker.
        higher: Name of the player that should be stronger.
        measure: "win_share": the higher player's mean share of the win less 1 / seats, alone
            against the lower one in all other seats. "return": its mean return less the lower
            player's, each in all seats of the same deals (one player, or cooperation).
        advantage: The measure; its samples are deals.
        verdict: "climbs" or "falls" only where the interval leaves 0 out.
        endings: Matches by ending.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lower: str
    higher: str
    measure: Literal["win_share", "return"]
    advantage: Estimate | Unmeasured
    verdict: Verdict
    endings: dict[Ending, int]


def skill_ladder(
    tables: TableFactory,
    rungs: Sequence[Entrant],
    settings: SeriesSettings,
    num_players: int,
    *,
    cooperative: bool = False,
    journals: Path | None = None,
    jobs: int = 1,
) -> list[Step]:
    """Play each rung against the one below it.

    Args:
        tables: Opens a table for one match.
        rungs: Players from the weakest to the strongest.
        settings: What to play; `matches` a step (in solo steps, for each of the two players).
        num_players: Seats.
        cooperative: Whether all seats share one result; with one player it is always so.
        journals: Folder for one journal a series; None keeps nothing.
        jobs: Matches played at the same time.
    """
    steps = []
    for number, (lower, higher) in enumerate(zip(rungs, rungs[1:], strict=False)):
        line_ups = (
            {"lower": [lower] * num_players, "higher": [higher] * num_players}
            if cooperative or num_players == 1
            else {"versus": [higher] + [lower] * (num_players - 1)}
        )
        played = {
            name: play_series(
                tables,
                line_up,
                settings,
                journal=journals / f"step-{number}-{name}.jsonl" if journals else None,
                jobs=jobs,
            )
            for name, line_up in line_ups.items()
        }
        steps.append(_step(lower.name, higher.name, played))
    return steps


def versus_advantage(series: Series, name: str) -> Estimate:
    """The mean win share of one entrant less 1 / seats, over deals in which it took every seat.

    Raises:
        NoSamplesError: If fewer than two deals finished in all seatings.
    """
    shares = []
    for deal in series.finished_deals():
        shares.append(
            fmean(
                win_share(record.match.returns, seat)
                for record in deal
                for seat, player in enumerate(record.players)
                if player == name and record.match.returns is not None
            )
        )
    return share_interval(shares).minus(1 / len(series.line_up))


def return_advantage(higher: Series, lower: Series) -> Estimate:
    """The mean return of one player less another's, over the deals that both finished.

    Raises:
        NoSamplesError: If they finished fewer than two deals in common.
    """
    ours, theirs = (
        {
            record.match_index: fmean(record.match.returns)
            for record in series.records
            if record.match.returns is not None
        }
        for series in (higher, lower)
    )
    return mean_interval(
        [ours[deal] - theirs[deal] for deal in sorted(ours.keys() & theirs.keys())]
    )


def _step(lower: str, higher: str, played: dict[str, Series]) -> Step:
    advantage: Estimate | Unmeasured
    try:
        if "versus" in played:
            advantage = versus_advantage(played["versus"], higher)
        else:
            advantage = return_advantage(played["higher"], played["lower"])
    except NoSamplesError as error:
        advantage = Unmeasured(reason=str(error))
    endings: dict[Ending, int] = {"finished": 0, "unfinished": 0, "forfeit": 0, "fault": 0}
    for series in played.values():
        for ending, count in series.endings.items():
            endings[ending] += count
    return Step(
        lower=lower,
        higher=higher,
        measure="win_share" if "versus" in played else "return",
        advantage=advantage,
        verdict=_verdict(advantage),
        endings=endings,
    )


def _verdict(advantage: Estimate | Unmeasured) -> Verdict:
    if isinstance(advantage, Unmeasured):
        return "unmeasured"
    if advantage.low > 0:
        return "climbs"
    if advantage.high < 0:
        return "falls"
    return "undecided"
