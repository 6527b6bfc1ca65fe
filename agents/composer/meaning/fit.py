"""Judge of fit: is a brief one of the library's families, or a game that none of them makes?

The brief, as a whole and sentence by sentence, is compared by meaning with what the families are
and can (their `about`, settings and rules) and with the kinds of games that nobody here makes
(`kinds` of the common words). The bar was fixed on development briefs; `evals/fit.py` measures it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agents.composer.lexicon import game_of
from agents.composer.loader import common, lexicons
from agents.composer.tokens import unwrapped
from games.library import presets, rulebook

Vectors: TypeAlias = npt.NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors of MiniLM, for which the bars were fixed."""

BAR = 0.04
"""Least score with which a game is made without asking."""
_USUAL_NEARNESS = 0.45
_SHORT = 10
_MOST_WORDS = 40
_NAME_WEIGHT = 20
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
    stated = [text for vs in lexicon.says.values() for texts in vs.values() for text in texts]
    wholes = (*lexicon.about, lexicon.title, *named)
    return _Texts(wholes, (*said, *meanings, *rules, *named, *stated))


@cache
def _of_others() -> tuple[tuple[str, ...], _Texts]:
    """Names of the kinds; their descriptions in the same order, and the names again; sentences."""
    kinds = common().kinds
    parts = [*(part for text in kinds.values() for part in sentences(text)), *common().kinds_say]
    wholes = (*(f"{kind}. {text}" for kind, text in kinds.items()), *kinds)
    return tuple(kinds), _Texts(wholes, (*parts, *kinds))


def own_texts() -> list[str]:
    """Every text that briefs are compared with, to be embedded once."""
    _, others = _of_others()
    all_texts = [others, *(_of_family(lexicon.family) for lexicon in lexicons())]
    return [*(text for texts in all_texts for text in (*texts.wholes, *texts.parts))]


def judge(words: str, embed: Embed, evidence: Mapping[str, int]) -> Judgement:
    """The family that a brief is nearest to, and how much nearer than to any other kind.

    Args:
        words: The brief.
        embed: Texts to unit vectors.
        evidence: Weight of each family's names and words in the brief; where two families are near
            by meaning it decides, and a brief of few words may rest on a name alone.
    """
    whole, said = embed([words])[0], embed(sentences(words))
    kinds, others = _of_others()
    to_kinds = embed(others.wholes) @ whole
    near_others = (said @ embed(others.parts).T).max(axis=1)
    found = []
    for lexicon in lexicons():
        texts = _of_family(lexicon.family)
        near = float((embed(texts.wholes) @ whole).max())
        parts = (said @ embed(texts.parts).T).max(axis=1)
        weight = evidence[lexicon.family]
        rank = near + float(parts.mean()) / 2 + min(weight, _MOST_WORDS) / 250
        brevity = _SHORT / max(_SHORT, len(words.split()))
        named = brevity if weight >= _NAME_WEIGHT else 0.0
        rank += named / 2
        score = near - float(to_kinds.max()) + float((parts - near_others).mean())
        score += float(parts.mean()) - _USUAL_NEARNESS + named / 2
        score -= 0.0 if weight else _NO_WORD * brevity
        found.append((rank, lexicon.family, score))
    _, family, score = max(found)
    return Judgement(family, score, kinds[int(to_kinds.argmax()) % len(kinds)])
