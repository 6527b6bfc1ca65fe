"""Labelled briefs: what people asked for in words, and what a fair reader found in them.

The judge of fit and the settings by meaning learn from those in `briefs/`, one file for each
author, a brief a line. Their authors saw the list of games and settings, but neither code nor
words.
"""

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

_FOLDER = Path(__file__).parent / "briefs"


class Seats(BaseModel):
    """How many may play."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min: int
    max: int


class LabelledBrief(BaseModel):
    """One brief and what is right for it.

    Attributes:
        id: Its name.
        kind: Whether it is a family's game; a border brief has a family's core and rules that none
            has.
        text: The brief.
        family: The right family; None for `out`.
        seats: How many play; None where it does not say.
        settings: What it asks of the family's settings.
        unhonoured: Its demands that the family cannot honour.
        said: Setting, value as `says` of a family's words writes it, and the part that says so.
        silent: Parts that say nothing of any setting.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Literal["in", "out", "border"]
    text: str
    family: str | None
    seats: int | Seats | None
    settings: dict[str, bool | int | str]
    unhonoured: tuple[str, ...]
    said: tuple[tuple[str, str, str], ...] = ()
    silent: tuple[str, ...] = ()


@cache
def labelled_briefs() -> dict[str, tuple[LabelledBrief, ...]]:
    """The briefs that are learned from, by author."""
    return {
        path.stem: tuple(map(LabelledBrief.model_validate_json, path.read_text().splitlines()))
        for path in sorted(_FOLDER.glob("*.jsonl"))
    }
