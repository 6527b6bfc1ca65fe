"""One owner at a time, across processes; and vectors that are worked out once."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from scripts.vectors import library_texts
from tests.vectorstore.hashing import HashingEmbedder
from vectorstore.client import BATCH, EmbeddingCache, owner_lock, packaged_vectors
from vectorstore.documents import EmbedderError, StoreError, StoreLockedError, Vectors
from vectorstore.minilm import MiniLM

ROOT = Path(__file__).parents[2]
HOLD = """
import sys, time
from pathlib import Path
from vectorstore.client import owner_lock
lock = owner_lock(Path(sys.argv[1]), wait_s=0, tell=print)
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextmanager
def owner(path: Path, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock for so long, or until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_second_process_is_told_who_holds_the_store(tmp_path: Path) -> None:
    told: list[str] = []
    with owner(tmp_path / "lock", 60) as other:
        with pytest.raises(StoreLockedError) as caught:
            owner_lock(tmp_path / "lock", wait_s=0.3, tell=told.append)
        assert f"in use by process {other.pid} on " in str(caught.value)
        assert "wait for it to end" in str(caught.value)
        assert len(told) == 1
        assert f"process {other.pid}" in told[0]


def test_a_second_process_waits_for_the_first(tmp_path: Path) -> None:
    told: list[str] = []
    with owner(tmp_path / "lock", 0.5):
        lock = owner_lock(tmp_path / "lock", wait_s=30, tell=told.append)
    lock.close()
    assert len(told) == 1


def test_a_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    with owner(tmp_path / "lock", 60) as other:
        other.send_signal(signal.SIGKILL)
        other.wait()
        owner_lock(tmp_path / "lock", wait_s=5, tell=pytest.fail).close()


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        lock = owner_lock(tmp_path / "lock", wait_s=0, tell=pytest.fail)
        with pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
            owner_lock(tmp_path / "lock", wait_s=0, tell=pytest.fail)
        lock.close()
        lock.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write .*choose a folder"):
        owner_lock(tmp_path / "file" / "lock", wait_s=0, tell=pytest.fail)


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


def test_every_text_of_the_library_comes_with_its_vector() -> None:
    keys = {hashlib.sha256(text.encode()).hexdigest() for text in library_texts()}
    assert packaged_vectors(MiniLM.identity).keys() == keys, "run python -m scripts.vectors"


def test_packaged_vectors_are_what_the_embedder_says_to_ten_bits() -> None:
    texts = library_texts()[::200]
    keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    packaged = packaged_vectors(MiniLM.identity)
    vectors = np.stack([packaged[key] for key in keys])
    # A component is off by half a step of float16, and by the rounding of the vector's length.
    apart = np.abs(vectors - MiniLM().embed(texts))
    assert (apart.max(axis=1) < np.abs(vectors).max(axis=1) / 1000).all()


def test_what_is_packaged_is_not_worked_out_and_not_kept_again(tmp_path: Path) -> None:
    class Never(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError(texts)

    cache = EmbeddingCache(tmp_path / "vectors")
    size = (tmp_path / "vectors").stat().st_size
    texts = library_texts()
    vectors = cache.embed(Never(MiniLM.dimension, MiniLM.identity), texts)
    assert vectors.shape == (len(texts), MiniLM.dimension)
    assert vectors.dtype == np.float32
    assert (tmp_path / "vectors").stat().st_size == size
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
