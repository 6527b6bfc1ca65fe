"""Statements of a family's settings, and how surely a text says what one of them says.

Kernel ridge regression (Saunders, Gammerman and Vovk 1998): every statement of the family's words
(`says`) is 1 for its setting and value and 0 for all others; sentences of games that nobody makes
are 0 for all. With texts a and b, unit vectors e and weights w of their words and pairs of words,

    k(a, b) = exp(-STEEP (1 - e_a . e_b)) + WORDS (w_a . w_b)
    f(x) = k(x, statements) (K + RIDGE I)^-1 Y

so that what many settings say in common counts for none of them. The three constants were chosen
on the development briefs with the briefs' settings as the only labels.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from agents.composer.loader import common, lexicons
from agents.composer.meaning.fit import Embed, Vectors
from agents.composer.tokens import FUNCTION_WORDS, merge_numbers, tokenise

STEEP, WORDS, RIDGE = 4.0, 0.5, 0.3
_EVERY = 2  # of the sentences that say nothing here, one in so many
_DIGITS = 4


@dataclass(frozen=True)
class Statements:
    """The fitted statements of one family.

    Attributes:
        meanings: (setting, value as its words write it), M of them.
        vectors: Of N texts, [N, D].
        places: The column of each word or pair of words.
        rarity: The weight of each, [W].
        words: Weights of the words of the N texts, [N, W], rows of length one.
        weights: [N, M].
        embed: Texts to unit vectors.
    """

    meanings: tuple[tuple[str, str], ...]
    vectors: Vectors
    places: dict[str, int]
    rarity: Vectors
    words: Vectors
    weights: Vectors
    embed: Embed

    def scores(self, texts: Sequence[str]) -> Vectors:
        """How surely each of K texts says each of the M meanings, [K, M]: about 0 to 1."""
        words = _weighed(texts, self.places, self.rarity)
        near = _kernel(self.embed(texts), self.vectors, words, self.words)
        return np.round(near @ self.weights, _DIGITS)


@lru_cache(maxsize=32)
def statements_of(family: str, embed: Embed) -> Statements:
    """The statements of a family's words, fitted once for an embedder."""
    lexicon = next(lexicon for lexicon in lexicons() if lexicon.family == family)
    said = [
        ((name, value), text)
        for name, values in lexicon.says.items()
        for value, texts in values.items()
        for text in texts
    ]
    meanings = tuple(dict.fromkeys(meaning for meaning, _ in said))
    texts = [*(text for _, text in said), *common().kinds_say[::_EVERY]]
    counts = Counter(gram for text in texts for gram in _grams(text))
    places = {gram: column for column, gram in enumerate(sorted(counts))}
    rarity = np.array([_rarity(gram, counts[gram], len(texts)) for gram in places], np.float32)
    vectors, words = embed(texts), _weighed(texts, places, rarity)
    wanted = np.zeros((len(texts), len(meanings)), np.float32)
    for row, (meaning, _) in enumerate(said):
        wanted[row, meanings.index(meaning)] = 1
    known = _kernel(vectors, vectors, words, words)
    weights = np.linalg.solve(known + RIDGE * np.eye(len(texts), dtype=np.float32), wanted)
    return Statements(meanings, vectors, places, rarity, words, weights, embed)


def _kernel(left: Vectors, right: Vectors, left_words: Vectors, right_words: Vectors) -> Vectors:
    near: Vectors = np.exp(STEEP * (left @ right.T - 1)) + WORDS * (left_words @ right_words.T)
    return near


def _grams(text: str) -> set[str]:
    """The stems of a text that are no function words, and neighbours of these."""
    tokens = merge_numbers(tokenise(text))
    stems = [t.norm for t in tokens if t.kind != "stop" and t.norm not in FUNCTION_WORDS]
    return {*stems, *(f"{one} {two}" for one, two in zip(stems, stems[1:], strict=False))}


def _rarity(gram: str, count: int, texts: int) -> float:
    """The weight of a word, less where more texts have it; half of it for a pair."""
    return float(np.log((texts + 1) / (count + 0.5))) / (1 + (" " in gram))


def _weighed(texts: Sequence[str], places: dict[str, int], rarity: Vectors) -> Vectors:
    """Weights of the known words of texts, rows of length one; an unknown word weighs most."""
    found = np.zeros((len(texts), len(places)), np.float32)
    for row, text in enumerate(texts):
        grams = _grams(text)
        columns = [places[gram] for gram in grams if gram in places]
        strange = sum(gram not in places and " " not in gram for gram in grams)
        found[row, columns] = rarity[columns]
        length = np.sqrt((rarity[columns] ** 2).sum() + strange * rarity.max(initial=0) ** 2)
        found[row] /= max(float(length), 1e-9)
    return found
