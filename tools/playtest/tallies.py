"""From the outcomes of a tournament to its tables: pure, in match order."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean

import numpy as np

from games.engine import Ending
from games.streams import stream
from tools.playtest.alpha_rank import alpha_rank
from tools.playtest.bootstrap import bootstrap_mean
from tools.playtest.bradley_terry import Matrix, NoRatingError, elo_ratings
from tools.playtest.intervals import Estimate, NoSamplesError, wilson
from tools.playtest.jobs import Effective
from tools.playtest.measures import Unmeasured, win_share
from tools.playtest.outcomes import Outcome, together
from tools.playtest.results import Pair, Standing, TournamentSettings
from tools.playtest.schedule import Schedule
from tools.playtest.sprt import Answer

ENDINGS: tuple[Ending, ...] = ("finished", "unfinished", "forfeit", "fault")


def duel(outcomes: Iterable[tuple[Outcome, Sequence[int]]], one: int, other: int) -> Counter[float]:
    """Seats of one entrant against seats of another: how often 1 (more), 0.5 or 0 (less).

    Args:
        outcomes: Finished matches, each with its entrants by seat.
        one: Entrant whose score it is.
        other: Entrant.
    """
    counts: Counter[float] = Counter()
    for outcome, seated in outcomes:
        returns = outcome.returns or ()
        for seat, mine in enumerate(returns):
            if seated[seat] != one:
                continue
            for against, theirs in enumerate(returns):
                if seated[against] == other:
                    counts[0.5 if mine == theirs else float(mine > theirs)] += 1
    return counts


def score_of(counts: Mapping[float, int]) -> float:
    """The mean of counted scores."""
    return sum(score * count for score, count in counts.items()) / sum(counts.values())


def by_ending(outcomes: Iterable[Outcome]) -> dict[Ending, int]:
    """How many ended in which way; all four ways are there."""
    counts = Counter(outcome.ending for outcome in outcomes)
    return {ending: counts[ending] for ending in ENDINGS}


@dataclass(frozen=True)
class Tables:
    """What the outcomes come to.

    Attributes:
        schedule: Of the tournament.
        settings: Of the tournament.
        players: By entrant.
        outcomes: By match, in match order; whole blocks.
        answers: Of the question by pair; empty where none was asked.
    """

    schedule: Schedule
    settings: TournamentSettings
    players: tuple[Effective, ...]
    outcomes: Mapping[int, Outcome]
    answers: Mapping[frozenset[int], Answer]

    @cached_property
    def seated(self) -> dict[int, tuple[int, ...]]:
        """Entrants by seat, by match."""
        return {m: self.schedule.seated(m, self.settings.seed) for m in self.outcomes}

    @cached_property
    def scored(self) -> list[int]:
        """The matches of blocks that finished entirely."""
        seats = self.schedule.seats
        blocks = Counter(m // seats for m, o in self.outcomes.items() if o.ending == "finished")
        return [match for match in self.outcomes if blocks[match // seats] == seats]

    @cached_property
    def whole(self) -> frozenset[int]:
        """`scored`, to look matches up in."""
        return frozenset(self.scored)

    @cached_property
    def met(self) -> dict[tuple[int, int], list[int]]:
        """The matches of every two entrants."""
        found: dict[tuple[int, int], list[int]] = {}
        for match, seated in self.seated.items():
            for pair in combinations(sorted(set(seated)), 2):
                found.setdefault(pair, []).append(match)
        return found

    @cached_property
    def duels(self) -> dict[int, Matrix]:
        """The wins of everybody over everybody else, by deal; draws as halves."""
        count = len(self.players)
        deals: dict[int, Matrix] = {}
        for match in self.scored:
            wins = deals.setdefault(self.schedule.place(match).deal, np.zeros((count, count)))
            seated, returns = self.seated[match], self.outcomes[match].returns or ()
            for mine, one in zip(returns, seated, strict=True):
                for theirs, other in zip(returns, seated, strict=True):
                    if one != other:
                        wins[one, other] += 0.5 * ((mine > theirs) + (mine >= theirs))
        return deals

    @property
    def left_out(self) -> int:
        """Finished matches that are not scored."""
        finished = sum(o.ending == "finished" for o in self.outcomes.values())
        return finished - len(self.scored)

    def standings(self) -> tuple[Standing, ...]:
        """One an entrant."""
        elo, shares = self._elo(), self._shares()
        return tuple(
            self._standing(entrant, elo[entrant], shares[entrant])
            for entrant in range(len(self.players))
        )

    def pairs(self) -> tuple[Pair, ...]:
        """Every two entrants."""
        count = len(self.players)
        return tuple(self._pair(i, j) for i in range(count) for j in range(i + 1, count))

    def _standing(
        self, entrant: int, elo: Estimate | Unmeasured, share: float | Unmeasured
    ) -> Standing:
        taken = [
            (self.outcomes[match], seat)
            for match, seated in self.seated.items()
            for seat, who in enumerate(seated)
            if who == entrant
        ]
        player = self.players[entrant]
        return Standing(
            name=player.name,
            effective=player,
            used=together(o.used[seat] for o, seat in taken if seat < len(o.used)),
            seated=len(taken),
            endings=by_ending(outcome for outcome, _ in taken),
            forfeits=sum(outcome.culprit == seat for outcome, seat in taken),
            win_rate=self._win_rate(entrant),
            mean_return=self._mean_return(entrant),
            elo=elo,
            alpha_rank=share,
        )

    def _win_rate(self, entrant: int) -> Estimate | Unmeasured:
        shares = [
            win_share(self.outcomes[match].returns or (), seat)
            for match in self.scored
            for seat, who in enumerate(self.seated[match])
            if who == entrant
        ]
        try:
            return wilson(min(sum(shares), len(shares)), len(shares))
        except NoSamplesError as error:
            return Unmeasured(reason=str(error))

    def _mean_return(self, entrant: int) -> Estimate | Unmeasured:
        deals: dict[int, list[float]] = {}
        for match in self.scored:
            returns = self.outcomes[match].returns or ()
            for seat, who in enumerate(self.seated[match]):
                if who == entrant:
                    deals.setdefault(self.schedule.place(match).deal, []).append(returns[seat])
        generator = stream(self.settings.seed, "bootstrap", seat=entrant)
        try:
            return bootstrap_mean([fmean(deal) for deal in deals.values()], generator)
        except NoSamplesError as error:
            return Unmeasured(reason=str(error))

    def _elo(self) -> Sequence[Estimate | Unmeasured]:
        try:
            return elo_ratings(list(self.duels.values()), prior=self.settings.prior_draws)
        except NoRatingError as error:
            return [Unmeasured(reason=str(error))] * len(self.players)

    def _shares(self) -> Sequence[float | Unmeasured]:
        count = len(self.players)
        wins = np.sum([np.zeros((count, count)), *self.duels.values()], axis=0)
        games = wins + wins.T
        if not games[~np.eye(count, dtype=bool)].all():
            return [Unmeasured(reason="some two entrants have no scored match")] * count
        payoffs = np.divide(wins, games, out=np.full((count, count), 0.5), where=games > 0)
        return [float(share) for share in alpha_rank(payoffs)]

    def _pair(self, one: int, other: int) -> Pair:
        met = self.met.get((one, other), [])
        scored = [match for match in met if match in self.whole]
        counts = duel(((self.outcomes[m], self.seated[m]) for m in scored), one, other)
        blamed = Counter(
            self.seated[m][culprit]
            for m in met
            if (culprit := self.outcomes[m].culprit) is not None
        )
        return Pair(
            first=self.players[one].name,
            second=self.players[other].name,
            wins=counts[1.0],
            draws=counts[0.5],
            losses=counts[0.0],
            matches=len(scored),
            deals=len({self.schedule.place(match).deal for match in scored}),
            score=_score(counts, len(scored)),
            answer=self.answers.get(frozenset((one, other))),
            matches_by_ending=by_ending(self.outcomes[match] for match in met),
            forfeits=(blamed[one], blamed[other]),
        )


def _score(counts: Mapping[float, int], matches: int) -> Estimate | Unmeasured:
    try:
        return wilson(score_of(counts) * matches if matches else 0.0, matches)
    except NoSamplesError as error:
        return Unmeasured(reason=str(error))
