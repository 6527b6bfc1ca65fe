"""Settings by meaning: what a part of a brief says that no phrase knows.

Each part (a clause, or two together) is compared with the statements of the family's settings
(`says` of its words), a number or a card rank set aside. A setting is taken where one statement is
near and every statement of its other values is farther; where that is not certain, nothing is set.
"""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.composer.lexicon import Lexicon, Phrase, Settings
from agents.composer.meaning.fit import Embed
from agents.composer.mentions import Mention, ParsedBrief, parse_brief
from agents.composer.patterns import Capture, Text
from agents.composer.tokens import Token

NEAR = 0.62
"""Least cosine at which a part of a brief says what a statement says."""
PERHAPS = 0.5
"""Least cosine at which a person is asked whether a statement was meant."""
MARGIN = 0.04
"""How much farther the statements of a setting's other values must be."""
_ENDS = frozenset(".!?\n")
_CUTS = frozenset(",;:()")
_JOINTS = frozenset({"and", "but", "-"})
_TOGETHER = 2  # neighbouring clauses of a sentence
_WORDS = 3
_NEW = 2  # content words that nothing explains yet
_SHARE = 0.5
_LONGEST = 30


@dataclass(frozen=True)
class _Part:
    """A run of tokens, its text with numbers and ranks set aside, and what these were."""

    run: tuple[int, ...]
    text: str
    numbers: tuple[int, ...]
    ranks: tuple[str, ...]


def settings_by_meaning(
    parsed: ParsedBrief, lexicon: Lexicon, mentions: Sequence[Mention], embed: Embed
) -> list[Mention]:
    """Further mentions: settings that the brief states and no phrase found."""
    given = {name for m in mentions if isinstance(m.source, Phrase) for name in _sets(m)}
    known = {index for mention in mentions for index in mention.covered}
    options = [option for option in _statements(lexicon) if option[0] not in given]
    parts = list(_parts(parsed, known))
    if not options or not parts:
        return []
    near = embed([part.text for part in parts]) @ embed([text for _, _, text in options]).T
    found: dict[str, tuple[float, Mention]] = {}
    for row, part in zip(near, parts, strict=True):
        scores: dict[str, dict[str, float]] = {}
        for (name, value, _), score in zip(options, row, strict=True):
            of_values = scores.setdefault(name, {})
            of_values[value] = max(float(score), of_values.get(value, -1.0))
        for name, of_values in scores.items():
            value, best = max(of_values.items(), key=lambda item: item[1])
            others = [score for other, score in of_values.items() if other != value]
            capture = Capture(part.run, part.numbers, part.ranks, ())
            if best < NEAR or best < max(others, default=-1.0) + MARGIN:
                continue
            if best <= found.get(name, (0.0, None))[0] or not _has(value, part):
                continue
            covered = tuple(i for i in part.run if i not in known) or part.run
            phrase = Phrase("", sets={name: _plain(value)})
            found[name] = best, Mention(covered, capture, phrase)
    return _apart(found)


def setting_meant(text: str, lexicon: Lexicon, taken: Container[str], embed: Embed) -> str:
    """The setting that words may mean, as "name=value", without the ones that stand; "" for none.

    It is near enough to be asked about (`PERHAPS`), and not certain enough to be taken.
    """
    options = [option for option in _statements(lexicon) if option[0] not in taken]
    parsed = parse_brief(text)
    part = next(_parts(parsed, set()), None)
    if part is None or not options:
        return ""
    scores = embed([part.text]) @ embed([said for _, _, said in options]).T
    for index in np.argsort(-scores[0], kind="stable"):
        name, value, _ = options[index]
        if scores[0][index] < PERHAPS:
            return ""
        if _has(value, part):
            phrase = Phrase("", sets={name: _plain(value)})
            meant = phrase.means(Capture(part.run, part.numbers, part.ranks, ()))[name]
            return f"{name}={json.dumps(meant) if not isinstance(meant, str) else meant}"
    return ""


def _statements(lexicon: Lexicon) -> list[tuple[str, str, str]]:
    """(setting, value, statement) of all that a family's words say of its settings."""
    return [
        (name, value, text)
        for name, values in lexicon.says.items()
        for value, texts in values.items()
        for text in texts
    ]


def _sets(mention: Mention) -> Settings:
    phrase = mention.source
    if not isinstance(phrase, Phrase) or phrase.always or phrase.refused:
        return {}
    return phrase.means(mention.capture)


def _apart(found: Mapping[str, tuple[float, Mention]]) -> list[Mention]:
    """The mentions, nearest first, without those whose words an earlier one explains."""
    taken: set[int] = set()
    kept = []
    for _, mention in sorted(found.values(), key=lambda item: -item[0]):
        if not taken & set(mention.covered):
            taken |= set(mention.covered)
            kept.append(mention)
    return kept


def _plain(value: str) -> str | int | bool:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isdigit() else value


def _has(value: str, part: _Part) -> bool:
    """Whether a part has the one number or rank that a value takes from it."""
    if value == "<rank>":
        return len(set(part.ranks)) == 1
    return not value.startswith("<") or len(part.numbers) == 1


def _parts(parsed: ParsedBrief, known: set[int]) -> Iterator[_Part]:
    """The runs that say something new, once for each number, and for a rank, they may be about."""
    for run in _runs(parsed):
        said, new = (len(parsed.content(part)) for part in (run, set(run) - known))
        if not _WORDS <= len(run) <= _LONGEST or new < max(_NEW, said * _SHARE):
            continue
        tokens = [parsed.tokens[i] for i in run]
        numbers = [token for token in tokens if token.kind == "number"]
        for token in numbers:
            yield _Part(tuple(run), _with(parsed, run, token, "N"), (int(token.norm),), ())
        if not numbers:
            yield _Part(tuple(run), parsed.quote(run[0], run[-1]), (), ())
        hits = Text(tokens).find("<rank>")
        ranks = tuple(dict.fromkeys(rank for hit in hits for rank in hit.ranks))
        if len(ranks) == 1:
            yield _Part(
                tuple(run), _with(parsed, run, tokens[hits[0].covered[0]], "RANK"), (), ranks
            )


def _with(parsed: ParsedBrief, run: Sequence[int], token: Token, word: str) -> str:
    """The words of a run, with a word in a token's place."""
    first, last = parsed.tokens[run[0]], parsed.tokens[run[-1]]
    return parsed.words[first.start : token.start] + word + parsed.words[token.end : last.end]


def _runs(parsed: ParsedBrief) -> Iterator[list[int]]:
    """Clauses of sentences, and neighbours of one sentence together."""
    sentences: list[list[list[int]]] = [[[]]]
    for index, token in enumerate(parsed.tokens):
        if token.kind == "stop" and token.norm in _ENDS:
            sentences.append([[]])
        elif (token.kind == "stop" and token.norm in _CUTS) or token.norm in _JOINTS:
            sentences[-1].append([])
        else:
            sentences[-1][-1].append(index)
    for sentence in sentences:
        clauses = [clause for clause in sentence if clause]
        for first, clause in enumerate(clauses):
            for last in clauses[first : first + _TOGETHER]:
                yield list(range(clause[0], last[-1] + 1))
