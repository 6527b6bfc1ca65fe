"""When a brief cannot become a game, and the one question to ask then."""

import re
from functools import cache

from agents.composer.common import (
    FILLERS,
    NO_GAME_PATTERNS,
    ORDER_PATTERNS,
    SOFT,
    UNAVAILABLE_NAMES,
)
from agents.composer.families import lexicons
from agents.composer.hits import Prompt, is_filler, read_prompt
from agents.composer.reader import family_scores
from agents.composer.words import FUNCTION_WORDS, word_set

MAX_CHARACTERS = 4000
_SURE = 6
_HALF = 0.5
_FOREIGN = word_set(
    "un une le la les des pour avec jeu cartes joueurs où et dans sur est deux trois quatre ein "
    "eine "
    "einen der die das und für mit spiel spieler karten wo ist auf drei vier zwei el los las para "
    "con juego cartas jugadores donde por del una tres cuatro dos il gli di per gioco carte "
    "giocatori che tre due quattro um uma jogo jogadores onde het een voor met spel spelers "
    "kaarten "
    "en och för ett gra dla graczy z w i kart na ve için oyun bir que qui quien como ou oder"
)
_ENGLISH = word_set(
    "a an the of for with where and game player players card cards play is are in to on board that "
    "each you"
)
_AMBIGUOUS = word_set("die i in an on is a do me he we")


@cache
def offer() -> str:
    """What can be made, in one sentence."""
    titles = [f"a {lexicon.title}" for lexicon in lexicons()]
    return (
        f"What can be made without a language model: {', '.join(titles[:-1])} or {titles[-1]}, "
        "with "
        "the players, deck, hand, board, score and twists that you name."
    )


def question_for(words: str) -> str | None:
    """The one clarifying question, or None where a game can be made of the words."""
    if len(words) > MAX_CHARACTERS:
        return (
            f"The brief has {len(words)} characters; at most {MAX_CHARACTERS} are read. Which game "
            "do you want, in a few sentences?"
        )
    if not re.search(r"[^\W_]", words):
        return f"The brief is empty. Which game do you want? {offer()}"
    prompt = read_prompt(words)
    if not_english(prompt):
        return (
            "The brief does not seem to be in English, the one language read here. Which game do "
            f"you want, in English? {offer()}"
        )
    score = max(family_scores(prompt).values(), default=0)
    if score < _SURE:
        asked = _nothing_to_build(prompt, score)
        if asked is not None:
            return asked
    return None


def _nothing_to_build(prompt: Prompt, score: int) -> str | None:
    for patterns, said in (
        (ORDER_PATTERNS, "That is an order to the program, not a game; it was not followed."),
        (NO_GAME_PATTERNS, "That does not ask for a tabletop game."),
        (UNAVAILABLE_NAMES, "That game is not in the library."),
    ):
        if any(prompt.text.find(pattern) for pattern in patterns):
            return f"{said} Which game do you want? {offer()}"
    if score:
        return None
    content = [
        token
        for token in prompt.tokens
        if not is_filler(token) and token.kind == "word" and token.norm not in SOFT
    ]
    if len(content) < _ENOUGH or not prompt.text.find("game"):
        return f"No game can be recognised in these words. Which game do you want? {offer()}"
    return None


_ENOUGH = 3
"""Content words from which the nearest mechanic by meaning is looked for."""


def not_english(prompt: Prompt) -> bool:
    """Whether the words are in a script or a language that the lexicons do not cover."""
    words = [token.text.lower() for token in prompt.tokens if token.kind == "word"]
    if not words:
        return not any(token.kind == "number" for token in prompt.tokens)
    latin = [word for word in words if re.fullmatch(r"[a-zÀ-ɏ']+", word)]
    if len(latin) < _HALF * len(words):
        return True
    foreign = sum(word in _FOREIGN and word not in _AMBIGUOUS for word in words)
    english = sum(word in _ENGLISH for word in words)
    known = sum(
        token.norm in FILLERS or token.norm in FUNCTION_WORDS
        for token in prompt.tokens
        if token.kind == "word"
    )
    return foreign > max(1, english) and foreign * 2 > known - foreign
