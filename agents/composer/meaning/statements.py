"""Regression on labelled statements: how surely a text says what they say.

Kernel ridge regression (Saunders, Gammerman and Vovk 1998): every statement is 1 for its label, 0
for all others. With texts a and b, unit vectors e, and weights w of their words and pairs of words,

    k(a, b) = exp(-STEEP (1 - e_a . e_b)) + words (w_a . w_b)
    f(x) = k(x, statements) (K + ridge I)^-1 Y

so that what many labels say in common counts for none of them. The constants were chosen on the
development briefs with the briefs' families and settings as the only labels.

Labelled briefs, in `briefs/`, are what people asked for in words and what a fair reader found in
them: one file for each author, a brief a line. Their authors saw the list of games and settings,
but neither code nor words.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from agents.composer.loader import common, lexicon_of
from agents.composer.tokens import FUNCTION_WORDS, merge_numbers, tokenise

_FOLDER = Path(__file__).parent / "briefs"


class Seats(BaseModel, frozen=True, extra="forbid"):
    """Numbers of players."""

    min: int
    max: int


class LabelledBrief(BaseModel, frozen=True, extra="forbid"):
    """One brief and what is right for it.

    Attributes:
        id: Its name.
        kind: Whether it is a family's game; a border brief has a family's core and rules that none
            has.
        text: The brief.
        family: The right family; None for `out`.
        seats: How many play; None where it does not say.
        settings: What it asks of the family's settings.
        unhonoured: Its demands that the family cannot honour.
        said: Setting, value as `says` of a family's words writes it, and the part that says so.
        silent: Parts that say nothing of any setting.
    """

    id: str
    kind: Literal["in", "out", "border"]
    text: str
    family: str | None
    seats: int | Seats | None
    settings: dict[str, bool | int | str]
    unhonoured: tuple[str, ...]
    said: tuple[tuple[str, str, str], ...] = ()
    silent: tuple[str, ...] = ()


@cache
def labelled_briefs() -> dict[str, tuple[LabelledBrief, ...]]:
    """The briefs that are learned from, by author."""
    return {
        path.stem: tuple(map(LabelledBrief.model_validate_json, path.read_text().splitlines()))
        for path in sorted(_FOLDER.glob("*.jsonl"))
    }


Vectors: TypeAlias = npt.NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors of MiniLM, for which all bars were fixed."""

STEEP = 4.0
_RIDGE, _WORDS = 0.3, 0.5  # of a family's settings
_DIGITS = 4


@dataclass(frozen=True)
class Rarity:
    """The weight of each word or pair of words of some texts, and the largest of them."""

    weights: dict[str, float]
    most: float

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Rarity":
        """Less where more texts have it; half of it for a pair."""
        counts = Counter(gram for text in texts for gram in sorted(_grams(text)))
        weights = {
            gram: float(np.log((len(texts) + 1) / (count + 0.5))) / (1 + (" " in gram))
            for gram, count in counts.items()
        }
        return cls(weights, max(weights.values(), default=0.0))

    def weighed(self, text: str) -> dict[str, float]:
        """The known words of a text, a vector of length one; an unknown word weighs most."""
        grams = sorted(_grams(text))
        known = {gram: self.weights[gram] for gram in grams if gram in self.weights}
        strange = sum(gram not in self.weights and " " not in gram for gram in grams)
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
        words: What words in common weigh beside the embedding.
        embed: Texts to unit vectors.
    """

    labels: tuple[tuple[str, str], ...]
    vectors: Vectors
    rarity: Rarity
    postings: dict[str, tuple[list[int], Vectors]]
    weights: Vectors
    words: float
    embed: Embed

    def scores(self, texts: Sequence[str]) -> Vectors:
        """The certainty with which each of K texts says each of M labels, [K, M]: about 0 to 1."""
        words = [self.rarity.weighed(text) for text in texts]
        near: Vectors = np.exp(STEEP * (self.embed(texts) @ self.vectors.T - 1))
        for row, weighed in zip(near, words, strict=True):
            for gram, weight in weighed.items():
                at, weights = self.postings[gram]
                row[at] += np.float32(self.words * weight) * weights
        return np.round(near @ self.weights, _DIGITS)


def fit_statements(
    said: Sequence[tuple[tuple[str, str], str]],
    silent: Sequence[str],
    ridge: float,
    words: float,
    embed: Embed,
) -> Statements:
    """Statements with their labels, and texts that say nothing, fitted.

    Args:
        said: Labels and texts.
        silent: Further texts, 0 for every label.
        ridge: The regression's.
        words: What words in common weigh.
        embed: Texts to unit vectors.
    """
    labels = tuple(dict.fromkeys(label for label, _ in said))
    texts = [*(text for _, text in said), *silent]
    rarity = Rarity.of(texts)
    weighed_texts = [rarity.weighed(text) for text in texts]
    rows: dict[str, list[int]] = {}
    for row, weighed in enumerate(weighed_texts):
        for gram in weighed:
            rows.setdefault(gram, []).append(row)
    postings = {
        gram: (at, np.array([weighed_texts[row][gram] for row in at], np.float32))
        for gram, at in rows.items()
    }
    vectors = embed(texts)
    wanted = np.zeros((len(texts), len(labels)), np.float32)
    for row, (label, _) in enumerate(said):
        wanted[row, labels.index(label)] = 1
    known: Vectors = np.exp(STEEP * (vectors @ vectors.T - 1))
    for at, of in postings.values():
        if len(at) == 1:  # most of them; the same sum, without an array for it
            known[at[0], at[0]] += np.float32(words) * (of[0] * of[0])
        else:
            known[np.ix_(at, at)] += np.float32(words) * np.outer(of, of)
    known[np.diag_indices(len(texts))] += ridge
    weights = np.linalg.solve(known, wanted)
    return Statements(labels, vectors, rarity, postings, weights, words, embed)


@lru_cache(maxsize=32)
def statements_of(family: str, embed: Embed) -> Statements:
    """Sentences on a family's settings and seats, by (setting, value as it is written)."""
    return statements_from(family, labelled_briefs(), embed)


def statements_from(
    family: str, briefs: Mapping[str, Sequence[LabelledBrief]], embed: Embed
) -> Statements:
    """Statements on settings and seats, from the family's words and these briefs by author."""
    said = [
        ((name, value), text)
        for name, values in {**lexicon_of(family).says, **common().says}.items()
        for value, texts in values.items()
        for text in texts
    ]
    own = [brief for of in briefs.values() for brief in of if brief.family == family]
    said += [((name, value), text) for brief in own for name, value, text in brief.said]
    silent = [text for brief in own for text in brief.silent]
    return fit_statements(said, silent, _RIDGE, _WORDS, embed)


@lru_cache(maxsize=1 << 14)
def _grams(text: str) -> frozenset[str]:
    """The stems of a text that are no function words, and neighbours of these."""
    tokens = merge_numbers(tokenise(text))
    stems = [t.norm for t in tokens if t.kind != "stop" and t.norm not in FUNCTION_WORDS]
    return frozenset([*stems, *map(" ".join, zip(stems, stems[1:], strict=False))])
