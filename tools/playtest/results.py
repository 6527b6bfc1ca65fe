"""The result of a tournament. It cannot be written without the players' effective settings."""

import os
from itertools import combinations
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from games.contract import canonical_key
from games.engine import Ending
from tools.playtest.intervals import Estimate
from tools.playtest.jobs import Effective
from tools.playtest.measures import Unmeasured
from tools.playtest.outcomes import Used
from tools.playtest.schedule import LineUps
from tools.playtest.sprt import Answer, Question
from tools.sandbox import Grade

MOST_PRIOR_DRAWS = 1e6  # they outweigh any results long before


class TournamentSettings(BaseModel):
    """What is played, apart from who plays which game.

    Attributes:
        deals: Deals at the most; every line-up plays each in every rotation of its seats.
        seed: The tournament's seed.
        max_plies: Plies after which a match is left unfinished.
        line_ups: How line-ups are chosen; see `tools.playtest.schedule.make_schedule`.
        question: Where it is asked, two entrants meet only until it is answered of their score
            (the first entrant's; a sample is a deal). Line-ups must hold two entrants.
        prior_draws: Draws every two who met are given in the ratings, a million at the most; with
            0, a player that never lost leaves them unmeasured.
        ply_s: Seconds one ply of the module may take; None for the sandbox's bound.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    deals: int = Field(gt=0)
    seed: int = Field(ge=0)
    max_plies: int = Field(default=2000, gt=0)
    line_ups: LineUps = "auto"
    question: Question | None = None
    prior_draws: float = Field(default=0.0, ge=0, le=MOST_PRIOR_DRAWS, allow_inf_nan=False)
    ply_s: float | None = Field(default=None, gt=0)


class Standing(BaseModel):
    """One entrant.

    Attributes:
        name: With every setting.
        effective: As it really played.
        used: What its decisions really used, over all matches.
        seated: Seats it took, over all matches.
        endings: Those seats by the match's ending.
        forfeits: Matches that it forfeited itself.
        win_rate: Its mean share of the win a seat taken; the interval is as of independent matches,
            and so too wide where deals are paired and luck is in the cards.
        mean_return: Its mean return.
        elo: Its Bradley-Terry rating over comparisons seat by seat.
        alpha_rank: Its share in the long run, by `alpha_rank` over the pairs' scores.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    effective: Effective
    used: Used
    seated: int
    endings: dict[Ending, int]
    forfeits: int
    win_rate: Estimate | Unmeasured
    mean_return: Estimate | Unmeasured
    elo: Estimate | Unmeasured
    alpha_rank: float | Unmeasured


class Pair(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid")

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    matches: int
    deals: int
    score: Estimate | Unmeasured
    answer: Answer | None
    matches_by_ending: dict[Ending, int]
    forfeits: tuple[int, int]


class TournamentResult(BaseModel):
    """A played tournament.

    Wins, returns and ratings rest on blocks (a line-up's matches of one deal) whose matches all
    finished. A forfeited, faulty or unfinished match is nobody's win or loss: it is counted apart.

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
        left_out: Finished matches of blocks in which another one did not finish.
        reasons: Why matches did not finish, with how many.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    source_id: str
    heuristics: dict[str, str]
    parameters: dict[str, JsonValue]
    num_players: int
    settings: TournamentSettings
    design: str
    sandbox: Grade
    standings: tuple[Standing, ...] = Field(min_length=2)
    pairs: tuple[Pair, ...]
    matches: int
    endings: dict[Ending, int]
    left_out: int
    reasons: dict[str, int]

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


def write_result(path: Path, result: TournamentResult) -> None:
    """Put a result in a file, whole or not at all.

    Raises:
        OSError: If it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".part")
    with beside.open("w", encoding="utf-8") as file:
        file.write(result.as_json() + "\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
