"""The vocabulary of logs: templates of what a ply tells, words, actions, and runs of them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from agents.encoding.changes import KnownChanges
from agents.encoding.needs import ActionNeeds, action_needs_of
from agents.encoding.skeletons import (
    Skeleton,
    Told,
    known_word,
    named_words,
    parts_of,
    referred_place,
    told_by,
    word_at,
)
from games.information import Did, LogEntry, Seen
from games.values import Action, Json, Observation

START, MOVE, END, SPELL, STOP, PARTS, DONE = range(7)
"""Tokens of every vocabulary: the log's begin, the seat's turn, the match's end; the ends of a
spelling, and of an entry that is told in parts."""
BYTES = DONE + 1
"""The token of byte 0."""
FIRST_TEMPLATE = BYTES + 256
"""The token of the first template."""
_KEPT = 20_000
_FEATURES = 1024
LONGEST_RUN = 32
"""Tokens that one token stands for at most."""


class TokenError(ValueError):
    """A sequence of tokens stands for no log."""


def _refers(word: str | None) -> TypeGuard[str]:
    return word is not None and word.startswith("@")


@dataclass(frozen=True)
class Template:
    """A skeleton with some slots filled.

    Attributes:
        skeleton: JSON text; see `agents.encoding.skeletons`.
        filled: By slot, its word as JSON text, or a reference to a word that is known before; None
            where a token follows for it.
    """

    skeleton: str
    filled: tuple[str | None, ...]

    def fits(self, told: Told, known: Mapping[str, str | None]) -> bool:
        """True for what it can tell, where these words are known."""
        pairs = zip(self.filled, told.words, strict=True)
        return all(word is None or known.get(word, word) == given for word, given in pairs)

    @cached_property
    def free(self) -> int:
        """Slots that words fill."""
        return sum(word is None for word in self.filled)

    @cached_property
    def content(self) -> Skeleton:
        """The skeleton, parsed."""
        return Skeleton.of(self.skeleton)

    def words(self, given: Sequence[Json], seen: Observation, acted: Action | None) -> list[Json]:
        """The words of all slots.

        Args:
            given: Of the free ones.
            seen: The observation before.
            acted: The own action that the entry follows at once.

        Raises:
            LookupError: If a word is referred to that is not there.
            TypeError: Likewise.
        """
        free = iter(given)
        return [
            next(free)
            if word is None
            else word_at(word, seen, acted)
            if _refers(word)
            else json.loads(word)
            for word in self.filled
        ]


@dataclass(frozen=True)
class Vocabulary:
    """Every token that self-play showed.

    Tokens are numbered: those of every vocabulary, 256 bytes, templates, words, actions.

    Attributes:
        templates: In order; of whole entries and of their parts.
        words: Scalars as JSON texts, in order.
        actions: The seats' own actions, in order.
        runs: Pairs of tokens that stand together often, each of which one token stands for.
        needs: Of the actions.
    """

    templates: tuple[Template, ...]
    words: tuple[str, ...]
    actions: tuple[str, ...]
    runs: tuple[tuple[int, int], ...] = ()
    needs: ActionNeeds = field(default_factory=ActionNeeds)

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.first_run + len(self.runs)

    @cached_property
    def first_word(self) -> int:
        """The token of the first word."""
        return FIRST_TEMPLATE + len(self.templates)

    @cached_property
    def first_action(self) -> int:
        """The token of the first action."""
        return self.first_word + len(self.words)

    @cached_property
    def first_run(self) -> int:
        """The token of the first run."""
        return self.first_action + len(self.actions)

    @cached_property
    def action_number(self) -> dict[str, int]:
        """The token of each action."""
        return {action: number for number, action in enumerate(self.actions, self.first_action)}

    @cached_property
    def _kept(self) -> dict[tuple[Told, tuple[str | None, ...]], list[int]]:
        """Tokens by what is told and was known: plies of one game are much alike."""
        return {}

    @cached_property
    def _cut(self) -> dict[str, Told]:
        return {}

    @cached_property
    def _referred(self) -> dict[str, tuple[str, ...]]:
        """References of each skeleton's templates."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for one in self.templates:
            found[one.skeleton] |= dict.fromkeys(word for word in one.filled if _refers(word))
        return {name: tuple(words) for name, words in found.items() if words}

    @cached_property
    def _changed(self) -> KnownChanges:
        return KnownChanges(_KEPT)

    @cached_property
    def _word_number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, self.first_word)}

    @cached_property
    def _of_skeleton(self) -> dict[str, list[tuple[int, Template]]]:
        found: dict[str, list[tuple[int, Template]]] = defaultdict(list)
        for number, template in enumerate(self.templates, FIRST_TEMPLATE):
            found[template.skeleton].append((number, template))
        return found

    @cached_property
    def _run_number(self) -> dict[tuple[int, int], int]:
        return {pair: number for number, pair in enumerate(self.runs, self.first_run)}

    @cached_property
    def _shortened(self) -> dict[tuple[int, ...], list[int]]:
        return {}

    def shortened(self, tokens: Sequence[int]) -> list[int]:
        """Tokens between two turns, with runs in place of pairs (byte-pair encoding).

        Sennrich et al. 2016, Neural Machine Translation of Rare Words with Subword Units: the pair
        that was joined first is joined first.
        """
        if not self.runs:
            return [*tokens]
        key = tuple(tokens)
        found = self._shortened.get(key)
        if found is None:
            if len(self._shortened) >= _KEPT:
                self._shortened.clear()
            found = self._shortened[key] = self._joined([*tokens])
        return found

    def _joined(self, tokens: list[int]) -> list[int]:
        number, none = self._run_number, self.size
        found = [number.get(pair, none) for pair in zip(tokens, tokens[1:], strict=False)]
        while (run := min(found, default=none)) != none:
            place = found.index(run)  # of equals the first: the pairs that it touches are others
            tokens[place : place + 2] = [run]
            del found[place]
            if place:
                found[place - 1] = number.get((tokens[place - 1], run), none)
            if place < len(found):
                found[place] = number.get((run, tokens[place + 1]), none)
        return tokens

    def single(self, token: int) -> Iterator[int]:
        """The tokens that a token stands for; itself, where it is no run."""
        if not self.first_run <= token < self.size:
            yield token
        else:
            for part in self.runs[token - self.first_run]:
                yield from self.single(part)

    @cached_property
    def kin(self) -> NDArray[np.float32]:
        """`[tokens, features]` shared parts of what tokens stand for; a row has length 1, or 0.

        Features are skeletons, references and words that two tokens share at least, the commonest
        ones. A card is the same in a seat's own action, in another's, and in a hand.
        """
        rows = [
            sorted({one for single in self.single(token) for one in self._features_of(single)})
            for token in range(self.size)
        ]
        count = Counter(one for row in rows for one in row)
        often = sorted((one for one in count if count[one] > 1), key=lambda one: (-count[one], one))
        number = {one: place for place, one in enumerate(often[:_FEATURES])}
        found = np.zeros((self.size, len(number)), np.float32)
        for token, row in enumerate(rows):
            own = [number[one] for one in row if one in number]
            found[token, own] = 1 / max(1, len(own)) ** 0.5
        return found

    def _features_of(self, token: int) -> tuple[str, ...]:
        """Of a token that is no run."""
        template = self.template_of(token)
        if template is not None:
            return template.skeleton, *(word for word in template.filled if word is not None)
        if self.first_word <= token < self.first_action:
            return (self.words[token - self.first_word],)
        if self.first_action <= token < self.first_run:
            return tuple(map(json.dumps, named_words(self.actions[token - self.first_action])))
        return ()

    def template_of(self, token: int) -> Template | None:
        """The template of a token; None for another token."""
        place = token - FIRST_TEMPLATE
        return self.templates[place] if 0 <= place < len(self.templates) else None

    def tokens_of(self, before: Observation, entry: LogEntry, acted: Action | None) -> list[int]:
        """The tokens of an entry.

        Args:
            before: The observation that it follows on.
            entry: The entry.
            acted: The own action that it follows at once; None where it follows none.
        """
        if isinstance(entry, Did):
            number = self.action_number.get(entry.action)
            return [MOVE, *(_spelled(entry.action) if number is None else [number])]
        told = self._told(before, entry)
        referred = self._referred.get(told.skeleton, ())
        known = tuple(known_word(reference, before, acted) for reference in referred)
        key = told, known
        tokens = self._kept.get(key)
        if tokens is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            words = dict(zip(referred, known, strict=True))
            tokens = self._kept[key] = self._tokens_of(told, words)
        return tokens

    def _told(self, before: Observation, entry: Seen) -> Told:
        changes = self._changed.between(before, entry.observation)
        key = repr((changes, entry.events))
        told = self._cut.get(key)
        if told is None:
            if len(self._cut) >= _KEPT:
                self._cut.clear()
            told = self._cut[key] = told_by(changes, entry.events)
        return told

    def _tokens_of(self, told: Told, known: Mapping[str, str | None]) -> list[int]:
        whole = self._written(told, known)
        if whole is not None:
            return whole
        parts = [self._written(part, {}) or _spelled(part.row()) for part in parts_of(told)]
        return [PARTS, *(token for part in parts for token in part), DONE]

    def _written(self, told: Told, known: Mapping[str, str | None]) -> list[int] | None:
        for number, template in self._of_skeleton.get(told.skeleton, ()):
            if template.fits(told, known):
                pairs = zip(template.filled, told.words, strict=True)
                words = [self._word(word) for own, word in pairs if own is None]
                return [number, *(token for word in words for token in word)]
        return None

    def _word(self, word: str) -> list[int]:
        number = self._word_number.get(word)
        return _spelled(json.loads(word)) if number is None else [number]

    def as_json(self) -> dict[str, Json]:
        """All of it, for a file; `vocabulary_of` reads it."""
        return {
            "templates": [[one.skeleton, [*one.filled]] for one in self.templates],
            "words": [*self.words],
            "actions": [*self.actions],
            "runs": [[*pair] for pair in self.runs],
            "needs": self.needs.as_json(),
        }


def vocabulary_of(meta: Mapping[str, Json]) -> Vocabulary:
    """The vocabulary that a file tells of.

    Raises:
        TokenError: If it tells of none.
    """
    match meta:
        case {
            "templates": list(templates),
            "words": list(words),
            "actions": list(actions),
            "runs": list(runs),
            "needs": list(needs),
        }:
            read: list[Template] = []
            for one in templates:
                match one:
                    case [str(skeleton), list(filled)]:
                        slots = tuple(word for word in filled if word is None or type(word) is str)
                        read.append(Template(skeleton, slots))
            texts = [[text for text in one if isinstance(text, str)] for one in (words, actions)]
            known = Vocabulary(tuple(read), tuple(texts[0]), tuple(texts[1]))
            pairs = [*_pairs(runs, known.size)]
            if [*map(len, (templates, words, actions, runs))] == [
                *map(len, (read, known.words, known.actions, pairs))
            ]:
                with suppress(ValueError):
                    _require_read(known)
                    return replace(known, runs=tuple(pairs), needs=action_needs_of(needs))
    raise TokenError("the file has no vocabulary; train again with 'rulewright train'")


def _require_read(known: Vocabulary) -> None:
    """Read every text of a vocabulary once, before a log is read by it.

    Raises:
        ValueError: If one is no skeleton, no word or no reference.
    """
    for word in known.words:
        json.loads(word)
    for template in known.templates:
        Skeleton.of(template.skeleton)
        for filled in template.filled:
            if _refers(filled):
                referred_place(filled)
            elif filled is not None:
                json.loads(filled)


def _pairs(runs: Sequence[Json], first: int) -> Iterator[tuple[int, int]]:
    """Runs that a file tells of; each joins tokens that come before it."""
    lengths: dict[int, int] = {}
    for number, run in enumerate(runs, first):
        match run:
            case [int(one), int(other)] if min(one, other) >= FIRST_TEMPLATE:
                if max(one, other) >= number:
                    break
                lengths[number] = lengths.get(one, 1) + lengths.get(other, 1)
                if lengths[number] <= LONGEST_RUN:
                    yield one, other


def _spelled(value: Json) -> list[int]:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return [SPELL, *(BYTES + byte for byte in text.encode("utf-8", "surrogatepass")), STOP]
