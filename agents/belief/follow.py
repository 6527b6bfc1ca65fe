"""Which plies reproduce a seat's log: the step that enumeration and replay share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.search.rules import Rules
from games.contract import CHANCE, TERMINAL, Action, Json, Observation, State

Entries = Sequence[Mapping[str, Json]]


class Place(NamedTuple):
    """A full state and how much of the log it has reproduced.

    Attributes:
        state: A state the seat's log allows.
        read: Entries of the log that were reproduced.
        seen: The seat's newest observation.
    """

    state: State
    read: int
    seen: Observation


class Step(NamedTuple):
    """One ply that the log allows, and how likely it was before the log was read.

    Attributes:
        action: The action or outcome.
        weight: Its probability at a chance node; 1 over the number of legal actions where
            another seat chose; 1 for the seat's own.
        place: Where it leads.
    """

    action: Action
    weight: float
    place: Place


@dataclass(frozen=True)
class Follower:
    """Follows one seat's log through the game.

    Attributes:
        rules: The module's functions.
        seat: The seat whose log it is.
        entries: The log's entries, oldest first, by the rule of `games.information.SeatLog`.
    """

    rules: Rules
    seat: int
    entries: Entries

    def start(self, initial: State) -> Place | None:
        """The place before any ply; None if the log does not begin like this state."""
        seen = self.rules.observations(initial)[self.seat]
        if not self.entries or self.entries[0] != {"observation": seen, "events": []}:
            return None
        return Place(initial, 1, seen)

    def is_present(self, place: Place) -> bool:
        """Whether this is now: the whole log is read and the seat is to move."""
        return (
            place.read == len(self.entries) and self.rules.current_player(place.state) == self.seat
        )

    def steps(self, place: Place) -> list[Step]:
        """Every ply from here that reproduces what the seat logged next."""
        player = self.rules.current_player(place.state)
        if player == TERMINAL:
            return []
        legal = self.rules.legal_actions(place.state)
        if player == self.seat:
            return self._own(place, legal)
        chances = self.rules.chance_probabilities if player == CHANCE else None
        weights = [1.0 / len(legal)] * len(legal) if chances is None else chances(place.state)
        found = []
        for action, weight in zip(legal, weights, strict=True):
            after = self._seen(place, action, place.read)
            if after is not None:
                found.append(Step(action, weight, after))
        return found

    def _own(self, place: Place, legal: Sequence[Action]) -> list[Step]:
        if place.read == len(self.entries):
            return []
        action = self.entries[place.read].get("action")
        if not isinstance(action, str) or action not in legal:
            return []
        after = self._seen(place, action, place.read + 1)
        return [] if after is None else [Step(action, 1.0, after)]

    def _seen(self, place: Place, action: Action, read: int) -> Place | None:
        rules, seat = self.rules, self.seat
        entry = self.entries[read] if read < len(self.entries) else {}
        events = rules.events(place.state, action)[seat]
        # Events mostly name the action: what they rule out is never applied.
        if events and entry.get("events") != events:
            return None
        after = rules.apply_action(place.state, action)
        seen = rules.observations(after)[seat]
        if not events and seen == place.seen:
            return Place(after, read, seen)
        logged = entry.get("events") == events and entry.get("observation") == seen
        return Place(after, read + 1, seen) if logged else None
