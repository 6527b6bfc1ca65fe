"""Torch twin of the transformer: the same weights by the same names, trained on any device.

The formulas are those of `agents.observing.transformer`; torch differentiates them.
"""

from typing import Any

import numpy as np

from agents.encoding.vocabulary import MOVE
from agents.learning.settings import LearningError
from agents.observing.gradients import Batch, Losses, shares_of
from agents.observing.transformer import HIDDEN, Transformer

_EPSILON = 1e-5  # of the layer norm


class TorchTwin:
    """A transformer that torch trains.

    Attributes:
        weights: By name, tensors on the device.
    """

    def __init__(self, model: Transformer, device: str = "cpu", seed: int = 0) -> None:
        """Take the weights of a transformer.

        Args:
            model: It stays as it is.
            device: As torch names it, such as "cuda".
            seed: Of what is dropped.

        Raises:
            LearningError: If there is no torch, or it has no such device.
        """
        try:
            import torch

            self.torch: Any = torch
            self.generator = torch.Generator(device).manual_seed(seed)
        except ImportError as error:
            raise LearningError(
                "the twin needs torch, which is not installed: pip install 'rulewright[learn]'"
            ) from error
        except RuntimeError as error:
            raise LearningError(
                f"torch has no device {device!r} here; give another, such as cpu"
            ) from error
        self.shape, self.device = model.shape, device
        self.weights = {
            name: torch.tensor(array, device=device).requires_grad_(
                name != "before" or bool(array.any())
            )
            for name, array in model.weights.items()
        }
        self._moments = {
            name: (torch.zeros_like(one), torch.zeros_like(one))
            for name, one in self.weights.items()
        }
        self._steps = 0

    def transformer(self) -> Transformer:
        """The transformer as it is now, in numpy."""
        told = {name: one.detach().cpu().numpy().copy() for name, one in self.weights.items()}
        return Transformer(self.shape, told)

    def logits(self, batch: Batch, dropout: float = 0.0) -> tuple[Any, Any]:
        """Of the next token and of the outcome: `[rows, steps, vocabulary]` and `[..., outcomes]`.

        Args:
            batch: The sequences.
            dropout: Share of values left out after the embedding and each block's two parts.
        """
        weights, functional = self.weights, self.torch.nn.functional
        tokens, places = self._there(batch.tokens), self._there(batch.places)
        steps = self.torch.arange(tokens.shape[1], device=self.device)
        first = (steps - places)[:, :, None]
        seen = (steps <= steps[:, None]) & (steps >= first)
        hides = self.torch.where(seen, 0.0, float(HIDDEN))[:, None]
        told = weights["before"] * (places > 0)[..., None]
        told = told * weights["tokens"][self._there(batch.earlier)]
        hidden = weights["tokens"][tokens] + weights["places"][places] + told
        hidden = self._dropped(hidden, dropout)
        heads = self.shape.heads
        for layer in range(self.shape.layers):
            name = f"{layer}."
            even = self._normed(hidden, weights[f"{name}norm1"])
            mixed = even @ weights[f"{name}qkv"] + weights[f"{name}qkv.bias"]
            parts = mixed.reshape(*tokens.shape, 3, heads, -1).permute(2, 0, 3, 1, 4)
            query, key, value = parts
            scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5 + hides
            told = (scores.softmax(-1) @ value).transpose(1, 2).reshape(hidden.shape)
            told = told @ weights[f"{name}out"] + weights[f"{name}out.bias"]
            hidden = hidden + self._dropped(told, dropout)
            even = self._normed(hidden, weights[f"{name}norm2"])
            wide = even @ weights[f"{name}wide"] + weights[f"{name}wide.bias"]
            told = functional.gelu(wide, approximate="tanh") @ weights[f"{name}narrow"]
            hidden = hidden + self._dropped(told + weights[f"{name}narrow.bias"], dropout)
        even = self._normed(hidden, weights["norm"])
        ends = (
            functional.gelu(even @ weights[f"{head}.hidden"], approximate="tanh") @ weights[head]
            for head in ("next", "outcome")
        )
        return next(ends), next(ends)

    def step(
        self,
        batch: Batch,
        rate: float,
        *,
        outcome_share: float = 0.1,
        action_share: float = 0.0,
        dropout: float = 0.0,
    ) -> Losses:
        """The losses, and one step of AdamW; see `losses_and_gradients` and `AdamW`."""
        losses, whole = self._losses(batch, outcome_share, action_share, dropout)
        if not losses.is_finite:
            return losses
        for one in self.weights.values():
            one.grad = None
        whole.backward()
        self._steps += 1
        slow, slower = 1 - 0.9**self._steps, 1 - 0.999**self._steps
        with self.torch.no_grad():
            for name, weight in self.weights.items():
                first, second = self._moments[name]
                slope = self.torch.zeros_like(weight) if weight.grad is None else weight.grad
                first.mul_(0.9).add_(slope, alpha=0.1)
                second.mul_(0.999).addcmul_(slope, slope, value=0.001)
                if weight.ndim > 1 and "norm" not in name:
                    weight.mul_(1 - rate * 0.01)
                weight.sub_(rate * (first / slow) / ((second / slower).sqrt() + 1e-8))
        return losses

    def _losses(
        self, batch: Batch, outcome: float, action: float, dropout: float
    ) -> tuple[Losses, Any]:
        """The losses, and their weighted sum; what nothing is known of is None and adds nothing."""
        acts = (batch.tokens == MOVE).ravel()
        heads = self.logits(batch, dropout)
        whole: Any = 0.0
        told: list[Any] = []
        for logits, targets, share, own in zip(
            *(heads, (batch.targets.ravel(), batch.outcomes.ravel())),
            *((1 - outcome, outcome), (action, 0.0)),
            strict=True,
        ):
            losses = self.torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), self._there(targets), ignore_index=-1, reduction="none"
            )
            whole = whole + (losses * self._there(shares_of(targets, acts, share, own))).sum()
            told.append(losses.detach().cpu().numpy())
        ahead, end = (kind.ravel() >= 0 for kind in (batch.targets, batch.outcomes))
        return Losses.of(told[0][ahead], told[0][ahead & acts], told[1][end]), whole

    def _there(self, numbers: "np.ndarray[Any, Any]") -> Any:  # noqa: ANN401 - a tensor
        return self.torch.from_numpy(numbers).to(self.device)

    def _normed(self, hidden: Any, norm: Any) -> Any:  # noqa: ANN401 - tensors
        shape = hidden.shape[-1:]
        return self.torch.nn.functional.layer_norm(hidden, shape, norm[0], norm[1], _EPSILON)

    def _dropped(self, values: Any, share: float) -> Any:  # noqa: ANN401 - tensors
        if not share:
            return values
        drawn = self.torch.rand(values.shape, generator=self.generator, device=self.device)
        return values * (drawn >= share) / (1 - share)
