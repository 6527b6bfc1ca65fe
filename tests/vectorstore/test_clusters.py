"""Clusters are those of textbook average linkage, and exactly those of scipy."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from vectorstore.clusters import upgma
from vectorstore.documents import StoreError, Vectors


def at_angles(*degrees: float) -> Vectors:
    turned = np.radians(degrees)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def by_scipy(vectors: Vectors, distance: float) -> list[int]:
    found = fcluster(linkage(vectors.astype(float), "average", "cosine"), distance, "distance")
    first: dict[int, int] = {}
    return [first.setdefault(int(label), index) for index, label in enumerate(found)]


def test_the_mean_of_all_pairs_decides_and_not_the_nearest_pair() -> None:
    # 1 - cos 39 = 0.223, 1 - cos 41 = 0.245, 1 - cos 80 = 0.826: (0.245 + 0.826) / 2 = 0.536.
    assert upgma(at_angles(0, 39, 80), 0.53).tolist() == [0, 0, 2]
    assert upgma(at_angles(0, 39, 80), 0.54).tolist() == [0, 0, 0]


def test_vectors_of_other_lengths_and_of_none_are_taken() -> None:
    vectors = np.array([[1, 0], [5, 0], [0, 0], [0, 3]], dtype=np.float32)
    assert upgma(vectors, 0.4).tolist() == [0, 0, 2, 3]
    assert upgma(np.empty((0, 4), dtype=np.float32)).tolist() == []
    assert upgma(at_angles(20)).tolist() == [0]


def test_the_same_text_many_times_is_one_cluster() -> None:
    assert set(upgma(at_angles(*[10] * 300, *[170] * 300), 0.4).tolist()) == {0, 300}


def test_what_would_not_fit_into_memory_is_refused() -> None:
    with pytest.raises(StoreError, match="4 texts hang together.*at most 3"):
        upgma(at_angles(0, 30, 60, 90), 0.4, most=3)


@pytest.mark.parametrize("seed", range(20))
def test_the_partition_is_the_one_of_scipy(seed: int) -> None:
    draw = np.random.default_rng(seed)
    middles = draw.normal(size=(30, 24))
    noise = draw.normal(size=(500, 24)) * draw.uniform(0.2, 1.6, size=(500, 1))
    vectors = (middles[draw.integers(30, size=500)] + noise).astype(np.float32)
    for distance in (0.2, 0.4, 0.8):
        found = upgma(vectors, distance).tolist()
        assert found == by_scipy(vectors, distance)
        assert 1 < len(set(found)) < 500
