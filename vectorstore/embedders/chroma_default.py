"""Chroma's own MiniLM, an ONNX model that it downloads at the first text."""

from collections.abc import Sequence

import numpy as np

from vectorstore.embedders.base import Vectors
from vectorstore.errors import EmbedderError


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
