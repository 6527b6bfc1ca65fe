"""Judge of fit: is a brief one of the library's families, or a game that none of them makes?

A regression on labelled briefs, on what the families are (`about` of their words) and on kinds of
games that nobody here makes (`kinds` of the common words) scores the brief, as a whole and sentence
by sentence, for each family and for all other games. A multinomial logit (McFadden 1974) of these
scores and of the words that name a family gives the probability of each. `evals/fit.py` measures it
on briefs that it has not learned from. Where the words are no brief at all, a question is asked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

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
from agents.composer.mentions import ParsedBrief, is_filler, parse_brief
from agents.composer.reader import family_scores
from agents.composer.tokens import FUNCTION_WORDS, unwrapped, word_set
from games.library import presets

BAR = 0.65
"""Least probability that a brief asks for its family, with which one is made unasked."""
_RIDGE, _WORDS = 0.3, 1.0
_FAMILY = (10.06, 3.12, 0.58, 0.78)
_OTHER = (0.8, 5.58, 2.23, 0.63)
_FITS, _KEPT, _BASE = 0.88, 3.67, -1.05
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

LONGEST = 4000
"""Characters of a brief, or of a message, that are read."""
_SURE = 6
_HALF = 0.5
_FOREIGN = word_set(
    "un une le la les des pour avec jeu cartes joueurs où et dans sur est deux trois quatre ein "
    "eine einen der die das und für mit spiel spieler karten wo ist auf drei vier zwei el los las "
    "para con juego cartas jugadores donde por del una tres cuatro dos il gli di per gioco carte "
    "giocatori che tre due quattro um uma jogo jogadores onde het een voor met spel spelers "
    "kaarten en och för ett gra dla graczy z w i kart na ve için oyun bir que qui quien como ou "
    "oder"
)
_ENGLISH = word_set(
    "a an the of for with where and game player players card cards play is are in to on board that "
    "each you"
)
_AMBIGUOUS = word_set("die i in an on is a do me he we")
_ENOUGH = 3
"""Content words from which the nearest mechanic by meaning is looked for."""
_ASKS = re.compile(
    r"\s*(?:and |but )?(?:why|how|what|who|which|when(?![^?]+,[^?]+$)|where|explain)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Judgement:
    """The most probable family, and the judgement on its fit to the brief.

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
    """The library's own sentences on its families and on other games, with their labels."""
    said = []
    for lexicon in lexicons():
        named = [p.name.replace("_", " ") for p in presets().values() if p.family == lexicon.family]
        about = (*lexicon.about, lexicon.title, *named)
        said += [(("family", lexicon.family), text) for text in about]
    kinds = common().kinds.items()
    return said + [(_OUT, text) for kind, about in kinds for text in (f"{kind}. {about}", kind)]


def games_of(briefs: Sequence[LabelledBrief], embed: Embed) -> Statements:
    """Sentences of these briefs and the library, by ("family", its name) or ("other", "")."""
    labelled = [(("family", b.family) if b.family else _OUT, b.text) for b in briefs]
    return fit_statements([*labelled, *described()], (), _RIDGE, _WORDS, embed)


@lru_cache(maxsize=8)
def _games(embed: Embed) -> Statements:
    return games_of([brief for of in labelled_briefs().values() for brief in of], embed)


def measures(words: str, games: Statements, evidence: Mapping[str, int]) -> npt.NDArray[np.float64]:
    """The measures behind the probability of each family, and last of any other game, [13, 8].

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


def asks(words: str) -> bool:
    """True for words that ask about a game and want no change.

    >>> asks("Why does the first player win so often?"), asks("can it be for four?")
    (True, False)
    >>> asks("When does a deal end"), asks("when only five of us turn up, deal six cards")
    (True, False)
    """
    return _ASKS.match(words) is not None


@cache
def offer() -> str:
    """A sentence on the games that can be made."""
    titles = [f"a {lexicon.title}" for lexicon in lexicons()]
    return (
        f"What can be made without a language model: {', '.join(titles[:-1])} or {titles[-1]}, "
        "with the players, deck, hand, board, score and twists that you name."
    )


def question_for(words: str, *, judged: bool = False) -> str | None:
    """The one clarifying question, or None where a game can be made of the words.

    Args:
        words: The brief.
        judged: Whether fit is judged by meaning afterwards, so that unknown words are no reason.
    """
    if len(words) > LONGEST:
        return (
            f"The brief has {len(words)} characters; at most {LONGEST} are read. Which game "
            "do you want, in a few sentences?"
        )
    if not re.search(r"[^\W_]", words):
        return f"The brief is empty. Which game do you want? {offer()}"
    parsed = parse_brief(words)
    if _is_foreign(parsed):
        return (
            "The brief does not seem to be in English. Another language is read by a language "
            "model alone (set RULEWRIGHT_MODEL); without one, which game do you want, in English? "
            f"{offer()}"
        )
    score = max(family_scores(parsed).values(), default=0)
    return _nothing_to_build(parsed, score, judged=judged) if score < _SURE else None


def _nothing_to_build(parsed: ParsedBrief, score: int, *, judged: bool) -> str | None:
    for patterns, said in (
        (common().orders, "That is an order to the program, not a game; it was not followed."),
        (common().no_game, "That does not ask for a tabletop game."),
        (() if judged else common().other_games, "That game is not in the library."),
    ):
        if any(parsed.text.find(pattern) for pattern in patterns):
            return f"{said} Which game do you want? {offer()}"
    content = [
        token
        for token in parsed.tokens
        if not is_filler(token) and token.kind == "word" and token.norm not in common().soft
    ]
    if not score and (len(content) < _ENOUGH or not (judged or parsed.text.find("game"))):
        return f"No game can be recognised in these words. Which game do you want? {offer()}"
    return None


def _is_foreign(parsed: ParsedBrief) -> bool:
    """True for words in a script or a language that the lexicons do not cover."""
    words = [token.text.lower() for token in parsed.tokens if token.kind == "word"]
    if not words:
        return not any(token.kind == "number" for token in parsed.tokens)
    latin = [word for word in words if re.fullmatch(r"[a-zÀ-ɏ']+", word)]
    if len(latin) < _HALF * len(words):
        return True
    foreign = sum(word in _FOREIGN and word not in _AMBIGUOUS for word in words)
    english = sum(word in _ENGLISH for word in words)
    known = sum(
        token.norm in common().fillers or token.norm in FUNCTION_WORDS
        for token in parsed.tokens
        if token.kind == "word"
    )
    return foreign > max(1, english) and foreign * 2 > known - foreign
