"""Keeps what an unknown demand is made of from leaking into settings.

"A bomb that clears three columns" is a demand of its own, not a board of three columns: where a
clause is built around words that no lexicon knows, the phrases found inside it are given up, and
the word accounting lists the clause as a whole.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agents.composer import common
from agents.composer.accounting import segments
from agents.composer.families import lexicons
from agents.composer.hits import Hit, Prompt, is_filler
from agents.composer.lexicon import PLAYERS, Lexicon, Name, Phrase
from agents.composer.patterns import RANK_NAMES, SUITS, expand
from agents.composer.quantities import small_number
from agents.composer.words import stem

_WORD = re.compile(r"[^\W\d_]+")
_SURE = 2
_SUPPOSING = frozenset(map(stem, ("if", "when", "whenever", "once", "after", "until", "unless")))
_RELATIVES = frozenset({"that", "who", "which", "whose"})


@lru_cache(maxsize=32)
def vocabulary(family: str) -> frozenset[str]:
    """The stem of every word that a family's phrases, or those of every family, know."""
    patterns: list[str] = [*common.THEME_PATTERNS, *common.INSTEAD, *common.UNAVAILABLE_NAMES]
    for phrase in (
        *common.PLAYER_PHRASES,
        *common.PLAYER_RANGES,
        *common.TALK,
        *common.NOT_AVAILABLE,
    ):
        patterns.append(phrase.pattern)
    for lexicon in lexicons():
        if lexicon.family == family:
            patterns += lexicon.hints
            patterns += [name.pattern for name in lexicon.names]
            patterns += [phrase.pattern for phrase in lexicon.phrases]
    patterns += [*SUITS, *(name for name in RANK_NAMES if name != "joker")]
    words = {word for pattern in patterns for word in _WORD.findall(expand(pattern))}
    return frozenset(map(stem, words)) | common.SOFT | common.NEGATORS | common.REMOVERS


def understood(
    prompt: Prompt, hits: Sequence[Hit], lexicon: Lexicon, apart: Iterable[int]
) -> list[Hit]:
    """The hits without those that were only found inside a demand nobody understands.

    Args:
        prompt: The brief.
        hits: What was found in it.
        lexicon: The family, whose words are no strangers.
        apart: Indices of tokens that belong to a title or a theme: unknown words are in order
            there.
    """
    given_up: set[int] = set()
    known = {index for hit in hits for index in hit.covered} | set(apart)
    before_alien = False
    for run in segments(prompt):
        inside = [n for n, hit in enumerate(hits) if set(hit.covered) & set(run)]
        named = any(isinstance(hits[n].source, Name) for n in inside)
        aliens = [] if named else [i for i in run if i not in known and strange(prompt, i, lexicon)]
        subordinate = prompt.tokens[run[0]].norm in common.CONDITIONS and not (
            run[0] and prompt.tokens[run[0] - 1].kind == "stop"
        )
        leaking = [n for n in inside if _leaks(prompt, run, aliens, hits[n])]
        if prompt.tokens[run[0]].norm in _SUPPOSING:
            leaking += [n for n in inside if _seats(hits[n])]
        if subordinate and before_alien and not named:
            leaking = inside
        given_up.update(leaking)
        left = [n for n in inside if n not in given_up]
        before_alien = (bool(aliens) or (subordinate and before_alien)) and not left
    return [hit for n, hit in enumerate(hits) if n not in given_up]


def strange(prompt: Prompt, index: int, lexicon: Lexicon) -> bool:
    """Whether a token is a word that neither the family nor talk around games knows."""
    token = prompt.tokens[index]
    known = token.norm in vocabulary(lexicon.family) or small_number(token.text.lower()) is not None
    plain = is_filler(token) or token.norm in common.CONDITIONS | common.CONNECTIVES
    return token.kind == "word" and not plain and not known


def _leaks(prompt: Prompt, run: Sequence[int], aliens: Sequence[int], hit: Hit) -> bool:
    if isinstance(hit.source, Phrase) and hit.source.refusal:
        return False
    before = [i for i in aliens if i < hit.covered[0]]
    if len(aliens) >= _SURE or (before and _bare(prompt, hit)):
        return True
    between = range(before[0], hit.covered[0]) if before else ()
    return any(i in run and prompt.tokens[i].norm in _RELATIVES for i in between)


def _bare(prompt: Prompt, hit: Hit) -> bool:
    """Whether a hit is hardly more than a number and what it counts."""
    content = prompt.content(hit.covered)
    return bool(hit.match.numbers) and len(content) <= _SURE


def _seats(hit: Hit) -> bool:
    """Whether a hit says how many play; "if two players tie" does not."""
    if isinstance(hit.source, Name) or hit.source.always or hit.source.refusal:
        return False
    return PLAYERS in hit.source.means(hit.match)
