"""Gradients of a transformer over whole sequences, and the steps along them.

Each part gives its result and the function that goes back through it; no library differentiates.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from agents.encoding.vocabulary import MOVE
from agents.learning.adam import AdamW, dropper
from agents.learning.policy import Weights
from agents.observing.transformer import (
    CUBIC,
    HIDDEN,
    ROOT,
    Reals,
    Tokens,
    Transformer,
    embedded,
    normed,
    softmax,
)


@dataclass(frozen=True)
class Batch:
    """Sequences that lie one after another in rows; none sees another.

    Attributes:
        tokens: `[rows, steps]`.
        places: `[rows, steps]`, of each token in its own sequence.
        targets: `[rows, steps]`, the token that comes next; -1 where it is not learned.
        outcomes: `[rows, steps]`, of the sequence's match; -1 where it is not known.
    """

    tokens: Tokens
    places: Tokens
    targets: Tokens
    outcomes: Tokens

    @property
    def earlier(self) -> Tokens:
        """`[rows, steps]`, the token before each in its row."""
        return np.roll(self.tokens, 1, axis=1)

    @classmethod
    def of(
        cls,
        sequences: Sequence[Sequence[int]],
        targets: Sequence[Tokens],
        outcomes: Sequence[Tokens],
    ) -> "Batch":
        """The longest come first, each into the first row that has room for it.

        Args:
            sequences: At least one.
            targets: Of each, for all tokens but the last.
            outcomes: Likewise.
        """
        order = sorted(range(len(sequences)), key=lambda number: -len(sequences[number]))
        steps = len(sequences[order[0]]) - 1
        rows: list[list[int]] = []
        ends: list[int] = []
        for number in order:
            taken = len(sequences[number]) - 1
            row = next((row for row, end in enumerate(ends) if end + taken <= steps), len(rows))
            if row == len(rows):
                rows.append([])
                ends.append(0)
            rows[row].append(number)
            ends[row] += taken
        found = cls(*np.zeros((2, len(rows), steps), np.int64), *np.full((2, len(rows), steps), -1))
        for row, numbers in enumerate(rows):
            first = 0
            for number in numbers:
                own = sequences[number]
                here = slice(first, first := first + len(own) - 1)
                found.tokens[row, here], found.targets[row, here] = own[:-1], targets[number]
                found.places[row, here] = np.arange(len(own) - 1)
                found.outcomes[row, here] = outcomes[number]
        return found


@dataclass(frozen=True)
class Losses:
    """Cross-entropies of a batch, in nats.

    Attributes:
        next: A token; None where none is learned.
        action: A token that is the seat's own action; likewise.
        outcome: A token, of the match's end; None where no match's is known.
        tokens: Number of tokens whose next one is learned.
        actions: Of them, those whose next one is an own action.
        known: Number of those whose match's outcome is learned.
    """

    next: float | None
    action: float | None
    outcome: float | None
    tokens: int
    actions: int
    known: int

    @classmethod
    def of(cls, following: Reals, action: Reals, outcome: Reals) -> "Losses":
        """Their means, of the losses of single tokens."""
        all_of_them = (following, action, outcome)
        means = [float(losses.mean()) if len(losses) else None for losses in all_of_them]
        return cls(means[0], means[1], means[2], *map(len, all_of_them))

    @property
    def is_finite(self) -> bool:
        """True where each is a number."""
        return math.isfinite((self.next or 0) + (self.outcome or 0))


def losses_and_gradients(
    model: Transformer,
    batch: Batch,
    *,
    outcome_share: float = 0.1,
    action_share: float = 0.0,
    dropped: Callable[[tuple[int, ...]], Reals] | None = None,
) -> tuple[Losses, Weights]:
    """The losses of whole sequences, and the gradient of their weighted sum.

    `(1 - s) CE(next token) + s CE(outcome)`, means over the tokens for which each is known (§5.1).
    Own actions are few of the tokens. With `a` it is `(1 - s - a) CE(next) + a CE(action) +
    s CE(outcome)`, where the first is over all other tokens.

    Args:
        model: The transformer.
        batch: The sequences.
        outcome_share: `s`.
        action_share: `a`; 0 lets an own action count as any token does.
        dropped: Gives a mask of this shape whose mean is 1, after the embedding and each block's
            two parts; None drops nothing.
    """
    return _Pass(model, batch, dropped).run(outcome_share, action_share)


def shares_of(targets: Tokens, acts: NDArray[np.bool_], share: float, action: float) -> Reals:
    """`[n]` how much of the loss each token is; 0 where its target is not known.

    Args:
        targets: `[n]`; -1 where it is not known.
        acts: `[n]`, true for own actions.
        share: Of all.
        action: Of own actions; 0 lets each count as any token does.
    """
    found = np.zeros(len(targets), np.float32)
    kinds = ((acts, action), (~acts, share - action)) if action else ((targets >= 0, share),)
    for kind, part in kinds:
        known = kind & (targets >= 0)
        found[known] = part / max(1, int(known.sum()))
    return found


class _Pass:
    """One pass forwards and backwards over a batch."""

    def __init__(
        self, model: Transformer, batch: Batch, dropped: Callable[..., Reals] | None
    ) -> None:
        self.model, self.batch, self.dropped = model, batch, dropped
        self.gradients: Weights = {}
        self.told = (batch.targets >= 0) | (batch.outcomes >= 0)
        steps = np.arange(batch.tokens.shape[1])
        first = (steps - batch.places)[:, :, None]  # of each token's own sequence
        seen = (steps <= steps[:, None]) & (steps >= first)
        self.hides = np.where(seen, np.float32(0), HIDDEN)[:, None]

    def run(self, outcome: float, action: float) -> tuple[Losses, Weights]:
        """Losses and gradients, with the shares of two of them."""
        shape, weights, batch = self.model.shape, self.model.weights, self.batch
        hidden = embedded(weights, batch.tokens, batch.places, batch.earlier)
        drop, hidden = self._drop(hidden)
        backs = []
        for layer in range(shape.layers):
            hidden, back = self._attention(layer, hidden)
            backs.append(back)
            hidden, back = self._widened(layer, hidden)
            backs.append(back)
        even, centred, rate = normed(hidden, weights["norm"])
        flat = even[self.told]
        targets, ends = batch.targets[self.told], batch.outcomes[self.told]
        acts = batch.tokens[self.told] == MOVE
        lost, up_next = self._head(
            "next", flat, targets, shares_of(targets, acts, 1 - outcome, action)
        )
        missed, up_end = self._head("outcome", flat, ends, shares_of(ends, acts, outcome, 0))
        up = np.zeros_like(even)
        up[self.told] = up_next + up_end
        up, self.gradients["norm"] = _norm_back(up, weights["norm"], centred, rate)
        for back in reversed(backs):
            up = back(up)
        up = up if drop is None else up * drop
        self._embedded_back(up)
        return Losses.of(lost, lost[acts[targets >= 0]], missed), self.gradients

    def _embedded_back(self, up: Reals) -> None:
        weights, batch = self.model.weights, self.batch
        follows = (batch.places > 0)[..., None]
        self.gradients["before"] = (up * weights["tokens"][batch.earlier] * follows).sum((0, 1))
        for name, numbers, slope in (
            ("tokens", batch.tokens, up),
            ("tokens", batch.earlier, up * weights["before"] * follows),
            ("places", batch.places, up),
        ):
            grown = self.gradients.setdefault(name, np.zeros_like(weights[name]))
            np.add.at(grown, numbers.reshape(-1), slope.reshape(-1, slope.shape[-1]))

    def _drop(self, values: Reals) -> tuple[Reals | None, Reals]:
        if self.dropped is None:
            return None, values
        mask = self.dropped(values.shape)
        return mask, values * mask

    def _head(
        self, name: str, flat: Reals, targets: NDArray[np.int64], shares: Reals
    ) -> tuple[Reals, Reals]:
        """The losses of a head where its target is known, and the gradient of its inputs."""
        weights = self.model.weights
        bent, slope = _gelu_with_slope(flat @ weights[f"{name}.hidden"])
        chances = softmax(bent @ weights[name])
        rows = np.flatnonzero(targets >= 0)
        picked = chances[rows, targets[rows]]
        losses: Reals = -np.log(np.maximum(picked, np.float32(1e-30)))
        chances[rows, targets[rows]] -= 1
        chances *= shares[:, None]
        self.gradients[name] = bent.T @ chances
        up = (chances @ weights[name].T) * slope
        self.gradients[f"{name}.hidden"] = flat.T @ up
        return losses, up @ weights[f"{name}.hidden"].T

    def _attention(self, layer: int, hidden: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        shape, weights = self.model.shape, self.model.weights
        rows, steps, width = hidden.shape
        parts = width // shape.heads
        scale = np.float32(parts**-0.5)
        name = f"{layer}."
        even, centred, rate = normed(hidden, weights[f"{name}norm1"])
        mixed = even.reshape(-1, width) @ weights[f"{name}qkv"] + weights[f"{name}qkv.bias"]
        query, key, value = mixed.reshape(rows, steps, 3, shape.heads, parts).transpose(
            2, 0, 3, 1, 4
        )
        chances = softmax((query * scale) @ key.transpose(0, 1, 3, 2) + self.hides)
        joined = (chances @ value).transpose(0, 2, 1, 3).reshape(-1, width)
        told = joined @ weights[f"{name}out"] + weights[f"{name}out.bias"]
        drop, told = self._drop(told.reshape(hidden.shape))

        def back(up: Reals) -> Reals:
            own = (up if drop is None else up * drop).reshape(-1, width)
            self.gradients[f"{name}out"] = joined.T @ own
            self.gradients[f"{name}out.bias"] = own.sum(0)
            apart = (own @ weights[f"{name}out"].T).reshape(rows, steps, shape.heads, parts)
            apart = apart.transpose(0, 2, 1, 3)
            slope = apart @ value.transpose(0, 1, 3, 2)
            slope = chances * (slope - (slope * chances).sum(-1, keepdims=True)) * scale
            each = np.stack(
                [
                    slope @ key,
                    slope.transpose(0, 1, 3, 2) @ query,
                    chances.transpose(0, 1, 3, 2) @ apart,
                ]
            )
            flat = each.transpose(1, 3, 0, 2, 4).reshape(-1, 3 * width)
            self.gradients[f"{name}qkv"] = even.reshape(-1, width).T @ flat
            self.gradients[f"{name}qkv.bias"] = flat.sum(0)
            inward = (flat @ weights[f"{name}qkv"].T).reshape(hidden.shape)
            inward, norm = _norm_back(inward, weights[f"{name}norm1"], centred, rate)
            self.gradients[f"{name}norm1"] = norm
            up += inward
            return up

        return hidden + told, back

    def _widened(self, layer: int, hidden: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        weights, width = self.model.weights, hidden.shape[-1]
        name = f"{layer}."
        even, centred, rate = normed(hidden, weights[f"{name}norm2"])
        flat = even.reshape(-1, width)
        before = flat @ weights[f"{name}wide"]
        before += weights[f"{name}wide.bias"]
        bent, slope = _gelu_with_slope(before)
        told = bent @ weights[f"{name}narrow"] + weights[f"{name}narrow.bias"]
        drop, told = self._drop(told.reshape(hidden.shape))

        def back(up: Reals) -> Reals:
            own = (up if drop is None else up * drop).reshape(-1, width)
            self.gradients[f"{name}narrow"] = bent.T @ own
            self.gradients[f"{name}narrow.bias"] = own.sum(0)
            wide = own @ weights[f"{name}narrow"].T
            wide *= slope
            self.gradients[f"{name}wide"] = flat.T @ wide
            self.gradients[f"{name}wide.bias"] = wide.sum(0)
            inward = (wide @ weights[f"{name}wide"].T).reshape(hidden.shape)
            inward, norm = _norm_back(inward, weights[f"{name}norm2"], centred, rate)
            self.gradients[f"{name}norm2"] = norm
            up += inward
            return up

        return hidden + told, back


def _gelu_with_slope(inputs: Reals) -> tuple[Reals, Reals]:
    """GELU and its slope, which share their parts; each step works in place."""
    square = inputs * inputs
    bent = square * CUBIC
    bent += 1
    bent *= inputs
    bent *= ROOT
    np.tanh(bent, out=bent)
    square *= 3 * CUBIC
    square += 1
    square *= inputs
    square *= np.float32(0.5) * ROOT
    bend = bent * bent
    np.subtract(1, bend, out=bend)
    square *= bend
    bent += 1
    bent *= np.float32(0.5)
    square += bent
    bent *= inputs
    return bent, square


def _norm_back(up: Reals, norm: Reals, centred: Reals, rate: Reals) -> tuple[Reals, Reals]:
    """Gradients of a layer norm: of its inputs, and of its scale and shift."""
    rows = tuple(range(up.ndim - 1))
    own = np.stack([(up * centred).sum(rows), up.sum(rows)])
    up = up * norm[0]
    inward = up - up.mean(-1, keepdims=True) - centred * (up * centred).mean(-1, keepdims=True)
    return inward * rate, own


class _Related:
    """Steps that tokens take together with those that share features.

    A token's vector is thought of as its own and the sum of its features'; AdamW moves both. So a
    card that was met in one place is known in others. The sum alone is kept.
    """

    def __init__(self, kin: Reals, weights: Weights) -> None:
        self.kin, self.adam = kin, AdamW(0, {}, {}, decay=0.0)
        self.shared = {
            name: np.zeros((kin.shape[1], weights["tokens"].shape[1]), np.float32)
            for name in ("tokens", "next")
        }

    def descend(self, weights: Weights, gradients: Mapping[str, Reals], rate: float) -> None:
        """One step; see `AdamW.descend`."""
        before = {name: array.copy() for name, array in self.shared.items()}
        slopes = {"tokens": gradients["tokens"], "next": gradients["next"].T}
        self.adam.descend(
            self.shared, {name: self.kin.T @ slope for name, slope in slopes.items()}, rate
        )
        moved = {name: self.kin @ (self.shared[name] - before[name]) for name in before}
        weights["tokens"] += moved["tokens"]
        weights["next"] += moved["next"].T


class Descent(NamedTuple):
    """A transformer that learns, in numpy or in torch.

    Attributes:
        step: Learns from a batch, at a rate; what is no number is left.
        result: The transformer as it is now.
    """

    step: Callable[[Batch, float], Losses]
    result: Callable[[], Transformer]

    @classmethod
    def of(
        cls,
        model: Transformer,
        generator: np.random.Generator,
        *,
        outcome_share: float,
        action_share: float,
        dropout: float,
        kin: Reals | None = None,
        device: str = "numpy",
    ) -> Self:
        """That of a copy.

        Args:
            model: Where it begins.
            generator: Draws what is dropped.
            outcome_share: Of the outcome's loss.
            action_share: Of own actions'; see `losses_and_gradients`.
            dropout: Share of values left out.
            kin: `[tokens, features]`, see `Vocabulary.kin`; in numpy alone.
            device: "numpy", or as torch names it.

        Raises:
            LearningError: If there is no torch for the device, or no such device.
        """
        shares = {"outcome_share": outcome_share, "action_share": action_share}
        if device != "numpy":
            from agents.observing.twin import TorchTwin

            twin = TorchTwin(model, device, int(generator.integers(2**31)))

            def learned(batch: Batch, rate: float) -> Losses:
                return twin.step(batch, rate, **shares, dropout=dropout)

            return cls(learned, twin.transformer)
        weights = {name: array.copy() for name, array in model.weights.items()}
        network = Transformer(model.shape, weights)
        adam, drop = AdamW(0, {}, {}), dropper(dropout, generator)
        related = None if kin is None else _Related(kin, weights)
        shifts = bool(weights["before"].any())

        def step(batch: Batch, rate: float) -> Losses:
            losses, gradients = losses_and_gradients(network, batch, **shares, dropped=drop)
            if losses.is_finite:
                if not shifts:
                    del gradients["before"]
                adam.descend(weights, gradients, rate)
                if related is not None:
                    related.descend(weights, gradients, rate)
            return losses

        return cls(step, lambda: network)
