"""Novelty of varied games by their texts: Quantiled Max Similarity (Cardiverse §4.1, Eq. 2)."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from vectorstore.clusters import unit_vectors

Array = npt.NDArray[np.float32]
PERCENTILES = (0.25, 0.5, 0.75)
_PIECE = 700  # characters; embedders read about 1,000


def text_vector(text: str, embed: Callable[[Sequence[str]], Array]) -> Array:
    """The unit vector ζ of a text of any length, float32 [D]: the mean of its pieces' vectors.

    Pieces are whole lines, about 700 characters each, since no local embedder reads a rulebook.
    """
    pieces: list[str] = []
    for line in text.splitlines():
        if pieces and len(pieces[-1]) + len(line) < _PIECE:
            pieces[-1] += f"\n{line}"
        elif line.strip():
            pieces.append(line)
    mean: Array = unit_vectors(embed(pieces)).mean(axis=0)
    return mean / np.float32(np.linalg.norm(mean))


def closest(variants: Array, games: Array) -> Array:
    """`max over d of ζ(v) · ζ(d)` for each variant v: [V, D] and [G, D] to [V]."""
    nearest: Array = (variants @ games.T).max(axis=1)
    return nearest


def closest_within(variants: Array) -> Array:
    """The same with all other variants in the place of the games, [V, D] to [V]; V ≥ 2."""
    likeness = variants @ variants.T
    np.fill_diagonal(likeness, -np.inf)
    nearest: Array = likeness.max(axis=1)
    return nearest


def qms(nearest: Sequence[float] | Array, percentile: float) -> float:
    """QMS(M, g, p): the p-th quantile over the variants v of g of their closest similarity.

    `Q_{v ~ M(g)}^p max_{d in D without g} ζ(v) · ζ(d)` (Eq. 2), with linear interpolation.

    >>> qms([0.5, 0.9, 0.7], 0.5), round(qms([0.5, 0.9, 0.7], 0.25), 3)
    (0.7, 0.6)
    """
    return float(np.quantile(np.asarray(nearest, dtype=float), percentile))
