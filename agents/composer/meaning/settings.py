"""Settings by meaning: what a part of a brief says that no phrase knows.

Each part (a clause, neighbours, or a sentence) is scored against the statements of the family's
settings (`says` of its words), a number or a card rank set aside. A setting is taken where one
value scores high and no other value of it does; where that is not certain, nothing is set. A number
that a phrase or a surer part has used is not used again.
"""

import json
import math
import operator
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from agents.composer.accounting import CORRECTS, corrections
from agents.composer.lexicon import PLAYERS, Lexicon, Phrase, Settings
from agents.composer.loader import common, lexicon_of
from agents.composer.meaning.seats import seatable
from agents.composer.meaning.statements import Embed, Statements, statements_of
from agents.composer.mentions import Mention, ParsedBrief, of_unit, parse_brief
from agents.composer.patterns import Capture, Text
from agents.composer.settle import can_be
from agents.composer.tokens import Token, tokenise
from games.values import Json

SURE = 0.5
"""Least probability at which a setting is taken."""
PLAIN = 0.95
"""Least probability at which it is taken from words that phrases explain."""
AGAINST = 0.97
"""Least probability at which it is taken against a phrase."""
PERHAPS = 0.3
"""Least probability at which a person is asked whether it was meant."""
_WEIGHTS = (4.73, 3.99, 0.79, 0.79)
_BASE = -4.1
"""Logistic regression of "the brief asks for it" on what `guesses` measures.

Fitted on the settings of the labelled briefs; each author's were also predicted from the
others. `scripts/meaning.py` fits it anew.
"""
_ENDS = frozenset(".!?\n")
_CUTS = frozenset(",;:()–")
_JOINTS = frozenset({"and", "but", "-"})
_LONGEST = 32
_RANKS = 2
_SEVERAL = 2
_LISTS = frozenset({"<all>", "0,<all>", "<counts>", "<listed>"})
_OF_RANKS = frozenset({"<rank>", "<listed>"})
_TOPS = 2
_OFTEN = 0.2  # of a value's statements
_NEW = 0.5  # of a part's content words, more than that is evidence by itself
_SHARE = 0.3  # of a part's content words, the least that nothing explains


@dataclass(frozen=True)
class Part:
    """A run of tokens, its text with one number or rank set aside, or all of them.

    Attributes:
        run: The tokens.
        text: What they say, N and RANK in the place of what is set aside.
        numbers: Set aside.
        ranks: Set aside.
        at: The token that was set aside; -1: none, or several.
        listed: Whether all are set aside, and are several.
    """

    run: tuple[int, ...]
    text: str
    numbers: tuple[int, ...] = ()
    ranks: tuple[str, ...] = ()
    at: int = -1
    listed: bool = False

    def mention(self, name: str, value: str) -> Mention | None:
        """The mention of this value of a setting; None if the part has no such value."""
        of = self.ranks if value in _OF_RANKS else self.numbers
        least = _SEVERAL if self.listed else int("<" in value)
        if len(of) < least or (self.listed and value not in _LISTS):
            return None
        capture = Capture(self.run, self.numbers, self.ranks, ())
        return Mention(self.run, capture, Phrase("", sets={name: _plain(value)}))


@dataclass(frozen=True)
class Guess:
    """A setting that a part of a brief may say.

    Attributes:
        sure: How probably.
        measured: What the probability rests on; see `guesses`.
        name: The setting.
        value: Its value.
        at: The token of the number or rank that it takes; -1: none.
        mention: The part.
    """

    sure: float
    measured: tuple[float, ...]
    name: str
    value: Json
    at: int
    mention: Mention

    @property
    def takes(self) -> bool:
        """True where its value is made of the number or rank that was set aside."""
        source = self.mention.source
        return isinstance(source, Phrase) and "<" in str(source.sets[self.name])


def settings_by_meaning(
    parsed: ParsedBrief, lexicon: Lexicon, mentions: Sequence[Mention], embed: Embed
) -> list[Mention]:
    """Further mentions: settings that the brief states and no phrase found, or found otherwise."""
    given = {name: value for m in mentions for name, value in values_of(m).items()}
    told = {i: values_of(m).keys() for m in mentions if m.capture.numbers for i in m.covered}
    used = corrections(parsed).union(*(mention.covered for mention in mentions))
    model = statements_of(lexicon.family, embed)
    found = (guess for guess in guesses(parsed, lexicon, used, model) if guess.sure >= SURE)
    kept: dict[str, Mention] = {}
    for guess in found:
        if guess.name in {*given, *kept} or guess.at in used:
            continue
        said = [i for i in guess.mention.covered if i not in used]
        new = tuple(i for i in said if i not in _lost(parsed, guess))
        claims = parsed.content(said if guess.sure >= PLAIN else new)
        if not new or not _claims(parsed, claims):
            continue
        if guess.at < 0 and guess.measured[-1] <= _NEW and guess.sure < PLAIN:
            continue  # most of these words are explained, and the rest claims nothing
        used |= {*new}
        kept[guess.name] = replace(guess.mention, covered=new)
    again = [] if CORRECTS.search(parsed.words) else guesses(parsed, lexicon, (), model)
    for guess in again:  # plain words that phrases explain otherwise
        least = AGAINST if guess.name in given else PLAIN
        plain = guess.sure >= least and given.get(guess.name) != guess.value
        takes = _numbers(parsed, guess) if guess.at < 0 and guess.takes else {guess.at}
        plain = plain and all(guess.name in told.get(i, {guess.name}) for i in takes)  # its own
        covered = tuple(i for i in guess.mention.covered if i not in _lost(parsed, guess))
        if plain and covered and guess.name not in {*kept, PLAYERS}:
            kept[guess.name] = replace(guess.mention, covered=covered)
    return list(kept.values())


def _numbers(parsed: ParsedBrief, guess: Guess) -> set[int]:
    return {i for i in guess.mention.covered if parsed.tokens[i].kind == "number"}


def _lost(parsed: ParsedBrief, guess: Guess) -> set[int]:
    """The numbers of a part that the value has no place for: they are still to be explained."""
    if guess.at < 0 and guess.takes:
        return set()
    held = {"1", *re.findall(r"\d+", str(guess.value))}
    return {i for i in _numbers(parsed, guess) if parsed.tokens[i].norm not in held}


def _claims(parsed: ParsedBrief, content: Sequence[int]) -> bool:
    """True for words that claim something by themselves; a lone "card" or "not" does not."""
    empty = common().soft | common().negators
    return len(content) > 1 or any(parsed.tokens[i].norm not in empty for i in content)


def guesses(
    parsed: ParsedBrief, lexicon: Lexicon, used: Container[int], model: Statements
) -> list[Guess]:
    """The settings that parts of a brief may say, the most probable first.

    The probability rests on four measures: how much higher the value scores than every other value
    of its setting, and than every other setting; the logarithm of the part's content words; and the
    share of these that nothing else explains.
    """
    parts = [part for part in parts_of(parsed, used) if part.at not in used]
    if not parts or not lexicon.says:
        return []
    found: list[Guess] = []
    denying = _denying(lexicon.family)
    for part, row in zip(parts, model.scores([part.text for part in parts]), strict=True):
        content = parsed.content(part.run)
        denies = _denies(parsed.tokens[i] for i in part.run if i not in used)
        new = sum(index not in used for index in content) / len(content)
        best: dict[str, list[tuple[float, Mention]]] = {}
        for (name, value), score in zip(model.labels, row, strict=True):
            if denies and (name, value) not in denying:
                continue  # "twos do not make the next one draw" is no way to say that they do
            mention = part.mention(name, value)
            if mention is None or not can_be(lexicon, mention):
                continue
            if name != PLAYERS or (seatable(lexicon, mention) and not of_unit(parsed, [part.at])):
                best.setdefault(name, []).append((float(score), mention))
        found += _compared(best, part.at, math.log(1 + len(content)), new)
    return sorted(found, key=lambda said: -said.sure)


def _compared(
    best: Mapping[str, Sequence[tuple[float, Mention]]], at: int, length: float, new: float
) -> Iterator[Guess]:
    """The settings that score highest, each held against its other values and other settings."""
    tops = sorted((max(score for score, _ in of), name) for name, of in best.items())
    for top, name in tops[-_TOPS:]:
        mention = max(best[name], key=lambda item: item[0])[1]
        value = values_of(mention)
        rivals = [score for score, other in best[name] if values_of(other) != value]
        others = [score for score, other in tops if other not in (name, PLAYERS)]
        measured = (top - max([0.0, *rivals]), top - max([0.0, *others]), length, new)
        sure = _BASE + sum(map(operator.mul, _WEIGHTS, measured))
        yield Guess(1 / (1 + math.exp(-sure)), measured, name, value[name], at, mention)


@cache
def _denying(family: str) -> frozenset[tuple[str, str]]:
    """The settings with their values that statements often say by a negation."""
    return frozenset(
        (name, value)
        for name, values in lexicon_of(family).says.items()
        for value, texts in values.items()
        if sum(_denies(tokenise(text)) for text in texts) >= _OFTEN * len(texts)
    )


def _denies(tokens: Iterable[Token]) -> bool:
    return any(token.norm in common().negators for token in tokens)


def setting_meant(text: str, lexicon: Lexicon, taken: Container[str], embed: Embed) -> str:
    """The setting that words may mean, as "name=value", without the ones that stand; "" for none.

    It is near enough to be asked about (`PERHAPS`), and not certain enough to be taken.
    """
    model = statements_of(lexicon.family, embed)
    for guess in guesses(parse_brief(text), lexicon, (), model):
        if guess.sure < PERHAPS:
            break
        if guess.name not in taken:
            meant = guess.value
            return f"{guess.name}={json.dumps(meant) if not isinstance(meant, str) else meant}"
    return ""


def values_of(mention: Mention) -> Settings:
    """The settings that a mention gives, with their values."""
    phrase = mention.source
    if not isinstance(phrase, Phrase) or phrase.always or phrase.refused:
        return {}
    return phrase.means(mention.capture)


def _plain(value: str) -> str | int | bool:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.removeprefix("-").isdigit() else value


def parts_of(parsed: ParsedBrief, used: Container[int]) -> Iterator[Part]:
    """The runs that say something new, once for each number and card rank they may be about."""
    for run in _runs(parsed):
        tokens = [parsed.tokens[i] for i in run]
        content = parsed.content(run)
        new = sum(index not in used for index in content)
        if len(run) > _LONGEST or not new or new < len(content) * _SHARE:
            continue
        numbers = {i: parsed.tokens[i].norm for i in run if parsed.tokens[i].kind == "number"}
        for i, number in numbers.items():
            yield Part(tuple(run), _without(parsed, run, {i: "N"}), (int(number),), (), i)
        if not numbers:
            yield Part(tuple(run), parsed.quote(run[0], run[-1]))
        hits = list(Text(tokens).find("<rank>"))
        ranks = {run[hit.covered[-1]]: hit.ranks[0] for hit in hits}  # the words before are glue
        for at, rank in list(ranks.items())[:_RANKS]:
            yield Part(tuple(run), _without(parsed, run, {at: "RANK"}), (), (rank,), at)
        if max(len(numbers), len(ranks)) >= _SEVERAL and not any(i in used for i in numbers):
            aside = dict.fromkeys(ranks, "RANK") | dict.fromkeys(numbers, "N")
            several = tuple(int(number) for number in numbers.values()), tuple(ranks.values())
            yield Part(tuple(run), _without(parsed, run, aside), *several, listed=True)


def _without(parsed: ParsedBrief, run: Sequence[int], words: Mapping[int, str]) -> str:
    """The words of a run, with words in some tokens' places."""
    at, text = parsed.tokens[run[0]].start, ""
    for index, word in sorted(words.items()):
        text += parsed.words[at : parsed.tokens[index].start] + word
        at = parsed.tokens[index].end
    return text + parsed.words[at : parsed.tokens[run[-1]].end]


def _runs(parsed: ParsedBrief) -> Iterator[list[int]]:
    """Clauses, neighbours of one sentence, whole sentences, and neighbours across an end."""
    sentences: list[list[list[int]]] = [[[]]]
    for index, token in enumerate(parsed.tokens):
        if token.kind == "stop" and token.norm in _ENDS:
            sentences.append([[]])
        elif (token.kind == "stop" and token.norm in _CUTS) or token.norm in _JOINTS:
            sentences[-1].append([])
        else:
            sentences[-1][-1].append(index)
    said = [[clause for clause in sentence if clause] for sentence in sentences]
    said = [sentence for sentence in said if sentence]
    for number, clauses in enumerate(said):
        spans = [(one, other) for one in range(len(clauses)) for other in (one, one + 1)]
        spans += [(0, len(clauses) - 1)]
        for one, other in dict.fromkeys(spans):
            if other < len(clauses):
                yield list(range(clauses[one][0], clauses[other][-1] + 1))
        if number + 1 < len(said):
            yield list(range(clauses[-1][0], said[number + 1][0][-1] + 1))
