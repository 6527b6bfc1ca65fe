"""Feature hashing (Weinberger et al. 2009): texts by their words alone, without a model.

A text is the sum of its features' signs, each at a hashed place: words, and the trigrams of each
word at a smaller weight, so that "card" and "cards" are near. Counts enter as 1 + ln(count). No
meaning is known: two words for one thing have nothing in common.
"""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from math import log

import numpy as np

from vectorstore.settings import Vectors

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
