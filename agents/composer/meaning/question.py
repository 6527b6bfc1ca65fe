"""Question of a designer without a model: what is asked where no game can be made of the words."""

import re
from functools import cache

from agents.composer.loader import common, lexicons
from agents.composer.mentions import ParsedBrief, is_filler, parse_brief
from agents.composer.reader import family_scores
from agents.composer.tokens import FUNCTION_WORDS, word_set

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


def asks(words: str) -> bool:
    """Whether words said of a game ask about it, and want no change.

    >>> asks("Why does the first player win so often?"), asks("can it be for four?")
    (True, False)
    >>> asks("When does a deal end"), asks("when only five of us turn up, deal six cards")
    (True, False)
    """
    return _ASKS.match(words) is not None


@cache
def offer() -> str:
    """What can be made, in one sentence."""
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
    if score < _SURE:
        asked = _nothing_to_build(parsed, score, judged=judged)
        if asked is not None:
            return asked
    return None


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
    """Whether the words are in a script or a language that the lexicons do not cover."""
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
