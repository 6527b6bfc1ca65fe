"""Family of a brief: one fitted classifier, and the question where the words are no brief at all.

Multinomial logistic regression on a brief's MiniLM vector, the weights of its words and pairs of
words, and the families whose games it names; the thirteenth class is every other game.
`scripts/meaning.py` fits it on labelled briefs and writes `fitted/families.npz`.
"""

import json
import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from agents.composer.lexicon import Lexicon, Name, common, lexicons, word_list
from agents.composer.meaning.brief import Parsed
from agents.composer.meaning.statements import FITTED, Embed, Rarity
from agents.composer.meaning.tokens import stem

BAR, KEPT = 0.5, 0.3
"""Least probability of a family, and least share of its demands, with which a game is made."""
LONGEST = 4000
"""Characters of a brief, or of a message, that are read."""
_WORDS, _NAMED = 1.5, 0.5  # of words and names beside the vector
_ENOUGH = 3
_SHORT = 4  # demands
_HALF = 0.5


@dataclass(frozen=True)
class Head:
    """Fitted weights.

    Attributes:
        rarity: Of the words and pairs of words that are known.
        grams: These, in order.
        full: Weights of words, names, one and vector, [V + 12 + 1 + 384, 13].
        plain: The same for words alone, [V + 12 + 1, 13].
    """

    rarity: Rarity
    grams: tuple[str, ...]
    full: npt.NDArray[np.float32]
    plain: npt.NDArray[np.float32]


@cache
def head() -> Head:
    """The packaged weights."""
    with np.load(FITTED / "families.npz") as kept:
        grams = tuple(json.loads(kept["grams"].tobytes()))
        weights = dict(zip(grams, kept["rarity"].astype(float).tolist(), strict=True))
        full, plain = kept["full"].astype(np.float32), kept["plain"].astype(np.float32)
        most = float(kept["most"])
    return Head(Rarity(weights, most), grams, full, plain)


def inputs(text: str, grams: tuple[str, ...], rarity: Rarity) -> npt.NDArray[np.float32]:
    """The weights of a brief's words, the families it names, and one: [V + 12 + 1]."""
    weighed, parsed = rarity.weighed(text), Parsed.of(text)
    said = [_WORDS * weighed.get(gram, 0.0) for gram in grams]
    named = [_NAMED * bool(names_in(parsed, lexicon)) for lexicon in lexicons()]
    return np.array([*said, *named, 1.0], np.float32)


def probabilities(text: str, embed: Embed | None) -> npt.NDArray[np.float64]:
    """The probability of each family, in the library's order, and of every other game: [13]."""
    fitted = head()
    given = inputs(text, fitted.grams, fitted.rarity)
    if embed is None:
        scores = given @ fitted.plain
    else:
        scores = np.concatenate([given, embed([text])[0]]) @ fitted.full
    powers = np.exp(scores.astype(np.float64) - scores.max())
    return np.asarray(powers / powers.sum())


def fits(sure: float, kept: int, lost: int, *, named: bool) -> bool:
    """True where a family is probable and keeps enough of a brief, or a short brief names it."""
    by_name = named and lost <= kept <= kept + lost <= _SHORT
    return by_name or (sure >= BAR and kept >= KEPT * (kept + lost))


def names_in(parsed: Parsed, lexicon: Lexicon) -> list[tuple[Name, range]]:
    """The names of the family's games in a brief, longest first; none inside another's words."""
    found = [(name, run) for name in lexicon.names for _, run in parsed.found(name.match)]
    kept: list[tuple[Name, range]] = []
    for name, run in sorted(found, key=lambda item: (-len(item[1]), item[1].start)):
        denied = run.start and parsed.tokens[run.start - 1].norm in word_list("negators")
        if not denied and not any({*run} & {*other} for _, other in kept):
            kept.append((name, run))
    return sorted(kept, key=lambda item: item[1].start)


@cache
def offer() -> str:
    """A sentence on the games that can be made."""
    titles = [f"a {lexicon.title}" for lexicon in lexicons()]
    return (
        f"What can be made without a language model: {', '.join(titles[:-1])} or {titles[-1]}, "
        "with the players, deck, hand, board, score and twists that you name."
    )


def question_for(text: str) -> str | None:
    """The one clarifying question, or None where a game can be made of the words."""
    if len(text) > LONGEST:
        return (
            f"The brief has {len(text)} characters; at most {LONGEST} are read. Which game "
            "do you want, in a few sentences?"
        )
    if not re.search(r"[^\W_]", text):
        return f"The brief is empty. Which game do you want? {offer()}"
    parsed = Parsed.of(text)
    if _is_foreign(parsed):
        return (
            "The brief does not seem to be in English. Another language is read by a language "
            "model alone (set RULEWRIGHT_MODEL); without one, which game do you want, in English? "
            f"{offer()}"
        )
    if any(names_in(parsed, lexicon) for lexicon in lexicons()):
        return None
    for patterns, said in (
        (common().orders, "That is an order to the program, not a game; it was not followed."),
        (common().no_game, "That does not ask for a tabletop game."),
    ):
        if any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns):
            return f"{said} Which game do you want? {offer()}"
    words = (parsed.tokens[i] for i in parsed.content(range(len(parsed.tokens))))
    plain = [one for one in words if one.kind == "word" and one.plain not in word_list("soft")]
    told = probabilities(text, None)[:-1].max() >= _HALF  # few words tell a family all the same
    if len(plain) < _ENOUGH and not told:
        return f"No game can be recognised in these words. Which game do you want? {offer()}"
    return None


def _is_foreign(parsed: Parsed) -> bool:
    """True for words in a script or a language that the lexicons do not cover."""
    said = [token.plain for token in parsed.tokens if token.kind == "word"]
    if not said:
        return not any(token.kind == "number" for token in parsed.tokens)
    latin = [word for word in said if re.fullmatch(r"[a-zÀ-ɏ'’&×*]+", word)]
    if len(latin) < _HALF * len(said):
        return True
    foreign = sum(word in word_list("foreign") for word in said)
    english = sum(word in word_list("english") for word in said)
    known = sum({word, stem(word)} <= word_list("fillers") | word_list("function") for word in said)
    return foreign > max(1, english) and foreign * 2 > known - foreign
