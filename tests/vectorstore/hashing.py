"""An embedder for tests: a bag of words, hashed; equal words make near vectors."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from vectorstore.documents import Vectors


class HashingEmbedder:
    """Counts words into `dimension` buckets; remembers what it was asked."""

    def __init__(self, dimension: int = 64, identity: str = "words-64") -> None:
        self.dimension = dimension
        self.identity = identity
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                bucket = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
                vectors[row, bucket % self.dimension] += 1.0
            vectors[row, 0] += 1e-3
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit
