"""MiniLM on numpy against the same weights run by torch (`minilm_reference.json`)."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vectorstore.documents import EmbedderError
from vectorstore.minilm import LONGEST, MiniLM, packaged_model

REFERENCE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "minilm_reference.json").read_text(encoding="utf-8")
)["rows"]
TEXTS = [row["text"] * row["times"] for row in REFERENCE]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    if packaged_model() is None:
        pytest.skip("the MiniLM weights (requirements-embeddings.lock) are not installed")
    return MiniLM()


def test_vectors_agree_with_torch(model: MiniLM) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 384)
    for vector, row in zip(vectors, REFERENCE, strict=True):
        assert vector[:8] == pytest.approx(row["first"], abs=1e-6), row["text"]


def test_vectors_are_of_length_one(model: MiniLM) -> None:
    assert np.linalg.norm(model.embed(TEXTS), axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_text_has_the_same_vector_alone_and_among_others(model: MiniLM) -> None:
    together = model.embed(TEXTS + TEXTS[::-1])
    for row, text in enumerate(TEXTS):
        alone = model.embed([text])[0]
        assert np.abs(together[row] - alone).max() < 1e-6
        assert np.abs(together[-1 - row] - alone).max() < 1e-6


def test_a_long_text_is_cut_at_the_published_limit(model: MiniLM) -> None:
    cut, longer = model.embed(["card " * (LONGEST - 2), "card " * 5000])
    assert np.abs(cut - longer).max() < 1e-6


def test_paraphrases_lie_nearer_than_other_rules(model: MiniLM) -> None:
    a, b, c, d = model.embed(TEXTS[:4])
    assert a @ b > 0.7  # both: draw two cards
    assert max(a @ c, a @ d, b @ c, b @ d) < 0.5


def test_no_texts_make_no_rows(model: MiniLM) -> None:
    assert model.embed([]).shape == (0, 384)


def test_threads_share_one_model(model: MiniLM) -> None:
    fresh = MiniLM()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: fresh.embed([text])[0], TEXTS[:4]))
    assert np.abs(np.stack(rows) - model.embed(TEXTS[:4])).max() < 1e-6


def test_damaged_weights_are_refused(model: MiniLM, tmp_path: Path) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(model.folder / name, tmp_path / name)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x00\x01\x02\x03")
    with pytest.raises(EmbedderError, match="SHA-256 .* required: 53aa51172d14"):
        MiniLM(tmp_path).embed(["x"])


def test_missing_weights_are_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="not installed.*--no-deps"):
        MiniLM(tmp_path / "nowhere")
    with pytest.raises(EmbedderError, match="cannot read .*model.safetensors"):
        MiniLM(tmp_path).embed(["x"])
