"""Information state of one seat: its log of observations, events and own actions.

A seat is sent its observation and its events after *every* ply. An observation equal to the one
before it, without events, adds nothing and is dropped, so the log does not betray how many hidden
plies passed. `information_key` of the log is the only key that information-set search may use.
`seat_turns` reads a log turn by turn; `entry_rows` and `read_entries` are its form outside Python.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

from games.values import Action, Json, Observation, are_texts, canonical_key, canonical_object

Turn: TypeAlias = tuple[Observation, Action | None]


@dataclass(frozen=True, slots=True)
class Seen:
    """An entry of a log: the observation and events of one seat after a ply."""

    observation: Observation
    events: tuple[str, ...] = ()

    @classmethod
    def of(cls, observation: Observation, events: Iterable[str] = ()) -> Self:
        """The entry of an observation in its one form; see `games.values.canonical_value`."""
        return cls(canonical_object(observation), tuple(events))

    def row(self) -> dict[str, Json]:
        """The entry as JSON."""
        return {"observation": self.observation, "events": [*self.events]}


@dataclass(frozen=True, slots=True)
class Did:
    """An entry of a log: an action of the seat itself."""

    action: Action

    def row(self) -> dict[str, Json]:
        """The entry as JSON."""
        return {"action": self.action}


LogEntry: TypeAlias = Seen | Did


@dataclass
class SeatLog:
    """One seat's information state, oldest entry first.

    Attributes:
        seat: The 0-based seat the log belongs to.
        entries: What it saw, and what it did itself.
    """

    seat: int
    entries: list[LogEntry] = field(default_factory=list)

    def see(self, observation: Observation, events: Sequence[str]) -> None:
        """Append what the seat sees after a ply, unless it is nothing new, in its one form."""
        self.add(Seen.of(observation, events))

    def add(self, entry: Seen) -> None:
        """Append what the seat sees after a ply, unless it is nothing new."""
        if entry.events or not self.entries or self.latest() != entry.observation:
            self.entries.append(entry)

    def act(self, action: Action) -> None:
        """Append the seat's own action."""
        self.entries.append(Did(action))

    def latest(self) -> Observation:
        """The newest observation.

        Raises:
            LookupError: If nothing was seen yet.
        """
        for entry in reversed(self.entries):
            if isinstance(entry, Seen):
                return entry.observation
        raise LookupError(f"seat {self.seat} has seen nothing yet")


def entry_rows(entries: Iterable[LogEntry]) -> list[dict[str, Json]]:
    """Entries as JSON: `{"observation": ..., "events": [...]}` or `{"action": ...}` each."""
    return [entry.row() for entry in entries]


def read_entries(rows: Iterable[Mapping[str, Json]]) -> list[LogEntry]:
    """The entries that `entry_rows` wrote.

    Raises:
        ValueError: If one is neither.

    >>> read_entries([{"observation": {"n": 1}, "events": []}, {"action": "go"}])
    [Seen(observation={'n': 1}, events=()), Did(action='go')]
    """
    entries: list[LogEntry] = []
    for row in rows:
        match row:
            case {"action": str(action)}:
                entries.append(Did(action))
            case {"observation": dict(seen), "events": list(told)}:
                entries.append(Seen(seen, tuple(map(str, told))))
            case _:
                raise ValueError(f"{row!r:.80} is no entry of a seat's log")
    return entries


def information_key(log: SeatLog) -> str:
    """The canonical key of a seat's information state."""
    return canonical_key([log.seat, [*entry_rows(log.entries)]])


def tell_seats(
    logs: Sequence[SeatLog], observations: Sequence[Observation], events: Sequence[Sequence[str]]
) -> None:
    """Write down what every seat sees and perceives after a ply, or before the first."""
    for log, observation, perceived in zip(logs, observations, events, strict=True):
        log.see(observation, perceived)


@dataclass(frozen=True, slots=True)
class SeatTurn:
    """A turn of a seat: all from one action of its own to the next.

    Attributes:
        before: Its own action that the turn follows; None at the first turn.
        events: What it perceived, oldest first.
        observation: What it saw last; empty where it saw nothing yet.
        action: What it did; None where it has not acted yet.
        end: Entries of the log that were written when it acted.
    """

    before: Action | None
    events: tuple[str, ...]
    observation: Observation
    action: Action | None
    end: int

    def row(self) -> dict[str, Json]:
        """The turn before its action, as JSON."""
        seen: dict[str, Json] = {"before": self.before, "observation": self.observation}
        return {**seen, "events": [*self.events]}


def read_turn(row: Mapping[str, Json]) -> SeatTurn:
    """The turn that `SeatTurn.row` wrote.

    Raises:
        ValueError: If it is none.
    """
    match row:
        case {
            "before": None | str() as before,
            "observation": dict(seen),
            "events": list(told),
        } if are_texts(told):
            return SeatTurn(before, tuple(told), seen, None, 0)
    raise ValueError(f"{row!r:.80} is no turn of a seat")


def seat_turns(entries: Sequence[LogEntry]) -> list[SeatTurn]:
    """The turns of a log, oldest first; the last has no action.

    >>> [turn.end for turn in seat_turns([Seen({}), Did("a"), Seen({"n": 1})])]
    [1, 3]
    """
    turns: list[SeatTurn] = []
    before: Action | None = None
    events: list[str] = []
    seen: Observation = {}
    for index, entry in enumerate(entries):
        if isinstance(entry, Did):
            turns.append(SeatTurn(before, tuple(events), seen, entry.action, index))
            before, events = entry.action, []
        else:
            seen = entry.observation
            events += entry.events
    return [*turns, SeatTurn(before, tuple(events), seen, None, len(entries))]


def newest_turn(entries: Sequence[LogEntry]) -> SeatTurn:
    """The last turn of a log; its `end` counts from the first entry that `since_turn` keeps."""
    return seat_turns(since_turn(entries))[-1]


def since_turn(entries: Sequence[LogEntry]) -> Sequence[LogEntry]:
    """The entries since the last own action, with that action and the newest observation."""
    start, missing = len(entries), {Seen, Did}
    while missing and start:
        start -= 1
        missing.discard(type(entries[start]))
    return entries[start:]


def own_turns(log: SeatLog) -> list[Turn]:
    """The paper's history: `[(observation, action), ..., (observation, None)]`.

    Each pair is what the seat saw when it acted and what it did; the last one is the newest
    observation with None, where the seat has seen something since its last action.
    """
    *acted, now = seat_turns(log.entries)
    turns: list[Turn] = [(turn.observation, turn.action) for turn in acted]
    if log.entries and isinstance(log.entries[-1], Seen):
        turns.append((now.observation, None))
    return turns
