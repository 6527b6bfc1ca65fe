"""Vectors already worked out are not worked out again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.vectorstore.hashing import HashingEmbedder
from vectorstore.cache import BATCH, EmbeddingCache
from vectorstore.settings import EmbedderError, StoreError, Vectors


def test_only_unknown_texts_are_embedded_and_rows_keep_their_order(tmp_path: Path) -> None:
    embedder, plain = HashingEmbedder(), HashingEmbedder()
    cache = EmbeddingCache(tmp_path / "vectors")
    cache.embed(embedder, ["one card", "two cards"])
    vectors = cache.embed(embedder, ["three", "two cards", "three", "one card"])
    assert embedder.asked == ["one card", "two cards", "three"]
    assert np.array_equal(vectors, plain.embed(["three", "two cards", "three", "one card"]))
    cache.close()


def test_vectors_outlive_the_process_that_made_them(tmp_path: Path) -> None:
    first, second = HashingEmbedder(), HashingEmbedder()
    texts = [f"text {n}" for n in range(BATCH + 3)]
    cache = EmbeddingCache(tmp_path / "vectors")
    before = cache.embed(first, texts)
    cache.close()
    cache = EmbeddingCache(tmp_path / "vectors")
    assert np.array_equal(cache.embed(second, texts), before)
    assert second.asked == []
    cache.close()


def test_embedders_do_not_share_vectors(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "vectors")
    cache.embed(HashingEmbedder(), ["a"])
    assert cache.embed(HashingEmbedder(32, "words-32"), ["a"]).shape == (1, 32)
    cache.close()


def test_no_texts_make_no_rows(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "vectors")
    assert cache.embed(HashingEmbedder(), []).shape == (0, 64)
    cache.close()


class _Wrong(HashingEmbedder):
    """Answers with too few components, or with one that is no number."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        if self.identity == "nan":
            vectors[0, 0] = np.nan
            return vectors
        return vectors[:, :-1]


@pytest.mark.parametrize("fault", ["narrow", "nan"])
def test_an_answer_of_another_shape_is_an_error_and_not_kept(tmp_path: Path, fault: str) -> None:
    cache = EmbeddingCache(tmp_path / "vectors")
    with pytest.raises(EmbedderError, match=r"required: \(1, 64\), finite"):
        cache.embed(_Wrong(identity=fault), ["a"])
    good = HashingEmbedder(identity=fault)
    cache.embed(good, ["a"])
    assert good.asked == ["a"]
    cache.close()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_bytes(b"this is no database " * 100)
    with pytest.raises(StoreError, match="vectors cannot be used.*delete the file"):
        EmbeddingCache(tmp_path / "vectors")


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "vectors")
    cache.close()
    cache.close()
    with pytest.raises(StoreError, match="is closed"):
        cache.embed(HashingEmbedder(), ["a"])
