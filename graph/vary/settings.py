"""Settings of a run of `vary`, and what it was asked; every field stands in its results."""

from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from games.streams import drawn_seed
from graph.run.folder import RunFolder
from graph.run.settings import sized
from graph.vary.bases import BaseGame
from graph.vary.rulebooks import Rulebook

_REQUEST = ".state/varying.json"
MOST_VARIANTS = 64
MOST_KEPT = 2000  # characters


class _Asked(BaseModel, frozen=True, extra="forbid"):
    """Settings of one run, in play or in words; unknown ones are refused.

    Attributes:
        seed: Seeds every random stream of the run; drawn where none is given.
        quick: Fewer candidates and matches, for a first look.
        n: Variants wanted.
        keep: What shall stay as it is, in a person's words.
    """

    seed: int = Field(default_factory=drawn_seed, ge=0, le=2**64 - 1)
    quick: bool = False
    n: int = Field(default=8, ge=1, le=MOST_VARIANTS)
    keep: str = Field(default="", max_length=MOST_KEPT)


class VarySettings(_Asked, frozen=True):
    """Settings of a walk through a game's settings.

    Attributes:
        free_seats: Whether the number of players may change too.
        candidates: Settings that are tried, for each variant.
        base_seeds: Seeds under which the base is played, to know its noise.
        trial_matches: Random matches of a candidate, and of the base under a seed.
        good_matches: Of good play, of a candidate, at most.
        final_random: Random matches of a variant that is kept.
        final_good: Matches of good play of it.
    """

    free_seats: bool = False
    candidates: int = sized(5, quick=4, least=1)
    base_seeds: int = sized(12, quick=10, least=4)
    trial_matches: int = sized(100, quick=100, least=6)
    good_matches: int = sized(40, quick=30, least=6)
    final_random: int = sized(300, quick=150, least=6)
    final_good: int = sized(100, quick=50, least=6)


class WordingSettings(_Asked, frozen=True):
    """Settings of a variation in words.

    Attributes:
        make: The least similar variants, which are coded, checked and played.
        replaced: Mechanics that a variant replaces at most.
        readings: Times that a variant is read for ambiguity and conflict at most.
    """

    make: int = Field(default=3, ge=0, le=MOST_VARIANTS)
    replaced: int = Field(default=2, ge=1, le=4)
    readings: int = Field(default=3, ge=1, le=10)


class VaryRequest(BaseModel, frozen=True, extra="forbid"):
    """The request of a run.

    Attributes:
        format: Version of the run folder's machine part.
        base: The game that is varied, as it was then: its module, or its rules in words.
        settings: Of the run.
    """

    format: Literal[2] = 2
    base: BaseGame | Rulebook
    settings: VarySettings | WordingSettings

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if isinstance(self.base, Rulebook) is not isinstance(self.settings, WordingSettings):
            raise ValueError("required: settings of a variation in words for rules, else of a walk")
        return self


def is_variation(folder: RunFolder) -> bool:
    """Say whether a run folder is one of `vary`."""
    return (folder.path / _REQUEST).exists()


def read_variation(folder: RunFolder) -> VaryRequest:
    """Read the request of a run.

    Raises:
        RunFolderError: If it cannot be read, or another version of the product wrote it.
    """
    wrong = "is no request of this version ({} faults); start the run anew: rulewright vary"
    return folder.read_model(_REQUEST, VaryRequest, wrong)


def write_variation(request: VaryRequest, folder: RunFolder) -> None:
    """Keep what a run was asked, so that it can be resumed from its very first moment."""
    folder.write_json(_REQUEST, request.model_dump(mode="json"))
