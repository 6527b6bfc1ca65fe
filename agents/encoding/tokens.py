"""Tokens of a seat's log: what it saw and did as a sequence of small numbers, ply by ply.

An entry of a log is told by a template and the words that fill its slots. A template is made of
the event texts and of what changed in the observation since the last one, with a slot for each
scalar; slots that take few values are filled once and for all, which makes several templates. An
entry that is no template's is told in parts, an event or a change each, and what self-play never
showed is spelled byte by byte: so every log can be written, and read back. Nothing but the seat's
own log is looked at.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agents.encoding.skeletons import Skeleton, Told, parts_of, told_by
from games.information import Did, LogEntry, Seen
from games.modules import canonical
from games.values import Json, Observation

START, MOVE, END, SPELL, STOP, PARTS, DONE = range(7)
"""Tokens of every vocabulary: the log's begin, the seat's turn, the match's end; the ends of a
spelling, and of an entry that is told in parts."""
_BYTES = DONE + 1
_FIRST = _BYTES + 256
_COMBINATIONS = 16  # of values that slots may take to be filled once and for all
_KEPT = 20_000
_OFTEN = 3  # entries of a kind that are worth a template of their own
_EMPTY: Observation = {}


class TokenError(ValueError):
    """A sequence of tokens stands for no log."""


@dataclass(frozen=True)
class Template:
    """A skeleton with some slots filled.

    Attributes:
        skeleton: JSON text; see `agents.encoding.skeletons`.
        filled: By slot, its word as JSON text; None where a token follows for it.
    """

    skeleton: str
    filled: tuple[str | None, ...]

    def fits(self, told: Told) -> bool:
        """True for what it can tell."""
        pairs = zip(self.filled, told.words, strict=True)
        return all(word in (None, given) for word, given in pairs)

    @cached_property
    def free(self) -> int:
        """Slots that words fill."""
        return sum(word is None for word in self.filled)

    @cached_property
    def content(self) -> Skeleton:
        """The skeleton, parsed."""
        return Skeleton.of(self.skeleton)

    def words(self, given: Sequence[Json]) -> list[Json]:
        """The words of all slots."""
        free = iter(given)
        return [next(free) if word is None else json.loads(word) for word in self.filled]


@dataclass(frozen=True)
class Vocabulary:
    """Every token that self-play showed.

    Tokens are numbered: those of every vocabulary, 256 bytes, templates, words, actions.

    Attributes:
        templates: In order; of whole entries and of their parts.
        words: Scalars as JSON texts, in order.
        actions: The seats' own actions, in order.
    """

    templates: tuple[Template, ...]
    words: tuple[str, ...]
    actions: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.first_action + len(self.actions)

    @cached_property
    def first_word(self) -> int:
        """The token of the first word."""
        return _FIRST + len(self.templates)

    @cached_property
    def first_action(self) -> int:
        """The token of the first action."""
        return self.first_word + len(self.words)

    @cached_property
    def action_number(self) -> dict[str, int]:
        """The token of each action."""
        return {action: number for number, action in enumerate(self.actions, self.first_action)}

    @cached_property
    def _kept(self) -> dict[bytes, list[int]]:
        """Tokens of entries by what they follow on: matches of one game are much alike."""
        return {}

    @cached_property
    def _word_number(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, self.first_word)}

    @cached_property
    def _of_skeleton(self) -> dict[str, list[tuple[int, Template]]]:
        found: dict[str, list[tuple[int, Template]]] = defaultdict(list)
        for number, template in enumerate(self.templates, _FIRST):
            found[template.skeleton].append((number, template))
        return found

    def template_of(self, token: int) -> Template | None:
        """The template of a token; None for another token."""
        place = token - _FIRST
        return self.templates[place] if 0 <= place < len(self.templates) else None

    def tokens_of(self, before: Observation, entry: LogEntry) -> list[int]:
        """The tokens of an entry that follows on an observation."""
        if isinstance(entry, Did):
            number = self.action_number.get(entry.action)
            return [MOVE, *(_spelled(entry.action) if number is None else [number])]
        key = canonical((before, entry.observation, entry.events))
        known = self._kept.get(key)
        if known is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            known = self._kept[key] = self._tokens_of(told_by(before, entry))
        return known

    def _tokens_of(self, told: Told) -> list[int]:
        whole = self._written(told)
        if whole is not None:
            return whole
        parts = [self._written(part) or _spelled(part.row()) for part in parts_of(told)]
        return [PARTS, *(token for part in parts for token in part), DONE]

    def _written(self, told: Told) -> list[int] | None:
        for number, template in self._of_skeleton.get(told.skeleton, ()):
            if template.fits(told):
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
        }


def vocabulary_of(meta: Mapping[str, Json]) -> Vocabulary:
    """The vocabulary that a file tells of.

    Raises:
        TokenError: If it tells of none.
    """
    match meta:
        case {"templates": list(templates), "words": list(words), "actions": list(actions)}:
            read: list[Template] = []
            for one in templates:
                match one:
                    case [str(skeleton), list(filled)]:
                        slots = tuple(word for word in filled if word is None or type(word) is str)
                        read.append(Template(skeleton, slots))
            texts = [[text for text in one if isinstance(text, str)] for one in (words, actions)]
            if [len(read), *map(len, texts)] == [len(templates), len(words), len(actions)]:
                return Vocabulary(tuple(read), tuple(texts[0]), tuple(texts[1]))
    raise TokenError("the file has no vocabulary; train again with 'rulewright train'")


def fitted_vocabulary(logs: Iterable[Sequence[LogEntry]], legal: Iterable[str]) -> Vocabulary:
    """The vocabulary of logs that self-play gave.

    Args:
        logs: Entries of each, from the first on.
        legal: Actions that were legal anywhere.
    """
    whole: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    parts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    actions = {*legal}
    for log in logs:
        before = _EMPTY
        for entry in log:
            if isinstance(entry, Did):
                actions.add(entry.action)
                continue
            told = told_by(before, entry)
            whole[told.skeleton].append(told.words)
            for part in parts_of(told):
                parts[part.skeleton].append(part.words)
            before = entry.observation
    often = {skeleton: rows for skeleton, rows in whole.items() if len(rows) >= _OFTEN}
    templates = [
        template
        for rows in (often, parts)
        for skeleton in sorted(rows)
        for template in _templates(skeleton, rows[skeleton])
    ]
    words = {
        word
        for one in templates
        for row in {**whole, **parts}[one.skeleton]
        for word, filled in zip(row, one.filled, strict=True)
        if filled is None
    }
    return Vocabulary(tuple(templates), tuple(sorted(words)), tuple(sorted(actions)))


def _templates(skeleton: str, rows: Sequence[tuple[str, ...]]) -> list[Template]:
    """The templates of a skeleton: slots of few values are filled, those of the fewest first.

    The last one has no slot filled, for what self-play did not show together.
    """
    kinds = [len({*column}) for column in zip(*rows, strict=True)]
    filled: list[int] = []
    for slot in sorted(range(len(kinds)), key=lambda slot: (kinds[slot], slot)):
        tried = [*filled, slot]
        if len({tuple(row[one] for one in tried) for row in rows}) <= _COMBINATIONS:
            filled = tried
    found = Counter(
        tuple(word if slot in filled else None for slot, word in enumerate(row)) for row in rows
    )
    ordered = sorted(found, key=lambda one: (-found[one], [word or "" for word in one]))
    bare = (None,) * len(kinds)
    return [Template(skeleton, words) for words in dict.fromkeys((*ordered, bare))]


def _spelled(value: Json) -> list[int]:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return [SPELL, *(_BYTES + byte for byte in text.encode("utf-8", "surrogatepass")), STOP]


@dataclass
class LogWriter:
    """Writes one log as tokens, entry by entry.

    Attributes:
        vocabulary: Of the tokens.
        tokens: Written so far.
    """

    vocabulary: Vocabulary
    tokens: list[int] = field(default_factory=lambda: [START])
    _read: int = 0
    _seen: Observation = field(default_factory=dict)

    def write(self, entries: Sequence[LogEntry]) -> list[int]:
        """Write what was added to the log, and give the tokens of all of it."""
        for entry in entries[self._read :]:
            self.tokens += self.vocabulary.tokens_of(self._seen, entry)
            if isinstance(entry, Seen):
                self._seen = entry.observation
        self._read = len(entries)
        return self.tokens


@dataclass
class LogReader:
    """Reads tokens, one by one, and so tells which sequences stand for a log at all.

    Attributes:
        vocabulary: Of the tokens.
        seen: The newest observation.
    """

    vocabulary: Vocabulary
    seen: Observation = field(default_factory=dict)
    _template: Template | None = None
    _words: list[Json] = field(default_factory=list)
    _letters: bytearray | None = None
    _acts: bool = False
    _events: list[str] | None = None  # of an entry in parts

    def copy(self) -> "LogReader":
        """Another one that stands at the same place."""
        letters = None if self._letters is None else bytearray(self._letters)
        events = None if self._events is None else [*self._events]
        words = [*self._words]
        return LogReader(
            self.vocabulary, self.seen, self._template, words, letters, self._acts, events
        )

    def feed(self, token: int) -> LogEntry | None:
        """Take one token; the entry that it completes, if it does.

        Raises:
            TokenError: If it cannot stand here.
        """
        known = self.vocabulary
        if self._letters is not None:
            if _BYTES <= token < _FIRST:
                self._letters.append(token - _BYTES)
                return None
            letters, self._letters = self._letters, None
            return self._value(_despelled(letters, token))
        if token == SPELL:
            self._letters = bytearray()
            return None
        if self._acts and known.first_action <= token < known.size:
            return self._value(known.actions[token - known.first_action])
        if self._template is not None and known.first_word <= token < known.first_action:
            return self._value(json.loads(known.words[token - known.first_word]))
        if self._acts or self._template is not None:
            raise TokenError("an own turn is followed by no action, or a slot filled by no word")
        return self._between(token)

    def _between(self, token: int) -> LogEntry | None:
        """Take a token that begins or ends an entry, or a part of one."""
        if self._events is not None and token == DONE:
            events, self._events = self._events, None
            return Seen(self.seen, tuple(events))
        self._template = self.vocabulary.template_of(token)
        if self._template is not None:
            return self._told()
        self._acts = token == MOVE
        if token == PARTS and self._events is None:
            self._events = []
        elif self._events is not None or token not in (START, END, MOVE):
            raise TokenError("an entry begins with no template")
        return None

    def _value(self, value: Json) -> LogEntry | None:
        """Take a word, an action, or a part that was spelled."""
        if self._acts and isinstance(value, str):
            self._acts = False
            return Did(value)
        if self._template is not None:
            self._words.append(value)
            return self._told()
        if self._events is not None:
            return self._take(*_spelled_part(value))
        raise TokenError("a spelling stands where nothing is spelled")

    def _told(self) -> LogEntry | None:
        template = self._template
        if template is None or len(self._words) < template.free:
            return None
        words, self._template, self._words = template.words(self._words), None, []
        return self._take(template.content, words)

    def _take(self, content: Skeleton, words: Sequence[Json]) -> LogEntry | None:
        try:
            self.seen, events = content.applied(self.seen, words)
        except (LookupError, TypeError, ValueError) as error:
            raise TokenError("the observation cannot change so") from error
        if self._events is None:
            return Seen(self.seen, tuple(events))
        self._events += events
        return None


def _despelled(letters: bytearray, token: int) -> Json:
    try:
        value: Json = json.loads(letters.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise TokenError("a spelling is no JSON") from error
    if token != STOP:
        raise TokenError("a spelling does not stop")
    return value


def _spelled_part(value: Json) -> tuple[Skeleton, list[Json]]:
    match value:
        case [str(skeleton), list(words)]:
            try:
                return Skeleton.of(skeleton), words
            except ValueError as error:
                raise TokenError("a spelled part is none") from error
    raise TokenError("a spelled part is none")
