"""Suggestions: the settings that parts of a brief state, with how surely they do.

Each part (a clause, neighbours, or a sentence) is scored against the statements of the family's
settings, a number or a card rank set aside. A setting is suggested where one value scores high and
no other value of it does; where that is not certain, nothing is set. A number is used once.
"""

import math
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.composer.lexicon import Lexicon, Settings, word_list
from agents.composer.meaning.brief import Parsed, Part
from agents.composer.meaning.statements import Statements, has_any
from games.library.settings import game_of, value_text
from games.values import Json

SURE = 0.45
"""Least probability at which a setting is taken."""
PLAIN = 0.95
"""Least probability at which it is taken from words that say another setting too."""
SAID = 0.9
"""Least probability at which it counts as honoured, and not only as what was read.

Of the settings that are made of the labelled briefs 8 of 10 that are not asked for, or are of a
game of another kind, lie below it, and a quarter of the right ones.
"""
PERHAPS = 0.3
"""Least probability at which a person is asked whether it was meant."""
_WEIGHTS, _BASE = (4.73, 3.99, 0.79), -3.31
"""Logistic regression of "the brief asks for it" on the measures of `guesses`.

It was fitted once on the settings of the labelled briefs, each author's predicted from the others.
"""
_TOPS = 2
_OFTEN = 0.2  # of a value's statements
_MOST = 20  # of one size
_SEVERAL = 2


@dataclass(frozen=True)
class Stated:
    """Something that words of a brief set.

    Attributes:
        run: The tokens that say it.
        sets: Settings, `num_players` too, with their values.
        sure: How probably they say so; 2 for what stands there as NAME=VALUE.
        at: The tokens of the numbers or ranks that it takes.
    """

    run: Sequence[int]
    sets: Settings
    sure: float = 1.0
    at: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The first of the settings."""
        return next(iter(self.sets))


def suggestions(parsed: Parsed, found: Sequence[Stated]) -> list[Stated]:
    """The settings that a brief states, of these guesses, in the order of their certainty."""
    kept: dict[str, Stated] = {}
    spent: set[int] = set()
    numbers: dict[int, str] = {}
    again = []
    for guess in found:
        if guess.sure < SURE:
            break
        new = [i for i in guess.run if i not in spent and i not in _lost(parsed, guess)]
        claims = parsed.content(guess.run if guess.sure >= PLAIN else new)
        repeats = any(numbers.get(i, guess.name) != guess.name for i in guess.at)
        if repeats or not (new or guess.sure >= PLAIN) or not _claims(parsed, claims):
            continue
        if guess.name in kept:
            apart = {*guess.run}.isdisjoint(kept[guess.name].run)
            again += [guess] if apart and guess.sets != kept[guess.name].sets else []
            continue
        spent |= {*new}
        numbers |= dict.fromkeys(guess.at, guess.name)
        kept[guess.name] = guess
    return [*kept.values(), *again]


def _lost(parsed: Parsed, guess: Stated) -> set[int]:
    """The numbers of a part that the value has no place for: they are still to be explained."""
    free = (i for i in guess.run if parsed.tokens[i].kind == "number" and i not in guess.at)
    held = set() if guess.at else {"1", str(guess.sets[guess.name])}
    return {i for i in free if parsed.tokens[i].norm not in held}


def _claims(parsed: Parsed, content: Sequence[int]) -> bool:
    """True for words that claim something by themselves; a lone "card" or "not" does not."""
    empty = word_list("soft") | word_list("negators")
    plain = (parsed.tokens[i] for i in content)
    return len(content) > 1 or any({t.norm, t.plain}.isdisjoint(empty) for t in plain)


def guesses(
    parsed: Parsed, lexicon: Lexicon, used: Container[int], model: Statements
) -> list[Stated]:
    """The settings that parts of a brief may say, the most probable first.

    The probability rests on three measures: how much higher the value scores than every other value
    of its setting, and than every other setting; and the logarithm of the part's content words.
    """
    parts = list(parsed.parts(used))
    found: list[Stated] = []
    for part, row in zip(parts, model.scores([part.text for part in parts]), strict=True):
        own = [i for i in part.run if i not in used]
        denied, recalled = (not of.isdisjoint(own) for of in parsed.denied)
        stated = not recalled and not parsed.denials.isdisjoint(own)
        turned = has_any((parsed.tokens[i] for i in own), "reversers")
        best: dict[str, list[tuple[float, Stated]]] = {}
        for (name, value), score in zip(model.labels, row, strict=True):
            no, loses = ((name, value) in of for of in model.often.values())
            if ((denied or recalled) and not (stated and no)) or (turned and not loses):
                continue  # "twos do not make the next one draw" is no way to say that they do
            said = _said(part, lexicon, name, value)
            if said is not None:
                best.setdefault(name, []).append((float(score), said))
        found += _compared(best, math.log(1 + len(parsed.content(part.run))))
    return sorted(found, key=lambda said: -said.sure)


def _compared(
    best: Mapping[str, Sequence[tuple[float, Stated]]], length: float
) -> Iterator[Stated]:
    """The settings that score highest, each held against its other values and other settings."""
    tops = sorted((max(score for score, _ in of), name) for name, of in best.items())
    for top, name in tops[-_TOPS:]:
        said = max(best[name], key=lambda item: item[0])[1]
        rivals = [score for score, other in best[name] if other.sets != said.sets]
        others = [score for score, other in tops if other != name]
        measured = (top - max([0.0, *rivals]), top - max([0.0, *others]), length)
        odds = _BASE + sum(map(operator.mul, _WEIGHTS, measured))
        yield Stated(said.run, said.sets, 1 / (1 + math.exp(-odds)), said.at)


def _said(part: Part, lexicon: Lexicon, name: str, value: str) -> Stated | None:
    """A value of a setting, of the part's numbers or ranks; None where it cannot be."""
    made: Json = _PLAIN.get(value, value)
    at: tuple[int, ...] = ()
    listed = len(part.at) > 1
    if hole := next((hole for hole in _HOLES if hole in value), ""):
        least, fill = _HOLES[hole]
        of = part.ranks if "rank" in hole or hole == "<listed>" else part.numbers
        if listed != (least > 1) or len(of) < least:
            return None
        filled = fill(part)
        made, at = (filled if value == hole else value.replace(hole, str(filled))), part.at
    elif listed:
        return None
    elif value.removeprefix("-").isdigit():
        made = int(value)
    declared = game_of(lexicon.family).parameters.get(name)
    if declared is not None and declared.objection(name, made):
        return None
    return Stated(part.run, {name: made}, at=at)


_PLAIN: Mapping[str, bool] = {"true": True, "false": False}
_HOLES: Mapping[str, tuple[int, Callable[[Part], Json]]] = {
    "<n>": (1, lambda part: part.numbers[0]),
    "<loss>": (1, lambda part: -abs(part.numbers[0])),
    "<rank>": (1, lambda part: part.ranks[0]),
    "<listed>": (_SEVERAL, lambda part: len(set(part.ranks))),
    "<all>": (_SEVERAL, lambda part: ",".join(map(str, part.numbers))),
    "<counts>": (_SEVERAL, lambda part: _by_counts(part.numbers)),
}
"""The least number of numbers or ranks of a value, and what it makes of them."""


def _by_counts(numbers: Sequence[int]) -> str:
    """So many of one size, so many of the next: "1 of 4, 2 of 3" is 4,3,3."""
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    sizes = [size for count, size in pairs for _ in range(min(count, _MOST))]
    return ",".join(map(str, sorted(sizes, reverse=True)))


def perhaps_meant(
    parsed: Parsed, run: Sequence[int], found: Sequence[Stated], taken: Container[str]
) -> str:
    """The setting that some words may mean, as "name=value", without those that stand; or ""."""
    for guess in found:
        near = PERHAPS <= guess.sure < SURE and guess.name not in taken
        if near and {*guess.run} <= {*run} | {i for i in guess.run if not parsed.content([i])}:
            return setting_text(guess.sets)
    return ""


def setting_text(settings: Settings) -> str:
    """Settings as a person writes them: "trump=none, hand_size=7"."""
    return ", ".join(f"{name}={value_text(value)}" for name, value in settings.items())
