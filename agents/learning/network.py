"""Network: an actor and a critic over one body, the same formulas for numpy and for torch.

Play and training share `forward`; only the gradient needs torch.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.learning.encoding import Array

Weights: TypeAlias = dict[str, Array]
NEVER = -1e9  # the logit of an illegal action: its probability is exactly 0
_LAYERS = ("first", "inward", "onward", "last", "actor", "critic")


def shapes(width: int, actions: int, units: int, *, recurrent: bool) -> dict[str, tuple[int, int]]:
    """`(inputs, outputs)` of each layer."""
    found = {"first": (width, units), "last": (units, units)}
    if recurrent:
        found |= {"inward": (units, 3 * units), "onward": (units, 3 * units)}
        found["last"] = (units + width, units)
    return found | {"actor": (units, actions), "critic": (units, 1)}


def initial_weights(
    sizes: Mapping[str, tuple[int, int]], generator: np.random.Generator
) -> Weights:
    """Orthogonal layers, the actor's small, so that play begins near uniform; biases 0."""
    weights: Weights = {}
    for name in (layer for layer in _LAYERS if layer in sizes):
        inputs, outputs = sizes[name]
        drawn = generator.standard_normal((max(inputs, outputs), min(inputs, outputs)))
        orthogonal, upper = np.linalg.qr(drawn)
        orthogonal = orthogonal * np.sign(np.diag(upper))
        matrix = orthogonal if inputs >= outputs else orthogonal.T
        gain = {"actor": 0.01, "first": 2**0.5, "last": 2**0.5}.get(name, 1.0)
        weights[name] = np.ascontiguousarray(gain * matrix, dtype=np.float32)
        weights[f"{name}.bias"] = np.zeros(outputs, np.float32)
    return weights


def forward(
    weights: Mapping[str, Any],
    inputs: Any,  # noqa: ANN401 - of numpy or torch
    hidden: Any,  # noqa: ANN401 - of numpy or torch
    xp: ModuleType,
) -> tuple[Any, Any, Any]:
    """One decision of each row (Code World Models, App. E.1; GRU of Cho et al. 2014).

    `r, z = sigmoid(..)`, `n = tanh(Wn a + bn + r (Un h + cn))`, `h' = (1 - z) n + z h`, with `a`
    the first layer's output; the last hidden layer gets `[h', inputs]`. Without memory it gets `a`.

    Args:
        weights: By name, as `shapes` lists the layers.
        inputs: `[rows, width]`.
        hidden: `[rows, units]` what is remembered; not looked at without memory.
        xp: `numpy` or `torch`, of which the arrays are.

    Returns:
        Logits `[rows, actions]`, values `[rows]`, and the memory after it.
    """

    def layer(name: str, of: Any) -> Any:  # noqa: ANN401 - of numpy or torch
        return of @ weights[name] + weights[f"{name}.bias"]

    body = xp.tanh(layer("first", inputs))
    if "inward" in weights:
        new, old = layer("inward", body), layer("onward", hidden)
        units = hidden.shape[-1]
        gates = 0.5 * (1.0 + xp.tanh(0.5 * (new + old)[..., : 2 * units]))  # the logistic function
        reset, keep = gates[..., :units], gates[..., units:]
        fresh = xp.tanh(new[..., 2 * units :] + reset * old[..., 2 * units :])
        hidden = (1.0 - keep) * fresh + keep * hidden
        body = xp.concatenate([hidden, inputs], -1)
    last = xp.tanh(layer("last", body))
    return layer("actor", last), layer("critic", last)[..., 0], hidden


def log_chances(logits: NDArray[Any], legal: NDArray[np.bool_]) -> NDArray[Any]:
    """Logarithm of the softmax over the legal actions; `NEVER` or less at the others.

    Args:
        logits: `[rows, actions]`.
        legal: `[rows, actions]`, at least one in a row.
    """
    masked = np.where(legal, logits, NEVER)
    masked = masked - masked.max(-1, keepdims=True)
    return masked - np.log(np.exp(masked).sum(-1, keepdims=True))  # type: ignore[no-any-return]


def drawn_actions(
    chances: NDArray[Any], legal: NDArray[np.bool_], generator: np.random.Generator
) -> NDArray[np.int64]:
    """An action a row by its probability (Gumbel-max trick); one that is not legal never.

    Args:
        chances: `[rows, actions]` logarithms.
        legal: `[rows, actions]`.
        generator: Draws.
    """
    noisy = chances + generator.gumbel(size=chances.shape)
    picked: NDArray[np.int64] = np.where(legal, noisy, -np.inf).argmax(-1)
    return picked
