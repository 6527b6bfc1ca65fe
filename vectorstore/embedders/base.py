"""The protocol of an embedder."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; two embedders of one identity give comparable vectors."""

    @property
    def identity(self) -> str:
        """Model, width and origin in letters, digits, dots and hyphens; names the collections."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts.

        Returns:
            float32 [N, dimension], one row a text, in the order given.

        Raises:
            EmbedderError: If the model is missing, damaged, unreachable or answers nonsense.
        """
        ...
