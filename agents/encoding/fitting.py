"""Fitting of a vocabulary to the logs that self-play gave."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agents.encoding.changes import KnownChanges
from agents.encoding.needs import ActionNeeds
from agents.encoding.skeletons import Told, known_word, known_words, parts_of, told_by
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import FIRST_TEMPLATE, LONGEST_RUN, Template, Vocabulary
from games.information import Did, LogEntry
from games.values import Action, Observation

_COMBINATIONS = 16  # of values that slots may take to be filled once and for all
_SURE = 20  # entries of a kind in which a word was known before, so that it is no chance
_OFTEN = 3  # entries of a kind that are worth a template of their own
_RUNS = 512
_WORTH = 0.05  # of a log: a run that is rarer saves too little
_KEPT = 20_000
_READ = 400  # logs that are read for runs

Words = tuple[str, ...]


class _Rows:
    """Rows of words that logs told, by skeleton, and where each word could be known from."""

    def __init__(self) -> None:
        self.words: dict[str, list[Words]] = defaultdict(list)
        self.known: dict[str, list[set[str]]] = {}
        self._changed = KnownChanges(_KEPT)
        self._told: dict[str, tuple[Told, list[Told]]] = {}

    def add(self, before: Observation, entry: LogEntry, acted: Action | None) -> list[Told]:
        """Add an entry; its parts."""
        if isinstance(entry, Did):
            return []
        changes = self._changed.between(before, entry.observation)
        key = repr((changes, entry.events))
        found = self._told.get(key)
        if found is None:
            told = told_by(changes, entry.events)
            found = self._told[key] = told, [*parts_of(told)]
        told, parts = found
        self.words[told.skeleton].append(told.words)
        kept = self.known.get(told.skeleton)
        if kept is None:
            known = known_words(before, acted)
            kept = [{place for place, one in known.items() if one == word} for word in told.words]
        else:
            pairs = zip(kept, told.words, strict=True)
            kept = [
                {place for place in places if known_word(place, before, acted) == word}
                for places, word in pairs
            ]
        self.known[told.skeleton] = kept
        return parts


def fitted_vocabulary(
    logs: Sequence[Sequence[LogEntry]], legal: Iterable[str], needs: ActionNeeds | None = None
) -> Vocabulary:
    """The vocabulary of logs that self-play gave.

    Args:
        logs: Entries of each, from the first on.
        legal: Actions that were legal anywhere.
        needs: That self-play showed; None for none.
    """
    whole, parts = _Rows(), dict[str, dict[Words, int]]()
    actions = {*legal}
    for log in logs:
        before: Observation = {}
        acted: Action | None = None
        for entry in log:
            for part in whole.add(before, entry, acted):
                counted = parts.setdefault(part.skeleton, {})
                counted[part.words] = counted.get(part.words, 0) + 1
            if isinstance(entry, Did):
                acted = entry.action
                actions.add(acted)
            else:
                before, acted = entry.observation, None
    often = {name: rows for name, rows in whole.words.items() if len(rows) >= _OFTEN}
    counts = {name: Counter(rows) for name, rows in often.items()}
    templates = [
        *(one for name in sorted(counts) for one in _templates(name, counts[name], whole.known)),
        *(one for name in sorted(parts) for one in _templates(name, parts[name], {})),
    ]
    words = {word for rows in (*counts.values(), *parts.values()) for row in rows for word in row}
    known = Vocabulary(tuple(templates), tuple(sorted(words)), tuple(sorted(actions)))
    return replace(known, runs=_runs(known, logs[:_READ]), needs=needs or ActionNeeds())


def _templates(
    skeleton: str, rows: Mapping[Words, int], known: Mapping[str, Sequence[set[str]]]
) -> list[Template]:
    """The templates of a skeleton: slots of few values are filled, those of the fewest first.

    A slot whose word was always known before is filled by the reference to it. The last template
    has no slot filled, for what self-play did not show together.
    """
    kinds = [len({*column}) for column in zip(*rows, strict=True)]
    places = known.get(skeleton, [set[str]()] * len(kinds))
    referred = {
        slot: min(places[slot]) for slot, kind in enumerate(kinds) if kind > 1 and places[slot]
    }
    if sum(rows.values()) < _SURE:
        referred = {}
    filled: list[int] = []
    for slot in sorted({*range(len(kinds))} - {*referred}, key=lambda slot: (kinds[slot], slot)):
        tried = [*filled, slot]
        if len({tuple(row[one] for one in tried) for row in rows}) <= _COMBINATIONS:
            filled = tried
    found = Counter[tuple[str | None, ...]]()
    for row, count in rows.items():
        own = (word if slot in filled else referred.get(slot) for slot, word in enumerate(row))
        found[tuple(own)] += count
    ordered = sorted(found, key=lambda one: (-found[one], [word or "" for word in one]))
    bare = (None,) * len(kinds)
    return [Template(skeleton, words) for words in dict.fromkeys((*ordered, bare))]


def _runs(known: Vocabulary, logs: Sequence[Sequence[LogEntry]]) -> tuple[tuple[int, int], ...]:
    """Pairs of tokens that stand together most often, each joined before the next is counted.

    Byte-pair encoding (Sennrich et al. 2016) of templates and words; a turn, an action and what is
    spelled stay as they are.
    """
    tokens = np.array([token for log in logs for token in LogWriter(known).write(log)], np.int64)
    lengths: dict[int, int] = {}
    runs: list[tuple[int, int]] = []
    while len(runs) < _RUNS:
        size = known.size + len(runs)
        one, other = tokens[:-1], tokens[1:]
        fit = _may_join(one, known) & _may_join(other, known)
        if not fit.any():
            break
        pairs, count = np.unique(one[fit] * size + other[fit], return_counts=True)
        for place in np.argsort(-count, kind="stable"):
            pair = divmod(int(pairs[place]), size)
            length = sum(lengths.get(part, 1) for part in pair)
            if length <= LONGEST_RUN:
                break
        else:
            break
        if count[place] < _WORTH * len(logs):
            break
        lengths[size] = length
        tokens = _with_run(tokens, pair, size)
        runs.append(pair)
    return tuple(runs)


def _may_join(tokens: NDArray[np.int64], known: Vocabulary) -> NDArray[np.bool_]:
    """True where a token may be a part of a run."""
    is_act = (tokens >= known.first_action) & (tokens < known.first_run)
    return (tokens >= FIRST_TEMPLATE) & ~is_act


def _with_run(tokens: NDArray[np.int64], pair: tuple[int, int], number: int) -> NDArray[np.int64]:
    places = np.flatnonzero((tokens[:-1] == pair[0]) & (tokens[1:] == pair[1]))
    if pair[0] == pair[1]:  # in a row of equals every second place begins a run
        starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        since = np.arange(len(places)) - np.repeat(starts, np.diff([*starts, len(places)]))
        places = places[since % 2 == 0]
    joined = tokens.copy()
    joined[places] = number
    return np.delete(joined, places + 1)
