"""What a run is asked to do; every field is an effective parameter of its results."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from games.checks.run import CheckSettings

RefineStrategy: TypeAlias = Literal["conversation", "tree"]


class RunSettings(BaseModel):
    """Settings of one run; unknown ones are refused.

    Attributes:
        seed: Seeds every random stream of the run.
        quick: Fewer matches and smaller searches, for a first look.
        approve: Ask a person to approve the rulebook before it is coded.
        own_games: Let retrieval also see games that earlier runs accepted.
        refine: How the candidate to mend is picked.
        max_rounds: Refinements before the run gives up.
        records_judged: Match records that the validator judges.
        ladder_matches: Matches for every rung of the skill ladder.
        heuristic_matches: Matches a heuristic plays against random before it may join.
        small_budget: Simulations a move of the weaker search player.
        large_budget: Simulations a move of the stronger one.
        max_plies: Plies after which a match is left unfinished.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0)
    quick: bool = False
    approve: bool = False
    own_games: bool = False
    refine: RefineStrategy = "conversation"
    max_rounds: int = Field(default=6, ge=0)
    records_judged: int = Field(default=2, ge=0)
    ladder_matches: int = Field(default=60, ge=4)
    random_matches: int = Field(default=100, ge=4)
    heuristic_matches: int = Field(default=40, ge=4)
    small_budget: int = Field(default=50, ge=1)
    large_budget: int = Field(default=250, ge=1)
    max_plies: int = Field(default=2000, ge=1)
    check: CheckSettings = CheckSettings()


def settings_for(
    *, seed: int = 0, quick: bool = False, approve: bool = False, own_games: bool = False
) -> RunSettings:
    """The defaults of a run, or those of a quick one."""
    if not quick:
        return RunSettings(
            seed=seed, approve=approve, own_games=own_games, check=CheckSettings(seed=seed)
        )
    return RunSettings(
        seed=seed,
        quick=True,
        approve=approve,
        own_games=own_games,
        records_judged=1,
        ladder_matches=16,
        random_matches=40,
        heuristic_matches=16,
        small_budget=15,
        large_budget=60,
        check=CheckSettings(seed=seed, matches=6, samples=16),
    )
