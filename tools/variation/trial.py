"""Trial of a game's settings: matches in lockstep by the one runner, and what they show."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from pydantic import BaseModel, FiniteFloat, model_validator

from games.values import ModuleFault
from tools.playtest.intervals import (
    Estimate,
    NoSamplesError,
    mean_interval,
    wilson,
)
from tools.playtest.jobs import GameSetup, Roster
from tools.playtest.of_run.fairness import fair_once
from tools.playtest.report import last_lead, side_wins
from tools.playtest.schedule import Sides
from tools.playtest.series import Series, SeriesSettings, play_series, with_records
from tools.reporting.content import Fairness
from tools.sandbox import Sandbox
from tools.variation.profile import PlayedOut, played_out, profile_of, sides_shown

_LEAD_PLIES = 1500  # that are played again for the lead
_FEWEST = 4  # matches that tell of the lead
_MOST = 16
RANDOM = "random"
_NO_RESULT = re.compile(r": (?:timed_out|killed)(?: \(line \d+\))?: ")  # see `ModuleFault`


class TrialStoppedError(Exception):
    """A trial was stopped by the clock or the machine; played again, it may end otherwise."""


class Amounts(BaseModel, frozen=True, extra="forbid"):
    """Matches of a trial.

    Attributes:
        random: Random play at every seat.
        good: The good player at every seat.
        mixed: The good player at one side, random play at the others.
        max_plies: Plies after which a match is left unfinished.
        player: Spec of the good player; empty for none.
    """

    random: int
    good: int
    mixed: int
    max_plies: int
    player: str


class TrialFigures(BaseModel, frozen=True, extra="forbid"):
    """Figures of a game for a person, with their intervals.

    Attributes:
        player: Who was at every seat: the good player where there is one.
        length: Decisions a match.
        choices: Legal actions a decision.
        ties: Share of matches that pay all alike; None where all are one side.
        score: Mean return, where all are one side.
        skill: Share of the wins of the good player's side against random play; None without.
        fairness: None where all are one side.
    """

    player: str
    length: Estimate
    choices: Estimate
    ties: Estimate | None = None
    score: Estimate | None = None
    skill: Estimate | None = None
    fairness: Fairness | None = None


class TrialResult(BaseModel, frozen=True, extra="forbid"):
    """The end of a trial.

    Attributes:
        problem: Why it could not be played to the end; empty where it was.
        profile: Figures of play by name; `good_` before those of good play.
        figures: None where a problem ended the trial.
    """

    problem: str = ""
    profile: dict[str, FiniteFloat] = {}
    figures: TrialFigures | None = None

    @model_validator(mode="after")
    def _has_what_its_end_leaves(self) -> Self:
        if not self.problem and (self.figures is None or "length" not in self.profile):
            raise ValueError("required: figures and a profile where no problem ended the trial")
        return self


@dataclass(frozen=True)
class Tryout:
    """A game with all its parameters, and what it takes to play it.

    Attributes:
        game: The game.
        seed: Seeds every stream.
        amounts: How much is played.
        roster: Makes the players.
        sandbox: Where they play.
    """

    game: GameSetup
    seed: int
    amounts: Amounts
    roster: Roster
    sandbox: Sandbox

    def run(self) -> TrialResult:
        """Play it: at random, then well, then well against at random.

        A problem ends the trial. The same trial gives the same result.

        Raises:
            TrialStoppedError: If the clock or the machine ended it: that is no result.
        """
        try:
            return self._played()
        except ModuleFault as fault:
            _require_own(str(fault))
            return TrialResult(problem=str(fault))

    def _played(self) -> TrialResult:
        seats = self.game.num_players
        for matches in (1, self.amounts.random):  # one that fails is soon told
            series = self._series([RANDOM] * seats, matches, ())
            if problem := _unfinished(series):
                return TrialResult(problem=problem)
        at_random = _matches_of(series)
        sides = sides_shown(at_random)
        profile = profile_of(at_random, sides) | self._lead(series)
        if not self.amounts.player:
            return TrialResult(profile=profile, figures=_figures(RANDOM, at_random, sides, None))
        series = self._series([self.amounts.player] * seats, self.amounts.good, ())
        if problem := _unfinished(series):
            return TrialResult(problem=problem, profile=profile)
        good = _matches_of(series)
        profile |= {f"good_{name}": value for name, value in profile_of(good, sides).items()}
        return self._against_random(profile, good, at_random, sides)

    def _against_random(
        self,
        profile: dict[str, float],
        good: Sequence[PlayedOut],
        at_random: Sequence[PlayedOut],
        sides: Sides,
    ) -> TrialResult:
        """With skill: the good side's share of the win; of one side, what good play scores more."""
        if len(sides) == 1:
            more = fmean(fmean(m.returns) for m in good) - fmean(
                fmean(m.returns) for m in at_random
            )
            return TrialResult(
                profile=profile | {"skill": more},
                figures=_figures(self.amounts.player, good, sides, None),
            )
        specs = [
            self.amounts.player if seat in sides[0] else RANDOM
            for seat in range(self.game.num_players)
        ]
        series = self._series(specs, self.amounts.mixed, sides)
        if problem := _unfinished(series):
            return TrialResult(problem=problem, profile=profile)
        won = series.figures(0)
        if won.win_share is None:
            return TrialResult(problem=won.not_estimated, profile=profile)
        return TrialResult(
            profile=profile | {"skill": won.win_share.value},
            figures=_figures(self.amounts.player, good, sides, won.win_share),
        )

    def _lead(self, series: Series) -> dict[str, float]:
        """The part of a match after which the lead changes no more; nothing where none pays so."""
        plies = fmean(entry.plies for entry in series.entries.values())
        count = min(_MOST, len(series.entries), int(_LEAD_PLIES / max(1.0, plies)))
        if count < _FEWEST:
            return {}
        try:
            return {
                "lead": last_lead(with_records(series, count, self.sandbox.apart).records).value
            }
        except NoSamplesError:
            return {}

    def _series(self, specs: Sequence[str], matches: int, sides: Sides) -> Series:
        seats = self.game.num_players
        partners = sides if 1 < len(sides) < seats else ()
        block = math.lcm(seats, len(sides) or 1)
        return play_series(
            self.game,
            specs,
            self.roster,
            SeriesSettings(
                matches=-(-matches // block) * block,
                seed=self.seed,
                max_plies=self.amounts.max_plies,
                sides=partners,
                replay=False,
                record=False,
            ),
            sandbox=self.sandbox,
        )


def _matches_of(series: Series) -> list[PlayedOut]:
    return played_out([*series.entries.values()])


def _unfinished(series: Series) -> str:
    """Why a series is none of a game to keep; empty where all its matches finished."""
    ended = series.endings["finished"]
    if ended == len(series.entries):
        return ""
    for entry in series.entries.values():
        _require_own(entry.reason)
    reason = next(iter(series.tables.reasons()), "they did not finish")
    return f"{len(series.entries) - ended} of {len(series.entries)} matches did not end: {reason}"


def _require_own(reason: str) -> None:
    """Raise where the clock or the machine ended what the game might have ended otherwise."""
    if _NO_RESULT.search(reason):
        raise TrialStoppedError(reason)


def _figures(
    player: str, matches: Sequence[PlayedOut], sides: Sides, skill: Estimate | None
) -> TrialFigures:
    returns = [one.returns for one in matches]
    decided = [one for one in matches if one.decisions]
    versus, tied = len(sides) > 1, sum(len({*paid}) == 1 for paid in returns)
    return TrialFigures(
        player=player,
        length=mean_interval([float(one.decisions) for one in matches], "matches"),
        choices=mean_interval([one.options / one.decisions for one in decided], "matches"),
        ties=wilson(tied, len(matches), "matches") if versus else None,
        score=None if versus else mean_interval([fmean(paid) for paid in returns], "matches"),
        skill=skill,
        fairness=fair_once(player, sides, side_wins(returns, sides)) if versus else None,
    )
