"""Models of what a seat sees: a transformer, its vocabulary and outcomes, in one file without code.

GO-MCTS (Rebstock et al. 2024) learns the observations of a seat instead of the state of the game.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.protocol import Array
from agents.encoding.tokens import MOVE, LogWriter, TokenError, Vocabulary, vocabulary_of
from agents.learning.policy import META, stat_of
from agents.learning.settings import LearningError
from agents.learning.transformer import Cache, Reals, Shape, Transformer
from agents.search.settings import MANY, PlayerSettings
from games.information import SeatLog
from games.values import Action

FORMAT = "observations 1"
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
        default=0.002,
        ge=0,
        le=1,
        description="Of AdamW, at first; it falls to 0 in a line. The paper: 0.0001.",
    )
    dropout: float = Field(default=0.05, ge=0, le=0.9, description="Share of values left out.")
    outcome_share: float = Field(
        default=0.5, ge=0, le=1, description="Of the outcome's loss; the paper: 0.1."
    )
    threshold: float = Field(
        default=0.05, ge=0, le=1, description="Probability from which an action is considered."
    )
    replay: Literal["all", "newest"] = Field(
        default="all",
        description="Which iterations a model learns from: all alike, as fictitious play does, or "
        "the newest alone, as in the paper.",
    )
    explore: float = Field(
        default=0.05, ge=0, le=1, description="Share of the learner's actions drawn uniformly."
    )
    pool: int = Field(default=10, ge=1, le=1000, description="Newest policies that are met.")
    batch: int = Field(default=1024, ge=64, le=MANY, description="Tokens of a step.")
    context: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="Tokens of the longest log; 0: a quarter more than random play shows.",
    )
    bootstrap: float = Field(
        default=0.3, ge=0.01, le=1, description="Share of the tokens that random play gives."
    )
    max_plies: int = Field(default=2000, ge=1, le=MANY, description="After which a match ends.")


class Outcomes(BaseModel, frozen=True, extra="forbid"):
    """The ends of a match that a seat tells apart, and what each is worth to it.

    The value is the seat's return less the mean of the others', or its return where all are paid
    alike, over the largest one seen: from -1 to 1 (GO-MCTS, Eqs. 4 and 5, scaled).

    Attributes:
        returns: Of each outcome, all returns from the seat's own on; empty where they are binned.
        bounds: Upper bounds of the bins' values; empty where returns are told apart.
        values: Of each outcome.
        scale: The largest value, by which all are divided.
        shared: Whether all seats are paid alike.
        error: Mean distance of a match's value from its bin's.
    """

    returns: tuple[tuple[float, ...], ...] = ()
    bounds: tuple[float, ...] = ()
    values: tuple[float, ...] = Field(min_length=1)
    scale: float = Field(gt=0)
    shared: bool
    error: float = 0.0

    @classmethod
    def of(cls, seen: Sequence[Sequence[float]]) -> "Outcomes":
        """Those of matches' returns, by seat.

        Raises:
            LearningError: If all matches end alike: then there is nothing to learn.
        """
        shared = all(len({*paid}) == 1 for paid in seen)
        turned = [_turned(paid, seat) for paid in seen for seat in range(len(paid))]
        raw = [_worth(paid, shared=shared) for paid in turned]
        if len({*raw}) < 2:  # noqa: PLR2004 - a difference
            raise LearningError(
                f"all {len(seen)} random matches paid the same; required: two outcomes at least"
            )
        scale = max(map(abs, raw))
        kinds = sorted({*turned})
        if len(kinds) <= _MOST_OUTCOMES:
            values = tuple(_worth(paid, shared=shared) / scale for paid in kinds)
            return cls(returns=tuple(kinds), values=values, scale=scale, shared=shared)
        scaled = np.sort(np.array(raw) / scale)
        parts = [part for part in np.array_split(scaled, _BINS) if len(part)]
        bounds = sorted({float(part[-1]) for part in parts})
        binned = np.searchsorted(bounds, scaled)
        means = tuple(float(scaled[binned == place].mean()) for place in range(len(bounds)))
        error = float(np.abs(scaled - np.array(means)[binned]).mean())
        return cls(bounds=tuple(bounds), values=means, scale=scale, shared=shared, error=error)

    def number(self, returns: Sequence[float], seat: int) -> int:
        """The outcome of a match for a seat; -1 for one that was never seen."""
        turned = _turned(returns, seat)
        if self.bounds:
            worth = _worth(turned, shared=self.shared) / self.scale
            return min(int(np.searchsorted(self.bounds, worth)), len(self.values) - 1)
        return self._numbers.get(turned, -1)

    @cached_property
    def _numbers(self) -> dict[tuple[float, ...], int]:
        return {returns: number for number, returns in enumerate(self.returns)}

    @cached_property
    def worths(self) -> Array:
        """`[outcomes]` values."""
        return np.array(self.values, np.float32)


def _turned(returns: Sequence[float], seat: int) -> tuple[float, ...]:
    return (*returns[seat:], *returns[:seat])


def _worth(turned: Sequence[float], *, shared: bool) -> float:
    own, *others = turned
    return own if shared or not others else own - fmean(others)


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
    outcomes: Outcomes
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
        if meta["format"] != FORMAT:
            raise LearningError(f"{refusal}: its form is {meta['format']!r:.20}, not {FORMAT!r}")
        shape = Shape(**meta["shape"])
        vocabulary = vocabulary_of(meta["vocabulary"])
        outcomes = Outcomes.model_validate(meta["outcomes"])
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


class Follower:
    """Follows logs through a model, a row of its cache each, while they grow.

    What it knows of a log is a function of the log alone, so it remembers no match.
    """

    def __init__(self, model: ObservationModel, rows: int = 16) -> None:
        """Make room for so many logs; it grows."""
        self.model = model
        self.cache = Cache(model.transformer.shape, rows)
        self._kept: dict[int, tuple[SeatLog, LogWriter, int]] = {}
        self._free = [*range(rows)]

    def turns(self, logs: Sequence[SeatLog]) -> tuple[NDArray[np.int64], Array]:
        """Bring logs, of which each stands at its seat's turn, up to that turn.

        Returns:
            `[n]` their rows, and `[n, width]` the last hidden layer, after which an action follows.

        Raises:
            ValueError: If a log is longer than the context.
        """
        rows, added = [], []
        for log in logs:
            writer, row = self._place(log)
            tokens = [*writer.write(log.entries), MOVE]
            if len(tokens) > self.model.transformer.shape.context:
                raise ValueError(
                    f"a log of {len(tokens)} tokens; the model's context holds "
                    f"{self.model.transformer.shape.context}"
                )
            held = int(self.cache.length[row])
            if held >= len(tokens):  # asked again at the same place
                held = len(tokens) - 1
                self.cache.length[row] = held
            rows.append(row)
            added.append(tokens[held:])
        lengths = np.array([*map(len, added)], np.int64)
        filled = np.zeros((len(added), int(lengths.max())), np.int64)
        for place, tokens in enumerate(added):
            filled[place, : len(tokens)] = tokens
        order = np.argsort(rows)
        where = np.array(rows, np.int64)
        last = np.zeros((len(rows), self.model.transformer.shape.width), np.float32)
        last[order] = self.model.transformer.add(
            self.cache, where[order], filled[order], lengths[order]
        )
        return where, last

    def tokens(self, log: SeatLog) -> Sequence[int]:
        """The tokens of a log that `turns` was asked for, without the turn."""
        return self._kept[id(log)][1].tokens

    def _place(self, log: SeatLog) -> tuple[LogWriter, int]:
        found = self._kept.get(id(log))
        if found is not None and found[0] is log:
            return found[1], found[2]
        if not self._free:
            self._grow()
        row = self._free.pop()
        self.cache.length[row] = 0
        writer = LogWriter(self.model.vocabulary)
        self._kept[id(log)] = (log, writer, row)
        return writer, row

    def _grow(self) -> None:
        rows = len(self.cache.length)
        larger = Cache(self.model.transformer.shape, 2 * rows)
        larger.keys[:, :rows], larger.values[:, :rows] = self.cache.keys, self.cache.values
        larger.length[:rows] = self.cache.length
        self.cache = larger
        self._free += range(rows, 2 * rows)

    def forget(self, log: SeatLog) -> None:
        """Leave a log that grows no more."""
        if (found := self._kept.pop(id(log), None)) is not None:
            self._free.append(found[2])
