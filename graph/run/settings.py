"""Settings of a run; every field is an effective parameter of its results."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from games.checks.run import CheckSettings

_PRINTED_MATCHES = 400  # a candidate (Cardiverse §3.3.3)
RefineStrategy: TypeAlias = Literal["conversation", "tree"]


def _sized(usual: int, quick: int) -> Callable[[dict[str, Any]], int]:
    """The default of a field that a quick run has smaller."""
    return lambda settings: quick if settings["quick"] else usual


def _heuristic_matches(settings: dict[str, Any]) -> int:
    if settings["protocol"] == "paper":
        return _PRINTED_MATCHES
    return 32 if settings["quick"] else 200


def _seconds(settings: dict[str, Any]) -> float | None:
    return 60.0 if settings["quick"] else None


def _strategy(settings: dict[str, Any]) -> RefineStrategy:
    return "tree" if settings["candidates"] > 1 else "conversation"


def _checks(settings: dict[str, Any]) -> CheckSettings:
    seed = settings["seed"]
    return (
        CheckSettings(seed=seed, matches=6, samples=16)
        if settings["quick"]
        else CheckSettings(seed=seed)
    )


class RunSettings(BaseModel):
    """Settings of one run; unknown ones are refused.

    `quick` makes the defaults of the sizes smaller; a size that is given stands.

    Attributes:
        seed: Seeds every random stream of the run.
        quick: Fewer matches and smaller searches, for a first look.
        approve: Ask a person to approve the rulebook before it is coded.
        own_games: Let retrieval also see games that earlier runs accepted.
        candidates: Modules that the coder drafts, each without the others; all are checked.
        extras: Ask the coder, once the game is accepted, for a value function and, where something
            is hidden, for resamplers; what does not win or fit is dropped. Never in a quick run.
        refine: How the candidate to mend is picked; by tree where there are several drafts.
        max_rounds: Refinements before the run gives up.
        records_judged: Match records that the validator judges.
        random_matches: Matches at random that the measures are taken from.
        ladder_matches: Matches for every rung of the skill ladder.
        protocol: How heuristics are selected: ours, or as Cardiverse prints it (400 matches each).
        lessons: Plies that heuristics are fitted to, where the strategist gave none worth having;
            0 for none.
        heuristic_matches: Matches that a line-up of heuristics plays at most.
        small_budget: Simulations a move of the weaker search player.
        large_budget: Simulations a move of the stronger one.
        playtest_s: Seconds that the play-test may take; None for as many as its matches take.
            What was cut is said, and depends on the machine.
        max_plies: Plies after which a match is left unfinished.
        check: What the checks look at.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0)
    quick: bool = False
    approve: bool = False
    own_games: bool = False
    candidates: int = Field(default=1, ge=1, le=8)
    extras: bool = False
    refine: RefineStrategy = Field(default_factory=_strategy)
    max_rounds: int = Field(default=6, ge=0)
    records_judged: int = Field(default_factory=_sized(5, quick=2), ge=0)
    ladder_matches: int = Field(default_factory=_sized(60, quick=16), ge=4)
    random_matches: int = Field(default_factory=_sized(100, quick=40), ge=4)
    protocol: Literal["ours", "paper"] = "ours"
    lessons: int = Field(default_factory=_sized(8_000, quick=1_000), ge=0)
    heuristic_matches: int = Field(default_factory=_heuristic_matches, ge=4)
    small_budget: int = Field(default_factory=_sized(50, quick=15), ge=1)
    large_budget: int = Field(default_factory=_sized(250, quick=60), ge=1)
    playtest_s: float | None = Field(default_factory=_seconds, gt=0, allow_inf_nan=False)
    max_plies: int = Field(default=2000, ge=1)
    check: CheckSettings = Field(default_factory=_checks)
