"""Experience: logs of seats that learn, as tokens; in batches, and in files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.learning.settings import LearningError
from agents.observing.gradients import padded
from agents.observing.transformer import Tokens


@dataclass(frozen=True)
class Experience:
    """The log of a seat that learns.

    Attributes:
        tokens: Of the whole log, with `END` where the match finished.
        outcome: Of the match, for this seat; -1 where it is not known.
    """

    tokens: Sequence[int]
    outcome: int

    @property
    def is_known(self) -> bool:
        """True where the outcome is one that was seen before."""
        return self.outcome >= 0


def written_logs(data: Sequence[Experience]) -> bytes:
    """Logs that were learned from, as a file."""
    return save(
        {
            "tokens": np.array([token for one in data for token in one.tokens], np.int32),
            "lengths": np.array([len(one.tokens) for one in data], np.int32),
            "outcomes": np.array([one.outcome for one in data], np.int32),
        }
    )


def read_logs(path: Path) -> list[Experience]:
    """The logs of a file that a training wrote.

    Raises:
        LearningError: If it is none.
    """
    try:
        found = load(path.read_bytes())
        cuts = np.cumsum(found["lengths"])[:-1]
        parts = np.split(found["tokens"], cuts)
        pairs = zip(parts, found["outcomes"].tolist(), strict=True)
        return [Experience(part.tolist(), outcome) for part, outcome in pairs]
    except (OSError, LookupError, ValueError, SafetensorError) as error:
        raise LearningError(f"{path} is damaged; say --force to begin anew") from error


def count_tokens(data: Sequence[Experience]) -> int:
    """Tokens of all logs."""
    return sum(len(one.tokens) for one in data)


def arrays_of(batch: Sequence[Experience]) -> tuple[Tokens, Tokens]:
    """`[rows, most]` tokens, -1 behind each end, and `[rows]` outcomes."""
    return padded([one.tokens for one in batch]), np.array([one.outcome for one in batch])


def alike(data: Sequence[Experience], most: int) -> list[list[Experience]]:
    """Batches of logs of like lengths, of so many tokens at most."""
    batches: list[list[Experience]] = [[]]
    for one in sorted(data, key=lambda one: len(one.tokens)):
        if len(one.tokens) * (len(batches[-1]) + 1) > most and batches[-1]:
            batches.append([])
        batches[-1].append(one)
    return batches
