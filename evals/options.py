"""Options of an evaluation, where it leaves a choice."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EvalOptions:
    """What the caller of an evaluation may choose.

    Attributes:
        quick: Whether the small variant is run, which ends in two minutes.
        folder: Where finished games are kept, so that a run that was ended goes on there; None
            keeps nothing.
        workers: Processes that play at the same time, at least 1.
    """

    quick: bool = False
    folder: Path | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        """Refuse what no evaluation can follow."""
        if self.workers < 1:
            raise ValueError(f"workers is {self.workers}; required: at least 1")
