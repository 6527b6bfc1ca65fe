"""Judge of fit: is a brief one of the library's families, or a game that none of them makes?

A regression on labelled briefs, on what the families are (`about` of their words) and on kinds of
games that nobody here makes (`kinds` of the common words) scores the brief, as a whole and sentence
by sentence, for each family and for all other games. A multinomial logit (McFadden 1974) of these
scores and of the words that name a family gives the probability of each. `evals/fit.py` measures it
on briefs that it has not learned from.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agents.composer.loader import common, lexicons
from agents.composer.meaning.statements import (
    Embed,
    LabelledBrief,
    Statements,
    fit_statements,
    labelled_briefs,
)
from agents.composer.tokens import unwrapped
from games.library import presets

BAR = 0.65
"""Least probability that a brief asks for its family, with which one is made unasked."""
_RIDGE, _WORDS = 0.3, 1.0
_FAMILY = (10.03, 3.08, 0.6, 0.74)
_OTHER = (0.78, 5.55, 2.21, 0.62)
_FITS, _KEPT, _BASE = 0.87, 3.57, -1.11
"""Weights of what `measures` gives for a family and for all other games, and of what is kept.

Fitted on the labelled briefs; each author's were also predicted from the others'.
`scripts/meaning.py` fits them anew.
"""
_LEAST = 1e-4  # probabilities nearer to 0 or 1 are not told apart
_SHORT = 10
_MOST_WORDS = 40
_NAME_WEIGHT = 20
_OUT = ("other", "")
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+\s*[-*\d.]*\s*")


@dataclass(frozen=True)
class Judgement:
    """Which family is most probable, and whether it is what the brief asks for.

    Attributes:
        family: The family.
        sure: Its probability, where the choice is between it and a game that no family makes.
        other: The nearest kind of game that no family makes.
    """

    family: str
    sure: float
    other: str

    def fits(self, kept: int, lost: int) -> float:
        """The same probability, where the family keeps and loses so many of the brief's demands.

        A logistic regression on the log-odds of `sure` and on the share that is kept.
        """
        odds = np.log(self.sure / (1 - self.sure))
        share = kept / max(1, kept + lost)
        return float(1 / (1 + np.exp(-(_FITS * odds + _KEPT * share + _BASE))))


def sentences(words: str) -> list[str]:
    r"""The parts of a text that say something: sentences, and lines of a list.

    >>> sentences("Sea battle for two. - 8 x 8 grid each\n- hit: you shoot again")
    ['Sea battle for two.', '- 8 x 8 grid each', 'you shoot again']
    """
    found = [part.strip() for part in _SENTENCE.split(unwrapped(words))]
    return [part for part in found if len(part.split()) > 2] or [words]  # noqa: PLR2004


def described() -> list[tuple[tuple[str, str], str]]:
    """What the library itself says of its families and of other kinds of games, with its label."""
    said = []
    for lexicon in lexicons():
        named = [p.name.replace("_", " ") for p in presets().values() if p.family == lexicon.family]
        about = (*lexicon.about, lexicon.title, *named)
        said += [(("family", lexicon.family), text) for text in about]
    kinds = common().kinds.items()
    return said + [(_OUT, text) for kind, about in kinds for text in (f"{kind}. {about}", kind)]


def games_of(briefs: Sequence[LabelledBrief], embed: Embed) -> Statements:
    """What these briefs and the library say of games, by ("family", its name) or ("other", "")."""
    labelled = [(("family", b.family) if b.family else _OUT, b.text) for b in briefs]
    return fit_statements([*labelled, *described()], (), _RIDGE, _WORDS, embed)


@lru_cache(maxsize=8)
def _games(embed: Embed) -> Statements:
    return games_of([brief for of in labelled_briefs().values() for brief in of], embed)


def measures(words: str, games: Statements, evidence: Mapping[str, int]) -> npt.NDArray[np.float64]:
    """What the probability of each family, and last of any other game, rests on, [13, 8].

    For a family: how surely the brief says it, as a whole and on average of its sentences; the
    weight of the words that point to it; whether its name is most of what a short brief says. For
    other games, in columns of their own: one, the two scores, and how short the brief is.
    """
    whole, parts = games.scores([words])[0], games.scores(sentences(words)).mean(axis=0)
    brevity = _SHORT / max(_SHORT, len(words.split()))
    rows = []
    for lexicon in lexicons():
        at, weight = games.labels.index(("family", lexicon.family)), evidence[lexicon.family]
        named = brevity if weight >= _NAME_WEIGHT else 0.0
        pointing = min(weight, _MOST_WORDS) / _MOST_WORDS
        rows.append((whole[at], parts[at], pointing, named, 0, 0, 0, 0))
    out = games.labels.index(_OUT)
    return np.array([*rows, (0, 0, 0, 0, 1, whole[out], parts[out], brevity)], np.float64)


def judge(words: str, embed: Embed, evidence: Mapping[str, int]) -> Judgement:
    """The most probable family of a brief, and how probable it is beside every other game.

    Args:
        words: The brief.
        embed: Texts to unit vectors.
        evidence: Weight of each family's names and words in the brief.
    """
    scores = measures(words, _games(embed), evidence) @ np.array([*_FAMILY, *_OTHER])
    best = int(scores[:-1].argmax())
    kinds = list(common().kinds)
    near = embed([f"{kind}. {common().kinds[kind]}" for kind in kinds]) @ embed([words])[0]
    sure = float(np.clip(1 / (1 + np.exp(scores[-1] - scores[best])), _LEAST, 1 - _LEAST))
    return Judgement(lexicons()[best].family, sure, kinds[int(near.argmax())])
