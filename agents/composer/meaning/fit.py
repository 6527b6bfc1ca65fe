"""Judge of fit: is a brief one of the library's families, or a game that none of them makes?

The brief, as a whole and sentence by sentence, is compared by meaning with what the families are
and can (their `about`, settings and rules) and with the kinds of games that nobody here makes
(`kinds` of the common words): by the nearest text, and by a regression on all of them. The bar was
fixed on development briefs; `evals/fit.py` measures it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from agents.composer.lexicon import game_of
from agents.composer.loader import common, lexicons
from agents.composer.meaning.statements import Embed, Statements, Vectors, fit_statements
from agents.composer.tokens import unwrapped
from games.library import presets, rulebook

BAR = 0.04
"""Least score with which a game is made without asking."""
_RIDGE = 1.0
_USUAL_NEARNESS = 0.45  # of the parts of a brief of few words, which the regression knows little of
_USUAL_LEAD = 0.24  # by the regression, of long ones
_SHORT = 10
_MOST_WORDS = 40
_NAME_WEIGHT = 20
_STATED = 5  # statements of each value of a setting: about as many as of a kind of game
_NO_WORD = 0.15  # what the meaning must be clearer by where no word points to the family
_RULE = re.compile(r"^- R\d+: (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+\s*[-*\d.]*\s*")


@dataclass(frozen=True)
class Judgement:
    """Which family is nearest, and whether it is what the brief asks for.

    Attributes:
        family: The nearest.
        score: Nearness to it less nearness to every other kind of game; compare with `BAR`.
        other: The nearest kind of game that no family makes.
    """

    family: str
    score: float
    other: str


def sentences(words: str) -> list[str]:
    r"""The parts of a text that say something: sentences, and lines of a list.

    >>> sentences("Sea battle for two. - 8 x 8 grid each\n- hit: you shoot again")
    ['Sea battle for two.', '- 8 x 8 grid each', 'you shoot again']
    """
    found = [part.strip() for part in _SENTENCE.split(unwrapped(words))]
    return [part for part in found if len(part.split()) > 2] or [words]  # noqa: PLR2004


@dataclass(frozen=True)
class _Texts:
    """Texts of one family, or of all other kinds: whole descriptions, and single sentences."""

    wholes: tuple[str, ...]
    parts: tuple[str, ...]


@cache
def _of_family(family: str) -> _Texts:
    lexicon = next(lexicon for lexicon in lexicons() if lexicon.family == family)
    game = game_of(lexicon.family)
    named = [p.name.replace("_", " ") for p in presets().values() if p.family == lexicon.family]
    rules = _RULE.findall(rulebook(lexicon.family, game.defaults(), max(2, game.min_players)))
    meanings = [parameter.meaning for parameter in game.parameters.values()]
    said = [part for text in lexicon.about for part in sentences(text)]
    valued = [texts for values in lexicon.says.values() for texts in values.values()]
    stated = [text for texts in valued for text in texts[:_STATED]]
    wholes = (*lexicon.about, lexicon.title, *named)
    return _Texts(wholes, (*said, *meanings, *rules, *named, *stated))


@cache
def _of_others() -> dict[str, _Texts]:
    """Texts of each kind of game that no family makes."""
    shared = common()
    return {
        kind: _Texts(
            (f"{kind}. {text}", kind), (kind, *sentences(text), *shared.kinds_say.get(kind, ()))
        )
        for kind, text in shared.kinds.items()
    }


def own_texts() -> list[str]:
    """Every text that briefs are compared with, to be embedded once."""
    families = (_of_family(lexicon.family) for lexicon in lexicons())
    spoken = [values for lexicon in lexicons() for values in lexicon.says.values()]
    stated = [
        t for values in (*spoken, *common().says.values()) for v in values.values() for t in v
    ]
    of = (*_of_others().values(), *families)
    return [*(text for one in of for text in one.wholes + one.parts), *stated]


@lru_cache(maxsize=8)
def _games(embed: Embed) -> Statements:
    """Texts of all families and kinds, fitted once for an embedder.

    Labelled ("family", its name) or ("kind", its name).
    """
    labelled = [(("kind", kind), texts) for kind, texts in _of_others().items()]
    for lexicon in lexicons():
        labelled.append((("family", lexicon.family), _of_family(lexicon.family)))
    said = [(of, t) for of, texts in labelled for t in dict.fromkeys(texts.wholes + texts.parts)]
    return fit_statements(said, (), _RIDGE, embed)


def judge(words: str, embed: Embed, evidence: Mapping[str, int]) -> Judgement:
    """The family that a brief is nearest to, and how much nearer than to any other kind.

    Args:
        words: The brief.
        embed: Texts to unit vectors.
        evidence: Weight of each family's names and words in the brief; where two families are near
            by meaning it decides, and a brief of few words may rest on a name alone.
    """
    whole, said = embed([words])[0], embed(sentences(words))
    kinds = [(kind, text) for kind, texts in _of_others().items() for text in texts.wholes]
    to_kinds: Vectors = embed([text for _, text in kinds]) @ whole
    others = embed([text for texts in _of_others().values() for text in texts.parts])
    near_others = (said @ others.T).max(axis=1)
    games = _games(embed)
    by_part, by_whole = games.scores(sentences(words)).mean(axis=0), games.scores([words])[0]
    is_kind = np.array([what == "kind" for what, _ in games.labels])
    found = []
    for lexicon in lexicons():
        texts, column = _of_family(lexicon.family), games.labels.index(("family", lexicon.family))
        near = float((embed(texts.wholes) @ whole).max())
        parts = (said @ embed(texts.parts).T).max(axis=1)
        weight = evidence[lexicon.family]
        rank = near + float(parts.mean()) / 2 + min(weight, _MOST_WORDS) / 250
        brevity = _SHORT / max(_SHORT, len(words.split()))
        named = brevity if weight >= _NAME_WEIGHT else 0.0
        rank += named / 2 + float(by_part[column])
        score = near - float(to_kinds.max()) + float((parts - near_others).mean())
        lead = sum(float(by[column] - by[is_kind].max()) for by in (by_part, by_whole))
        score += (1 - brevity) * (lead - _USUAL_LEAD)
        score += brevity * (float(parts.mean()) - _USUAL_NEARNESS)
        score += named / 2 - (0.0 if weight else _NO_WORD * brevity)
        found.append((rank, lexicon.family, score))
    _, family, score = max(found)
    return Judgement(family, score, kinds[int(to_kinds.argmax())][0])
