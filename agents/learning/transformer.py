"""Transformer over a seat's tokens: what it will see next, and how the match will end.

A decoder as in GPT-2 (Radford et al. 2019) with two heads, each with a hidden layer: the next
token, and the outcome (GO-MCTS, Rebstock et al. 2024, §9.1). It is written in numpy, float32: the
gradient is the formulas' own, and a cache of keys and values makes a token cost one row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.learning.policy import Weights

Tokens: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[Any]
"""Of float32; of float64 where gradients are compared with differences."""

_EPSILON = np.float32(1e-5)  # of the layer norm
_SPREAD = 0.02  # of the first weights
_ROOT = np.float32(np.sqrt(2 / np.pi))
_CUBIC = np.float32(0.044715)
_NEVER = np.float32(-1e9)
WIDER = 4
"""Units of a hidden layer for each of the width."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a transformer.

    Attributes:
        vocabulary: Tokens.
        outcomes: Ends of a match that are told apart.
        context: Tokens of the longest sequence.
        layers: Blocks.
        heads: Of attention; they share the width.
        width: Of a token's vector.
    """

    vocabulary: int
    outcomes: int
    context: int
    layers: int = 4
    heads: int = 4
    width: int = 128

    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        width, wide = self.width, WIDER * self.width
        found: dict[str, tuple[int, ...]] = {
            "tokens": (self.vocabulary, width),
            "places": (self.context, width),
        }
        for layer in range(self.layers):
            found |= {
                f"{layer}.norm1": (2, width),
                f"{layer}.qkv": (width, 3 * width),
                f"{layer}.qkv.bias": (3 * width,),
                f"{layer}.out": (width, width),
                f"{layer}.out.bias": (width,),
                f"{layer}.norm2": (2, width),
                f"{layer}.wide": (width, wide),
                f"{layer}.wide.bias": (wide,),
                f"{layer}.narrow": (wide, width),
                f"{layer}.narrow.bias": (width,),
            }
        return found | {
            "norm": (2, width),
            "next.hidden": (width, width),
            "next": (width, self.vocabulary),
            "outcome.hidden": (width, width),
            "outcome": (width, self.outcomes),
        }

    @property
    def parameters(self) -> int:
        """Numbers in all weights."""
        return sum(int(np.prod(shape)) for shape in self.arrays().values())


def first_weights(shape: Shape, generator: np.random.Generator) -> Weights:
    """Normal weights of spread 0.02, less on the way to the residual; biases 0, norms 1 and 0."""
    weights: Weights = {}
    for name, size in shape.arrays().items():
        if "norm" in name:
            weights[name] = np.stack([np.ones(size[1:]), np.zeros(size[1:])]).astype(np.float32)
        elif name.endswith("bias"):
            weights[name] = np.zeros(size, np.float32)
        else:
            spread = _SPREAD
            if name.endswith((".out", ".narrow")):
                spread /= (2 * shape.layers) ** 0.5
            weights[name] = (spread * generator.standard_normal(size)).astype(np.float32)
    return weights


def gelu(inputs: Reals) -> Reals:
    """The tanh form of GELU: `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`."""
    inner = inputs * inputs
    inner *= _CUBIC
    inner += 1
    inner *= inputs
    inner *= _ROOT
    np.tanh(inner, out=inner)
    inner += 1
    inner *= inputs
    inner *= np.float32(0.5)
    return inner


def _gelu_with_slope(inputs: Reals) -> tuple[Reals, Reals]:
    """GELU and its slope, which share their parts; each step works in place."""
    square = inputs * inputs
    bent = square * _CUBIC
    bent += 1
    bent *= inputs
    bent *= _ROOT
    np.tanh(bent, out=bent)
    square *= 3 * _CUBIC
    square += 1
    square *= inputs
    square *= np.float32(0.5) * _ROOT
    bend = bent * bent
    np.subtract(1, bend, out=bend)
    square *= bend
    bent += 1
    bent *= np.float32(0.5)
    square += bent
    bent *= inputs
    return bent, square


def _normed(inputs: Reals, norm: Reals) -> tuple[Reals, Reals, Reals]:
    """Layer norm; also the normed inputs without its scale, and one over their spread."""
    centred = inputs - inputs.mean(-1, keepdims=True)
    rate = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + _EPSILON)
    centred *= rate
    return centred * norm[0] + norm[1], centred, rate


def _norm_back(up: Reals, norm: Reals, centred: Reals, rate: Reals) -> tuple[Reals, Reals]:
    """Gradients of a layer norm: of its inputs, and of its scale and shift."""
    rows = tuple(range(up.ndim - 1))
    own = np.stack([(up * centred).sum(rows), up.sum(rows)])
    up = up * norm[0]
    inward = up - up.mean(-1, keepdims=True) - centred * (up * centred).mean(-1, keepdims=True)
    return inward * rate, own


def softmax(logits: Reals) -> Reals:
    """Probabilities over the last axis."""
    found: Reals = np.exp(logits - logits.max(-1, keepdims=True))
    found /= found.sum(-1, keepdims=True)
    return found


class Cache:
    """Keys and values of sequences, a row each, for tokens that are added one by one.

    Attributes:
        length: `[rows]` tokens that each row holds.
        keys: `[layers, rows, heads, context, part]`.
        values: Likewise.
    """

    def __init__(self, shape: Shape, rows: int) -> None:
        """Make room for so many sequences."""
        part = shape.width // shape.heads
        size = (shape.layers, rows, shape.heads, shape.context, part)
        self.keys, self.values = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.length = np.zeros(rows, np.int64)

    def copy(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> None:
        """Copy rows to other rows."""
        for one, other in zip(source.tolist(), target.tolist(), strict=True):
            held = int(self.length[one])
            self.keys[:, other, :, :held] = self.keys[:, one, :, :held]
            self.values[:, other, :, :held] = self.values[:, one, :, :held]
        self.length[target] = self.length[source]


@dataclass(frozen=True)
class Transformer:
    """A transformer and its weights.

    Attributes:
        shape: Its sizes.
        weights: By name, as `Shape.arrays` lists them.
    """

    shape: Shape
    weights: Mapping[str, Reals]

    def add(
        self, cache: Cache, rows: NDArray[np.int64], tokens: Tokens, lengths: NDArray[np.int64]
    ) -> Reals:
        """Add tokens to rows of a cache.

        Args:
            cache: Of this transformer.
            rows: `[n]` different rows.
            tokens: `[n, most]`, the first `lengths` of each row of it.
            lengths: `[n]`, at least 1.

        Returns:
            `[n, width]` the last hidden layer at each row's last token, for `next` and `outcomes`.

        Raises:
            ValueError: If a sequence grows beyond the context.
        """
        last = self._run(cache, rows, tokens, lengths, keep=True)
        cache.length[rows] += lengths
        return last

    def peek(self, cache: Cache, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Reals:
        """The last hidden layer if one token were added to each row; the cache stays as it is.

        Args:
            cache: Of this transformer.
            rows: `[n]`, of which several may be the same.
            tokens: `[n]`.

        Returns:
            `[n, width]`.

        Raises:
            ValueError: If a sequence grew beyond the context.
        """
        return self._run(cache, rows, tokens[:, None], np.ones(len(rows), np.int64), keep=False)

    def _run(
        self,
        cache: Cache,
        rows: NDArray[np.int64],
        tokens: Tokens,
        lengths: NDArray[np.int64],
        *,
        keep: bool,
    ) -> Reals:
        shape, weights = self.shape, self.weights
        before = cache.length[rows]
        if int((before + lengths).max()) > shape.context:
            raise ValueError(f"more tokens than the context holds, which is {shape.context}")
        count, most = tokens.shape
        places = np.minimum(before[:, None] + np.arange(most), shape.context - 1)
        held = int(places.max()) + 1
        hidden = weights["tokens"][tokens] + weights["places"][places]
        # A token sees those before it and itself; what stands behind a row's end is overwritten.
        hides = np.where(np.arange(held) <= places[:, :, None], np.float32(0), _NEVER)[:, None]
        for layer in range(shape.layers):
            normed, _, _ = _normed(hidden, weights[f"{layer}.norm1"])
            mixed = normed.reshape(-1, shape.width) @ weights[f"{layer}.qkv"]
            mixed += weights[f"{layer}.qkv.bias"]
            parts = shape.width // shape.heads
            query, key, value = mixed.reshape(count, most, 3, shape.heads, parts).transpose(
                2, 0, 3, 1, 4
            )
            keys, values = (
                _held(kept[layer], rows, places, own, lengths if keep else None)
                for kept, own in ((cache.keys, key), (cache.values, value))
            )
            scores = (query * np.float32(parts**-0.5)) @ keys.transpose(0, 1, 3, 2)
            scores += hides
            told = (softmax(scores) @ values).transpose(0, 2, 1, 3).reshape(-1, shape.width)
            told = told @ weights[f"{layer}.out"] + weights[f"{layer}.out.bias"]
            hidden += told.reshape(hidden.shape)
            normed, _, _ = _normed(hidden, weights[f"{layer}.norm2"])
            wide = normed.reshape(-1, shape.width) @ weights[f"{layer}.wide"]
            wide = gelu(wide + weights[f"{layer}.wide.bias"]) @ weights[f"{layer}.narrow"]
            hidden += (wide + weights[f"{layer}.narrow.bias"]).reshape(hidden.shape)
        return _normed(hidden[np.arange(count), lengths - 1], weights["norm"])[0]

    def next(self, last: Reals) -> Reals:
        """`[n, vocabulary]` probabilities of the next token, after `add`."""
        return softmax(gelu(last @ self.weights["next.hidden"]) @ self.weights["next"])

    def outcomes(self, last: Reals) -> Reals:
        """`[n, outcomes]` probabilities of the outcome, after `add`."""
        return softmax(gelu(last @ self.weights["outcome.hidden"]) @ self.weights["outcome"])


def _held(
    kept: Reals,
    rows: NDArray[np.int64],
    places: NDArray[np.int64],
    own: Reals,
    lengths: NDArray[np.int64] | None,
) -> Reals:
    """Keys or values of rows, with the new ones at their places: `[n, heads, held, part]`.

    Args:
        kept: `[rows, heads, context, part]`.
        rows: `[n]`.
        places: `[n, most]` of the new ones.
        own: `[n, heads, most, part]`, the new ones.
        lengths: `[n]` how many of them are kept; None keeps none.
    """
    held = int(places.max()) + 1
    if lengths is None:
        found = kept[rows, :, :held]
        found[np.arange(len(rows)), :, places[:, 0]] = own[:, :, 0]
        return found
    for step in range(places.shape[1]):
        here = np.flatnonzero(lengths > step)
        kept[rows[here], :, places[here, step]] = own[here, :, step]
    first = int(rows[0])
    if len(rows) == int(rows[-1]) - first + 1 and bool((np.diff(rows) == 1).all()):
        return kept[first : first + len(rows), :, :held]
    return kept[rows, :, :held]


@dataclass(frozen=True)
class Losses:
    """Cross-entropies of a batch, in nats.

    Attributes:
        next: A token.
        outcome: A token, of the match's end.
        tokens: How many.
    """

    next: float
    outcome: float
    tokens: int


def losses_and_gradients(
    model: Transformer,
    tokens: Tokens,
    outcomes: NDArray[np.int64],
    *,
    outcome_share: float = 0.1,
    dropped: Callable[[tuple[int, ...]], Reals] | None = None,
) -> tuple[Losses, Weights]:
    """The losses of whole sequences, and the gradient of their weighted sum.

    `(1 - s) CE(next token) + s CE(outcome)`, both a mean over all tokens but a row's last (§5.1).

    Args:
        model: The transformer.
        tokens: `[rows, most]`; -1 behind a row's end.
        outcomes: `[rows]`; -1 where a match's is not known.
        outcome_share: `s`.
        dropped: Gives a mask of this shape whose mean is 1, after the embedding and each block's
            two parts; None drops nothing.
    """
    return _Pass(model, tokens, dropped).run(outcomes, np.float32(outcome_share))


class _Pass:
    """One pass forwards and backwards over a batch."""

    def __init__(
        self, model: Transformer, tokens: Tokens, dropped: Callable[..., Reals] | None
    ) -> None:
        self.model, self.tokens, self.dropped = model, tokens, dropped
        self.gradients: Weights = {}
        self.inputs = np.where(tokens < 0, 0, tokens)[:, :-1]
        self.targets = tokens[:, 1:]
        self.told = self.targets >= 0
        steps = self.inputs.shape[1]
        self.hides = np.triu(np.full((steps, steps), _NEVER, np.float32), 1)

    def run(self, outcomes: NDArray[np.int64], share: np.float32) -> tuple[Losses, Weights]:
        """Losses and gradients."""
        shape, weights = self.model.shape, self.model.weights
        steps = self.inputs.shape[1]
        hidden = weights["tokens"][self.inputs] + weights["places"][:steps]
        drop, hidden = self._drop(hidden)
        backs = []
        for layer in range(shape.layers):
            hidden, back = self._attention(layer, hidden)
            backs.append(back)
            hidden, back = self._widened(layer, hidden)
            backs.append(back)
        normed, centred, rate = _normed(hidden, weights["norm"])
        flat = normed[self.told]  # rows of tokens that have one after them
        count = max(1, len(flat))
        known = np.repeat(outcomes[:, None], steps, 1)[self.told]
        loss_next, up_next = self._head("next", flat, self.targets[self.told], 1 - share, count)
        loss_outcome, up_outcome = self._head("outcome", flat, known, share, count)
        up = np.zeros_like(normed)
        up[self.told] = up_next + up_outcome
        up, self.gradients["norm"] = _norm_back(up, weights["norm"], centred, rate)
        for back in reversed(backs):
            up = back(up)
        up = up if drop is None else up * drop
        grown = np.zeros_like(weights["tokens"])
        np.add.at(grown, self.inputs.reshape(-1), up.reshape(-1, shape.width))
        places = np.zeros_like(weights["places"])
        places[:steps] = up.sum(0)
        self.gradients |= {"tokens": grown, "places": places}
        return Losses(loss_next, loss_outcome, int(self.told.sum())), self.gradients

    def _drop(self, values: Reals) -> tuple[Reals | None, Reals]:
        if self.dropped is None:
            return None, values
        mask = self.dropped(values.shape)
        return mask, values * mask

    def _head(
        self, name: str, flat: Reals, targets: NDArray[np.int64], share: np.float32, count: int
    ) -> tuple[float, Reals]:
        """Loss of a head, and the gradient of its inputs."""
        weights = self.model.weights
        bent, slope = _gelu_with_slope(flat @ weights[f"{name}.hidden"])
        chances = softmax(bent @ weights[name])
        known = targets >= 0
        rows = np.flatnonzero(known)
        picked = chances[rows, targets[rows]]
        loss = float(-np.log(np.maximum(picked, np.float32(1e-30))).sum()) / max(1, len(rows))
        chances[rows, targets[rows]] -= 1
        chances[~known] = 0
        chances *= share / np.float32(max(1, len(rows)) if name == "outcome" else count)
        self.gradients[name] = bent.T @ chances
        up = (chances @ weights[name].T) * slope
        self.gradients[f"{name}.hidden"] = flat.T @ up
        return loss, up @ weights[f"{name}.hidden"].T

    def _attention(self, layer: int, hidden: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        shape, weights = self.model.shape, self.model.weights
        rows, steps, width = hidden.shape
        parts = width // shape.heads
        scale = np.float32(parts**-0.5)
        name = f"{layer}."
        normed, centred, rate = _normed(hidden, weights[f"{name}norm1"])
        mixed = normed.reshape(-1, width) @ weights[f"{name}qkv"] + weights[f"{name}qkv.bias"]
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
            self.gradients[f"{name}qkv"] = normed.reshape(-1, width).T @ flat
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
        normed, centred, rate = _normed(hidden, weights[f"{name}norm2"])
        flat = normed.reshape(-1, width)
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


@dataclass
class AdamW:
    """AdamW (Loshchilov and Hutter 2019), in place.

    Attributes:
        step: Steps done.
        first: First moments by name.
        second: Second moments by name.
        decay: Of the matrices' weights, a step, times its rate.
    """

    step: int
    first: Weights
    second: Weights
    decay: float = 0.01

    def descend(self, weights: Weights, gradients: Mapping[str, Reals], rate: float) -> None:
        """One step: Adam's, and `w -= rate decay w` for what is a matrix."""
        self.step += 1
        slow, slower = 1 - 0.9**self.step, 1 - 0.999**self.step
        for name, slope in gradients.items():
            weight = weights[name]
            first = self.first.setdefault(name, np.zeros_like(weight))
            second = self.second.setdefault(name, np.zeros_like(weight))
            first *= np.float32(0.9)
            first += np.float32(0.1) * slope
            second *= np.float32(0.999)
            second += np.float32(0.001) * slope * slope
            moved = first / np.float32(slow)
            moved /= np.sqrt(second / np.float32(slower)) + np.float32(1e-8)
            if weight.ndim > 1 and "norm" not in name:
                weight *= np.float32(1 - rate * self.decay)
            weight -= np.float32(rate) * moved


def padded(sequences: Sequence[Sequence[int]]) -> Tokens:
    """`[rows, most]` of sequences, with -1 behind each one's end."""
    found = np.full((len(sequences), max(map(len, sequences))), -1, np.int64)
    for row, sequence in enumerate(sequences):
        found[row, : len(sequence)] = sequence
    return found


def dropper(share: float, generator: np.random.Generator) -> Callable[..., Any] | None:
    """The `dropped` of `losses_and_gradients` that leaves out a share of the values."""
    if not share:
        return None
    kept = np.float32(1 / (1 - share))

    def mask(size: tuple[int, ...]) -> Reals:
        return np.where(generator.random(size, np.float32) >= share, kept, np.float32(0))

    return mask
