"""Embedders that need a network: an OpenAI-compatible endpoint, and Chroma's own MiniLM."""

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vectorstore.settings import EmbedderError, RemoteSettings, Vectors

if TYPE_CHECKING:
    from langchain_openai import OpenAIEmbeddings


LONGEST = 8_000  # characters; endpoints refuse a text of more than about as many tokens


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
