"""Regression on labelled statements: how surely a text says what they say.

Kernel ridge regression (Saunders, Gammerman and Vovk 1998): every statement is 1 for its label, 0
for all others. With texts a and b, unit vectors e, and weights w of their words and pairs of words,

    k(a, b) = exp(-STEEP (1 - e_a . e_b)) + WORDS (w_a . w_b)
    f(x) = k(x, statements) (K + RIDGE I)^-1 Y

so that what many labels say in common counts for none of them. `scripts/meaning.py` makes the
statements of `fitted/statements.npz`, with their vectors as int8, from what people wrote.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from agents.composer.lexicon import word_list
from agents.composer.meaning.tokens import Token, stem, tokenise

Vectors: TypeAlias = npt.NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors of MiniLM, for which all bars were fixed."""

FITTED = Path(__file__).parents[1] / "fitted"
STEEP, RIDGE, WORDS = 4.0, 0.3, 0.5
_DIGITS = 4
_OFTEN, _MOSTLY = 0.25, 0.5  # of a label's statements
_NO = frozenset({"false", "none", "0"})  # values that are a "no" themselves


class Known(NamedTuple):
    """Labelled statements of a family.

    Attributes:
        said: For each of N texts, the setting and its value as `says` writes it; ("", "") where it
            says nothing of a setting.
        texts: N of them.
        vectors: Of the texts, [N, 384].
    """

    said: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    vectors: Vectors


@dataclass(frozen=True)
class Rarity:
    """The weight of each word or pair of words of some texts, and the largest of them."""

    weights: dict[str, float]
    most: float

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Rarity":
        """Less where more texts have it; half of it for a pair."""
        counts = Counter(gram for text in texts for gram in sorted(grams(text)))
        weights = {
            gram: float(np.log((len(texts) + 1) / (count + 0.5))) / (1 + (" " in gram))
            for gram, count in counts.items()
        }
        return cls(weights, max(weights.values(), default=0.0))

    def weighed(self, text: str) -> dict[str, float]:
        """The known words of a text, a vector of length one; an unknown word weighs most."""
        found = sorted(grams(text))
        known = {gram: self.weights[gram] for gram in found if gram in self.weights}
        strange = sum(gram not in self.weights and " " not in gram for gram in found)
        square = sum(weight**2 for weight in known.values()) + strange * self.most**2
        return {gram: weight / max(square**0.5, 1e-9) for gram, weight in known.items()}


@dataclass(frozen=True)
class Statements:
    """Fitted statements.

    Attributes:
        labels: M of them.
        vectors: Of N texts, [N, D].
        rarity: Of their words.
        postings: For each word the texts that have it, and its weights there.
        weights: [N, M].
        often: For a list of words the labels that statements say with them: often, where the value
            is a "no" itself, else mostly.
        embed: Texts to unit vectors; None for words alone.
    """

    labels: tuple[tuple[str, str], ...]
    vectors: Vectors
    rarity: Rarity
    postings: dict[str, tuple[list[int], Vectors]]
    weights: Vectors
    often: dict[str, set[tuple[str, str]]]
    embed: Embed | None

    def scores(self, texts: Sequence[str]) -> Vectors:
        """The certainty with which each of K texts says each of M labels, [K, M]: about 0 to 1."""
        given = np.zeros((len(texts), self.vectors.shape[1]), np.float32)
        given = self.embed(texts) if self.embed is not None else given
        near: Vectors = np.exp(STEEP * (given @ self.vectors.T - 1))
        for row, text in zip(near, texts, strict=True):
            for gram, weight in self.rarity.weighed(text).items():
                at, weights = self.postings[gram]
                row[at] += np.float32(WORDS * weight) * weights
        return np.round(near @ self.weights, _DIGITS)


def fit_statements(known: Known, embed: Embed | None) -> Statements:
    """The regression on these statements; by words alone without `embed`."""
    labels = tuple(dict.fromkeys(label for label in known.said if label[0]))
    rarity = Rarity.of(known.texts)
    rows: dict[str, list[tuple[int, float]]] = {}
    for row, text in enumerate(known.texts):
        for gram, weight in rarity.weighed(text).items():
            rows.setdefault(gram, []).append((row, weight))
    postings = {
        gram: ([row for row, _ in of], np.array([weight for _, weight in of], np.float32))
        for gram, of in rows.items()
    }
    vectors = known.vectors if embed is not None else np.zeros_like(known.vectors)
    wanted = np.zeros((len(known.texts), len(labels)), np.float32)
    for row, label in enumerate(known.said):
        if label[0]:
            wanted[row, labels.index(label)] = 1
    square: Vectors = np.exp(STEEP * (vectors @ vectors.T - 1))
    for at, of in postings.values():
        if len(at) == 1:
            square[at[0], at[0]] += np.float32(WORDS) * (of[0] * of[0])
        else:
            square[np.ix_(at, at)] += np.float32(WORDS) * np.outer(of, of)
    square[np.diag_indices(len(square))] += RIDGE
    weights = np.linalg.solve(square, wanted)
    often: dict[str, set[tuple[str, str]]] = {}
    least = np.array([_OFTEN if value in _NO else _MOSTLY for _, value in labels])
    tokens = [tokenise(text) for text in known.texts]
    for words in ("negators", "reversers"):
        said = np.array([has_any(of_text, words) for of_text in tokens]) @ wanted
        are = zip(labels, said >= least * wanted.sum(axis=0), strict=True)
        often[words] = {label for label, is_so in are if is_so}
    return Statements(labels, vectors, rarity, postings, weights, often, embed)


def has_any(tokens: Iterable[Token], words: str) -> bool:
    """True where one of these is of a list of words."""
    wanted = {*map(stem, word_list(words))}
    return any(token.norm in wanted for token in tokens)


@lru_cache(maxsize=32)
def statements_of(family: str, embed: Embed | None) -> Statements:
    """Sentences on a family's settings, by (setting, value as it is written)."""
    with np.load(FITTED / "statements.npz") as kept:
        said = [tuple(row) for row in json.loads(kept[f"{family}.texts"].tobytes())]
        vectors = kept[f"{family}.vectors"].astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
    known = Known(
        tuple((name, value) for name, value, _ in said), tuple(text for *_, text in said), vectors
    )
    return fit_statements(known, embed)


@lru_cache(maxsize=1 << 14)
def grams(text: str) -> frozenset[str]:
    """The stems of a text that are no function words, and neighbours of these."""
    kept = [
        t.norm for t in tokenise(text) if t.kind != "stop" and t.norm not in word_list("function")
    ]
    return frozenset([*kept, *map(" ".join, zip(kept, kept[1:], strict=False))])
