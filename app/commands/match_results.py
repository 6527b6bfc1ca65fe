"""The results of `match`: what is counted, from which matches, and how it is told."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from app.console import say

if TYPE_CHECKING:
    from games.records import MatchRecord
    from tools.playtest import Series

Deal = tuple["MatchRecord", ...]


def counted(series: "Series") -> dict[str, Any]:
    """Endings, wins and returns by entrant, with intervals where there are enough deals.

    Wins and returns rest on deals whose matches all finished, so that every entrant had every seat
    of them; `left_out` are the finished matches of the others. They are estimated as in a
    tournament. `used` is what an entrant's decisions really used, as they reported it.
    """
    deals = series.finished_deals()
    finished = series.endings["finished"]
    scored = len(deals) * series.rotations
    reasons = Counter(r.match.reason for r in series.records if r.match.reason)
    return {
        "played": len(series.records),
        "endings": dict(series.endings),
        "finished": finished,
        "rotations": series.rotations,
        "scored": scored,
        "left_out": finished - scored,
        "reasons": dict(sorted(reasons.items())),
        "entrants": [_entrant(series, who, deals) for who in range(len(series.line_up))],
        "matches": [_match(series, record) for record in series.records],
    }


def show(result: dict[str, Any]) -> None:
    """Tell a result in words."""
    endings = ", ".join(f"{count} {name}" for name, count in result["endings"].items() if count)
    say(f"{result['game']}: {result['played']} matches: {endings}")
    for number, row in enumerate(result["entrants"], 1):
        told = [
            f"{words} {_told(row[name])}"
            for name, words in (("win_share", "win share"), ("mean_return", "mean return"))
            if name in row
        ]
        if "not_estimated" in row:
            told.append(f"not estimated: {row['not_estimated']}")
        say(f"  {number}. {row['player']}")
        say(f"    {', '.join(told)}")
        if row["forfeits"]:
            say(f"    forfeited {row['forfeits']} matches")
    if result["left_out"]:
        say(f"  {result['left_out']} finished matches of deals that did not finish are left out")
    for reason, count in result["reasons"].items():
        say(f"  {count} times: {reason}")


def _entrant(series: "Series", entrant: int, deals: "Sequence[Deal]") -> dict[str, Any]:
    from tools.playtest.outcomes import used_by

    efforts = [
        ply.effort
        for record in series.records
        for ply in record.match.plies
        if ply.player == series.seat_of(entrant, record.match_index)
    ]
    forfeits = sum(_culprit(series, record) == entrant for record in series.records)
    return {
        "player": series.line_up[entrant],
        "entrant": entrant,
        "forfeits": forfeits,
        **_estimates(series, entrant, deals),
        "used": used_by(efforts).model_dump(mode="json"),
    }


def _estimates(series: "Series", entrant: int, deals: "Sequence[Deal]") -> dict[str, Any]:
    """Wins, win share and mean return, or why they are not estimated.

    The mean return takes one number a deal, the mean over its seatings: matches of one deal are
    not independent. The bootstrap's stream is that of a tournament's entrant.
    """
    from games.streams import stream
    from tools.playtest import NoSamplesError, bootstrap_mean, wilson, win_share

    if not deals:
        return {"not_estimated": _nothing_finished(series)}
    wins, means = 0.0, []
    for deal in deals:
        returns = [
            (record.match.returns or (), series.seat_of(entrant, record.match_index))
            for record in deal
        ]
        wins += sum(win_share(each, seat) for each, seat in returns)
        means.append(fmean(each[seat] for each, seat in returns))
    scored = len(deals) * series.rotations
    found: dict[str, Any] = {
        "wins": wins,
        "win_share": wilson(min(wins, scored), scored).model_dump(),
    }
    generator = stream(series.settings.seed, "bootstrap", seat=entrant)
    try:
        found["mean_return"] = bootstrap_mean(means, generator).model_dump()
    except NoSamplesError as error:
        found["not_estimated"] = f"mean return ({error})"
    return found


def _nothing_finished(series: "Series") -> str:
    if series.rotations == 1 or not series.endings["finished"]:
        return "no match finished"
    return "no deal finished with every player in every seat"


def _match(series: "Series", record: "MatchRecord") -> dict[str, Any]:
    culprit = _culprit(series, record)
    match = record.match
    return {
        "match": record.match_index,
        "deal": record.match_index // series.rotations,
        "players": list(record.players),
        "ending": match.ending,
        "culprit": None if culprit is None else {"seat": match.culprit, "entrant": culprit},
        "reason": match.reason,
        "returns": match.returns,
        "plies": len(match.plies),
        "actions": list(record.actions),
    }


def _culprit(series: "Series", record: "MatchRecord") -> int | None:
    """The entrant that forfeited a match."""
    seat = record.match.culprit
    return None if seat is None else series.entrant_at(seat, record.match_index)


def _told(estimate: dict[str, Any]) -> str:
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
