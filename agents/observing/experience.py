"""Experience: logs of seats that learn, as tokens; in batches, and in files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.encoding.vocabulary import MOVE
from agents.learning.settings import LearningError
from agents.observing.gradients import Batch, losses_and_gradients
from agents.observing.transformer import Tokens, Transformer
from games.values import Json

Part: TypeAlias = Literal["all", "acts", "sights"]
Replay: TypeAlias = Literal["all", "newest", "mixed"]


@dataclass(frozen=True)
class Experience:
    """The log of a seat that learns.

    Attributes:
        tokens: Of the whole log, with `END` where the match finished.
        outcome: Of the match, for this seat; -1 where it is not known.
        part: Of it, what is learned: all that comes next, the seat's own acts alone, or what it
            sees alone.
        since: The first token from which the outcome is learned.
    """

    tokens: Sequence[int]
    outcome: int
    part: Part = "all"
    since: int = 0

    def act(self, number: int) -> int:
        """The place of the seat's own action of this number, or the last token's."""
        acts = [place for place, token in enumerate(self.tokens) if token == MOVE]
        return acts[number] + 1 if number < len(acts) else len(self.tokens) - 1

    @property
    def decisions(self) -> int:
        """Of the seat, in this log."""
        return sum(token == MOVE for token in self.tokens)

    @property
    def outcomes(self) -> Tokens:
        """The outcome for each token but the last; -1 where it is not learned."""
        found = np.full(len(self.tokens) - 1, self.outcome)
        found[: self.since] = -1
        return found

    @property
    def targets(self) -> Tokens:
        """The token after each but the last; -1 where it is not learned."""
        tokens = np.array(self.tokens)
        if self.part == "all":
            return tokens[1:]
        acts = tokens[:-1] == MOVE
        return np.where(acts if self.part == "acts" else ~acts, tokens[1:], -1)

    @property
    def is_known(self) -> bool:
        """True where the outcome is one that was seen before."""
        return self.outcome >= 0


def drawn_logs(
    iterations: Sequence[Sequence[Experience]],
    generator: np.random.Generator,
    tokens: int,
    replay: Replay,
) -> list[Experience]:
    """Logs of so many tokens to learn from.

    A quarter of them is of all iterations alike: how to act. The others are of the newest: what is
    seen, and how matches end. So the policy is the mean over the iterations, and the values are
    those of the newest learner against it.

    Args:
        iterations: The logs of each, the newest last.
        generator: Draws them.
        tokens: Of them together, at least.
        replay: Whether how to act is learned from all of them or from the newest alone. With
            mixed every log is of any iteration, and all of it is learned.
    """
    if replay == "mixed":
        iterations = [[log for logs in iterations for log in logs]]
    told = ([one for one in logs if one.part == "all"] for logs in iterations)
    known = [logs for logs in told if logs]
    together = replay == "newest" or len(iterations) == 1
    drawn: list[Experience] = []
    met = 0
    while met < tokens:
        acts = not together and len(drawn) % 4 == 0
        logs = known[int(generator.integers(len(known)))] if acts else iterations[-1]
        one = logs[int(generator.integers(len(logs)))]
        if acts:
            one = Experience(one.tokens, -1, "acts")
        elif not together:
            one = replace(one, part="sights")
        drawn.append(one)
        met += len(one.tokens)
    return drawn


def held_out_losses(
    network: Transformer, data: Sequence[Experience], batch: int
) -> dict[str, Json]:
    """Cross-entropies of logs that were not learned from, in nats a token."""
    rows = [losses_and_gradients(network, one)[0] for one in batches_of(data, batch)]
    found: dict[str, Json] = {}
    for name, told in (
        ("next", [(one.next, one.tokens) for one in rows]),
        ("action", [(one.action, one.actions) for one in rows]),
        ("outcome", [(one.outcome, one.known) for one in rows]),
    ):
        known = [(loss, count) for loss, count in told if loss is not None]
        count = sum(count for _, count in known)
        found[f"held_out_{name}"] = sum(loss * n for loss, n in known) / count if count else None
    return found


def written_logs(data: Sequence[Experience]) -> bytes:
    """Logs that were learned from, as a file."""
    return save(
        {
            "tokens": np.array([token for one in data for token in one.tokens], np.int32),
            "lengths": np.array([len(one.tokens) for one in data], np.int32),
            "outcomes": np.array([one.outcome for one in data], np.int32),
            "since": np.array([one.since for one in data], np.int32),
            "sights": np.array([one.part == "sights" for one in data], np.int32),
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
        told = (found[name].tolist() for name in ("outcomes", "sights", "since"))
        rows = zip(parts, *told, strict=True)
        return [
            Experience(part.tolist(), outcome, "sights" if sight else "all", since)
            for part, outcome, sight, since in rows
        ]
    except (OSError, LookupError, ValueError, SafetensorError) as error:
        raise LearningError(f"{path} is damaged; say --force to begin anew") from error


def count_tokens(data: Sequence[Experience]) -> int:
    """Tokens of all logs."""
    return sum(len(one.tokens) for one in data)


def batches_of(data: Iterable[Experience], most: int) -> Iterator[Batch]:
    """Batches of logs in their order, of so many tokens at most, or one log.

    Logs of like lengths would cost less room, but lengths tell how a match ended: batches of them
    pull a model to and fro.
    """
    held: list[Experience] = []
    met = 0
    for one in data:
        if held and met + len(one.tokens) > most:
            yield _batch(held)
            held, met = [], 0
        held.append(one)
        met += len(one.tokens)
    if held:
        yield _batch(held)


def _batch(held: Sequence[Experience]) -> Batch:
    return Batch.of(
        [one.tokens for one in held], [one.targets for one in held], [one.outcomes for one in held]
    )
