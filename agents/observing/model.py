"""Models of what a seat sees: a transformer, its vocabulary and outcomes, in one file without code.

GO-MCTS (Rebstock et al. 2024) learns the observations of a seat instead of the state of the game.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.protocol import Array
from agents.encoding.vocabulary import TokenError, Vocabulary, vocabulary_of
from agents.learning.policy import META, stat_of
from agents.learning.settings import LearningError
from agents.observing.experience import Replay
from agents.observing.outcomes import OutcomeTable
from agents.observing.transformer import Reals, Shape, Transformer
from agents.search.settings import MANY, PlayerSettings
from games.values import Action

FORMAT = "observations 3"
_EARLIER = "observations 2"  # whose tokens took nothing of those before them
_MOST_OUTCOMES = 256  # that are told apart
_BINS = 64
_LARGEST = 2**28  # bytes
_NO_MODEL = (LookupError, TypeError, ValueError, RecursionError, OSError, SafetensorError)
SIZES: Mapping[str, tuple[int, int, int]] = {
    "tiny": (2, 2, 64),
    "small": (4, 4, 128),
    "paper": (8, 8, 256),
}
"""Layers, heads and width of each size; `paper` is that of GO-MCTS, Table 4."""


class ObservationSettings(PlayerSettings):
    """Settings of a training; defaults of GO-MCTS, §5, §9.1 and Table 6, where it has them."""

    size: Literal["tiny", "small", "paper"] = Field(
        default="tiny", description="Of the transformer: 2, 4 or 8 layers, 64, 128 or 256 wide."
    )
    iterations: int = Field(default=10, ge=0, le=1000, description="Of self-play, after the first.")
    epochs: int = Field(default=3, ge=1, le=100, description="Passes over an iteration's matches.")
    learning_rate: float = Field(
        default=0.004,
        ge=0,
        le=1,
        description="Of AdamW, at first; it falls to 0 in a line. The paper: 0.0001.",
    )
    dropout: float = Field(default=0.05, ge=0, le=0.9, description="Share of values left out.")
    outcome_share: float = Field(
        default=0.5, ge=0, le=1, description="Of the outcome's loss; the paper: 0.1."
    )
    shift: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="What a token's vector takes of the one before at first, by channel from "
        "nothing to this; it is learned, and 0 stays 0. To follow a teacher takes 1.",
    )
    action_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Of the loss of own actions; 0: each counts as any other token, as in the "
        "paper. To follow a teacher takes 0.25.",
    )
    threshold: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Probability from which the learner considers an action; the paper: 0.05.",
    )
    replay: Replay = Field(
        default="all",
        description="Which iterations show how to act: all alike, as in fictitious play, or the "
        "newest alone, as in the paper. With mixed all of them show all there is to learn.",
    )
    explore: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="Share of matches in which the learner draws its actions up to one of them, "
        "to learn what others are worth.",
    )
    pool: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Newest policies that are met; with replay=all the newest is the mean of all.",
    )
    batch: int = Field(default=1024, ge=64, le=MANY, description="Tokens of a step.")
    context: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="Tokens of the longest log; 0: a quarter more than random play shows.",
    )
    bootstrap: float = Field(
        default=0.3, ge=0.01, le=1, description="Share of the tokens that the first matches give."
    )
    teacher: str = Field(
        default="random",
        max_length=200,
        description="Player of the first matches: random, or one such as greedy, which the policy "
        "first learns to follow.",
    )
    device: str = Field(
        default="numpy",
        max_length=32,
        description="Where it learns: numpy, or as torch names it, such as cuda (extra learn).",
    )
    max_plies: int = Field(default=2000, ge=1, le=MANY, description="After which a match ends.")

    @model_validator(mode="after")
    def _shared_out(self) -> Self:
        if self.outcome_share + self.action_share > 1:
            raise ValueError(
                f"outcome_share is {self.outcome_share} and action_share {self.action_share}; "
                "required: together at most 1, as they are parts of one loss"
            )
        return self


@dataclass(frozen=True)
class ObservationModel:
    """A trained model.

    Attributes:
        vocabulary: Of the tokens.
        outcomes: Of the outcome head.
        transformer: The network.
        about: The game, seats, settings, seed, versions and course of the training.
        digest: Of the file's bytes; "" before it is written.
    """

    vocabulary: Vocabulary
    outcomes: OutcomeTable
    transformer: Transformer
    about: Mapping[str, Any]
    digest: str = ""

    def values(self, last: Array) -> Array:
        """`[n]` expected values of the seat, after `Transformer.add` (Eq. 1)."""
        found: Array = self.transformer.outcomes(last) @ self.outcomes.worths
        return found

    def legal_chances(self, chances: Array, legal: Sequence[Action]) -> Reals:
        """`[legal]` probabilities of legal actions, which add up to 1 (`p_legal`).

        Args:
            chances: `[vocabulary]` of the token after `MOVE`.
            legal: Those of which none is known are all as likely.
        """
        known = self.vocabulary.action_number
        found = np.array([chances[known[a]] if a in known else 0.0 for a in legal], np.float64)
        total = float(found.sum())
        return found / total if total > 0 else np.full(len(legal), 1 / len(legal))

    def saved(self) -> bytes:
        """The file; equal models give equal bytes."""
        meta = {
            **self.about,
            "format": FORMAT,
            "vocabulary": self.vocabulary.as_json(),
            "outcomes": self.outcomes.model_dump(mode="json"),
            "shape": vars(self.transformer.shape),
        }
        text = json.dumps(meta, sort_keys=True, separators=(",", ":"))
        raw = np.frombuffer(text.encode(), np.uint8)
        half = {name: array.astype(np.float16) for name, array in self.transformer.weights.items()}
        return save({**half, META: raw})


def read_observation_model(path: str) -> ObservationModel:
    """Read a model's file; one that has not changed is not read again.

    Raises:
        LearningError: If it is not there, is damaged, or has another form than ours.
    """
    found = stat_of(path)
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _read(path: str, _changed: int, _size: int) -> ObservationModel:
    refusal = f"{path} is no model of 'rulewright train --player gomcts', or is damaged"
    try:
        raw = Path(path).read_bytes()
        weights = load(raw)
        meta = json.loads(weights.pop(META).tobytes())
        if meta["format"] == _EARLIER:
            weights["before"] = np.zeros(weights["tokens"].shape[1:], np.float16)
        elif meta["format"] != FORMAT:
            raise LearningError(f"{refusal}: its form is {meta['format']!r:.20}, not {FORMAT!r}")
        shape = Shape(**meta["shape"])
        vocabulary = vocabulary_of(meta["vocabulary"])
        outcomes = OutcomeTable.model_validate(meta["outcomes"])
        about = {key: meta[key] for key in meta if key not in ("vocabulary", "outcomes")}
        about["game"], about["num_players"]  # a file without them is none
        fits = shape.vocabulary == vocabulary.size and shape.outcomes == len(outcomes.values)
        fits = fits and shape.width % shape.heads == 0
        fits = fits and {name: one.shape for name, one in weights.items()} == shape.arrays()
    except (*_NO_MODEL, TokenError) as error:
        if isinstance(error, LearningError):
            raise
        raise LearningError(refusal) from error
    full = {name: one.astype(np.float32) for name, one in weights.items()}
    if not fits or not all(np.isfinite(one).all() for one in full.values()):
        raise LearningError(refusal)
    model = ObservationModel(vocabulary, outcomes, Transformer(shape, full), about)
    return replace(model, digest=sha256(raw).hexdigest()[:16])
