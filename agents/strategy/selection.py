"""Algorithm (Li et al. 2025, Cardiverse §3.3.3): stepwise inclusion of heuristics by self-play.

Both protocols have two phases. In the first the opponents are random; in the second every line-up
also meets the ensemble of the first. The best single heuristic comes first; then the one that
improves the ensemble most joins, until none improves it. A heuristic and its negation never join
both.

- "paper" is as printed: every candidate plays all its matches each time, the highest mean wins,
  and any gain is a gain. An ensemble so found may be worse than random play.
- "ours": a candidate must first be shown to be better than random play; a negation is tried where
  its original does not lead. Where the deals tell of no candidate, the one that leads
  goes on. A member joins where it is shown to improve the ensemble on the same deals. Each question
  is looked at after a quarter, a half and all of the deals, and ends at the first look that
  answers it; the 5 % of errors are split over the looks. The ensemble is confirmed on deals that
  chose nothing; one that is not is given up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeAlias

from tools.playtest.intervals import Estimate, NoSamplesError, share_interval

Protocol: TypeAlias = Literal["paper", "ours"]
Members: TypeAlias = tuple[str, ...]
Verdict: TypeAlias = Literal["better", "not better", "not known to be better"]
Scores: TypeAlias = Sequence[float | None]
Play: TypeAlias = Callable[[Members, Members, int, bool], Scores]
"""Scores from 0 to 1 of a line-up (members, rivals, deals, fresh), one a deal and None where the
deal did not end; the same deals for every line-up, or fresh ones that chose nothing. No rivals:
random play."""

_LOOKS = ((4, 0.01), (2, 0.01), (1, 0.03))  # at a quarter, a half and all deals; 5 % of errors
_CONFIDENCE = 0.975  # of the two ensembles that may be confirmed: 95 % together
_NOT = "not_"
_UNKNOWN: Verdict = "not known to be better"


@dataclass
class Selection:
    """The selection, with its reasons.

    Attributes:
        members: Names; empty where nothing is better than random play.
        notes: A sentence a candidate or step.
    """

    members: Members = ()
    notes: list[str] = field(default_factory=list)


def negation(name: str) -> str:
    """The name of a heuristic's negation, and of that one's again.

    >>> negation("keep_high"), negation("not_keep_high")
    ('not_keep_high', 'keep_high')
    """
    return name.removeprefix(_NOT) if name.startswith(_NOT) else _NOT + name


@dataclass(frozen=True)
class Selector:
    """The procedure over one game.

    Attributes:
        play: Plays.
        even: The score of a player like the others: 1 / seats, or a half for a team.
        deals: Deals that a line-up plays at most.
        confirming: Fresh deals that confirm an ensemble; 0 for as many.
        protocol: See the module.
    """

    play: Play
    even: float
    deals: int
    confirming: int = 0
    protocol: Protocol = "ours"

    def select(self, names: Sequence[str]) -> Selection:
        """Choose among heuristics and their negations."""
        return self._printed(names) if self.protocol == "paper" else self._ours(names)

    def _printed(self, names: Sequence[str]) -> Selection:
        found = Selection()
        pool = [*names, *map(negation, names)]
        first = self._climb(pool, lambda members: self._mean(members, [()]))
        found.notes.append(f"phase 1, against random play: {_listed(first)}")
        found.members = self._climb(pool, lambda members: self._mean(members, [(), first]))
        found.notes.append(f"phase 2, against random play and phase 1: {_listed(found.members)}")
        return found

    def _pooled(self, members: Members, pool: Sequence[Members], deals: int) -> Scores:
        """The mean score of each deal over the rivals of a pool."""
        by_rivals = [self.play(members, rivals, deals, False) for rivals in pool]
        return [
            None if None in scores else fmean(score for score in scores if score is not None)
            for scores in zip(*by_rivals, strict=True)
        ]

    def _mean(self, members: Members, pool: Sequence[Members]) -> float:
        scores = [one for one in self._pooled(members, pool, self.deals) if one is not None]
        return fmean(scores) if scores else 0.0

    def _climb(self, pool: Sequence[str], worth: Callable[[Members], float]) -> Members:
        members: Members = ()
        reached = -1.0
        while rest := [n for n in pool if n not in members and negation(n) not in members]:
            tried = {name: worth((*members, name)) for name in rest}
            best = max(rest, key=tried.__getitem__)
            if tried[best] <= reached:
                break
            members, reached = (*members, best), tried[best]
        return members

    def _ours(self, names: Sequence[str]) -> Selection:
        found = Selection()
        good = self._better_than_random(names, found.notes)
        if not good:
            found.notes.append("No heuristic scored above random play, so none is kept.")
            return found
        first = self._grown(good, [()], found.notes)
        second = self._grown(good, [(), first], found.notes) if len(good) > 1 else first
        for members in dict.fromkeys((second, first)):
            confirmed = self._confirmed(members)
            found.notes.append(self._told(members, confirmed))
            if confirmed is not None and confirmed.low > self.even:
                found.members = members
                return found
        found.notes.append("No heuristic was confirmed on fresh deals, so none is kept.")
        return found

    def _told(self, members: Members, on_fresh: Estimate | None) -> str:
        """A sentence on a confirmation."""
        if on_fresh is None:
            return f"{_listed(members)}: too few fresh deals ended to tell."
        return (
            f"{_listed(members)}: {on_fresh.value:.2f} ({on_fresh.low:.2f} to {on_fresh.high:.2f}) "
            f"against random play on {on_fresh.n} fresh deals, where {self.even:.2f} is even."
        )

    def _better_than_random(self, names: Sequence[str], notes: list[str]) -> list[str]:
        """The candidates shown to be better than random play; else the one that leads, if any."""
        good, leading = list[str](), dict[str, float]()
        for name in names:
            for candidate in (name, negation(name)):
                scores, verdict = self._shown(
                    lambda deals, one=candidate: self.play((one,), (), deals, False),  # type: ignore[misc]
                    self.even,
                )
                said = f"{fmean(scores):.2f} on {len(scores)} deals" if scores else "no deal ended"
                notes.append(f"{candidate}: {said}, {verdict} than random play ({self.even:.2f}).")
                if verdict == "better":
                    good.append(candidate)
                    break
                if verdict == "not known to be better" and scores and fmean(scores) > self.even:
                    leading[candidate] = fmean(scores)
                    break
        return good or sorted(leading, key=leading.__getitem__)[-1:]

    def _grown(self, good: Sequence[str], pool: Sequence[Members], notes: list[str]) -> Members:
        """Stepwise inclusion: the best one, then whatever is shown to improve the ensemble."""
        worth = {name: self._mean((name,), pool) for name in good}
        members: Members = (max(worth, key=worth.__getitem__),)
        met = "random play" + f" and {_listed(pool[-1])} in turn" * bool(pool[-1])
        leads = f"{members[0]} comes first against {met}"
        notes.append(f"{leads}: {worth[members[0]]:.2f} on all deals.")
        while rest := [n for n in good if n not in members and negation(n) not in members]:
            gains: dict[str, float] = {}
            for name in rest:
                scores, verdict = self._shown(
                    lambda deals, one=name: self._gain(members, one, pool, deals),  # type: ignore[misc]  # noqa: B023 - bound
                    0.5,
                )
                if verdict == "better":
                    gains[name] = fmean(scores)
            if not gains:
                notes.append(f"Not shown to improve {_listed(members)}: {', '.join(rest)}.")
                break
            best = max(gains, key=gains.__getitem__)
            members = (*members, best)
            notes.append(f"{best} joins: it improves {_listed(members[:-1])}.")
        return members

    def _gain(self, members: Members, one: str, pool: Sequence[Members], deals: int) -> Scores:
        """On each deal, a half and half of what one more member adds to the score."""
        before = self._pooled(members, pool, deals)
        after = self._pooled((*members, one), pool, deals)
        return [
            None if old is None or new is None else (1 + new - old) / 2
            for old, new in zip(before, after, strict=True)
        ]

    def _shown(self, play: Callable[[int], Scores], even: float) -> tuple[list[float], Verdict]:
        """Scores until a look decides whether their mean is above `even`, and whether it is."""
        scores, verdict = list[float](), _UNKNOWN
        for part, alpha in _LOOKS:
            played = play(max(2, self.deals // part))
            scores = [score for score in played if score is not None]
            verdict = _by_interval(scores, even, 1 - alpha)
            if verdict != _UNKNOWN:
                break
        return scores, verdict

    def _confirmed(self, members: Members) -> Estimate | None:
        """The score against random play on fresh deals; None where too few ended."""
        played = self.play(members, (), self.confirming or self.deals, True)
        scores = [one for one in played if one is not None]
        try:
            return share_interval(scores, "deals", _CONFIDENCE)
        except NoSamplesError:
            return None


def _by_interval(scores: Sequence[float], even: float, confidence: float) -> Verdict:
    try:
        interval = share_interval(scores, "deals", confidence)
    except NoSamplesError:
        return _UNKNOWN
    if interval.low > even:
        return "better"
    return "not better" if interval.high < even else _UNKNOWN


def _listed(members: Members) -> str:
    return " + ".join(members) or "nothing"
