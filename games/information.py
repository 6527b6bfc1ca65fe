"""Information state of one seat: its log of observations, events and own actions.

A seat is sent its observation and its events after *every* ply. An observation equal to the one
before it, without events, adds nothing and is dropped, so the log does not betray how many hidden
plies passed. `information_key` of the log is the only key that information-set search may use.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from games.values import Action, Json, Observation, canonical_key, canonical_value

Turn: TypeAlias = tuple[Observation, Action | None]


@dataclass
class SeatLog:
    """One seat's information state, oldest entry first.

    Attributes:
        seat: The 0-based seat the log belongs to.
        entries: `{"observation": ..., "events": [...]}` for what was seen,
            `{"action": ...}` for what the seat did itself.
    """

    seat: int
    entries: list[dict[str, Json]] = field(default_factory=list)

    def see(self, observation: Observation, events: Sequence[str]) -> None:
        """Append what the seat sees after a ply, unless it is nothing new, in its one form."""
        if not events and self.entries and self.latest() == observation:
            return
        seen = canonical_value(observation)
        self.entries.append({"observation": seen, "events": list(events)})

    def act(self, action: Action) -> None:
        """Append the seat's own action."""
        self.entries.append({"action": action})

    def latest(self) -> Observation:
        """The newest observation.

        Raises:
            LookupError: If nothing was seen yet.
        """
        for entry in reversed(self.entries):
            observation = entry.get("observation")
            if isinstance(observation, dict):
                return observation
        raise LookupError(f"seat {self.seat} has seen nothing yet")


def information_key(log: SeatLog) -> str:
    """The canonical key of a seat's information state."""
    return canonical_key([log.seat, list(log.entries)])


def tell_seats(
    logs: Sequence[SeatLog], observations: Sequence[Observation], events: Sequence[Sequence[str]]
) -> None:
    """Write down what every seat sees and perceives after a ply, or before the first."""
    for log, observation, perceived in zip(logs, observations, events, strict=True):
        log.see(observation, perceived)


def own_turns(log: SeatLog) -> list[Turn]:
    """The paper's history: `[(observation, action), ..., (observation, None)]`.

    Each pair is what the seat saw when it acted and what it did; the last one is the newest
    observation with None, where the seat has seen something since its last action.
    """
    turns: list[Turn] = []
    seen: Observation | None = None
    for entry in log.entries:
        observation, action = entry.get("observation"), entry.get("action")
        if isinstance(observation, dict):
            seen = observation
        elif isinstance(action, str) and seen is not None:
            turns.append((seen, action))
    if log.entries and "action" not in log.entries[-1] and seen is not None:
        turns.append((seen, None))
    return turns
