"""Transformer over a seat's tokens: what it will see next, and how the match will end.

A decoder as in GPT-2 (Radford et al. 2019) with two heads, each with a hidden layer: the next
token, and the outcome (GO-MCTS, Rebstock et al. 2024, §9.1). It is written in numpy, float32: the
gradient is the formulas' own, and a cache of keys and values makes a token cost one row.

A token's vector is its own and a learned part of the one before it (token shift: Peng et al. 2023,
RWKV), or none. So a card in a hand and one on the table are told apart in the first layer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.learning.policy import Weights

Tokens: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[Any]
"""Of float32; of float64 where gradients are compared with differences."""

_EPSILON = np.float32(1e-5)  # of the layer norm
_SPREAD = {"tokens": 0.1, "places": 0.1, "next": 0.02, "outcome": 0.02}
_ALIKE = 3  # of features' vectors, over a token's own
ROOT = np.float32(np.sqrt(2 / np.pi))
CUBIC = np.float32(0.044715)
HIDDEN = np.float32(-1e9)
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
            "before": (width,),
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


def first_weights(
    shape: Shape, generator: np.random.Generator, kin: Reals | None = None, shift: float = 0.0
) -> Weights:
    """Normal first weights; biases 0, norms 1 and 0.

    A matrix has a spread of one over the root of its inputs (LeCun et al. 1998), less on the way
    to the residual (Radford et al. 2019). GPT-2's 0.02 is made for 768 units: with 64, signals and
    slopes die away. Tokens are spread by 0.3, places by 0.1, and the heads' last by 0.02. Where
    `kin` (`[tokens, features]`) is given, tokens with the same features begin alike. Of the token
    before, channels take from nothing to `shift`; where that is 0, it stays so.
    """
    weights: Weights = {}
    for name, size in shape.arrays().items():
        if "norm" in name:
            weights[name] = np.stack([np.ones(size[1:]), np.zeros(size[1:])]).astype(np.float32)
        elif name == "before":
            weights[name] = np.linspace(0, shift, size[0], dtype=np.float32)
        elif name.endswith("bias"):
            weights[name] = np.zeros(size, np.float32)
        else:
            spread = _SPREAD.get(name, size[0] ** -0.5)
            if name.endswith((".out", ".narrow")):
                spread /= (2 * shape.layers) ** 0.5
            weights[name] = (spread * generator.standard_normal(size)).astype(np.float32)
    if kin is not None:
        shared = generator.standard_normal((kin.shape[1], shape.width)).astype(np.float32)
        weights["tokens"] += np.float32(_SPREAD["tokens"] * _ALIKE) * (kin @ shared)
    return weights


def gelu(inputs: Reals) -> Reals:
    """The tanh form of GELU: `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`."""
    inner = inputs * inputs
    inner *= CUBIC
    inner += 1
    inner *= inputs
    inner *= ROOT
    np.tanh(inner, out=inner)
    inner += 1
    inner *= inputs
    inner *= np.float32(0.5)
    return inner


def normed(inputs: Reals, norm: Reals) -> tuple[Reals, Reals, Reals]:
    """Layer norm; also the normed inputs without its scale, and one over their spread."""
    centred = inputs - inputs.mean(-1, keepdims=True)
    rate = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + _EPSILON)
    centred *= rate
    return centred * norm[0] + norm[1], centred, rate


def softmax(logits: Reals) -> Reals:
    """Probabilities over the last axis."""
    found: Reals = np.exp(logits - logits.max(-1, keepdims=True))
    found /= found.sum(-1, keepdims=True)
    return found


def embedded(
    weights: Mapping[str, Reals], tokens: Tokens, places: Tokens, earlier: Tokens
) -> Reals:
    """`[..., width]` the vectors of tokens, of which those at place 0 have none before them."""
    told = weights["tokens"][earlier] * (weights["before"] * (places > 0)[..., None])
    found: Reals = weights["tokens"][tokens] + weights["places"][places] + told
    return found


class Cache:
    """Keys and values of sequences, a row each, for tokens that are added one by one.

    Attributes:
        length: `[rows]` tokens that each row holds.
        tokens: `[rows, context]` which ones.
        keys: `[layers, rows, heads, context, part]`.
        values: Likewise.
    """

    def __init__(self, shape: Shape, rows: int) -> None:
        """Make room for so many sequences."""
        part = shape.width // shape.heads
        size = (shape.layers, rows, shape.heads, shape.context, part)
        self.keys, self.values = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.length = np.zeros(rows, np.int64)
        self.tokens = np.zeros((rows, shape.context), np.int64)

    def take(self, rows: int, source: "Cache", first: int, many: int) -> None:
        """Let the first rows hold what rows of another cache hold.

        Args:
            rows: Of this one.
            source: The other.
            first: Of its rows.
            many: Of them; one stands for all.
        """
        theirs = slice(first, first + many)
        held = int(source.length[theirs].max(initial=0))
        self.keys[:, :rows, :, :held] = source.keys[:, theirs, :, :held]
        self.values[:, :rows, :, :held] = source.values[:, theirs, :, :held]
        self.tokens[:rows, :held] = source.tokens[theirs, :held]
        self.length[:rows] = source.length[theirs]


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
        row, step = np.nonzero(np.arange(tokens.shape[1]) < lengths[:, None])
        cache.tokens[rows[row], cache.length[rows[row]] + step] = tokens[row, step]
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
        earlier = np.concatenate([cache.tokens[rows, before - 1][:, None], tokens[:, :-1]], axis=1)
        hidden = embedded(weights, tokens, places, earlier)
        # A token sees those before it and itself; what stands behind a row's end is overwritten.
        hides = np.where(np.arange(held) <= places[:, :, None], np.float32(0), HIDDEN)[:, None]
        for layer in range(shape.layers):
            even, _, _ = normed(hidden, weights[f"{layer}.norm1"])
            mixed = even.reshape(-1, shape.width) @ weights[f"{layer}.qkv"]
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
            even, _, _ = normed(hidden, weights[f"{layer}.norm2"])
            wide = even.reshape(-1, shape.width) @ weights[f"{layer}.wide"]
            wide = gelu(wide + weights[f"{layer}.wide.bias"]) @ weights[f"{layer}.narrow"]
            hidden += (wide + weights[f"{layer}.narrow.bias"]).reshape(hidden.shape)
        return normed(hidden[np.arange(count), lengths - 1], weights["norm"])[0]

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
