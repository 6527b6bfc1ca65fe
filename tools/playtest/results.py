"""Results of a tournament: its tables, computed in match order from what the matches left."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Self

import numpy as np
from pydantic import BaseModel, Field, JsonValue, model_validator

from games.engine import Ending
from games.values import canonical_key
from tools.playtest.efforts import EffortSummary, effort_together
from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    SequentialAnswer,
    Unmeasured,
    at_worst,
    design_effect,
    or_unmeasured,
    paid_interval,
)
from tools.playtest.jobs import MatchEntry, PlayerSpec
from tools.playtest.ratings import (
    ONE_IN,
    Forfeits,
    Matrix,
    NoRatingError,
    alpha_rank,
    cautions_of,
    elo_ratings,
    head_to_head,
    ranked,
    repeated_matches,
    score_of,
    simulations_by_seat,
    uneven_search,
    win_share,
)
from tools.playtest.schedule import Schedule, Sides, TournamentSettings, sides_paid_alike
from tools.sandbox import Grade

ENDINGS: tuple[Ending, ...] = ("finished", "unfinished", "forfeit", "fault")
NOBODY_WINS = "every match paid all seats the same, as a team; compare mean returns"


class Standing(BaseModel, frozen=True, extra="forbid"):
    """One entrant.

    Attributes:
        name: With every setting.
        effective: As it really played.
        used: What its decisions really used, over all matches.
        seated: Seats it took, over all matches.
        endings: Those seats by the match's ending.
        forfeits: Matches that it forfeited itself.
        win_rate: Its mean share of the win a seat taken. Where the matches of a deal go alike, the
            interval counts them so; it is too wide where luck is in the cards.
        mean_return: Its mean return over deals that finished; see `ResultTables.mean_return`.
        elo: Its Bradley-Terry rating over comparisons seat by seat.
        alpha_rank: Its share in the long run, by `alpha_rank` over the pairs' scores.
    """

    name: str
    effective: PlayerSpec
    used: EffortSummary
    seated: int
    endings: dict[Ending, int]
    forfeits: int
    win_rate: Estimate | Unmeasured
    mean_return: Estimate | Unmeasured
    elo: Estimate | Unmeasured
    alpha_rank: float | Unmeasured


class PairResult(BaseModel, frozen=True, extra="forbid"):
    """Two entrants' results against each other, seat by seat.

    Attributes:
        first: Name.
        second: Name.
        wins: Comparisons in which a seat of the first returned more than one of the second.
        draws: As much.
        losses: Less.
        matches: Scored matches of both.
        deals: Deals those are of.
        score: The first's mean over matches, a draw being a half.
        answer: Of the question, where one was asked.
        matches_by_ending: All matches of both.
        forfeits: Of those, forfeited by the first, by the second.
    """

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    matches: int
    deals: int
    score: Estimate | Unmeasured
    answer: SequentialAnswer | None
    matches_by_ending: dict[Ending, int]
    forfeits: tuple[int, int]


class TournamentResult(BaseModel, frozen=True, extra="forbid"):
    """A played tournament.

    Wins and ratings rest on blocks (a line-up's matches of one deal) whose matches all finished or
    were forfeited; see `ranked`. Returns rest on blocks whose matches all finished. A faulty or
    unfinished match is void: nobody's win or loss, and counted apart; see `ResultTables.no_result`.

    Attributes:
        game: The game's name.
        source_id: SHA-256 of the module.
        heuristics: SHA-256 of each heuristic that players could use.
        parameters: The effective parameters of the game.
        num_players: Seats.
        settings: What was played.
        design: How line-ups were chosen.
        sandbox: How far the host's own sandbox holds; the processes' are made alike.
        standings: By entrant, in the order of entry.
        pairs: Every two entrants, in the order of entry.
        matches: Matches played.
        endings: By ending.
        left_out: Finished or forfeited matches of blocks in which another one was neither.
        reasons: Why matches did not finish, with how many.
        replayed: Finished matches that fresh workers played again, with no difference.
        not_audited: Why it is not known if seats were told what is hidden; empty where it is.
        no_result: Why nothing is estimated; empty where the matches are a result.
        cautions: What the result does not rest on, in sentences by name; see `ResultTables`.
        simulations: See `ResultTables.simulations`.
    """

    game: str
    source_id: str
    heuristics: dict[str, str]
    parameters: dict[str, JsonValue]
    num_players: int
    settings: TournamentSettings
    design: str
    sandbox: Grade
    standings: tuple[Standing, ...] = Field(min_length=2)
    pairs: tuple[PairResult, ...]
    matches: int
    endings: dict[Ending, int]
    left_out: int
    reasons: dict[str, int]
    replayed: int
    not_audited: str
    no_result: str
    cautions: dict[str, str]
    simulations: dict[str, dict[str, float]]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [standing.name for standing in self.standings]
        unlike = [s.name for s in self.standings if s.name != s.effective.name]
        if unlike:
            raise ValueError(f"{unlike} are not called by their effective settings")
        if [(pair.first, pair.second) for pair in self.pairs] != list(combinations(names, 2)):
            raise ValueError("required: the whole pair matrix, in the order of entry")
        return self

    def as_json(self) -> str:
        """One line of canonical JSON."""
        return canonical_key(self.model_dump(mode="json"))


def by_ending(outcomes: Iterable[MatchEntry]) -> dict[Ending, int]:
    """Counts of matches by ending; all four endings are there."""
    counts = Counter(outcome.ending for outcome in outcomes)
    return {ending: counts[ending] for ending in ENDINGS}


@dataclass(frozen=True)
class ResultTables:
    """The tables of a tournament, computed from its outcomes.

    Attributes:
        schedule: Of the tournament.
        settings: Of the tournament.
        players: By entrant.
        outcomes: By match, in match order; whole blocks.
        answers: Of the question by pair; empty where none was asked.
        unasked: Matches of a journal whose players are models, which are not asked again.
        unheld: Matches that were asked for and not played, as no more are held in memory.
    """

    schedule: Schedule
    settings: TournamentSettings
    players: tuple[PlayerSpec, ...]
    outcomes: Mapping[int, MatchEntry]
    answers: Mapping[frozenset[int], SequentialAnswer]
    unasked: int = 0
    unheld: int = 0

    @cached_property
    def seated(self) -> dict[int, tuple[int, ...]]:
        """Entrants by seat, by match."""
        return {m: self.schedule.seated(m, self.settings.seed) for m in self.outcomes}

    @cached_property
    def scored(self) -> list[int]:
        """The matches of blocks whose matches all finished or were forfeited."""
        return self._of_blocks("finished", "forfeit")

    @cached_property
    def paid(self) -> list[int]:
        """The matches of blocks that finished entirely."""
        return self._of_blocks("finished")

    def _of_blocks(self, *endings: Ending) -> list[int]:
        size = self.schedule.rotations
        blocks = Counter(m // size for m, o in self.outcomes.items() if o.ending in endings)
        return [match for match in self.outcomes if blocks[match // size] == size]

    @cached_property
    def ranks(self) -> dict[int, tuple[float, ...]]:
        """The values that rank the seats of the scored matches."""
        found = {}
        for match in self.scored:
            names = [self.players[who].name for who in self.seated[match]]
            found[match] = ranked(self.outcomes[match], names, self._sides) or ()
        return found

    @cached_property
    def _sides(self) -> Sides:
        paid = [self.outcomes[match].returns for match in self.scored]
        return sides_paid_alike([one for one in paid if one is not None], self.schedule.seats)

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
            seated, ranks = self.seated[match], self.ranks[match]
            for mine, one in zip(ranks, seated, strict=True):
                for theirs, other in zip(ranks, seated, strict=True):
                    if one != other and self.forfeits_of.compares(match, one, other):
                        wins[one, other] += 0.5 * ((mine > theirs) + (mine >= theirs))
        return deals

    @cached_property
    def is_shared(self) -> bool:
        """True where every match paid all its seats alike, and not always the same."""
        return len(self._sides) == 1

    @property
    def no_result(self) -> str:
        """The reason why the matches are no result: too many are void; else ""."""
        played = len(self.outcomes)
        void = sum(o.ending in ("unfinished", "fault") for o in self.outcomes.values())
        if void * ONE_IN <= played:
            return ""
        told = f"no result: in {void} of {played} matches the game failed or did not end"
        return f"{told}; required: at most one in {ONE_IN}, as it may be whom that suits"

    @property
    def unrated(self) -> str:
        """The reason why no wins are estimated; empty where they are."""
        why = self.no_result or uneven_search(self.simulations)
        return why or (NOBODY_WINS if self.is_shared else "")

    @property
    def cautions(self) -> dict[str, str]:
        """See `cautions_of`."""
        repeated = repeated_matches(self.seated, self.outcomes)
        found = cautions_of(self.forfeits_of, self.simulations, self.unasked, repeated)
        told = (
            f"the first {len(self.outcomes)} matches alone were played, as no more are held in "
            "memory; play others with another --seed"
        )
        return found | ({"memory": told} if self.unheld else {})

    @cached_property
    def forfeits_of(self) -> Forfeits:
        """The forfeits, and for whom they count."""
        return Forfeits(self.players, self.seated, self.outcomes, self._sides)

    @cached_property
    def simulations(self) -> dict[str, dict[str, float]]:
        """See `simulations_by_seat`."""
        return simulations_by_seat(self.players, self.seated, self.outcomes)

    @property
    def left_out(self) -> int:
        """Finished or forfeited matches that are not scored."""
        judged = sum(o.ending in ("finished", "forfeit") for o in self.outcomes.values())
        return judged - len(self.scored)

    def reasons(self) -> dict[str, int]:
        """Counts of the reasons why matches did not finish."""
        return dict(sorted(Counter(o.reason for o in self.outcomes.values() if o.reason).items()))

    def standings(self) -> tuple[Standing, ...]:
        """One an entrant."""
        why = self.unrated or self.forfeits_of.told
        void = [Unmeasured(reason=why)] * len(self.players)
        elo, shares = (void, void) if why else (self._elo(), self._shares())
        return tuple(map(self._standing, range(len(self.players)), elo, shares))

    def pairs(self) -> tuple[PairResult, ...]:
        """Every two entrants."""
        return tuple(self._pair(*two) for two in combinations(range(len(self.players)), 2))

    def _standing(
        self, entrant: int, elo: Estimate | Unmeasured, share: float | Unmeasured
    ) -> Standing:
        player, taken = self.players[entrant], self._taken(entrant)
        return Standing(
            name=player.name,
            effective=player,
            used=self.used(entrant),
            seated=len(taken),
            endings=by_ending(outcome for outcome, _ in taken),
            forfeits=self.forfeits(entrant),
            win_rate=or_unmeasured(lambda: self.win_rate(entrant)),
            mean_return=or_unmeasured(lambda: self.mean_return(entrant)),
            elo=elo,
            alpha_rank=share,
        )

    def used(self, entrant: int) -> EffortSummary:
        """The effort of an entrant's decisions, of all matches and seats."""
        taken = self._taken(entrant)
        return effort_together(o.used[seat] for o, seat in taken if seat < len(o.used))

    def _taken(self, entrant: int) -> list[tuple[MatchEntry, int]]:
        return [
            (o, seat) for match, o in self.outcomes.items() for seat in self._seats(match, entrant)
        ]

    def wins(self, entrant: int) -> float:
        """Its wins over the scored matches, shared ones in part."""
        return sum(share for _, share in self._won(entrant))

    def _won(self, entrant: int) -> list[tuple[int, float]]:
        """Its shares of the wins of scored matches, each with its deal."""
        return [
            (self.schedule.place(match).deal, win_share(self.ranks[match], seat))
            for match in self._counted(entrant, self.scored)
            for seat in self._seats(match, entrant)
        ]

    def win_rate(self, entrant: int) -> Estimate:
        """Its mean share of the win a seat taken.

        Raises:
            NoSamplesError: If no match is scored, nobody wins, or there is no result.
        """
        if self.unrated:
            raise NoSamplesError(self.unrated)
        won = self._won(entrant)
        if not won and self.forfeits_of.quitters:
            raise NoSamplesError(self.forfeits_of.told)
        asked = sum(len(self._seats(match, entrant)) for match in self.outcomes)
        wins = min(self.wins(entrant), len(won))
        return at_worst(wins, len(won), "seats", asked, design_effect(won))

    def mean_return(self, entrant: int) -> Estimate:
        """Its mean return; the samples are deals, because matches of one are not independent.

        A forfeited match has no return: only blocks that finished count, but in cooperation, where
        returns are all there is to compare, it counts as the least that any match paid.

        Raises:
            NoSamplesError: If fewer than two deals count, or there is no result.
        """
        if self.no_result:
            raise NoSamplesError(self.no_result)
        paid = [returns for m in self.scored if (returns := self.outcomes[m].returns)]
        least = min(map(min, paid)) if paid and self.is_shared else None
        deals: dict[int, list[float]] = {}
        for match in self._counted(entrant, self.paid if least is None else self.scored):
            returns = self.outcomes[match].returns
            for seat in self._seats(match, entrant):
                found = returns[seat] if returns else least
                if found is not None:
                    deals.setdefault(self.schedule.place(match).deal, []).append(found)
        values = [fmean(deal) for deal in deals.values()]
        ends = min(map(min, paid), default=0.0), max(map(max, paid), default=0.0)
        return paid_interval(values, "deals", *ends)

    def forfeits(self, entrant: int) -> int:
        """Matches that it forfeited itself."""
        seats = ((match, seat) for match in self.outcomes for seat in self._seats(match, entrant))
        return sum(self.outcomes[match].culprit == seat for match, seat in seats)

    def _counted(self, entrant: int, matches: Iterable[int]) -> list[int]:
        return [match for match in matches if entrant not in self.forfeits_of.spared(match)]

    def _seats(self, match: int, entrant: int) -> list[int]:
        return [seat for seat, who in enumerate(self.seated[match]) if who == entrant]

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

    def _pair(self, one: int, other: int) -> PairResult:
        met = self.met.get((one, other), [])
        scored = [m for m in met if m in self.ranks and self.forfeits_of.compares(m, one, other)]
        n = len(scored)
        each = [head_to_head([(self.ranks[m], self.seated[m])], one, other) for m in scored]
        counts, deals = sum(each, Counter[float]()), [self.schedule.place(m).deal for m in scored]
        alike = design_effect(zip(deals, map(score_of, each), strict=True))
        blamed = Counter(
            self.seated[m][culprit]
            for m in met
            if (culprit := self.outcomes[m].culprit) is not None
        )
        return PairResult(
            first=self.players[one].name,
            second=self.players[other].name,
            wins=counts[1.0],
            draws=counts[0.5],
            losses=counts[0.0],
            matches=n,
            deals=len({*deals}),
            score=Unmeasured(reason=self.unrated)
            if self.unrated
            else or_unmeasured(
                lambda: at_worst(score_of(counts) * n if n else 0.0, n, "matches", len(met), alike)
            ),
            answer=None if self.no_result else self.answers.get(frozenset((one, other))),
            matches_by_ending=by_ending(self.outcomes[match] for match in met),
            forfeits=(blamed[one], blamed[other]),
        )
