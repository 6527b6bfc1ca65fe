"""Clusters of texts by average linkage (UPGMA, Sokal and Michener 1958), cut at a distance.

Exact: two clusters whose mean distance is at most `t` hold a pair that is, so no cluster crosses
the components of the graph of such pairs. Each component is clustered by a nearest-neighbour chain
over its float32 distances (Murtagh 1983). Shapes: N unit vectors of D components, [N, D].
"""

import numpy as np
import numpy.typing as npt

from vectorstore.documents import StoreError, Vectors

DISTANCE = 0.4
"""The cut: cosine distance; Cardiverse §3.1.2 calls its 0.4 a threshold of similarity."""
LARGEST = 16_000  # members of one component: their distances take 1 GiB
_ROWS = 1024
_ROUNDING = np.float32(1e-5)  # of a distance, so that no pair at the cut is missed
Labels = npt.NDArray[np.int64]


def upgma(vectors: Vectors, distance: float = DISTANCE, *, most: int = LARGEST) -> Labels:
    """The cluster of each of N vectors: the least index in it, int64 [N].

    Two clusters are joined while the mean cosine distance of their pairs is at most `distance`,
    nearest first.

    Raises:
        StoreError: If more than `most` vectors hang together.

    >>> upgma(np.array([[1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32), 0.3).tolist()
    [0, 1, 0]
    """
    unit = unit_vectors(vectors)
    labels = _components(unit, distance)
    for first in np.unique(labels):
        members = np.flatnonzero(labels == first)
        if len(members) > most:
            raise StoreError(
                f"{len(members)} texts hang together at the distance {distance}; required: at most "
                f"{most}. Cluster fewer, or at a smaller distance"
            )
        if len(members) > 1:
            labels[members] = members[_linked(unit[members], distance)]
    return labels


def unit_vectors(vectors: Vectors) -> Vectors:
    """Each of N vectors at length 1; what has none stays zero. [N, D] to [N, D]."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _components(unit: Vectors, distance: float) -> Labels:
    """The least index that each vector hangs together with by pairs within the distance."""
    labels = np.arange(len(unit))
    for start in range(0, len(unit), _ROWS):
        near = unit[start : start + _ROWS] @ unit.T >= 1 - distance - _ROUNDING
        for row in near:
            joined = labels[row]
            if joined.size > 1 and (joined != joined[0]).any():
                is_joined = np.zeros(len(unit), dtype=bool)
                is_joined[joined] = True
                labels[is_joined[labels]] = joined.min()
    return labels


def _linked(unit: Vectors, distance: float) -> Labels:
    """The least index of each vector's cluster, of vectors that hang together.

    A cluster whose nearest one is beyond the distance has its end: no later merge brings one
    nearer to it.
    """
    count, chain = len(unit), list[int]()
    distances = unit @ unit.T
    np.subtract(1, distances, out=distances)
    np.fill_diagonal(distances, np.inf)
    sizes, owner, is_open = np.ones(count), np.arange(count), np.ones(count, dtype=bool)
    while chain or is_open.any():
        at = chain[-1] if chain else int(is_open.argmax())
        chain = chain or [at]
        row = distances[at]
        nearest = int(row.argmin())
        if row[nearest] > distance:
            distances[at] = distances[:, at] = np.inf
            is_open[at] = False
            chain.pop()
        elif len(chain) > 1 and row[chain[-2]] <= row[nearest]:
            gone, kept = sorted((chain.pop(), chain.pop()), reverse=True)
            mean = sizes[gone] * distances[gone] + sizes[kept] * distances[kept]
            mean /= sizes[gone] + sizes[kept]
            mean[kept] = np.inf
            distances[kept] = distances[:, kept] = mean
            distances[gone] = distances[:, gone] = np.inf
            sizes[kept] += sizes[gone]
            owner[owner == gone] = kept
            is_open[gone] = False
        else:
            chain.append(nearest)
    return owner
