"""Tokens of a seat's log: what it saw and did as a sequence of small numbers, ply by ply.

An entry of a log is told by a template and the words that fill its slots. A template is made of
the event texts and of what changed in the observation since the last one, with a slot for each
scalar; slots that take few values are filled once and for all, which makes several templates. An
entry that is no template's is told in parts, an event or a change each, and what self-play never
showed is spelled byte by byte: so every log can be written, and read back. Nothing but the seat's
own log is looked at.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.encoding.skeletons import Skeleton
from agents.encoding.vocabulary import (
    BYTES,
    DONE,
    END,
    FIRST_TEMPLATE,
    MOVE,
    PARTS,
    SPELL,
    START,
    STOP,
    Template,
    TokenError,
    Vocabulary,
)
from games.information import Did, LogEntry, Seen
from games.values import Action, Json, Observation


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
    _acted: Action | None = None
    _since: list[int] = field(default_factory=list)  # tokens since the newest turn, one by one
    _begun: int = 1  # where they stand

    def write(self, entries: Sequence[LogEntry]) -> list[int]:
        """Write what was added to the log, and give the tokens of all of it.

        Runs begin and end between two turns, so what stands before a turn stays as it is.
        """
        for entry in entries[self._read :]:
            told = self.vocabulary.tokens_of(self._seen, entry, self._acted)
            if isinstance(entry, Did):
                self._shorten()
                self.tokens += told
                self._acted, self._since, self._begun = entry.action, [], len(self.tokens)
            else:
                self._since += told
                self._seen, self._acted = entry.observation, None
        self._read = len(entries)
        self._shorten()
        return self.tokens

    def _shorten(self) -> None:
        self.tokens[self._begun :] = self.vocabulary.shortened(self._since)


@dataclass
class LogReader:
    """Reads tokens, one by one, and so tells which sequences stand for a log at all.

    Attributes:
        vocabulary: Of the tokens.
        seen: The newest observation.
        acted: The own action that was read last, if nothing was seen since.
    """

    vocabulary: Vocabulary
    seen: Observation = field(default_factory=dict)
    _template: Template | None = None
    _words: list[Json] = field(default_factory=list)
    _letters: bytearray | None = None
    _acts: bool = False
    _events: list[str] | None = None  # of an entry in parts
    acted: Action | None = None

    def copy(self) -> "LogReader":
        """Another one that stands at the same place."""
        letters = None if self._letters is None else bytearray(self._letters)
        events = None if self._events is None else [*self._events]
        words = [*self._words]
        return LogReader(
            *(self.vocabulary, self.seen, self._template, words, letters, self._acts, events),
            self.acted,
        )

    def feed(self, token: int) -> list[LogEntry]:
        """Take one token; the entries that it completes.

        Raises:
            TokenError: If it cannot stand here.
        """
        completed: list[LogEntry] = []
        for single in self.vocabulary.single(token):
            entry = self._feed(single)
            if entry is not None:
                self.acted = entry.action if isinstance(entry, Did) else None
                completed.append(entry)
        return completed

    def _feed(self, token: int) -> LogEntry | None:
        known = self.vocabulary
        if self._letters is not None:
            if BYTES <= token < FIRST_TEMPLATE:
                self._letters.append(token - BYTES)
                return None
            letters, self._letters = self._letters, None
            return self._value(_despelled(letters, token))
        if token == SPELL:
            self._letters = bytearray()
            return None
        if self._acts and known.first_action <= token < known.first_run:
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
        given, self._template, self._words = self._words, None, []
        try:
            words = template.words(given, self.seen, self.acted)
        except (LookupError, TypeError) as error:
            raise TokenError("a word is referred to that is not there") from error
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
