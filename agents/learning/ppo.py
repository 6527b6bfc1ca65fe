"""Algorithm PPO (Schulman et al. 2017) in self-play over all seats of a game's module.

Settings and architecture are those of Code World Models, App. E and Table 19. Two things are ours:
rewards are divided by the largest one that random play saw, and advantages are normalised a
minibatch.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.encoding.protocol import Array
from agents.learning.checkpoint import (
    Checkpoint,
    Explored,
    any_action,
    explored_by,
    first_checkpoint,
    identity_of,
    read_checkpoint,
)
from agents.learning.matches import Matches, require_trainable
from agents.learning.policy import NEVER, Codec, Policy, drawn_actions, forward, log_chances
from agents.learning.settings import LearningError
from games.streams import stream
from games.values import Action, Json

_DECAYS = (0.9, 0.999)  # of Adam
_TINY = 1e-8


def gae(rewards: Array, values: Array, last: float, gamma: float, lam: float) -> Array:
    """Generalized advantage estimates (Schulman et al. 2016).

    `A_t = r_t + gamma v_{t+1} - v_t + gamma lam A_{t+1}`, with `v_T = last` and `A_T = 0`.

    Args:
        rewards: `[T]` of one seat, from each of its decisions to its next.
        values: `[T]` estimates at its decisions.
        last: The estimate after the last; 0 at the match's end.
        gamma: Discount.
        lam: Lambda.

    Returns:
        `[T]`.
    """
    advantages = np.zeros_like(rewards)
    follows, ahead = 0.0, last
    for step in reversed(range(len(rewards))):
        follows = rewards[step] + gamma * ahead - values[step] + gamma * lam * follows
        advantages[step], ahead = follows, values[step]
    return advantages


@dataclass
class Adam:
    """Adam (Kingma and Ba 2015), in place: torch's own loads a compiler before its first step.

    Attributes:
        rate: Step size.
        step: Steps done.
        moments: First and second moments by name.
    """

    rate: float
    step: int = 0
    moments: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def descend(self, tensors: Mapping[str, Any]) -> None:
        """One step along the gradients, which are cleared.

        `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`,
        `w -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)`.
        """
        self.step += 1
        slow, slower = (1 - decay**self.step for decay in _DECAYS)
        for name, tensor in tensors.items():
            gradient, weight = tensor.grad, tensor.detach()
            first, second = self.moments.get(name, (weight * 0, weight * 0))
            first = _DECAYS[0] * first + (1 - _DECAYS[0]) * gradient
            second = _DECAYS[1] * second + (1 - _DECAYS[1]) * gradient**2
            self.moments[name] = first, second
            weight -= self.rate * (first / slow) / ((second / slower) ** 0.5 + _TINY)
            tensor.grad = None


class Rollout:
    """Decisions of one update, `[N]` in the order in which they were made.

    Attributes:
        inputs: `[N, width]`.
        legal: `[N, actions]`.
        hidden: `[N, units]` memory before the decision.
        actions: `[N]`.
        logs: `[N]` logarithm of the action's probability.
        values: `[N]`.
        rewards: `[N]` what the seat was paid until its next decision.
        chains: Decisions of one seat in one match, in order, and whether its match came to its end.
    """

    def __init__(self, size: int, codec: Codec, units: int) -> None:
        """Make room for so many decisions."""
        self.inputs = np.zeros((size, codec.width), np.float32)
        self.legal = np.zeros((size, len(codec.actions)), np.bool_)
        self.hidden = np.zeros((size, units if codec.recurrent else 1), np.float32)
        self.actions = np.zeros(size, np.int64)
        self.logs, self.values, self.rewards = np.zeros((3, size), np.float32)
        self.chains: list[tuple[list[int], bool]] = []

    def targets(self, gamma: float, lam: float) -> tuple[list[list[int]], Array, Array]:
        """The targets of each decision.

        The last decision of a chain whose match goes on only says what the one before led to.

        Returns:
            The chains, cut so; `[N]` advantages; `[N]` returns.
        """
        advantages, kept = np.zeros_like(self.values), []
        for chain, ended in self.chains:
            used = chain if ended else chain[:-1]
            last = 0.0 if ended else float(self.values[chain[-1]])
            if used:
                advantages[used] = gae(self.rewards[used], self.values[used], last, gamma, lam)
                kept.append(used)
        return kept, advantages, advantages + self.values


def train(
    matches: Matches,
    steps: int,
    seed: int,
    about: Mapping[str, Json],
    *,
    on_update: Callable[[dict[str, Json]], None] = lambda _: None,
    kept: Path | None = None,
    anew: bool = False,
) -> Policy:
    """Train a network by play, or go on where a training was stopped, to the same bytes.

    Args:
        matches: The game.
        steps: Decisions to learn from; as many more as fill the last step of all matches.
        seed: Of all that is drawn.
        about: What else the policy's file says: versions, grade.
        on_update: Told of every update.
        kept: File that holds how far it came after each update; None keeps nothing.
        anew: Whether a file of another training is replaced and not refused.

    Raises:
        LearningError: If torch is missing, there are no steps, there is one seat, or what was
            kept is of another training.
        ModuleFault: If the module fails or breaks the contract.
    """
    settings = matches.settings
    require_trainable(matches.game, steps)
    torch = _torch()
    identity = identity_of(matches.game, settings, steps, seed)
    found = read_checkpoint(kept, identity, anew=anew) if kept else None
    explored = found.explored(matches) if found else explored_by(matches, stream(seed, "explore"))
    trainer = _Trainer(
        torch, matches, explored, found or first_checkpoint(explored.codec, settings, seed)
    )
    batch = settings.environments
    with closing(trainer):
        while trainer.done < steps:
            horizon = min(settings.horizon, max(2, math.ceil((steps - trainer.done) / batch)))
            row = trainer.update(horizon, trainer.done / steps)
            if kept:
                trainer.checkpoint().write(kept, identity)
            on_update(row)
    game = matches.game
    made: dict[str, Json] = {
        **about,
        "torch": version("torch"),
        **{"game": game.name, "num_players": game.num_players, "parameters": {**game.parameters}},
        **{"settings": settings.model_dump(mode="json"), "steps": trainer.done, "seed": seed},
        **{"scale": explored.scale, "explored": explored.about, "course": [*trainer.course]},
    }
    return Policy(explored.codec, trainer.weights, made)


def _torch() -> Any:  # noqa: ANN401 - whose types are too many to read
    try:
        import torch
    except ImportError as error:
        raise LearningError(
            "training needs torch, which is not installed: pip install 'rulewright[learn]'"
        ) from error
    torch.set_num_threads(1)
    torch.set_deterministic_debug_mode("error")
    return torch


class _Trainer:
    """A network in training, and the matches it plays."""

    def __init__(
        self,
        torch: Any,  # noqa: ANN401 - see `_torch`
        matches: Matches,
        explored: Explored,
        stood: Checkpoint,
    ) -> None:
        self.torch, self.matches, self.settings = torch, matches, matches.settings
        self.explored, self.codec, self.scale = explored, explored.codec, explored.scale
        self.turns, self.weights = explored.turns, stood.weights
        self.generator = stream(0, "learn")
        self.generator.bit_generator.state = stood.told["generator"]
        self.tensors = {  # they share their memory with the weights
            name: torch.from_numpy(array).requires_grad_() for name, array in self.weights.items()
        }
        moments = {
            name: (torch.from_numpy(array), torch.from_numpy(stood.second[name]))
            for name, array in stood.first.items()
        }
        self.adam = Adam(self.settings.learning_rate, stood.told["step"], moments)
        self.course: list[dict[str, Json]] = [*stood.told["course"]]
        count = self.settings.environments
        seats, units = matches.game.num_players, self.settings.units
        empty = np.zeros((count, seats, units if self.codec.recurrent else 1), np.float32)
        self.hidden = empty if stood.hidden is None else stood.hidden
        self.encoder = self.codec.log_encoder(matches.sandbox)

    @property
    def done(self) -> int:
        """Decisions that were learned from."""
        steps = self.course[-1]["steps"] if self.course else 0
        return steps if isinstance(steps, int) else 0

    def checkpoint(self) -> Checkpoint:
        """The state between two updates."""
        first, second = (
            {name: pair[place].numpy() for name, pair in self.adam.moments.items()}
            for place in (0, 1)
        )
        told = {
            "step": self.adam.step,
            "generator": self.generator.bit_generator.state,
            "course": self.course,
            "matches": self.matches.keep(),
            **self.explored.as_json(),
        }
        return Checkpoint(self.weights, first, second, self.hidden, told)

    def close(self) -> None:
        """End the worker of the module's own arrays, where there is one."""
        self.encoder.close()

    def update(self, horizon: int, progress: float) -> dict[str, Json]:
        """Play, then learn from it.

        Args:
            horizon: Decisions in each match.
            progress: Share of the training that is done, which the entropy's weight follows.

        Returns:
            What it came to, as in `course`.
        """
        settings = self.settings
        rollout, met = self._played(horizon)
        chains, advantages, returns = rollout.targets(settings.gamma, settings.lam)
        units = chains if self.codec.recurrent else [[one] for chain in chains for one in chain]
        weight = settings.entropy_start + progress * (settings.entropy_end - settings.entropy_start)
        losses: list[tuple[float, float]] = []
        for _ in range(settings.epochs if units else 0):
            order = self.generator.permutation(len(units))
            for part in np.array_split(order, min(settings.minibatches, len(units))):
                batch = [units[place] for place in part]
                losses.append(self._learned(rollout, batch, advantages, returns, weight))
        value, entropy = np.mean(losses, axis=0).tolist() if losses else (None, None)
        steps = self.done + horizon * settings.environments
        self.course.append({"steps": steps, **met, "value_loss": value, "entropy": entropy})
        return self.course[-1]

    def _played(self, horizon: int) -> tuple[Rollout, dict[str, Json]]:
        """Decisions of `horizon` steps of all matches."""
        count, settings = self.settings.environments, self.settings
        rollout = Rollout(horizon * count, self.codec, settings.units)
        open_chains: dict[tuple[int, int], list[int]] = {}
        met = Counter[str](matches=0, unknown_values=0, without_known_action=0)
        places = np.arange(count)
        for first in range(0, horizon * count, count):
            turns, here = self.turns, slice(first, first + count)
            chosen, known = self._decided(rollout, here, met)
            for place, seat in enumerate(turns.seats):
                if known[place] and self._learns(place, seat):
                    open_chains.setdefault((place, seat), []).append(first + place)
            self.turns = after = self.matches.step(chosen)
            for (place, seat), chain in open_chains.items():
                rollout.rewards[chain[-1]] += after.rewards[place][seat] / self.scale
            for place in places[[bool(ended) for ended in after.ended]].tolist():
                met["matches"] += 1
                self.hidden[place] = 0
                for key in [key for key in open_chains if key[0] == place]:
                    rollout.chains.append((open_chains.pop(key), after.ended[place] == "done"))
        rollout.chains += [(chain, False) for chain in open_chains.values()]
        return rollout, {**met}

    def _learns(self, place: int, seat: int) -> bool:
        """True for a seat of the network: all, or one a match where the others play at random."""
        seats = self.matches.game.num_players
        return self.settings.opponents == "self" or place % seats == seat

    def _decided(
        self, rollout: Rollout, here: slice, met: Counter[str]
    ) -> tuple[list[Action], NDArray[np.bool_]]:
        """An action a match, written down in the rollout; and where the network chose it."""
        turns, codec, rows = self.turns, self.codec, range(self.settings.environments)
        told = turns.turns()
        self.encoder.prepare(told)
        for place, (seat, turn) in enumerate(zip(turns.seats, told, strict=True)):
            features, unknown = self.encoder.encoded(seat, turn)
            rollout.inputs[here.start + place] = features
            rollout.legal[here.start + place] = codec.mask(turns.legal[place])
            met["unknown_values"] += unknown
        legal = rollout.legal[here]
        known: NDArray[np.bool_] = np.any(legal, axis=-1)
        met["without_known_action"] += int((~known).sum())
        legal[~known] = True
        rollout.hidden[here] = self.hidden[rows, turns.seats]
        logits, values, hidden = forward(
            self.weights, rollout.inputs[here], rollout.hidden[here], np
        )
        self.hidden[rows, turns.seats] = hidden
        chances = log_chances(logits, legal)
        picked = drawn_actions(chances, legal, self.generator)
        rollout.actions[here], rollout.values[here] = picked, values
        rollout.logs[here] = chances[rows, picked]
        chosen = [
            codec.actions[picked[place]]
            if known[place] and self._learns(place, seat)
            else any_action(turns.legal[place], self.generator)
            for place, seat in enumerate(turns.seats)
        ]
        return chosen, known

    def _learned(
        self,
        rollout: Rollout,
        batch: Sequence[Sequence[int]],
        advantages: Array,
        returns: Array,
        entropy_weight: float,
    ) -> tuple[float, float]:
        """One step of Adam; gives value loss and entropy.

        `loss = -mean(min(ratio A, clip(ratio) A)) + value_weight mean((v - R)^2) - weight H`.
        """
        torch, settings = self.torch, self.settings
        logits, values, rows = self._evaluated(rollout, batch)
        legal = torch.from_numpy(rollout.legal[rows])
        logs = torch.log_softmax(torch.where(legal, logits, NEVER), -1)
        chosen = logs[range(len(rows)), rollout.actions[rows].tolist()]
        ratio = torch.exp(chosen - torch.from_numpy(rollout.logs[rows]))
        given = advantages[rows]
        gain = torch.from_numpy((given - given.mean()) / (given.std() + _TINY))
        bounded = torch.clamp(ratio, 1 - settings.clip, 1 + settings.clip)
        actor = -torch.minimum(ratio * gain, bounded * gain).mean()
        critic = ((values - torch.from_numpy(returns[rows])) ** 2).mean()
        entropy = -(torch.exp(logs) * logs).sum(-1).mean()
        loss = actor + settings.value_weight * critic - entropy_weight * entropy
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*self.tensors.values()], settings.gradient)
        self.adam.descend(self.tensors)
        return critic.item(), entropy.item()

    def _evaluated(
        self, rollout: Rollout, batch: Sequence[Sequence[int]]
    ) -> tuple[Any, Any, list[int]]:
        """Logits and values of all decisions of the chains, and which decisions they are of."""
        torch, chains = self.torch, sorted(batch, key=len, reverse=True)
        hidden = torch.from_numpy(rollout.hidden[[chain[0] for chain in chains]])
        logits, values, rows = [], [], list[int]()
        for step in range(len(chains[0])):
            now = [chain[step] for chain in chains if len(chain) > step]
            inputs = torch.from_numpy(rollout.inputs[now])
            found = forward(self.tensors, inputs, hidden[: len(now)], torch)
            logits.append(found[0])
            values.append(found[1])
            hidden = found[2]
            rows += now
        return torch.cat(logits), torch.cat(values), rows
